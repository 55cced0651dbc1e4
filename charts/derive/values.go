package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	yamlnodes "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"
)

// schema is what is read of a JSON schema.
type schema struct {
	Properties map[string]schema `json:"properties"`
}

// known lists every value that the schema names, by its path: "closed" has the keys that are listed and
// no others, "open" any.
func known(text []byte) ([]byte, error) {
	var root schema
	if err := json.Unmarshal(text, &root); err != nil {
		return nil, fmt.Errorf("values.schema.json: %w", err)
	}
	var out bytes.Buffer
	out.WriteString("# Made from values.schema.json by `make generate`: the values that exist.\n")
	root.list(&out, "")
	return out.Bytes(), nil
}

func (s schema) list(out *bytes.Buffer, at string) {
	for _, key := range slices.Sorted(maps.Keys(s.Properties)) {
		child, is := s.Properties[key], "open"
		if len(child.Properties) > 0 {
			is = "closed"
		}
		fmt.Fprintf(out, "%s%s: %s\n", at, key, is)
		child.list(out, at+key+".")
	}
}

// table returns rows for all values of a values.yaml: those that have a comment, which stands before them.
func table(values []byte) ([]byte, error) {
	var document yamlnodes.Node
	if err := yamlnodes.Unmarshal(values, &document); err != nil {
		return nil, err
	}
	out := bytes.NewBufferString("| Value | Default | |\n|---|---|---|\n")
	err := rows(out, document.Content[0], "")
	return out.Bytes(), err
}

func rows(out *bytes.Buffer, of *yamlnodes.Node, at string) error {
	for i := 0; i < len(of.Content); i += 2 {
		key, value := of.Content[i], of.Content[i+1]
		name := at + key.Value
		if commented(value) {
			if err := rows(out, value, name+"."); err != nil {
				return err
			}
			continue
		}
		comment := describing(key.HeadComment)
		if comment == "" {
			return fmt.Errorf("line %d: %s has no comment: say in the line before what it is", key.Line, name)
		}
		text, err := compact(value)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "| `%s` | %s | %s |\n", name, text, strings.ReplaceAll(comment, "|", "\\|"))
	}
	return nil
}

// commented reports whether a map has comments on its keys, which are values of their own then.
func commented(value *yamlnodes.Node) bool {
	if value.Kind != yamlnodes.MappingNode {
		return false
	}
	for i := 0; i < len(value.Content); i += 2 {
		if value.Content[i].HeadComment != "" {
			return true
		}
	}
	return false
}

// describing is the last paragraph of a comment, on one line: what goes before it is about more than one key.
func describing(comment string) string {
	paragraphs := strings.Split(comment, "\n\n")
	lines := strings.Split(paragraphs[len(paragraphs)-1], "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(strings.TrimPrefix(line, "#"))
	}
	return strings.Join(lines, " ")
}

// compact writes a default on one line; nothing for null.
func compact(value *yamlnodes.Node) (string, error) {
	if value.Tag == "!!null" {
		return "", nil
	}
	text, err := yamlnodes.Marshal(value)
	if err != nil {
		return "", err
	}
	line, err := yaml.YAMLToJSON(text)
	if err != nil {
		return "", err
	}
	if word := strings.Trim(strings.TrimSpace(string(line)), `"`); word != "" {
		return "`" + word + "`", nil
	}
	return "`\"\"`", nil
}
