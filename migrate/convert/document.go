package convert

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/manifest/terraform"
)

// Source is a file with manifests: YAML, JSON, or Terraform.
type Source struct {
	Name   string // as users know it
	Data   []byte
	Beside bool // of Terraform, and read for what it declares alone
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

	defaults []string // variables of Terraform that it takes the defaults of
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
// Text such as ${VAR} or $VAR stands for itself wherever a text may stand; of Terraform's files
// that is what cannot be evaluated.
func Read(sources []Source) ([]Document, error) {
	var out []Document
	hidden := placeholdersOf(sources)
	var files []terraform.Source
	for _, s := range sources {
		if terraform.IsSource(s.Name) || s.Beside {
			files = append(files, terraform.Source{Name: s.Name, Data: s.Data, Beside: s.Beside})
			continue
		}
		for _, p := range parted(piece{1, string(s.Data)}) {
			documents, err := readPiece(s.Name, p, hiddenIn(s, hidden))
			if err != nil {
				return nil, err
			}
			out = append(out, documents...)
		}
	}
	ofTerraform, err := inTerraform(files, hidden)
	return append(out, ofTerraform...), err
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

// inTerraform are the manifests of Terraform's files. What cannot be read is a document that
// says why, and the rest goes on.
func inTerraform(files []terraform.Source, hidden *placeholders) ([]Document, error) {
	manifests, err := terraform.Read(files, true)
	if err != nil {
		return nil, err
	}
	var out []Document
	for _, m := range manifests {
		documents, err := documentsIn(m, hidden)
		switch {
		case m.Aside:
			continue
		case m.Unread != "":
			documents = []Document{unreadIn(m, m.Unread)}
		case err != nil:
			documents = []Document{unreadIn(m, strings.TrimPrefix(err.Error(), fmt.Sprintf("%s:%d: ", m.File, m.Line)))}
		}
		for i := range documents {
			documents[i].defaults = m.Defaults
		}
		out = append(out, documents...)
	}
	return out, nil
}

func unreadIn(m terraform.Manifest, why string) Document {
	return Document{Kind: "Terraform", Name: m.Resource, file: fmt.Sprintf("%s:%d", m.File, m.Line), unread: why}
}

// documentsIn are those of a resource.
func documentsIn(m terraform.Manifest, hidden *placeholders) (out []Document, err error) {
	if m.Node != nil {
		node := hidden.hideIn(m.Node)
		var value any
		if err := node.Decode(&value); err != nil {
			return nil, err
		}
		data, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		return documentsOf(Document{JSON: data, file: m.File, line: 1, node: node, hidden: hidden})
	}
	for _, p := range parted(piece{m.Line, m.Text}) {
		documents, err := readPiece(m.File, p, hidden)
		if err != nil {
			return nil, err
		}
		out = append(out, documents...)
	}
	return out, nil
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
