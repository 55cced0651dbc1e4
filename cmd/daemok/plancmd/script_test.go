package plancmd

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// Scripts can see by the exit code whether a plan does anything.
func TestPlanSaysByItsExitCodeWhetherItDoesAnything(t *testing.T) {
	text, err := os.ReadFile(situationFile)
	if err != nil {
		t.Fatal(err)
	}
	lines := slices.DeleteFunc(strings.SplitAfter(string(text), "\n"), func(line string) bool { return strings.HasPrefix(line, "waiting ") })
	quiet := filepath.Join(t.TempDir(), "situation")
	if err := os.WriteFile(quiet, []byte(strings.Join(lines, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, story := range []struct {
		says string
		args []string
		want string // of an error with code 2
	}{
		{"pods that wait need an instance", []string{"--snapshot", situationFile, "--detailed-exitcode"}, "1 instance launched, 0 NodeClaims withdrawn, 0 nodes disrupted"},
		{"it is not asked for", []string{"--snapshot", situationFile}, ""},
		{"nothing is to be done", []string{"--snapshot", quiet, "--detailed-exitcode"}, ""},
		{"manifests need an instance", []string{"--snapshot", quiet, "-f", manifestsFolder + "/api.yaml", "--detailed-exitcode", "-o", "name"}, "1 instance launched"},
	} {
		out, err := run(t, append([]string{"plan"}, story.args...)...)
		var exit *ExitError
		switch {
		case story.want == "" && err != nil, story.want != "" && (!errors.As(err, &exit) || exit.Code != WouldChange || !strings.Contains(err.Error(), story.want)):
			t.Errorf("%s: got %v, want %q", story.says, err, story.want)
		case out == "" && !slices.Contains(story.args, quiet):
			t.Errorf("%s: the plan is not printed", story.says)
		}
	}
}

// The fields of -o json that scripts may rely on are those of testdata/plan_fields.txt:
// it only ever grows.
func TestFieldsOfAPlanStay(t *testing.T) {
	text, err := os.ReadFile("testdata/plan_fields.txt")
	if err != nil {
		t.Fatal(err)
	}
	want, got := strings.Fields(string(text)), fieldsOf(reflect.TypeFor[JSON](), "")
	for _, name := range want {
		if !slices.Contains(got, name) {
			t.Errorf("daemok plan -o json has no %s any more, which scripts may rely on", name)
		}
	}
	for _, name := range got {
		if !slices.Contains(want, name) {
			t.Errorf("daemok plan -o json has %s: add it to testdata/plan_fields.txt", name)
		}
	}
}

// fieldsOf are the paths of JSON below a type, with the kinds of their ends.
func fieldsOf(kind reflect.Type, path string) (out []string) {
	switch kind.Kind() {
	case reflect.Pointer:
		return fieldsOf(kind.Elem(), path)
	case reflect.Slice:
		return fieldsOf(kind.Elem(), path+"[]")
	case reflect.Struct:
		for i := range kind.NumField() {
			below := path
			if f := kind.Field(i); !f.Anonymous {
				name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
				below += "." + name
			}
			out = append(out, fieldsOf(kind.Field(i).Type, below)...)
		}
		return out
	}
	return []string{path + ":" + kind.String()}
}
