package output_test

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/daemok/daemok/kube/access/output"
)

type instance struct {
	Name  string   `json:"name"`
	Cost  float64  `json:"cost"`
	Pods  []string `json:"pods,omitempty"`
	Count int64    `json:"count"`
}

// two instances, one of which is no object of a cluster.
func two() output.Answer {
	first, second := instance{"a", 0.5, []string{"x", "y"}, 3000000}, instance{"b", 0, nil, 0}
	return output.Answer{
		Value: map[string][]instance{"machines": {first, second}},
		Rows: []output.Row{
			{Object: output.Object{Group: "karpenter.sh", Kind: "NodeClaim", Name: "a"}, Value: first},
			{Object: output.Object{Group: "karpenter.sh", Kind: "NodeClaim", Name: "a"}, Value: first},
			{Object: output.Object{Kind: "Node", Name: "n"}, Value: second}, {Value: second},
		},
		Text: func(out io.Writer) error { _, err := io.WriteString(out, "two machines\n"); return err },
	}
}

// asked parses flags as a command does.
func asked(f *output.Format, args ...string) error {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	f.AddTo(flags)
	return flags.Parse(args)
}

func TestFormsOfKubectl(t *testing.T) {
	file := filepath.Join(t.TempDir(), "template")
	if err := os.WriteFile(file, []byte("{.machines[0].name}"), 0o600); err != nil {
		t.Fatal(err)
	}
	goFile := filepath.Join(t.TempDir(), "template")
	if err := os.WriteFile(goFile, []byte("{{(index .machines 0).name}}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for form, want := range map[string]string{
		"":     "two machines\n",
		"wide": "two machines\n",
		"json": "{\n  \"machines\": [\n    {\n      \"name\": \"a\",\n      \"cost\": 0.5,\n      \"pods\": [\n        \"x\",\n        \"y\"\n      ],\n      \"count\": 3000000\n    },\n" +
			"    {\n      \"name\": \"b\",\n      \"cost\": 0,\n      \"count\": 0\n    }\n  ]\n}\n",
		"yaml": "machines:\n- cost: 0.5\n  count: 3000000\n  name: a\n  pods:\n  - x\n  - \"y\"\n- cost: 0\n  count: 0\n  name: b\n",
		"name": "nodeclaim.karpenter.sh/a\nnode/n\n",
		"custom-columns=NAME:.name,PODS:pods[*],N:{.count},ALL:.pods": "NAME   PODS     N         ALL\na      x,y      3000000   [\"x\",\"y\"]\n" +
			"a      x,y      3000000   [\"x\",\"y\"]\nb      <none>   0         <none>\nb      <none>   0         <none>\n",
		"jsonpath={.machines[*].count} {.none}":                                              "3000000 0 ",
		"jsonpath={range .machines[?(@.cost>0.1)]}{.name}{end}":                              "a",
		"jsonpath-as-json={.machines[*].name}":                                               "[\n    \"a\",\n    \"b\"\n]\n",
		"jsonpath-file=" + file:                                                              "a",
		"go-template={{range .machines}}{{.name}} {{.count}} {{exists . \"pods\"}}, {{end}}": "a 3000000 true, b 0 false, ",
		"go-template-file=" + goFile:                                                         "a",
	} {
		t.Run(form, func(t *testing.T) {
			f := output.New()
			if form != "" {
				if err := asked(f, "-o", form); err != nil {
					t.Fatal(err)
				}
			}
			var out strings.Builder
			if err := f.Print(&out, two()); err != nil || tidy(out.String()) != tidy(want) {
				t.Errorf("got (%v)\n%s\nwant\n%s", err, &out, want)
			}
		})
	}
}

// As with kubectl a list without rows prints nothing but a line that says so, beside the output; values are printed as they are.
func TestNothingToList(t *testing.T) {
	for form, want := range map[string][2]string{
		"name":                       {"", "No resources found: the plan does nothing\n"},
		"custom-columns=NAME:.name":  {"", "No resources found: the plan does nothing\n"},
		"json":                       {"{}\n", ""},
		"jsonpath={.launches}":       {"", ""},
		"go-template={{.launches}}.": {"<no value>.", ""},
	} {
		t.Run(form, func(t *testing.T) {
			var out, notes strings.Builder
			f := output.New()
			f.Notes = &notes
			if err := asked(f, "-o", form); err != nil {
				t.Fatal(err)
			}
			if err := f.Print(&out, output.Answer{Value: map[string]string{}, None: "the plan does nothing"}); err != nil || out.String() != want[0] || notes.String() != want[1] {
				t.Errorf("printed %q, beside it %q, %v; want %q, %q", &out, &notes, err, want[0], want[1])
			}
		})
	}
}

// tidy takes space from the ends of lines, which tables have.
func tidy(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

func TestFormsThatAreNone(t *testing.T) {
	all := "table, wide, json, yaml, name, custom-columns=COLUMNS, jsonpath=TEMPLATE, jsonpath-file=FILE, jsonpath-as-json=TEMPLATE, go-template=TEMPLATE, go-template-file=FILE"
	for form, want := range map[string]string{
		"xml":                        `invalid argument "xml" for "-o, --output" flag: there is no such form: want ` + all,
		"":                           "want " + all,
		"yml":                        "want yaml, table, wide, json, name",
		"JSN":                        "want json, table",
		"custom-column=A:.a":         "want custom-columns=COLUMNS, table",
		"custom-columns":             "say which columns: -o custom-columns=NAME:.name",
		"custom-columns=NAME":        `column "NAME": write HEADER:.path`,
		"custom-columns=A:.a,B:.b[x": `column "B:.b[x": `,
		"jsonpath":                   "template format specified but no template given",
		"jsonpath={.a":               "unclosed action",
		"jsonpaths={.a}":             "say what to print: -o jsonpath=",
		"jsonpath-file=none":         "none: no such file",
		"go-template":                "no template given: write -o go-template='{{.items}}'",
		"go-template={{.a":           "error parsing template {{.a",
		"go-template-file=none":      "none: no such file",
		"go-templates={{.a}}":        "want go-template=TEMPLATE, table",
	} {
		t.Run(form, func(t *testing.T) {
			f := output.New()
			if err := asked(f, "-o", form); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %q", err, want)
			}
			if !f.ForPeople() {
				t.Error("the wrong form was taken")
			}
		})
	}
}

// A command's own forms go before kubectl's, and the first is printed where none is asked for.
func TestFormsOfACommand(t *testing.T) {
	f := output.New("json", "terraform")
	var out strings.Builder
	if err := f.Print(&out, two()); err != nil || out.String() != "two machines\n" || !f.Is("json") {
		t.Errorf("it printed (%v) %q as %s", err, &out, f)
	}
	if err := asked(f, "-o", "teraform"); err == nil || !strings.Contains(err.Error(), "want terraform, json, yaml") {
		t.Errorf("got %v", err)
	}
}

// A template that does not fit what there is says so in a line, and prints nothing.
func TestATemplateThatDoesNotFit(t *testing.T) {
	for _, form := range []string{"jsonpath={.machines[?(@.cost>1)]}", "go-template=before\n{{index .machines 5}}"} {
		f := output.New()
		if err := asked(f, "-o", form); err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		err := f.Print(&out, two())
		if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "-o json shows what there is") || out.Len() > 0 {
			t.Errorf("%s: got %v and printed %q", form, err, &out)
		}
	}
}

