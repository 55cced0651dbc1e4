// Package terraform finds manifests in Terraform's files, evaluated as far as possible without
// Terraform. They are in resources kubernetes_manifest and kubectl_manifest, as objects of HCL and as
// YAML in heredocs.
//
// It evaluates locals, variables by their defaults and by *.tfvars, loops of resources, and those of
// Terraform's functions that change nothing and read nothing else. It promises to report with file and
// line what it cannot evaluate, and to ignore no manifest of Karpenter's silently. It calls no
// provider, fetches no module, and reads only the files that it is given and those that file() and
// templatefile() name.
package terraform

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"go.yaml.in/yaml/v3"
)

// Source is a file: *.tf, or *.tfvars with values of variables, or either in JSON. Files of one
// folder are a module.
type Source struct {
	Name   string // as users know it
	Data   []byte
	Beside bool // it is read for what it declares alone
}

// IsSource reports whether a file is one of Terraform's, by its name.
func IsSource(name string) bool {
	return filepath.Ext(name) == ".tf" || strings.HasSuffix(name, ".tf.json")
}

// IsValues reports whether Terraform takes values of variables from a file, by its name.
func IsValues(name string) bool {
	base := strings.TrimSuffix(filepath.Base(name), ".json")
	return base == "terraform.tfvars" || strings.HasSuffix(base, ".auto.tfvars")
}

// Manifest is one of a resource.
type Manifest struct {
	Resource string // such as kubectl_manifest.web
	File     string
	Line     int // that Text begins on; else that of the resource

	Text string     // YAML, perhaps of several documents; empty where Node is there
	Node *yaml.Node // an object of HCL, with the lines of the file; nil where Text is there

	Unknown  []string // what stands in it as ${...} since it is not known, each with file, line and what to do
	Defaults []string // variables that it takes the defaults of, sorted
	Unread   string   // why it is not read, and what to do; empty: it is
	Aside    bool     // it is not read, and is no manifest but of something that has some
}

// Read reads the manifests of sources, in their order. Where templates are kept, text that
// is not evaluated stands for itself and "${" is "$${", as Terraform reads it; else text is as
// it would be in the cluster. A file that is no HCL is an error.
func Read(sources []Source, keep bool) ([]Manifest, error) {
	modules := map[string]*module{}
	var files []*hclFile
	for _, s := range sources {
		folder := filepath.Dir(s.Name)
		if modules[folder] == nil {
			modules[folder] = newModule(folder)
		}
		f, err := parse(s)
		if err != nil {
			return nil, err
		}
		f.module = modules[folder]
		if !IsSource(s.Name) {
			f.module.takeValues(f)
			continue
		}
		f.module.declare(f)
		if !s.Beside {
			files = append(files, f)
		}
	}
	for _, m := range modules {
		m.stabilize()
	}
	var out []Manifest
	for _, f := range files {
		for _, b := range f.body.Blocks {
			out = append(out, (&reader{module: f.module, keep: keep}).block(f, b)...)
		}
		out = append(out, f.leftOver()...)
	}
	return out, nil
}

// hclFile is a file that was parsed.
type hclFile struct {
	Source
	body   *hclsyntax.Body
	module *module
}

func parse(s Source) (*hclFile, error) {
	if isJSON(s.Name) {
		return parseJSON(s)
	}
	file, diags := hclsyntax.ParseConfig(s.Data, s.Name, hcl.InitialPos)
	if diags.HasErrors() {
		return nil, noHCL(s.Name, diags)
	}
	body, is := file.Body.(*hclsyntax.Body)
	if !is {
		panic("terraform: hclsyntax parses no body of its own")
	}
	return &hclFile{Source: s, body: body}, nil
}

// noHCL is what the first finding says, and where.
func noHCL(name string, found hcl.Diagnostics) error {
	line := 1
	if found[0].Subject != nil {
		line = found[0].Subject.Start.Line
	}
	return fmt.Errorf("%s:%d: this is no HCL: %s", name, line, sentence(found[0]))
}

// sentence is what a finding of HCL says, in one line.
func sentence(d *hcl.Diagnostic) string {
	return strings.TrimSuffix(strings.Join(strings.Fields(d.Summary+": "+d.Detail), " "), ".")
}

// Arguments that are manifests, by the types of their resources.
var manifestIn = map[string]string{"kubernetes_manifest": "manifest", "kubectl_manifest": "yaml_body"}

// ofKarpenter is a manifest that migrations are about.
var ofKarpenter = regexp.MustCompile(`apiVersion\\?"?\s*[:=]\s*\\?"?(karpenter\.sh|karpenter\.k8s\.aws)/`)

