package terraform

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"go.yaml.in/yaml/v3"
)

// reader reads one manifest of a module.
type reader struct {
	module *module
	keep   bool
	ctx    map[string]cty.Value // each and count of an instance, or what a template file is given
	into   *Manifest
	depth  int    // of locals in locals
	given  *given // nil but in a template file
}

// depthMax ends locals that name themselves, which Terraform refuses.
const depthMax = 32

// instance is one of a resource with for_each or count.
type instance struct {
	suffix string
	ctx    map[string]cty.Value
}

// instancesMax is how many instances of a resource are read.
const instancesMax = 1000

// instances are those of a resource; why says why they are not known.
func (r *reader) instances(b *hclsyntax.Block) (out []instance, why string) {
	if a := b.Body.Attributes["count"]; a != nil {
		v, known := r.value(a.Expr)
		number, err := convert.Convert(v, cty.Number)
		if !known || err != nil || number.IsNull() {
			return []instance{{}}, "" // what depends on it is reported where it stands
		}
		n, _ := number.AsBigFloat().Int64()
		if n > instancesMax {
			return nil, fmt.Sprintf("it has %d instances, more than %d", n, instancesMax)
		}
		for i := range n {
			out = append(out, instance{fmt.Sprintf("[%d]", i), map[string]cty.Value{"count": cty.ObjectVal(map[string]cty.Value{"index": cty.NumberIntVal(i)})}})
		}
		return out, ""
	}
	a := b.Body.Attributes["for_each"]
	if a == nil {
		return []instance{{}}, ""
	}
	v, known := r.value(a.Expr)
	if !known || v.IsNull() || !v.CanIterateElements() {
		return []instance{{}}, ""
	}
	if v.LengthInt() > instancesMax {
		return nil, fmt.Sprintf("it has %d instances, more than %d", v.LengthInt(), instancesMax)
	}
	for it := v.ElementIterator(); it.Next(); {
		key, value := it.Element()
		if v.Type().IsSetType() {
			key = value
		}
		text, is := stringOf(key)
		if !is {
			return nil, "its for_each is neither a map nor a set of texts"
		}
		out = append(out, instance{fmt.Sprintf("[%q]", text), map[string]cty.Value{"each": cty.ObjectVal(map[string]cty.Value{"key": key, "value": value})}})
	}
	return out, ""
}

// value evaluates an expression; known: all of it could be.
func (r *reader) value(expr hclsyntax.Expression) (v cty.Value, known bool) {
	v, diags := r.evaluate(expr)
	return v, !diags.HasErrors() && v.IsWhollyKnown()
}

func (r *reader) evaluate(expr hclsyntax.Expression) (cty.Value, hcl.Diagnostics) {
	ctx := r.module.context(expr)
	maps.Copy(ctx.Variables, r.ctx)
	return expr.Value(ctx)
}

