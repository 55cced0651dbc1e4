package migrate

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/daemok/daemok/kube/api"
)

// Source is a file with manifests: YAML, JSON, or Terraform with YAML in heredocs.
type Source struct {
	Name string // as users know it
	Data []byte
	// Verbatim has text such as ${VAR} be text like any other, as it is in a cluster.
	Verbatim bool
}

// Document is one manifest, and where it stands.
type Document struct {
	APIVersion, Kind, Name string
	JSON                   []byte

	file   string
	line   int // of the first line of the text that node was read from
	node   *yamlv3.Node
	hidden placeholders
}

// From is an object that a cluster has, by the words for where it was found. Texts in it
// stand for themselves.
func From(where string, o client.Object) (Document, error) {
	data, err := json.Marshal(o)
	if err != nil {
		return Document{}, fmt.Errorf("read %s: %w", where, err)
	}
	kind := o.GetObjectKind().GroupVersionKind()
	return Document{APIVersion: kind.GroupVersion().String(), Kind: kind.Kind, Name: o.GetName(), JSON: data, file: where}, nil
}

// String is kind and name.
func (d Document) String() string { return strings.TrimSuffix(d.Kind+" "+d.Name, " ") }

// Read reads every document of the sources, in their order; a list stands for its items.
// Text such as ${VAR} or $VAR stands for itself wherever a text may stand.
func Read(sources []Source) ([]Document, error) {
	var out []Document
	for _, s := range sources {
		texts := []piece{{1, string(s.Data)}}
		if filepath.Ext(s.Name) == ".tf" {
			texts = heredocs(string(s.Data))
		}
		for _, t := range texts {
			for _, p := range parted(t) {
				documents, err := readPiece(s.Name, p, s.Verbatim)
				if err != nil {
					return nil, err
				}
				out = append(out, documents...)
			}
		}
	}
	return out, nil
}

// piece is a part of a file, and the line that it begins on.
type piece struct {
	line int
	text string
}

// parted are the documents of a text.
func parted(p piece) []piece {
	var out []piece
	at := piece{line: p.line}
	number := p.line
	for text := range strings.Lines(p.text) {
		if strings.HasPrefix(text, "---") {
			out = append(out, at)
			at = piece{line: number + 1}
		} else {
			at.text += text
		}
		number++
	}
	return append(out, at)
}

// heredoc begins a text in Terraform.
var heredoc = regexp.MustCompile(`<<-?\s*"?([A-Za-z_][A-Za-z0-9_]*)"?\s*$`)

// heredocs are the texts in a Terraform file that are manifests.
func heredocs(file string) []piece {
	var out []piece
	var at *piece
	marker := ""
	number := 0
	for text := range strings.Lines(file) {
		number++
		line := strings.TrimRight(text, "\r\n")
		switch m := heredoc.FindStringSubmatch(line); {
		case at != nil && strings.TrimSpace(line) == marker:
			if strings.Contains(at.text, "apiVersion:") {
				out = append(out, piece{at.line, dedented(at.text)})
			}
			at = nil
		case at != nil:
			at.text += text
		case m != nil:
			at, marker = &piece{line: number + 1}, m[1]
		}
	}
	return out
}

// dedented is a text without the space that all of its lines begin with.
func dedented(text string) string {
	least := len(text)
	lines := strings.Split(text, "\n")
	for _, line := range lines {
		if strings.TrimSpace(line) != "" {
			least = min(least, len(line)-len(strings.TrimLeft(line, " ")))
		}
	}
	for i, line := range lines {
		lines[i] = line[min(least, len(line)):]
	}
	return strings.Join(lines, "\n")
}

func readPiece(file string, p piece, verbatim bool) ([]Document, error) {
	text, hidden := p.text, placeholders(nil)
	if !verbatim {
		text, hidden = hide(p.text)
	}
	data, err := yaml.YAMLToJSONStrict([]byte(text))
	if err != nil {
		words := hidden.restore(strings.ReplaceAll(strings.ReplaceAll(err.Error(), "\n", ""), "error converting YAML to JSON: ", ""))
		if strings.Contains(p.text, "{{") {
			words += "; if this is a chart, render it first: helm template CHART | daemok migrate -f -"
		}
		return nil, fmt.Errorf("%s, document from line %d: %s", file, p.line, words)
	}
	if string(data) == "null" {
		return nil, nil // comments alone
	}
	root := &yamlv3.Node{}
	if err := yamlv3.Unmarshal([]byte(text), root); err != nil || len(root.Content) == 0 {
		return nil, fmt.Errorf("%s, document from line %d: this is no manifest", file, p.line)
	}
	return documentsOf(Document{JSON: data, file: file, line: p.line, node: root.Content[0], hidden: hidden})
}

