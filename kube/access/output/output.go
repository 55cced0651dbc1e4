// Package output prints the result of a command in the form that its flag -o requests.
//
// It promises to refuse an unknown form, and an expression that it cannot parse, when the flag is
// read, before the cluster is asked anything; and that all forms except a command's own text show the
// same value. It does not write the command's own text.
package output

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/printers"
	"sigs.k8s.io/yaml"

	"github.com/daemok/daemok/internal/nearest"
)

// The forms that every command has.
const (
	Table = "table" // text for people
	Wide  = "wide"  // the same with more in it, where there is more
	JSON  = "json"
	YAML  = "yaml"
	Name  = "name" // kind and name of each object, as kubectl takes them
)

// Forms that have an expression after them, and an equal sign between.
const (
	inColumns  = "custom-columns"
	byPath     = "jsonpath"
	byTemplate = "go-template"
)

// Forms annotates the flag -o with its values, for completion. What needs an expression ends in "=".
const Forms = "forms"

// Format is the form that a command prints in. New makes one.
type Format struct {
	Notes io.Writer // where it is said that there was nothing to print; standard error, unless another is set

	asked    string
	own      []string // forms of the command alone
	nameless bool
	paths    *printers.JSONPathPrinter
	template *printers.GoTemplatePrinter
	cols     []column
}

// New returns a format of which nothing is asked for yet: then it is the first of the
// command's own forms, or Table where it has none.
func New(own ...string) *Format {
	f := &Format{Notes: os.Stderr, asked: Table, own: own}
	if len(own) > 0 {
		f.asked = own[0]
	}
	return f
}

// WithoutNames is the format of what is no object of a cluster: there is no form Name.
func (f *Format) WithoutNames() *Format {
	f.nameless = true
	return f
}

// AddTo lets a command take the form from -o.
func (f *Format) AddTo(flags *pflag.FlagSet) {
	flags.VarP(f, "output", "o", "form of what is printed: "+strings.Join(f.forms(), ", "))
	all := f.plain()
	for _, form := range []string{inColumns, byPath, byPath + "-file", byPath + "-as-json", byTemplate, byTemplate + "-file"} {
		all = append(all, form+"=")
	}
	flags.Lookup("output").Annotations = map[string][]string{Forms: all}
}

// String is the form asked for.
func (f *Format) String() string { return f.asked }

// Type is what help calls the value.
func (f *Format) Type() string { return "form" }

// Set takes the form. The error names the forms that there are, the one probably meant
// first, or says what is wrong with an expression.
func (f *Format) Set(text string) error {
	form, expression, has := strings.Cut(text, "=")
	var cols []column
	var paths *printers.JSONPathPrinter
	var template *printers.GoTemplatePrinter
	var err error
	switch {
	case slices.Contains(f.plain(), text):
	case form == inColumns && has:
		cols, err = readColumns(expression)
	case strings.HasPrefix(form, byPath):
		paths, err = readPath(text)
	case form == byTemplate || form == byTemplate+"-file":
		template, err = readTemplate(text)
	case form == inColumns:
		err = errors.New("say which columns: -o custom-columns=NAME:.name,POOL:.pool")
	default:
		err = fmt.Errorf("there is no such form: want %s", strings.Join(f.nearestFirst(form), ", "))
	}
	if err == nil {
		f.asked, f.cols, f.paths, f.template = text, cols, paths, template
	}
	return err
}

// plain are the forms that are a word alone.
func (f *Format) plain() []string {
	all := slices.Clone(f.own)
	if len(all) == 0 {
		all = []string{Table, Wide}
	}
	for _, form := range []string{JSON, YAML, Name} {
		if !slices.Contains(all, form) && (form != Name || !f.nameless) {
			all = append(all, form)
		}
	}
	return all
}

// forms are all, for help and errors. A command's own take the place of the text for people.
func (f *Format) forms() []string {
	return append(f.plain(), inColumns+"=COLUMNS", byPath+"=TEMPLATE", byPath+"-file=FILE", byPath+"-as-json=TEMPLATE",
		byTemplate+"=TEMPLATE", byTemplate+"-file=FILE")
}

// nearestFirst are all, the one that was probably meant before the others.
func (f *Format) nearestFirst(word string) []string {
	all := f.forms()
	var words []string
	for _, form := range all {
		first, _, _ := strings.Cut(form, "=")
		words = append(words, first)
	}
	if at := slices.Index(words, nearest.Word(strings.ToLower(word), words)); at > 0 {
		meant := all[at]
		return append([]string{meant}, slices.Delete(all, at, at+1)...)
	}
	return all
}