// A list is .items to templates of Go, as lists of kubectl are.
func TestATemplateOfAList(t *testing.T) {
	f := output.New()
	if err := asked(f, "-o", "go-template={{range .items}}{{.name}} {{end}}"); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := f.Print(&out, output.Answer{Value: []instance{{Name: "a"}, {Name: "b"}}}); err != nil || out.String() != "a b " {
		t.Errorf("got %q, %v", &out, err)
	}
}

// What JSON has stands there as it is: nothing is escaped for the pages of a browser.
func TestJSONIsForTerminals(t *testing.T) {
	f := output.New()
	if err := asked(f, "-o", "json"); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := f.Print(&out, output.Answer{Value: map[string]string{"why": "cpu <4 & memory >8Gi"}}); err != nil || out.String() != "{\n  \"why\": \"cpu <4 & memory >8Gi\"\n}\n" {
		t.Errorf("got %q, %v", &out, err)
	}
}

func TestWhatHasNoFormsSaysWhy(t *testing.T) {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	output.Refuse(flags, "it prints text alone")
	if err := flags.Parse([]string{"-o", "json"}); err == nil || err.Error() != `invalid argument "json" for "-o, --output" flag: it prints text alone` {
		t.Errorf("got %v", err)
	}
	if flags.HasAvailableFlags() {
		t.Error("help lists the flag that is refused")
	}
}