// documentsOf is a document, or those of a list.
func documentsOf(d Document) ([]Document, error) {
	var head struct {
		APIVersion string                `json:"apiVersion"`
		Kind       string                `json:"kind"`
		Metadata   struct{ Name string } `json:"metadata"`
		Items      []json.RawMessage     `json:"items"`
	}
	if json.Unmarshal(d.JSON, &head) != nil || head.Kind == "" || head.APIVersion == "" {
		return nil, fmt.Errorf("%s: this is no manifest, apiVersion or kind is missing", d.At(""))
	}
	d.APIVersion, d.Kind, d.Name = head.APIVersion, head.Kind, head.Metadata.Name
	if !strings.HasSuffix(head.Kind, "List") || head.Items == nil {
		return []Document{d}, nil
	}
	var out []Document
	for i, item := range head.Items {
		one := d
		one.JSON = item
		if node := nodeAt(d.node, fmt.Sprintf("items[%d]", i)); node != nil {
			one.node = node
		}
		documents, err := documentsOf(one)
		if err != nil {
			return nil, err
		}
		out = append(out, documents...)
	}
	return out, nil
}

// At is file and line of a field, or of the nearest field around it. What a cluster has
// stands on no line.
func (d Document) At(field string) string {
	if d.node == nil {
		return d.file
	}
	return fmt.Sprintf("%s:%d", d.file, d.line+nodeAt(d.node, field).Line-1)
}

// step is one name or index of a path.
var step = regexp.MustCompile(`[^.\[\]]+|\[[^\]]*\]`)

// nodeAt follows a path such as spec.labels[team] or spec.taints[0].key as far as it goes.
func nodeAt(node *yamlv3.Node, path string) *yamlv3.Node {
	for _, name := range step.FindAllString(path, -1) {
		name = strings.Trim(name, "[]")
		next := childOf(node, name)
		if next == nil {
			break
		}
		node = next
	}
	return node
}

// childOf is the value of a key, with the line of the key, or an item.
func childOf(node *yamlv3.Node, name string) *yamlv3.Node {
	switch node.Kind {
	case yamlv3.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			if node.Content[i].Value == name {
				value := *node.Content[i+1]
				value.Line = node.Content[i].Line
				return &value
			}
		}
	case yamlv3.SequenceNode:
		if i, err := strconv.Atoi(name); err == nil && i < len(node.Content) {
			return node.Content[i]
		}
	}
	return nil
}

func (d Document) ofKarpenter() bool {
	group, _, _ := strings.Cut(d.APIVersion, "/")
	return slices.Contains([]string{api.GroupKarpenter, api.GroupAWS}, group)
}

// placeholders are texts such as ${VAR} by the words that stand for them.
type placeholders []struct{ word, text string }

// hide puts words that may stand anywhere in place of placeholders.
func hide(text string) (string, placeholders) {
	var all placeholders
	stem := "phx7q"
	for strings.Contains(text, stem) {
		stem += "q"
	}
	var out strings.Builder
	for text != "" {
		n := placeholderAt(text)
		if n == 0 {
			out.WriteByte(text[0])
			text = text[1:]
			continue
		}
		word := fmt.Sprintf("%s%dz", stem, len(all))
		if i := slices.IndexFunc(all, func(p struct{ word, text string }) bool { return p.text == text[:n] }); i >= 0 {
			word = all[i].word
		} else {
			all = append(all, struct{ word, text string }{word, text[:n]})
		}
		out.WriteString(word)
		text = text[n:]
	}
	return out.String(), all
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

func (p placeholders) restore(text string) string {
	for _, one := range p {
		text = strings.ReplaceAll(text, one.word, one.text)
	}
	return text
}
