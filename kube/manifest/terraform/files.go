package terraform

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// pathOf is the file that a module's file() means: names are from the folder of the module,
// which is taken for the one where Terraform runs.
func pathOf(folder, name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(folder, name)
}

// readFile reads a file that a module of a folder names.
func readFile(folder, name string) ([]byte, error) {
	path := pathOf(folder, name)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s does not exist: put it there, or give what is made of it by -f", path)
	}
	return data, err
}

// template parses a file that a module of a folder names as a template.
func template(folder, name string) (path string, data []byte, expr hclsyntax.Expression, err error) {
	path = pathOf(folder, name)
	if data, err = readFile(folder, name); err != nil {
		return path, nil, nil, err
	}
	expr, diags := hclsyntax.ParseTemplate(data, path, hcl.InitialPos)
	if diags.HasErrors() {
		return path, nil, nil, noHCL(path, diags)
	}
	return path, data, expr, nil
}

// templateFile makes a text of a file and of values. Templates name no other template files,
// as Terraform has it.
func templateFile(folder string) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "path", Type: cty.String}, {Name: "vars", Type: cty.DynamicPseudoType}}, Type: function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			if kind := args[1].Type(); !kind.IsObjectType() && !kind.IsMapType() {
				return cty.NilVal, errors.New("the second argument is no map")
			}
			_, _, expr, err := template(folder, args[0].AsString())
			if err != nil {
				return cty.NilVal, err
			}
			v, diags := expr.Value(&hcl.EvalContext{Functions: pure(), Variables: args[1].AsValueMap()})
			if diags.HasErrors() {
				at := diags[0].Subject
				return cty.NilVal, fmt.Errorf("%s:%d: %s", at.Filename, at.Start.Line, sentence(diags[0]))
			}
			if text, is := stringOf(v); is {
				return cty.StringVal(text), nil
			}
			return cty.UnknownVal(cty.String), nil
		},
	})
}

// given is what a template file is given, and by which block.
type given struct {
	by     *reader
	values map[string]hclsyntax.Expression
}

// read is what file() and templatefile() make of a file, as far as it can be known; ok: the
// call is one of them, and the file can be read.
func (r *reader) read(call *hclsyntax.FunctionCallExpr) (path, text string, ok bool) {
	if len(call.Args) == 0 || r.given != nil || (call.Name != "file" || len(call.Args) != 1) && (call.Name != "templatefile" || len(call.Args) != 2) {
		return "", "", false
	}
	v, known := r.value(call.Args[0])
	name, is := stringOf(v)
	if !known || !is {
		return "", "", false
	}
	if call.Name == "file" {
		data, err := readFile(r.module.folder, name)
		return pathOf(r.module.folder, name), r.escaped(string(data)), err == nil
	}
	values, is := call.Args[1].(*hclsyntax.ObjectConsExpr)
	if !is {
		return "", "", false
	}
	path, data, expr, err := template(r.module.folder, name)
	if err != nil {
		return "", "", false
	}
	inner := &reader{module: r.module, keep: r.keep, ctx: map[string]cty.Value{}, into: r.into, given: &given{r, map[string]hclsyntax.Expression{}}}
	for _, m := range membersOf(values) {
		inner.given.values[m.name] = m.value
		if inner.ctx[m.name], known = r.value(m.value); !known {
			inner.ctx[m.name] = cty.DynamicVal
		}
	}
	r.module.data[path] = data
	if whole, is := expr.(*hclsyntax.TemplateWrapExpr); is {
		expr = &hclsyntax.TemplateExpr{Parts: []hclsyntax.Expression{whole.Wrapped}, SrcRange: whole.SrcRange}
	}
	parts, is := expr.(*hclsyntax.TemplateExpr)
	if !is {
		return "", "", false
	}
	for _, part := range parts.Parts {
		if _, diags := inner.evaluate(part); diags.HasErrors() {
			return "", "", false // which the call itself reports
		}
	}
	return path, inner.text(parts), true
}

// held is the text that stands in a template file for what is not known: a value that it is
// given stands as where it is given, for only there it has a meaning.
func (g *given) held(into *Manifest, expr hclsyntax.Expression, text string) string {
	at := expr.Range()
	if of := g.values[strings.TrimSpace(text)]; of != nil {
		return g.by.held(of)
	}
	why := "depends on what is known once it is applied: write what it comes to"
	for _, t := range expr.Variables() {
		if g.values[t.RootName()] == nil {
			why = fmt.Sprintf("names %s, which templatefile() is not given", t.RootName())
		}
	}
	into.Unread = fmt.Sprintf("%s:%d: ${%s} %s", at.Filename, at.Start.Line, text, why)
	return ""
}