// readPath reads a template for values, as kubectl does.
func readPath(text string) (*printers.JSONPathPrinter, error) {
	lenient := true
	p, err := (&genericclioptions.JSONPathPrintFlags{AllowMissingKeys: &lenient}).ToPrinter(text)
	if genericclioptions.IsNoCompatiblePrinterError(err) {
		return nil, errors.New("say what to print: -o jsonpath='{.items}', or -file= or -as-json= in its place")
	}
	if err != nil {
		return nil, err
	}
	path, is := p.(*printers.JSONPathPrinter)
	if !is {
		panic("output: a template for values makes a printer of another kind")
	}
	return path, nil
}

// Is reports whether a form is asked for.
func (f *Format) Is(form string) bool { return f.asked == form }

// ForPeople reports whether text is asked for, so that progress may be reported at once.
func (f *Format) ForPeople() bool { return f.asked == Table || f.asked == Wide }

// Answer is what a command has found.
type Answer struct {
	Value any                   // all of it, as JSON shows it
	Rows  []Row                 // a line each of Name and of columns
	Text  func(io.Writer) error // prints it for people, and in the command's own forms
	None  string                // what it means that there are no rows, as a clause; empty: no more is to be said
}

// Row is one thing of a list.
type Row struct {
	Object Object // what it is about; zero: no object of a cluster
	Value  any    // as JSON shows it
}

// Object is an object of a cluster, or a thing at AWS without a group.
type Object struct{ Group, Kind, Name string }

// Print prints an answer in the form asked for. As with kubectl, a list of names or columns without rows is a line
// in Notes alone.
func (f *Format) Print(out io.Writer, a Answer) error {
	switch {
	case slices.Contains(f.own, f.asked) || f.ForPeople():
		return a.Text(out)
	case f.asked == JSON:
		return writeJSON(out, a.Value)
	case f.asked == YAML:
		return writeYAML(out, a.Value)
	case f.asked == Name:
		return f.writeNames(out, a)
	case f.paths != nil:
		value, err := plainValue(a.Value)
		if err != nil {
			return err
		}
		if err := f.paths.JSONPath.Execute(out, value); err != nil {
			return fmt.Errorf("-o %s: %w; -o json shows what there is, and what is a fraction there is compared with 1.0, not 1", f.asked, err)
		}
		return nil
	case f.template != nil:
		return f.writeTemplate(out, a.Value)
	}
	if len(a.Rows) == 0 {
		return f.sayNone(a)
	}
	return f.writeColumns(out, a.Rows)
}

// sayNone says that there is nothing to print, in kubectl's words.
func (f *Format) sayNone(a Answer) error {
	text := "No resources found"
	if a.None != "" {
		text += ": " + a.None
	}
	_, err := fmt.Fprintln(f.Notes, text)
	return err
}

func writeJSON(out io.Writer, value any) error {
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(value)
}

func writeYAML(out io.Writer, value any) error {
	data, err := yaml.Marshal(value)
	if err != nil {
		return err
	}
	_, err = out.Write(data)
	return err
}

// writeNames prints the objects of rows as kubectl names them, each once.
func (f *Format) writeNames(out io.Writer, a Answer) error {
	reported := map[Object]bool{}
	for _, r := range a.Rows {
		if r.Object.Name == "" || reported[r.Object] {
			continue
		}
		reported[r.Object] = true
		o := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: r.Object.Name}}
		o.Kind, o.APIVersion = r.Object.Kind, "v1"
		if r.Object.Group != "" {
			o.APIVersion = r.Object.Group + "/v1"
		}
		if err := (&printers.NamePrinter{}).PrintObj(o, out); err != nil {
			return err
		}
	}
	if len(reported) == 0 {
		return f.sayNone(a)
	}
	return nil
}

// Refuse has a command that has no such forms say why where one is asked for.
func Refuse(flags *pflag.FlagSet, why string) {
	flags.VarP(refusal(why), "output", "o", "")
	flags.Lookup("output").Hidden = true
}

// refusal is a flag that takes no value.
type refusal string

func (r refusal) String() string   { return "" }
func (r refusal) Type() string     { return "form" }
func (r refusal) Set(string) error { return errors.New(string(r)) }
