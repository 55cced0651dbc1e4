package convert

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// problem is what an API server says of a field.
type problem struct {
	field, text string
	value       any
	set         func(any) // puts another value in its place
}

// The words of an API server for a value of another type, and for what is no amount.
var (
	otherType = regexp.MustCompile(`in body must be of type ([a-z,]+): "([a-z]+)"$`)
	noAmount  = regexp.MustCompile(`in body should match '\^\(\\\+\|-\)\?\(`)
)

// problems are what an API server would refuse an object for, by field.
func (c *checks) problems(object map[string]any) []problem {
	var out []problem
	_, err := c.gate.Create(object)
	if err == nil {
		return nil
	}
	for _, one := range each(err) {
		wrong, ok := errors.AsType[*field.Error](one)
		if !ok {
			out = append(out, problem{text: one.Error()})
			continue
		}
		p := along(object, wrong.Field)
		p.text = wrong.ErrorBody()
		if rest, is := strings.CutPrefix(p.text, "Invalid value: "); is && rest[0] != '"' { // words of a rule
			p.text = rest
		}
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b problem) int { // what is wanted says more than a rule that could not be asked
		return cmp.Or(cmp.Compare(a.field, b.field), -cmp.Compare(a.wanted(), b.wanted()), cmp.Compare(a.text, b.text))
	})
	return slices.CompactFunc(out, func(a, b problem) bool { return a.field == b.field })
}

// along follows a path as an API server writes it, in which keys may have dots: they are
// put into brackets.
func along(object map[string]any, path string) problem {
	p := problem{value: object}
	for path != "" {
		name := ""
		switch in := p.value.(type) {
		case map[string]any:
			for key := range in {
				if rest, is := strings.CutPrefix(path, key); is && len(key) > len(name) && (rest == "" || rest[0] == '.' || rest[0] == '[') {
					name = key
				}
			}
			key := name
			p.set = func(v any) { in[key] = v }
			p.value = in[key]
		case []any:
			name, _, _ = strings.Cut(path, "]")
			i, err := strconv.Atoi(strings.TrimPrefix(name, "["))
			if err != nil || i < 0 || i >= len(in) {
				name = ""
				break
			}
			name += "]"
			p.set = func(v any) { in[i] = v }
			p.value = in[i]
		}
		if name == "" { // of what is not there
			p.field, p.value, p.set = strings.TrimPrefix(p.field+"."+path, "."), nil, nil
			return p
		}
		path = strings.TrimPrefix(strings.TrimPrefix(path, name), ".")
		if strings.ContainsAny(name, "./:") {
			name = "[" + name + "]"
		}
		if name[0] != '[' && p.field != "" {
			name = "." + name
		}
		p.field += name
	}
	return p
}

// Words for what must stand somewhere.
const (
	amount      = "an amount such as 1000 or 1000Gi"
	wholeNumber = "a whole number"
	aText       = "a text"
)

// wanted is what must stand where something else does; empty where that is not what is
// wrong.
func (p problem) wanted() string {
	if noAmount.MatchString(p.text) {
		return amount
	}
	m := otherType.FindStringSubmatch(p.text)
	if m == nil {
		return ""
	}
	return map[string]string{"integer": wholeNumber, "string": aText, "integer,string": aText, "boolean": "true or false", "array": "a list", "object": "an object with fields"}[m[1]]
}

// advice says what is wrong and what to do.
func (p problem) advice(hidden *placeholders) string {
	const unknown = "what it comes to is not known here: write that, and put it back into what is made"
	wanted, text := p.wanted(), ""
	if wanted == "" {
		if said := hidden.in(fmt.Sprint(p.value)); len(said) > 0 {
			return fmt.Sprintf("%s; %s is taken as it stands, and %s", p.text, said[0].text, unknown)
		}
		return p.text
	}
	switch value := p.value.(type) {
	case string:
		text = strconv.Quote(value)
		unquoted := value == "true" || value == "false"
		if wanted == wholeNumber {
			_, err := strconv.Atoi(value)
			unquoted = err == nil
		}
		switch {
		case len(hidden.in(value)) > 0:
			return fmt.Sprintf("%s stands where there must be %s, and %s", hidden.in(value)[0].text, wanted, unknown)
		case unquoted && wanted != "a list":
			return fmt.Sprintf("%s must be %s: write it without quotes", text, wanted)
		case strings.HasSuffix(value, "%"):
			return fmt.Sprintf("%s must be %s; percentages are none", text, wanted)
		}
	case bool, int64, float64:
		text = fmt.Sprint(value)
		if _, truth := value.(bool); truth && wanted == aText {
			return text + " must be a text: put it into quotes as it is meant, since YAML reads y, yes and on as true"
		} else if wanted == aText {
			return text + " must be a text: put it into quotes"
		}
	case []any:
		text = "a list"
	case map[string]any:
		text = "an object"
	}
	return fmt.Sprintf("%s must be %s", text, wanted)
}

// unread reports why a document cannot be read into its type.
func (c *checks) unread(s *subject, err error) {
	object := map[string]any{}
	if utiljson.Unmarshal(s.JSON, &object) == nil {
		for _, p := range c.problems(object) {
			s.note(Refuses, p.field, "%s", p.advice(s.hidden))
		}
	}
	if !s.refused() {
		s.note(Refuses, fieldIn(err.Error()), "cannot be read: %s", err)
	}
}

// standIns puts numbers where placeholders stand that must be numbers or amounts. What is
// made has the placeholders again.
func (c *checks) standIns(s *subject) {
	object := map[string]any{}
	if s.hidden == nil || utiljson.Unmarshal(s.JSON, &object) != nil || len(s.hidden.in(string(s.JSON))) == 0 {
		return
	}
	for _, p := range c.problems(object) {
		text, is := p.value.(string)
		whole := p.wanted() == wholeNumber
		if !is || p.set == nil || !whole && p.wanted() != amount {
			continue
		}
		for _, one := range s.hidden.in(text) {
			unit := ""
			if text == one.word && strings.HasSuffix(p.field, ".volumeSize") {
				unit = "Gi" // a volume has one
			}
			text = strings.ReplaceAll(text, one.word, s.hidden.number(one.text, unit))
		}
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			p.set(n)
		} else if !whole {
			p.set(text)
		}
	}
	if data, err := json.Marshal(object); err == nil {
		s.JSON = data
	}
}
