package terraform

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// isJSON reports whether a file has Terraform's other syntax, by its name.
func isJSON(name string) bool {
	return strings.HasSuffix(name, ".tf.json") || strings.HasSuffix(name, ".tfvars.json")
}

// parseJSON reads a file of Terraform's JSON: an object of blocks, whose texts are templates.
// What it returns has that text in HCL, line for line, in place of the JSON.
func parseJSON(s Source) (*hclFile, error) {
	text, err := nativeOf(s.Data)
	if err != nil {
		return nil, fmt.Errorf("%s:%w", s.Name, err)
	}
	expr, diags := hclsyntax.ParseExpression(text, s.Name, hcl.InitialPos)
	if diags.HasErrors() {
		return nil, noHCL(s.Name, diags)
	}
	s.Data = text
	f := &hclFile{Source: s, body: &hclsyntax.Body{Attributes: hclsyntax.Attributes{}}}
	if !IsSource(s.Name) {
		for _, m := range membersOf(expr) {
			f.body.Attributes[m.name] = m.attribute()
		}
		return f, nil
	}
	for _, m := range membersOf(expr) {
		if m.name != "//" {
			f.body.Blocks = append(f.body.Blocks, blocksOf(m.name, nil, m.at, m.value)...)
		}
	}
	return f, nil
}

// labelsOf are the labels of a block's type; types that are not there have none.
var labelsOf = map[string]int{"resource": 2, "data": 2, "ephemeral": 2, "variable": 1, "module": 1, "provider": 1, "output": 1, "check": 1}

// blocksOf are the blocks of a type: objects within objects by their labels, or lists of them.
func blocksOf(kind string, labels []string, at hcl.Range, value hclsyntax.Expression) (out []*hclsyntax.Block) {
	if list, is := value.(*hclsyntax.TupleConsExpr); is {
		for _, item := range list.Exprs {
			out = append(out, blocksOf(kind, labels, at, item)...)
		}
		return out
	}
	if len(labels) < labelsOf[kind] {
		for _, m := range membersOf(value) {
			if m.name != "//" {
				out = append(out, blocksOf(kind, append(labels[:len(labels):len(labels)], m.name), m.at, m.value)...)
			}
		}
		return out
	}
	body := &hclsyntax.Body{Attributes: hclsyntax.Attributes{}, SrcRange: value.Range(), EndRange: hcl.Range{Filename: at.Filename, Start: value.Range().End, End: value.Range().End}}
	for _, m := range membersOf(value) {
		if m.name != "//" {
			body.Attributes[m.name] = m.attribute()
		}
	}
	return []*hclsyntax.Block{{Type: kind, Labels: labels, Body: body, TypeRange: at, OpenBraceRange: at, CloseBraceRange: body.EndRange}}
}

// member is one of an object.
type member struct {
	name  string
	at    hcl.Range
	value hclsyntax.Expression
}

func (m member) attribute() *hclsyntax.Attribute {
	return &hclsyntax.Attribute{Name: m.name, Expr: m.value, NameRange: m.at, EqualsRange: m.at, SrcRange: hcl.RangeBetween(m.at, m.value.Range())}
}

// membersOf are those of an object, in order; what is no object has none.
func membersOf(value hclsyntax.Expression) (out []member) {
	object, is := value.(*hclsyntax.ObjectConsExpr)
	if !is {
		return nil
	}
	for _, item := range object.Items {
		if key, diags := item.KeyExpr.Value(nil); !diags.HasErrors() {
			if name, is := stringOf(key); is {
				out = append(out, member{name, item.KeyExpr.Range(), item.ValueExpr})
			}
		}
	}
	return out
}

// nativeOf is JSON as an expression of HCL, with each member on the line that it has in JSON.
// Errors begin with the line.
func nativeOf(data []byte) ([]byte, error) {
	w := &native{}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	before := 0
	for {
		token, err := d.Token()
		at := int(d.InputOffset())
		if errors.Is(err, io.EOF) && w.depth() == 0 && w.out.Len() > 0 {
			return w.out.Bytes(), nil
		}
		if err != nil {
			var syntax *json.SyntaxError
			if errors.As(err, &syntax) {
				at = min(int(syntax.Offset), len(data))
			}
			return nil, fmt.Errorf("%d: this is no JSON: %w", 1+bytes.Count(data[:at], []byte("\n")), err)
		}
		if w.depth() == 0 && token != json.Delim('{') {
			return nil, fmt.Errorf("%d: this is none of Terraform's files, which are objects of blocks", 1+bytes.Count(data[:at], []byte("\n")))
		}
		w.lines += bytes.Count(data[before:at], []byte("\n"))
		before = at
		if text, is := token.(string); is {
			if _, found := hclsyntax.ParseTemplate([]byte(text), "", hcl.InitialPos); found.HasErrors() {
				return nil, fmt.Errorf("%d: this text is no template: %s", 1+bytes.Count(data[:at], []byte("\n")), sentence(found[0]))
			}
		}
		w.token(token)
	}
}

// native writes tokens of JSON as HCL has them.
type native struct {
	out    bytes.Buffer
	open   []json.Delim // objects and lists that are not ended
	values []int        // tokens in each: of an object, keys and values
	lines  int          // that JSON has begun since, and HCL has not
}

func (w *native) depth() int { return len(w.open) }

// token writes one. Lines begin before members, items and ends alone: nowhere else does HCL allow it.
func (w *native) token(token json.Token) {
	last := w.depth() - 1
	if end, is := token.(json.Delim); is && (end == '}' || end == ']') {
		w.breakLines()
		w.out.WriteString(end.String())
		w.open, w.values = w.open[:last], w.values[:last]
		return
	}
	if last >= 0 {
		switch {
		case w.open[last] == '{' && w.values[last]%2 == 1:
			w.out.WriteString(": ")
		case w.values[last] > 0:
			w.out.WriteString(", ")
			w.breakLines()
		default:
			w.breakLines()
		}
		w.values[last]++
	}
	switch v := token.(type) {
	case json.Delim:
		w.open, w.values = append(w.open, v), append(w.values, 0)
		w.out.WriteString(v.String())
	case string:
		w.out.WriteString(`"` + quoted(v) + `"`)
	case nil:
		w.out.WriteString("null")
	default:
		fmt.Fprint(&w.out, v)
	}
}

func (w *native) breakLines() {
	w.out.WriteString(strings.Repeat("\n", w.lines))
	w.lines = 0
}

// quoted is a template as it stands between quotation marks: its texts are escaped, and what
// it evaluates is as it is.
func quoted(template string) string {
	tokens, _ := hclsyntax.LexTemplate([]byte(template), "", hcl.InitialPos) // the parser reports what is wrong
	var out strings.Builder
	last, depth := 0, 0
	copyUp := func(to int, literal bool) {
		part := template[last:to]
		if literal {
			part = escapes.Replace(part)
		}
		out.WriteString(part)
		last = to
	}
	for _, t := range tokens {
		switch t.Type {
		case hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl:
			copyUp(t.Range.Start.Byte, depth == 0)
			depth++
		case hclsyntax.TokenTemplateSeqEnd:
			depth--
			copyUp(t.Range.End.Byte, false)
		}
	}
	copyUp(len(template), depth == 0)
	return out.String()
}

// escapes are those of HCL between quotation marks.
var escapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`)
