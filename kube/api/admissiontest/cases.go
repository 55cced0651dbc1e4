// Package admissiontest holds the table of what an API server must accept and refuse of Daemok's
// resources: for every rule, one manifest that it accepts and one that it refuses.
//
// The table is in testdata, one archive for each group of rules. The package promises that every case
// has its own name and its own object name, so that all of them can be tried against one cluster. The
// caller decides where to try them: the in-process check beside it and stories against a real API
// server share the table and Case.Try.
//
// An archive begins with a sentence, which one line "at: PATH" may follow. Its first file, "base", is
// a manifest. Each further file is a case: its name says what happens, and its text is a merge patch
// for the base, placed at PATH; null removes a field. A second document, after a line ---, is a merge
// patch that turns the created object into its update.
//
//	# refused: TEXT   the last step must fail with an error that contains TEXT
//	# stored: YAML    the object, at PATH, must be stored with these fields
//
// Without "# refused:" every step must be accepted.
package admissiontest

import (
	"embed"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"golang.org/x/tools/txtar"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

//go:embed testdata/*.txtar
var archives embed.FS

// Case is one thing an API server must accept or refuse.
type Case struct {
	// Name is the archive and the sentence of the case: "nodepool_taints/a
	// taint without a key is refused".
	Name string
	// Object is to be created.
	Object *unstructured.Unstructured
	// Update is to replace it afterwards, if there is one. It lacks a resource
	// version.
	Update *unstructured.Unstructured
	// Refused is part of the error of the last step; empty if that is accepted.
	Refused string
	// OfStatus says that the case is about the status, so that against a real
	// API server the object is to be created first and then written once more
	// through the status subresource.
	OfStatus bool
	// Stored are fields the object must have after the last step; nil if it may
	// have any.
	Stored map[string]any
}

// Cases returns the whole table, in the order of the archives and of the
// cases in them. The caller owns it.
func Cases() ([]Case, error) {
	entries, err := archives.ReadDir("testdata")
	if err != nil {
		return nil, fmt.Errorf("list admission cases: %w", err)
	}
	var all []Case
	for _, entry := range entries {
		data, err := archives.ReadFile(path.Join("testdata", entry.Name()))
		if err != nil {
			return nil, fmt.Errorf("read admission cases: %w", err)
		}
		cases, err := parse(strings.TrimSuffix(entry.Name(), ".txtar"), txtar.Parse(data))
		if err != nil {
			return nil, fmt.Errorf("admission cases %s: %w", entry.Name(), err)
		}
		all = append(all, cases...)
	}
	return all, nil
}

func parse(name string, archive *txtar.Archive) ([]Case, error) {
	if len(archive.Files) == 0 || archive.Files[0].Name != "base" {
		return nil, fmt.Errorf("the first file must be base")
	}
	base, err := yaml.YAMLToJSON(archive.Files[0].Data)
	if err != nil {
		return nil, fmt.Errorf("base: %w", err)
	}
	at := directive(string(archive.Comment), "at:")
	cases := make([]Case, 0, len(archive.Files)-1)
	seen := map[string]bool{}
	for i, file := range archive.Files[1:] {
		if seen[file.Name] {
			return nil, fmt.Errorf("two cases are called %q, name one differently", file.Name)
		}
		seen[file.Name] = true
		c, err := parseCase(base, at, string(file.Data))
		if err != nil {
			return nil, fmt.Errorf("case %q: %w", file.Name, err)
		}
		c.Name = name + "/" + file.Name
		_, c.OfStatus = c.Object.Object["status"]
		c.rename(fmt.Sprintf("%s-%d", strings.ReplaceAll(name, "_", "-"), i+1))
		cases = append(cases, c)
	}
	return cases, nil
}

func parseCase(base []byte, at, text string) (Case, error) {
	c := Case{Refused: directive(text, "# refused:")}
	if stored := directive(text, "# stored:"); stored != "" {
		data, err := placed(stored, at)
		if err != nil {
			return Case{}, err
		}
		if err := json.Unmarshal(data, &c.Stored); err != nil {
			return Case{}, err
		}
	}
	document := base
	for i, patch := range strings.SplitN(text, "\n---\n", 2) {
		data, err := placed(patch, at)
		if err != nil {
			return Case{}, err
		}
		if document, err = jsonpatch.MergePatch(document, data); err != nil {
			return Case{}, err
		}
		object := new(unstructured.Unstructured)
		if err := object.UnmarshalJSON(document); err != nil {
			return Case{}, err
		}
		if i == 0 {
			c.Object = object
		} else {
			c.Update = object
		}
	}
	return c, nil
}

func (c *Case) rename(name string) {
	c.Object.SetName(name)
	if c.Update != nil {
		c.Update.SetName(name)
	}
}

// placed returns the patch as JSON, nested below the dotted path. A patch of
// comments alone changes nothing.
func placed(patch, at string) ([]byte, error) {
	var value any
	if err := yaml.Unmarshal([]byte(patch), &value); err != nil {
		return nil, err
	}
	if value == nil {
		return []byte("{}"), nil
	}
	names := strings.Split(at, ".")
	for i := len(names) - 1; i >= 0 && at != ""; i-- {
		value = map[string]any{names[i]: value}
	}
	return json.Marshal(value)
}

// directive returns the rest of the first line that begins with the word.
func directive(text, word string) string {
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, word); ok {
			return strings.TrimSpace(rest)
		}
	}
	return ""
}
