package terraform_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"golang.org/x/tools/txtar"

	"github.com/daemok/daemok/internal/story"
	"github.com/daemok/daemok/kube/manifest/terraform"
)

// Every file in testdata is one story: a sentence saying what must happen, files of
// Terraform, those that they name, and what manifests are found in them, without and with
// templates kept.
func TestStories(t *testing.T) {
	story.Each(t, "testdata", func(t *testing.T, files []txtar.File) {
		last := len(files) - 1
		folder := t.TempDir()
		text := found(t, folder, files[:last], false)
		if kept := found(t, folder, files[:last], true); kept != text {
			text += "# kept\n" + kept
		}
		story.Expect(t, &files[last], text)
	})
}

func found(t *testing.T, folder string, files []txtar.File, keep bool) string {
	var sources []terraform.Source
	for _, f := range files {
		name, beside := strings.CutPrefix(f.Name, "beside:")
		name, named := strings.CutPrefix(name, "named:")
		name = filepath.Join(folder, name)
		if !named {
			sources = append(sources, terraform.Source{Name: name, Data: f.Data, Beside: beside})
			continue
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, f.Data, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	manifests, err := terraform.Read(sources, keep)
	if err != nil {
		return strings.ReplaceAll("error: "+err.Error()+"\n", folder+"/", "")
	}
	return strings.ReplaceAll(written(manifests), folder+"/", "")
}

func written(manifests []terraform.Manifest) string {
	var b strings.Builder
	for _, m := range manifests {
		fmt.Fprintf(&b, "%s:%d %s\n", m.File, m.Line, m.Resource)
		switch {
		case m.Unread != "":
			fmt.Fprintf(&b, "  unread (aside %t): %s\n", m.Aside, m.Unread)
		case m.Node != nil:
			writeNode(&b, m.Node, "  ")
		default:
			fmt.Fprintf(&b, "  | %s\n", strings.ReplaceAll(strings.TrimRight(m.Text, "\n"), "\n", "\n  | "))
		}
		for _, text := range m.Unknown {
			fmt.Fprintf(&b, "  unknown: %s\n", text)
		}
		if len(m.Defaults) > 0 {
			fmt.Fprintf(&b, "  defaults: %s\n", strings.Join(m.Defaults, ", "))
		}
	}
	return b.String()
}

// writeNode prints a node with its lines.
func writeNode(b *strings.Builder, n *yaml.Node, indent string) {
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i < len(n.Content); i += 2 {
			key, value := n.Content[i], n.Content[i+1]
			if value.Kind == yaml.ScalarNode {
				fmt.Fprintf(b, "%s%s: %s %s @%d\n", indent, key.Value, value.Tag, value.Value, key.Line)
				continue
			}
			fmt.Fprintf(b, "%s%s: @%d\n", indent, key.Value, key.Line)
			writeNode(b, value, indent+"  ")
		}
	case yaml.SequenceNode:
		for _, item := range n.Content {
			fmt.Fprintf(b, "%s-\n", indent)
			writeNode(b, item, indent+"  ")
		}
	default:
		fmt.Fprintf(b, "%s%s %s @%d\n", indent, n.Tag, n.Value, n.Line)
	}
}
