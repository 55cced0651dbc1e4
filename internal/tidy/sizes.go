package tidy

import (
	"bufio"
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// Sizes are figures of the Go code of all modules. Generated files count nowhere, and neither does code that tests read
// as data.
type Sizes struct {
	Fields  map[string]int // of struct types, by folder and name, "core/plan.Plan", but for those that AWS's XML has
	Methods map[string]int // of types, those of interfaces included
	Lines   map[string]int // of packages, by folder
	Long    map[string]int // lines of more than the columns asked for: of "product code" and of "tests"
}

// MeasureSizes reads the Go files below root. Tests count in Long alone.
func MeasureSizes(root fs.FS, columns int) (Sizes, error) {
	s := Sizes{map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}}
	err := walk(root, func(name string, content []byte) error {
		if path.Ext(name) != ".go" || slices.Contains(strings.Split(name, "/"), "testdata") {
			return nil
		}
		syntax, err := parser.ParseFile(token.NewFileSet(), name, content, parser.ParseComments|parser.SkipObjectResolution)
		switch {
		case err != nil:
			return err
		case ast.IsGenerated(syntax):
		case strings.HasSuffix(name, "_test.go"):
			s.Long["tests"] += longLines(content, columns)
		default:
			s.Long["product code"] += longLines(content, columns)
			s.Lines[path.Dir(name)] += bytes.Count(content, []byte("\n"))
			s.countTypes(path.Dir(name), syntax)
		}
		return nil
	})
	return s, err
}

// tab is how many columns a tab takes.
const tab = 4

func longLines(content []byte, columns int) (n int) {
	for lines := bufio.NewScanner(bytes.NewReader(content)); lines.Scan(); {
		if utf8.RuneCount(lines.Bytes())+(tab-1)*bytes.Count(lines.Bytes(), []byte("\t")) > columns {
			n++
		}
	}
	return n
}

func (s Sizes) countTypes(folder string, syntax *ast.File) {
	for _, d := range syntax.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv != nil {
				s.Methods[folder+"."+receiver(d.Recv.List[0].Type)]++
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if t, ok := spec.(*ast.TypeSpec); ok {
					s.countType(folder+"."+t.Name.Name, t.Type)
				}
			}
		}
	}
}

func (s Sizes) countType(name string, declared ast.Expr) {
	switch t := declared.(type) {
	case *ast.StructType:
		s.Fields[name] += members(t.Fields)
	case *ast.InterfaceType:
		s.Methods[name] += members(t.Methods)
	}
}

// members counts fields or methods; an embedded type is one.
func members(list *ast.FieldList) (n int) {
	for _, f := range list.List {
		if f.Tag == nil || !strings.Contains(f.Tag.Value, "xml:") {
			n += max(1, len(f.Names))
		}
	}
	return n
}

// receiver is the name of the type that a method belongs to.
func receiver(e ast.Expr) string {
	switch t := e.(type) {
	case *ast.StarExpr:
		return receiver(t.X)
	case *ast.ParenExpr:
		return receiver(t.X)
	case *ast.IndexExpr:
		return receiver(t.X)
	case *ast.IndexListExpr:
		return receiver(t.X)
	case *ast.Ident:
		return t.Name
	}
	return ""
}
