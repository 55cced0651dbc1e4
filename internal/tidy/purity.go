package tidy

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/packages"
)

// clockNames are what package time offers beside values: reading the clock
// and waiting for it.
var clockNames = map[string]bool{
	"Now": true, "Since": true, "Until": true, "Sleep": true, "After": true,
	"AfterFunc": true, "Tick": true, "NewTimer": true, "NewTicker": true,
}

// inexactNames are functions of package math whose last bits differ between
// processors: they are written by hand for some, and compiled with fused
// instructions for others.
var inexactNames = map[string]bool{
	"Exp": true, "Exp2": true, "Expm1": true, "Log": true, "Log10": true, "Log1p": true, "Log2": true, "Pow": true, "Cbrt": true, "Hypot": true,
	"Sin": true, "Cos": true, "Sincos": true, "Tan": true, "Asin": true, "Acos": true, "Atan": true, "Atan2": true, "Sinh": true, "Cosh": true,
	"Tanh": true, "Asinh": true, "Acosh": true, "Atanh": true, "Gamma": true, "Lgamma": true, "Erf": true, "Erfc": true,
}

// CheckPurity loads the packages that match patterns in dir and reports what
// a pure function may not do: read a clock, compute what differs between
// processors, start a goroutine (but in folders named in mayStart), or write a
// package-level variable. Tests are not looked at.
func CheckPurity(dir string, mayStart []string, patterns ...string) ([]Violation, error) {
	loaded, err := load(dir, patterns...)
	if err != nil {
		return nil, err
	}
	var found []Violation
	for _, p := range loaded {
		c := purityCheck{pkg: p, root: dir}
		for _, folder := range mayStart {
			c.mayStart = c.mayStart || strings.HasSuffix(p.PkgPath, folder)
		}
		for _, file := range p.Syntax {
			ast.Inspect(file, c.visit)
		}
		found = append(found, c.found...)
	}
	return found, nil
}

type purityCheck struct {
	pkg      *packages.Package
	root     string
	mayStart bool
	found    []Violation
}

func (c *purityCheck) report(at token.Pos, what, reason string) {
	position := c.pkg.Fset.Position(at)
	name, err := filepath.Rel(c.root, position.Filename)
	if err != nil {
		name = position.Filename
	}
	c.found = append(c.found, Violation{fmt.Sprintf("%s:%d", filepath.ToSlash(name), position.Line), what, reason})
}

func (c *purityCheck) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.SelectorExpr:
		c.checkUse(n)
	case *ast.GoStmt:
		if !c.mayStart {
			c.report(n.Pos(), "starts a goroutine", "only core/parallel does, and it waits for them")
		}
	case *ast.AssignStmt:
		for _, left := range n.Lhs {
			c.checkWrite(left)
		}
	case *ast.IncDecStmt:
		c.checkWrite(n.X)
	case *ast.UnaryExpr:
		if n.Op == token.AND {
			c.checkWrite(n.X)
		}
	case *ast.FuncDecl:
		if n.Recv == nil && n.Name.Name == "init" {
			c.report(n.Pos(), "has func init", "a package of the core does nothing before it is called")
		}
	case *ast.CallExpr:
		c.checkBuiltin(n)
	}
	return true
}

// checkUse reports functions that read a clock or differ between processors.
func (c *purityCheck) checkUse(n *ast.SelectorExpr) {
	used := c.pkg.TypesInfo.Uses[n.Sel]
	function, ok := used.(*types.Func)
	if !ok || function.Pkg() == nil || function.Signature().Recv() != nil {
		return
	}
	switch path, name := function.Pkg().Path(), function.Name(); {
	case path == "time" && clockNames[name]:
		c.report(n.Pos(), "uses time."+name, "the only time the core knows is Snapshot.Now")
	case path == "math" && inexactNames[name]:
		c.report(n.Pos(), "uses math."+name, "its last bits differ between processors, and so would plans")
	}
}

// checkBuiltin reports delete, clear and copy on a package-level variable.
func (c *purityCheck) checkBuiltin(n *ast.CallExpr) {
	name, ok := n.Fun.(*ast.Ident)
	if !ok || len(n.Args) == 0 {
		return
	}
	if _, builtin := c.pkg.TypesInfo.Uses[name].(*types.Builtin); !builtin {
		return
	}
	switch name.Name {
	case "delete", "clear", "copy":
		c.checkWrite(n.Args[0])
	}
}

// checkWrite reports a write to a package-level variable, or to a part of
// one. Taking its address counts: it may be written through that.
func (c *purityCheck) checkWrite(target ast.Expr) {
	for {
		switch t := target.(type) {
		case *ast.IndexExpr:
			target = t.X
		case *ast.SliceExpr:
			target = t.X
		case *ast.StarExpr:
			target = t.X
		case *ast.ParenExpr:
			target = t.X
		case *ast.SelectorExpr:
			if c.isGlobal(t.Sel) {
				c.reportWrite(t.Sel)
				return
			}
			target = t.X
		case *ast.Ident:
			if c.isGlobal(t) {
				c.reportWrite(t)
			}
			return
		default:
			return
		}
	}
}

func (c *purityCheck) reportWrite(name *ast.Ident) {
	c.report(name.Pos(), "writes package-level variable "+name.Name, "globals never change; pass the value")
}

func (c *purityCheck) isGlobal(name *ast.Ident) bool {
	v, ok := c.pkg.TypesInfo.Uses[name].(*types.Var)
	return ok && v.Pkg() != nil && v.Parent() == v.Pkg().Scope()
}
