package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
)

// Mutant is a program that differs in one place.
type Mutant struct {
	File string // as it was given to Find
	Line int
	What string // the change, in words
	from int    // offset in the file
	to   int
	text string // what stands there instead
}

// String prints where the change is, and what it is.
func (m Mutant) String() string { return fmt.Sprintf("%s:%d: %s", m.File, m.Line, m.What) }

// Apply returns the file with the change; lines keep their numbers.
func (m Mutant) Apply(source []byte) []byte {
	return slices.Concat(source[:m.from], []byte(m.text), source[m.to:])
}

// Find returns the mutants of a file, in the order of the text. The changes
// keep every expression and type in the program, so that all mutants compile.
// Generated files have none.
func Find(name string, source []byte) ([]Mutant, error) {
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, name, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("parse a file to be changed: %w", err)
	}
	if ast.IsGenerated(tree) {
		return nil, nil
	}
	f := &finder{set: set, file: name, source: source}
	ast.Inspect(tree, f.visit)
	return f.found, nil
}

// finder collects the mutants of one file.
type finder struct {
	set    *token.FileSet
	file   string
	source []byte
	found  []Mutant
}

// visit applies the operators to a node, and reports whether to look into it.
func (f *finder) visit(node ast.Node) bool {
	switch n := node.(type) {
	case *ast.FuncDecl:
		f.leave(n)
	case *ast.IfStmt:
		f.force(n.Cond, n.Body.List)
	case *ast.SwitchStmt:
		f.forceCases(n)
	case *ast.ForStmt:
		if n.Post != nil { // a loop that counts: one step more leaves the slice
			ast.Inspect(n.Body, f.visit)
			return false
		}
	case *ast.BlockStmt:
		f.drop(n.List)
	case *ast.CaseClause:
		f.drop(n.Body)
	case *ast.CommClause:
		f.drop(n.Body)
	case *ast.BinaryExpr:
		f.swap(n)
	}
	return true
}

// leave makes a function return at once, with zero values.
func (f *finder) leave(n *ast.FuncDecl) {
	if n.Body == nil || len(n.Body.List) == 0 || returnsZero(n.Body.List[0]) || panics(n.Body.List) {
		return
	}
	var zeros []string
	if results := n.Type.Results; results.NumFields() > 0 && results.List[0].Names == nil {
		for _, result := range results.List {
			zeros = append(zeros, "*new("+f.textOf(result.Type)+")")
		}
	}
	at := n.Body.Lbrace + 1
	f.add(n, at, at, " if true { return "+strings.Join(zeros, ", ")+" }; ", n.Name.Name+" returns at once")
}

// force makes a condition true and false, unless it guards a panic: no test
// breaks an invariant.
func (f *finder) force(condition ast.Expr, conditional []ast.Stmt) {
	if panics(conditional) {
		return
	}
	text := f.textOf(condition)
	f.replace(condition, "("+text+") || true", "always true: "+text)
	f.replace(condition, "("+text+") && false", "always false: "+text)
}

// forceCases forces the conditions of a switch without a tag.
func (f *finder) forceCases(n *ast.SwitchStmt) {
	if n.Tag != nil {
		return
	}
	for _, stmt := range n.Body.List {
		clause := stmt.(*ast.CaseClause) //nolint:forcetypeassert,errcheck // the body of a switch has nothing else
		for _, condition := range clause.List {
			f.force(condition, clause.Body)
		}
	}
}

// drop leaves out statements without which the rest still compiles: calls,
// assignments to what exists, and counts.
func (f *finder) drop(list []ast.Stmt) {
	for _, stmt := range list {
		switch n := stmt.(type) {
		case *ast.ExprStmt:
			if _, called := n.X.(*ast.CallExpr); !called || panics([]ast.Stmt{stmt}) {
				continue
			}
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE || isName(n.Lhs[0], "_") {
				continue
			}
		case *ast.IncDecStmt:
		default:
			continue
		}
		f.replace(stmt, "if false { "+f.textOf(stmt)+" }", "dropped: "+f.textOf(stmt))
	}
}

// swapped are operators and what they become.
var swapped = map[token.Token]token.Token{
	token.LAND: token.LOR, token.LOR: token.LAND,
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
}

// swap exchanges "and" with "or", and moves the boundary of a comparison.
func (f *finder) swap(n *ast.BinaryExpr) {
	instead, ok := swapped[n.Op]
	if !ok {
		return
	}
	operator := f.offset(n.OpPos)
	text := "(" + string(f.source[f.offset(n.Pos()):operator]) + instead.String() +
		string(f.source[operator+len(n.Op.String()):f.offset(n.End())]) + ")"
	f.replace(n, text, fmt.Sprintf("%s becomes %s: %s", n.Op, instead, f.textOf(n)))
}

func (f *finder) replace(n ast.Node, text, what string) { f.add(n, n.Pos(), n.End(), text, what) }

func (f *finder) add(n ast.Node, from, to token.Pos, text, what string) {
	const longest = 100
	what = strings.Join(strings.Fields(what), " ")
	if runes := []rune(what); len(runes) > longest {
		what = string(runes[:longest]) + "..."
	}
	f.found = append(f.found, Mutant{
		File: f.file, Line: f.set.Position(n.Pos()).Line, What: what,
		from: f.offset(from), to: f.offset(to), text: text,
	})
}

func (f *finder) offset(p token.Pos) int { return f.set.Position(p).Offset }

func (f *finder) textOf(n ast.Node) string {
	return string(f.source[f.offset(n.Pos()):f.offset(n.End())])
}

// returnsZero reports whether all that a statement does is to return zeros.
func returnsZero(stmt ast.Stmt) bool {
	n, ok := stmt.(*ast.ReturnStmt)
	if !ok {
		return false
	}
	for _, result := range n.Results {
		literal, _ := result.(*ast.BasicLit)
		zero := literal != nil && (literal.Value == "0" || literal.Value == `""`)
		if !zero && !isName(result, "nil") && !isName(result, "false") {
			return false
		}
	}
	return true
}

// panics reports whether statements are a panic and nothing else.
func panics(list []ast.Stmt) bool {
	if len(list) != 1 {
		return false
	}
	n, ok := list[0].(*ast.ExprStmt)
	if !ok {
		return false
	}
	call, ok := n.X.(*ast.CallExpr)
	return ok && isName(call.Fun, "panic")
}

func isName(e ast.Expr, name string) bool {
	n, ok := e.(*ast.Ident)
	return ok && n.Name == name
}