// block reads the manifests of a block.
func (r *reader) block(f *hclFile, b *hclsyntax.Block) []Manifest {
	if b.Type == "locals" || b.Type == "variable" {
		return nil
	}
	name := strings.Join(slices.Concat(resourceWord(b), b.Labels), ".")
	unread := Manifest{Resource: name, File: f.Name, Line: b.TypeRange.Start.Line}
	if b.Type == "resource" && len(b.Labels) == 2 {
		if argument, is := manifestIn[b.Labels[0]]; is {
			return r.resource(unread, b, argument)
		}
		if b.Labels[0] == "helm_release" {
			unread.Unread, unread.Aside = "charts are not rendered: give what helm template prints, by -f -", true
			if ofKarpenter.Match(f.Data[b.Range().Start.Byte:b.Body.EndRange.Start.Byte]) {
				unread.Unread, unread.Aside = "its values hold manifests, and charts are not rendered: give what helm template prints, by -f -", false
			}
			return []Manifest{unread}
		}
	}
	if ofKarpenter.Match(f.Data[b.Range().Start.Byte:b.Body.EndRange.Start.Byte]) {
		unread.Unread = "it holds manifests, and of blocks like it is not known how: give them in kubernetes_manifest or kubectl_manifest, or as YAML"
		return []Manifest{unread}
	}
	return nil
}

// resourceWord is what a block's name begins with: nothing for resources.
func resourceWord(b *hclsyntax.Block) []string {
	if b.Type == "resource" {
		return nil
	}
	return []string{b.Type}
}

// leftOver are the locals of a file with manifests that no resource took.
func (f *hclFile) leftOver() []Manifest {
	var out []Manifest
	for _, b := range f.body.Blocks {
		if b.Type != "locals" {
			continue
		}
		for _, a := range sorted(b.Body.Attributes) {
			if !f.module.used[a.Name] && ofKarpenter.Match(f.Data[a.Expr.Range().Start.Byte:a.Expr.Range().End.Byte]) {
				out = append(out, Manifest{Resource: "local." + a.Name, File: f.Name, Line: a.NameRange.Start.Line,
					Unread: "it holds manifests, and no kubernetes_manifest or kubectl_manifest of this folder names it: give them as YAML"})
			}
		}
	}
	return out
}

// resource reads the manifest of a resource, or one for each instance of it.
func (r *reader) resource(m Manifest, b *hclsyntax.Block, argument string) []Manifest {
	a := b.Body.Attributes[argument]
	if a == nil {
		m.Unread = "it has no " + argument
		return []Manifest{m}
	}
	r.module.use(a.Expr)
	instances, why := r.instances(b)
	if why != "" {
		m.Unread = why
		return []Manifest{m}
	}
	var out []Manifest
	for _, i := range instances {
		one := m
		one.Resource += i.suffix
		(&reader{module: r.module, keep: r.keep, ctx: i.ctx, into: &one}).manifest(a.Expr)
		one.Defaults = r.module.defaultsOf(a.Expr)
		out = append(out, one)
	}
	return out
}

// manifest reads one, as text or as an object.
func (r *reader) manifest(expr hclsyntax.Expression) {
	switch e := expr.(type) {
	case *hclsyntax.ParenthesesExpr:
		r.manifest(e.Expression)
		return
	case *hclsyntax.FunctionCallExpr:
		if len(e.Args) == 1 && slices.Contains([]string{"yamldecode", "jsondecode", "yamlencode", "jsonencode"}, e.Name) {
			r.manifest(e.Args[0])
			return
		}
		if name, text, ok := r.read(e); ok {
			r.into.File, r.into.Line, r.into.Text = name, 1, dedented(text)
			return
		}
	case *hclsyntax.ScopeTraversalExpr:
		if of := r.module.localOf(e); of != nil && r.depth < depthMax {
			r.depth++
			r.into.File = of.Range().Filename
			r.manifest(of)
			return
		}
	case *hclsyntax.TemplateWrapExpr:
		r.manifest(e.Wrapped)
		return
	case *hclsyntax.TemplateExpr:
		r.into.File, r.into.Line = e.Range().Filename, e.Parts[0].Range().Start.Line
		r.into.Text = dedented(r.text(e))
		return
	case *hclsyntax.ObjectConsExpr:
		r.into.File = e.Range().Filename
		r.into.Node = r.node(e)
		return
	}
	v, known := r.value(expr)
	if !known {
		r.into.Unread = "it cannot be evaluated: " + strings.Join(r.why(expr), "; ")
		return
	}
	if text, is := stringOf(v); is {
		r.into.Line, r.into.Text = expr.Range().Start.Line, dedented(r.escaped(text))
		return
	}
	r.into.Node = r.fromValue(v, expr.Range().Start.Line)
}

// dedented is a text without the space that all of its lines begin with.
func dedented(text string) string {
	least := len(text)
	lines := strings.Split(text, "\n")
	for _, line := range lines {
		if strings.TrimSpace(line) != "" {
			least = min(least, len(line)-len(strings.TrimLeft(line, " ")))
		}
	}
	for i, line := range lines {
		lines[i] = line[min(least, len(line)):]
	}
	return strings.Join(lines, "\n")
}
