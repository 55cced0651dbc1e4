package convert

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"
)

// placeholders are texts such as ${VAR}, and the words that stand for them in all sources
// that are read together, whose documents may speak of each other. nil: there are none.
type placeholders struct {
	sources []string
	stem    string
	all     []placeholder
}

type placeholder struct{ word, text string }

// placeholdersOf are those of sources: none yet, and words that no source has.
func placeholdersOf(sources []Source) *placeholders {
	p := &placeholders{stem: "phx7q"}
	for _, s := range sources {
		p.sources = append(p.sources, string(s.Data))
	}
	for p.stands(p.stem) {
		p.stem += "q"
	}
	return p
}

// stands reports whether a source has a text.
func (p *placeholders) stands(text string) bool {
	return slices.ContainsFunc(p.sources, func(s string) bool { return strings.Contains(s, text) })
}

// hide puts words that may stand anywhere in place of placeholders.
func (p *placeholders) hide(text string) string {
	var out strings.Builder
	for text != "" {
		n := placeholderAt(text)
		if n == 0 {
			out.WriteByte(text[0])
			text = text[1:]
			continue
		}
		i := slices.IndexFunc(p.all, func(o placeholder) bool { return o.text == text[:n] && strings.HasPrefix(o.word, p.stem) })
		if i < 0 {
			i = len(p.all)
			p.all = append(p.all, placeholder{fmt.Sprintf("%s%dz", p.stem, i), text[:n]})
		}
		out.WriteString(p.all[i].word)
		text = text[n:]
	}
	return out.String()
}

// hideIn is a node in which words stand in place of placeholders.
func (p *placeholders) hideIn(n *yamlv3.Node) *yamlv3.Node {
	out := *n
	if n.Kind == yamlv3.ScalarNode {
		out.Value = p.hide(n.Value)
	}
	out.Content = nil
	for _, of := range n.Content {
		out.Content = append(out.Content, p.hideIn(of))
	}
	return &out
}

// in are the placeholders whose words are in a text.
func (p *placeholders) in(text string) []placeholder {
	var out []placeholder
	for i := 0; p != nil && i < len(p.all); i++ {
		if strings.Contains(text, p.all[i].word) {
			out = append(out, p.all[i])
		}
	}
	return out
}

// number is a number that stands for a text, with a unit after it.
func (p *placeholders) number(text, unit string) string {
	for n := 10007; ; n += 2 {
		number := strconv.Itoa(n)
		if !p.stands(number) && !slices.ContainsFunc(p.all, func(o placeholder) bool { return strings.HasPrefix(o.word, number) }) {
			p.all = append(p.all, placeholder{number + unit, text})
			return number + unit
		}
	}
}

// restore puts placeholders in place of what stands for them.
func (p *placeholders) restore(text string) string {
	for i := 0; p != nil && i < len(p.all); i++ {
		text = strings.ReplaceAll(text, p.all[i].word, p.all[i].text)
	}
	return text
}

var variable = regexp.MustCompile(`^\$[A-Z_][A-Z0-9_]*`)

// placeholderAt is the length of the placeholder that a text begins with; 0: none.
func placeholderAt(text string) int {
	if !strings.HasPrefix(text, "${") {
		return len(variable.FindString(text))
	}
	depth := 0
	for i, r := range text {
		switch r {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}