// why says why an expression cannot be evaluated, and what to do.
func (r *reader) why(expr hclsyntax.Expression) []string {
	var out []string
	say := func(format string, args ...any) {
		if text := fmt.Sprintf(format, args...); !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	for _, name := range r.module.calls(expr) {
		say("%s is not carried out here: give what it makes of it, or the file that it reads, by -f", name)
	}
	r.module.each(expr, func(t hcl.Traversal) {
		words := source(r.module.data, t.SourceRange())
		name, isVar := named(t, "var")
		_, has := r.module.defaults[name]
		_, given := r.module.given[name]
		_, set := r.ctx[t.RootName()]
		switch {
		case isVar && (has || given) || set || t.RootName() == "path":
		case isVar && r.module.declared[name]:
			say("var.%s has no value: give it a default, or a value in terraform.tfvars", name)
		case isVar:
			say("var.%s is declared in no file that is read", name)
		case t.RootName() == "local":
			say("%s is declared in no file that is read", words)
		case t.RootName() == "each" || t.RootName() == "count":
			say("%s is not known, since for_each or count of the resource is not: write what it comes to", words)
		default:
			say("%s is known once it is applied: write what it comes to", words)
		}
	})
	if len(out) > 0 {
		return out
	}
	if _, diags := r.evaluate(expr); diags.HasErrors() {
		for _, d := range diags {
			say("%s", sentence(d))
		}
		return out
	}
	return []string{"it is not known: write what it comes to"}
}

// source is the text of a range.
func source(data map[string][]byte, at hcl.Range) string {
	return string(data[at.Filename][at.Start.Byte:at.End.Byte])
}

// held is the text that stands for an expression that cannot be evaluated.
func (r *reader) held(expr hclsyntax.Expression) string {
	at := expr.Range()
	text := source(r.module.data, at)
	if r.given != nil {
		return r.given.held(r.into, expr, text)
	}
	for _, why := range r.why(expr) {
		if reported := fmt.Sprintf("%s:%d: %s", at.Filename, at.Start.Line, why); !slices.Contains(r.into.Unknown, reported) {
			r.into.Unknown = append(r.into.Unknown, reported)
		}
	}
	return "${" + text + "}"
}

// escaped is text that is known, as templates have it where they are kept.
func (r *reader) escaped(text string) string {
	if !r.keep {
		return text
	}
	return strings.NewReplacer("${", "$${", "%{", "%%{").Replace(text)
}

// text is a template, as far as it can be evaluated.
func (r *reader) text(e *hclsyntax.TemplateExpr) string {
	var out strings.Builder
	for _, part := range e.Parts {
		if v, known := r.value(part); known {
			if text, is := stringOf(v); is {
				out.WriteString(r.escaped(text))
				continue
			}
		}
		if call, is := part.(*hclsyntax.FunctionCallExpr); is {
			if _, text, ok := r.read(call); ok {
				out.WriteString(text)
				continue
			}
		}
		if strings.HasPrefix(source(r.module.data, part.Range()), "%{") {
			r.into.Unread = fmt.Sprintf("the directive at line %d cannot be carried out: %s", part.Range().Start.Line, strings.Join(r.why(part), "; "))
			continue
		}
		out.WriteString(r.held(part))
	}
	return out.String()
}

// stringOf is a value as templates print it; is: it is a text, a number or a truth.
func stringOf(v cty.Value) (text string, is bool) {
	if !v.IsKnown() || v.IsNull() || !v.Type().IsPrimitiveType() {
		return "", false
	}
	s, err := convert.Convert(v, cty.String)
	if err != nil {
		return "", false
	}
	return s.AsString(), true
}

// node is an expression as YAML has it, with its lines.
func (r *reader) node(expr hclsyntax.Expression) *yaml.Node {
	line := expr.Range().Start.Line
	if v, known := r.value(expr); known && !composed(expr) {
		return r.fromValue(v, line)
	}
	switch e := expr.(type) {
	case *hclsyntax.ObjectConsExpr:
		out := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: line}
		for _, item := range e.Items {
			value := r.node(item.ValueExpr)
			if value.Tag == "!!null" {
				continue // as if it were not set
			}
			out.Content = append(out.Content, r.key(item.KeyExpr), value)
		}
		return out
	case *hclsyntax.TupleConsExpr:
		out := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Line: line}
		for _, item := range e.Exprs {
			out.Content = append(out.Content, r.node(item))
		}
		return out
	case *hclsyntax.ParenthesesExpr:
		return r.node(e.Expression)
	case *hclsyntax.TemplateWrapExpr:
		return r.node(e.Wrapped)
	case *hclsyntax.TemplateExpr:
		return textNode(r.text(e), line)
	case *hclsyntax.FunctionCallExpr:
		if _, text, ok := r.read(e); ok {
			return textNode(text, line)
		}
	case *hclsyntax.ScopeTraversalExpr:
		if of := r.module.localOf(e); of != nil && r.depth < depthMax {
			r.depth++
			defer func() { r.depth-- }()
			return r.node(of)
		}
	}
	return textNode(r.held(expr), line)
}

// composed reports whether an expression has parts with lines of their own.
func composed(expr hclsyntax.Expression) bool {
	switch expr.(type) {
	case *hclsyntax.ObjectConsExpr, *hclsyntax.TupleConsExpr, *hclsyntax.ParenthesesExpr:
		return true
	}
	return false
}

func (r *reader) key(expr hclsyntax.Expression) *yaml.Node {
	line := expr.Range().Start.Line
	if v, known := r.value(expr); known {
		if text, is := stringOf(v); is {
			return textNode(r.escaped(text), line)
		}
	}
	return textNode(r.held(expr), line)
}

func textNode(text string, line int) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text, Line: line}
}

// fromValue is a value that is known, all of it on one line.
func (r *reader) fromValue(v cty.Value, line int) *yaml.Node {
	kind := v.Type()
	switch {
	case v.IsNull():
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null", Line: line}
	case kind == cty.String:
		return textNode(r.escaped(v.AsString()), line)
	case kind == cty.Bool:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: fmt.Sprint(v.True()), Line: line}
	case kind == cty.Number:
		number := v.AsBigFloat()
		if number.IsInt() {
			return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: number.Text('f', 0), Line: line}
		}
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!float", Value: number.Text('g', -1), Line: line}
	case kind.IsObjectType() || kind.IsMapType():
		out := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: line}
		for it := v.ElementIterator(); it.Next(); {
			key, value := it.Element()
			if value.IsNull() {
				continue
			}
			out.Content = append(out.Content, textNode(r.escaped(key.AsString()), line), r.fromValue(value, line))
		}
		return out
	}
	out := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Line: line}
	for it := v.ElementIterator(); it.Next(); {
		_, value := it.Element()
		out.Content = append(out.Content, r.fromValue(value, line))
	}
	return out
}
