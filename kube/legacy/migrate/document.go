package migrate

import (
	"encoding/json"
	"errors"
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
	hidden *placeholders
	unread string // why it is not read; empty: it is
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
	hidden := placeholdersOf(sources)
	for _, s := range sources {
		texts := []piece{{1, string(s.Data)}}
		if filepath.Ext(s.Name) == ".tf" {
			texts = heredocs(string(s.Data))
			out = append(out, inHCL(s)...)
		}
		for _, t := range texts {
			for _, p := range parted(t) {
				documents, err := readPiece(s.Name, p, hiddenIn(s, hidden))
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

// ofHCL is a manifest that Terraform's own language has in place of YAML.
var ofHCL = regexp.MustCompile(`^\s*"?apiVersion"?\s*[=:]\s*"(` + regexp.QuoteMeta(api.GroupKarpenter) + `|` + regexp.QuoteMeta(api.GroupAWS) + `)/`)

// inHCL are the manifests of a Terraform file that are not read, so that none is passed
// over in silence.
func inHCL(s Source) []Document {
	var out []Document
	number := 0
	for text := range strings.Lines(string(s.Data)) {
		number++
		if ofHCL.MatchString(text) {
			out = append(out, Document{Kind: "Manifest in HCL", file: fmt.Sprintf("%s:%d", s.Name, number),
				unread: "only YAML in heredocs is read (yaml_body = <<YAML): give what yamlencode makes of it, or what the cluster has"})
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

// linesIn are the lines that an error speaks of.
var linesIn = regexp.MustCompile(`line ([0-9]+)(: )?`)

// misread says of a text that is no YAML where it is not, and what may help.
func (p piece) misread(file, words string) string {
	for _, needless := range []string{"error converting YAML to JSON: ", "yaml: ", "unmarshal errors:"} {
		words = strings.ReplaceAll(words, needless, "")
	}
	words = strings.Join(strings.Fields(words), " ")
	line := p.line
	if m := linesIn.FindStringSubmatch(words); m != nil {
		n, _ := strconv.Atoi(m[1]) // matched above
		line += n - 1
		words = strings.Replace(words, m[0], "", 1)
	}
	words = fmt.Sprintf("%s:%d: this is no YAML: %s", file, line, words)
	switch {
	case strings.Contains(p.text, "{{"):
		return words + "; if this is a chart, render it first: helm template CHART | daemok migrate -f -"
	case strings.Contains(p.text, "%{"):
		return words + "; directives such as %{ if } are not carried out: give what terraform makes of them"
	case strings.Contains(p.text, "\t") && strings.Contains(words, "cannot start any token"):
		return words + "; tabs are no space in YAML: indent by spaces"
	}
	return words
}

// hiddenIn are the placeholders of a source, where it may have any.
func hiddenIn(s Source, all *placeholders) *placeholders {
	if s.Verbatim {
		return nil
	}
	return all
}

func readPiece(file string, p piece, hidden *placeholders) ([]Document, error) {
	text := p.text
	if hidden != nil {
		text = hidden.hide(text)
	}
	data, err := yaml.YAMLToJSONStrict([]byte(text))
	if err != nil {
		return nil, errors.New(p.misread(file, hidden.restore(err.Error())))
	}
	if string(data) == "null" {
		return nil, nil // comments alone
	}
	root := &yamlv3.Node{}
	if err := yamlv3.Unmarshal([]byte(text), root); err != nil || len(root.Content) == 0 {
		return nil, fmt.Errorf("%s:%d: this is no manifest", file, p.line)
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
