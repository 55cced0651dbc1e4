// Command reference writes the pages of docs/reference that are made from the code: one for the fields
// of each kind, from its CustomResourceDefinition; one for labels, annotations, taints, finalizers,
// tags and ConfigMaps, from the table of keys; and one for the lines of snapshots, from core/scenario.
//
// go generate runs it with the folder of the pages. It promises to stop at a field or key without a
// description.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/crds"
)

const annotation = "<!-- Written by `make generate`: edit the comments in kube/api instead. -->\n\n"

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "reference: say where: reference FOLDER")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "reference:", err)
		os.Exit(1)
	}
}

func write(folder string) error {
	pages, err := pages()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(folder, "fields"), 0o755); err != nil { // a folder of documents
		return fmt.Errorf("make the folder of pages: %w", err)
	}
	for _, p := range pages {
		if err := os.WriteFile(filepath.Join(folder, p.name), []byte(p.text), 0o644); err != nil { // a document
			return fmt.Errorf("write a page: %w", err)
		}
	}
	return nil
}

// page is a document, by its path below the folder.
type page struct{ name, text string }

func pages() ([]page, error) {
	definitions, err := crds.All()
	if err != nil {
		return nil, err
	}
	keys, err := keysPage(api.Keys())
	if err != nil {
		return nil, err
	}
	out := []page{keys, linesPage()}
	for _, d := range definitions {
		p, err := fieldsPage(d)
		if err != nil {
			return nil, fmt.Errorf("describe %s: %w", d.Name, err)
		}
		out = append(out, p)
	}
	return out, nil
}

// cell is text as a cell of a table takes it.
func cell(text string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "|", `\|`)
}

// titles are the parts of the page of keys, in order.
var titles = []struct {
	kind  api.KeyKind
	title string
}{
	{api.KindLabel, "Labels"}, {api.KindAnnotation, "Annotations"}, {api.KindTaint, "Taints"},
	{api.KindFinalizer, "Finalizers"}, {api.KindTag, "Tags at AWS"}, {api.KindConfigMap, "ConfigMaps"},
}

func keysPage(keys []api.Key) (page, error) {
	var b strings.Builder
	b.WriteString("# Labels, annotations, taints, tags and ConfigMaps\n\n" + annotation +
		"All names that Daemok reads or writes. Names that begin with `daemok.sh/` are its own; the others mean what they mean to Kubernetes, Karpenter and EKS.\n")
	for _, t := range titles {
		fmt.Fprintf(&b, "\n## %s\n\n| Name | On | Meaning |\n|---|---|---|\n", t.title)
		for _, k := range keys {
			if k.Kind != t.kind {
				continue
			}
			if k.Meaning == "" {
				return page{}, errors.New(k.Name + " has no meaning in kube/api/keys.go")
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", k.Name, k.On, cell(k.Meaning))
		}
	}
	return page{"names.md", b.String()}, nil
}
