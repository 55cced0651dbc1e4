package tidy

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// filesLeast is from where on the arrows between the files of a package say something.
const filesLeast = 6

// BackArrows measures how far the files of each package have a direction: how many of the arrows between them, of a
// hundred, run back. An arrow leads from a file to another of its package that declares something it uses, be it a
// type, function, method, field, constant or variable; however much it uses of that file, it is one arrow. The files are
// put in an order in which few arrows run back to an earlier one. No order is looked for that is the very best: that is
// hard, and the greedy one is the same for everybody. Files that use each other are one arrow back in every order.
// Packages of fewer than six files are left out, and so are tests and generated files.
func BackArrows(loaded []*packages.Package) map[string]int {
	share := map[string]int{}
	for _, p := range loaded {
		uses, files := fileUses(p)
		if files < filesLeast {
			continue
		}
		all := 0
		for _, to := range uses {
			all += len(to)
		}
		back := arrowsBack(uses)
		share[folderOf(p.PkgPath)] = (100*back + all - 1) / max(all, 1)
	}
	return share
}

// uses says which files each file has an arrow to.
type uses map[string]map[string]bool

// fileUses returns the arrows between a package's files, and how many files it has.
func fileUses(p *packages.Package) (uses, int) {
	arrows := uses{}
	written := map[string]bool{}
	for _, f := range p.Syntax {
		if !ast.IsGenerated(f) {
			written[fileOf(p.Fset, f.Pos())] = true
		}
	}
	for name, object := range p.TypesInfo.Uses {
		from, to := fileOf(p.Fset, name.Pos()), fileOf(p.Fset, object.Pos())
		if from == to || !written[from] || !written[to] || !isShared(object, p.Types) {
			continue
		}
		if arrows[from] == nil {
			arrows[from] = map[string]bool{}
		}
		arrows[from][to] = true
	}
	return arrows, len(written)
}

func fileOf(files *token.FileSet, at token.Pos) string {
	return filepath.Base(files.Position(at).Filename)
}

// isShared says whether a file can use an object of another file of the package: one that is declared at its top, a
// method or a field.
func isShared(object types.Object, of *types.Package) bool {
	if object.Pkg() != of {
		return false
	}
	if v, ok := object.(*types.Var); ok && v.IsField() {
		return true
	}
	if f, ok := object.(*types.Func); ok && f.Signature().Recv() != nil {
		return true
	}
	return object.Parent() == of.Scope()
}

// arrowsBack counts the arrows that lead to an earlier file, in the order of Eades, Lin and Smyth: files that use none of
// those left go to the end, files that none of those left uses to the front, and where there is neither, the one that
// uses most more than it is used by. Ties are broken by name.
func arrowsBack(arrows uses) (back int) {
	left := map[string]bool{}
	for from, all := range arrows {
		left[from] = true
		for to := range all {
			left[to] = true
		}
	}
	for len(left) > 0 {
		degrees := degreesOf(arrows, left)
		next := slices.MinFunc(slices.Collect(maps.Keys(degrees)), func(a, b string) int {
			return cmp.Or(degrees[a].before(degrees[b]), strings.Compare(a, b))
		})
		if degrees[next].out > 0 { // it goes to the front: what leads to it runs back
			back += degrees[next].in
		}
		delete(left, next)
	}
	return back
}

// degree counts the arrows from and to a file, among the files that are left.
type degree struct{ out, in int }

// before compares two files: the one whose place in the order is found first is less. A file that uses none has its
// place at the end, all others at the front.
func (d degree) before(o degree) int {
	rank := func(d degree) int {
		switch {
		case d.out == 0:
			return 0
		case d.in == 0:
			return 1
		}
		return 2
	}
	return cmp.Or(cmp.Compare(rank(d), rank(o)), cmp.Compare(o.out-o.in, d.out-d.in))
}

func degreesOf(arrows uses, left map[string]bool) map[string]degree {
	degrees := map[string]degree{}
	for from := range left {
		d := degrees[from]
		for to := range arrows[from] {
			if left[to] {
				d.out++
				other := degrees[to]
				other.in++
				degrees[to] = other
			}
		}
		degrees[from] = d
	}
	return degrees
}
