package tidy

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// levels are the methods that write a line of the log.
var levels = []string{"Debug", "Info", "Warn", "Error"}

// identities are fields of what is written by a method of its own.
var identities = []string{"attempt", "lease", "ownLease", "version"}

// logKey is the form of a field's name: one word, in which programs can select it.
var logKey = regexp.MustCompile(`^[a-z][A-Za-z]*$`)

// CheckLogs reports lines of the log in the folders whose fields programs cannot read: names
// with spaces, and lengths of time and other amounts that are written as text. Tests are not
// looked at.
func CheckLogs(root fs.FS, folders ...string) (found []Violation, err error) {
	for _, folder := range folders {
		under, err := fs.Sub(root, folder)
		if err != nil {
			return nil, fmt.Errorf("read what %s logs: %w", folder, err)
		}
		err = walk(under, func(name string, content []byte) error {
			if path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
				return nil
			}
			files := token.NewFileSet()
			file, err := parser.ParseFile(files, path.Join(folder, name), content, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if call, is := n.(*ast.CallExpr); is && writesLog(call) {
					found = append(found, checkLine(files, call)...)
				}
				return true
			})
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("read what %s logs: %w", folder, err)
		}
	}
	return found, nil
}

// writesLog reports whether the call is of a logger, which is called log or Log everywhere.
func writesLog(call *ast.CallExpr) bool {
	method, is := call.Fun.(*ast.SelectorExpr)
	if !is || !slices.Contains(levels, method.Sel.Name) {
		return false
	}
	switch of := method.X.(type) {
	case *ast.Ident:
		return strings.EqualFold(of.Name, "log")
	case *ast.SelectorExpr:
		return strings.EqualFold(of.Sel.Name, "log")
	}
	return false
}

// checkLine looks at the pairs of name and value after the message.
func checkLine(files *token.FileSet, call *ast.CallExpr) (found []Violation) {
	for i := 1; i+1 < len(call.Args); i += 2 {
		literal, is := call.Args[i].(*ast.BasicLit)
		if !is {
			return found
		}
		name, _ := strconv.Unquote(literal.Value)
		where := fmt.Sprintf("%s:%d", files.Position(literal.Pos()).Filename, files.Position(literal.Pos()).Line)
		if !logKey.MatchString(name) {
			found = append(found, Violation{where, fmt.Sprintf("logs field %q", name), "the name of a field is one word"})
		}
		if !slices.Contains(identities, name) && isText(call.Args[i+1]) {
			found = append(found, Violation{where, fmt.Sprintf("logs field %q as text", name), "amounts are numbers in fields with a unit in their name, such as tookSeconds"})
		}
	}
	return found
}

// isText reports whether the value is made a text by its own method.
func isText(value ast.Expr) bool {
	call, is := value.(*ast.CallExpr)
	if !is {
		return false
	}
	method, is := call.Fun.(*ast.SelectorExpr)
	return is && method.Sel.Name == "String"
}
