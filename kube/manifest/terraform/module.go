package terraform

import (
	"cmp"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// module is what the files of a folder declare.
type module struct {
	folder   string
	locals   map[string]hclsyntax.Expression
	declared map[string]bool      // variables
	defaults map[string]cty.Value // of variables that have one
	given    map[string]cty.Value // by *.tfvars
	stable   map[string]cty.Value // locals, unknown as far as they are
	used     map[string]bool      // locals that manifests are made of
	data     map[string][]byte    // files by name
}

func newModule(folder string) *module {
	return &module{folder, map[string]hclsyntax.Expression{}, map[string]bool{}, map[string]cty.Value{}, map[string]cty.Value{}, map[string]cty.Value{}, map[string]bool{}, map[string][]byte{}}
}

// declare takes in the variables and locals of a file.
func (m *module) declare(f *hclFile) {
	m.data[f.Name] = f.Data
	for _, b := range f.body.Blocks {
		switch {
		case b.Type == "locals":
			for name, a := range b.Body.Attributes {
				m.locals[name] = a.Expr
			}
		case b.Type == "variable" && len(b.Labels) == 1:
			m.declared[b.Labels[0]] = true
			if a := b.Body.Attributes["default"]; a != nil {
				if v, diags := a.Expr.Value(nil); !diags.HasErrors() && !v.IsNull() {
					m.defaults[b.Labels[0]] = v
				}
			}
		}
	}
}

// takeValues takes in values of variables.
func (m *module) takeValues(f *hclFile) {
	for name, a := range f.body.Attributes {
		if v, diags := a.Expr.Value(nil); !diags.HasErrors() {
			m.given[name] = v
		}
	}
}

// stabilize evaluates locals, which may name each other, until no more becomes known.
func (m *module) stabilize() {
	names := make([]string, 0, len(m.locals))
	for name := range m.locals {
		m.stable[name] = cty.DynamicVal
		names = append(names, name)
	}
	slices.Sort(names)
	for range names {
		changed := false
		for _, name := range names {
			if m.stable[name].IsWhollyKnown() {
				continue
			}
			v, diags := m.locals[name].Value(m.context(m.locals[name]))
			if diags.HasErrors() || v.RawEquals(m.stable[name]) {
				continue
			}
			m.stable[name], changed = v, true
		}
		if !changed {
			return
		}
	}
}

// context is what expressions of the module may name: what is not known is there without a
// value, so that the rest can be evaluated.
func (m *module) context(expr hclsyntax.Expression) *hcl.EvalContext {
	variables := map[string]cty.Value{}
	for name := range m.declared {
		variables[name] = cty.DynamicVal
	}
	for _, values := range []map[string]cty.Value{m.defaults, m.given} {
		for name, v := range values {
			variables[name] = v
		}
	}
	ctx := &hcl.EvalContext{Functions: functions(m.folder), Variables: map[string]cty.Value{
		"var": cty.ObjectVal(variables), "local": cty.ObjectVal(m.stable), "path": cty.ObjectVal(paths)}}
	for _, t := range expr.Variables() {
		if _, is := ctx.Variables[t.RootName()]; !is {
			ctx.Variables[t.RootName()] = cty.DynamicVal
		}
	}
	return ctx
}

// paths are those of the folder, to which file() and templatefile() take names.
var paths = map[string]cty.Value{"module": cty.StringVal("."), "root": cty.StringVal("."), "cwd": cty.StringVal(".")}

// named is the attribute that a traversal names below a root: zones of var.zones[0].
func named(t hcl.Traversal, root string) (string, bool) {
	if t.RootName() != root || len(t) < 2 {
		return "", false
	}
	a, is := t[1].(hcl.TraverseAttr)
	return a.Name, is
}

// localOf is what a local is, where an expression is that local and nothing more; else nil.
func (m *module) localOf(e *hclsyntax.ScopeTraversalExpr) hclsyntax.Expression {
	name, is := named(e.Traversal, "local")
	if !is || len(e.Traversal) != 2 {
		return nil
	}
	return m.locals[name]
}

// each calls something with every traversal of an expression and of the locals that it names.
func (m *module) each(expr hclsyntax.Expression, do func(hcl.Traversal)) {
	all := expr.Variables()
	for _, name := range m.localsOf(expr) {
		all = append(all, m.locals[name].Variables()...)
	}
	for _, t := range all {
		if name, is := named(t, "local"); !is || m.locals[name] == nil {
			do(t)
		}
	}
}

// calls are the functions that an expression needs and that are not known here, sorted.
func (m *module) calls(expr hclsyntax.Expression) []string {
	known, found := functions(m.folder), map[string]bool{}
	look := func(n hclsyntax.Node) hcl.Diagnostics {
		if call, is := n.(*hclsyntax.FunctionCallExpr); is {
			if _, is := known[call.Name]; !is {
				found[call.Name] = true
			}
		}
		return nil
	}
	_ = hclsyntax.VisitAll(expr, look) // which finds nothing wrong
	for _, name := range m.localsOf(expr) {
		_ = hclsyntax.VisitAll(m.locals[name], look)
	}
	return slices.Sorted(maps.Keys(found))
}

// localsOf are the locals that an expression names, and those that these name.
func (m *module) localsOf(expr hclsyntax.Expression) []string {
	var names []string
	var walk func(hclsyntax.Expression)
	walk = func(e hclsyntax.Expression) {
		for _, t := range e.Variables() {
			if name, is := named(t, "local"); is && m.locals[name] != nil && !slices.Contains(names, name) {
				names = append(names, name)
				walk(m.locals[name])
			}
		}
	}
	walk(expr)
	return names
}

// use notes the locals that a manifest is made of.
func (m *module) use(expr hclsyntax.Expression) {
	for _, name := range m.localsOf(expr) {
		m.used[name] = true
	}
}

// defaultsOf are the variables that an expression takes the defaults of.
func (m *module) defaultsOf(expr hclsyntax.Expression) []string {
	var out []string
	m.each(expr, func(t hcl.Traversal) {
		name, is := named(t, "var")
		_, given := m.given[name]
		_, has := m.defaults[name]
		if is && has && !given && !slices.Contains(out, "var."+name) {
			out = append(out, "var."+name)
		}
	})
	slices.Sort(out)
	return out
}

// sorted are attributes in the order of the file.
func sorted(all hclsyntax.Attributes) []*hclsyntax.Attribute {
	var out []*hclsyntax.Attribute
	for _, a := range all {
		out = append(out, a)
	}
	slices.SortFunc(out, func(a, b *hclsyntax.Attribute) int {
		return cmp.Compare(a.NameRange.Start.Byte, b.NameRange.Start.Byte)
	})
	return out
}
