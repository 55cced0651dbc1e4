package tidy

import (
	"go/types"
	"strings"

	"golang.org/x/tools/go/packages"
)

// Callbacks counts the functions that cross the borders of packages as arguments: for each exported function, method or
// struct type, by folder and name ("core/plan.Plan.Each"), its parameters or exported fields that hold functions, be it
// in a list or under a name. Results are none, and neither are iterators of package iter: both lead downwards. Packages
// in folders of except are left out.
func Callbacks(loaded []*packages.Package, except ...string) map[string]int {
	count := map[string]int{}
	for _, p := range loaded {
		folder := folderOf(p.PkgPath)
		for _, e := range except {
			if within(folder, e) {
				folder = ""
			}
		}
		if folder == "" {
			continue
		}
		for _, name := range p.Types.Scope().Names() {
			if object := p.Types.Scope().Lookup(name); object.Exported() {
				countCallbacks(count, folder+"."+name, object)
			}
		}
	}
	return count
}

func countCallbacks(count map[string]int, name string, object types.Object) {
	add := func(name string, n int) {
		if n > 0 {
			count[name] += n
		}
	}
	switch o := object.(type) {
	case *types.Func:
		add(name, callbackParameters(o.Signature()))
	case *types.TypeName:
		named, ok := o.Type().(*types.Named)
		if !ok {
			return
		}
		for m := range named.Methods() {
			if m.Exported() {
				add(name+"."+m.Name(), callbackParameters(m.Signature()))
			}
		}
		switch u := named.Underlying().(type) {
		case *types.Struct:
			add(name, callbackFields(u))
		case *types.Interface:
			for m := range u.ExplicitMethods() {
				if m.Exported() {
					add(name+"."+m.Name(), callbackParameters(m.Signature()))
				}
			}
		}
	}
}

func callbackParameters(s *types.Signature) (n int) {
	for v := range s.Params().Variables() {
		if holdsFunction(v.Type()) {
			n++
		}
	}
	return n
}

func callbackFields(s *types.Struct) (n int) {
	for f := range s.Fields() {
		if f.Exported() && holdsFunction(f.Type()) {
			n++
		}
	}
	return n
}

// holdsFunction says whether a value of the type is a function or a list of functions.
func holdsFunction(t types.Type) bool {
	if isIterator(t) {
		return false
	}
	switch u := t.Underlying().(type) {
	case *types.Signature:
		return true
	case *types.Slice:
		return holdsFunction(u.Elem())
	case *types.Array:
		return holdsFunction(u.Elem())
	case *types.Map:
		return holdsFunction(u.Elem())
	case *types.Pointer:
		_, named := u.Elem().(*types.Named)
		return !named && holdsFunction(u.Elem())
	case *types.Chan:
		return holdsFunction(u.Elem())
	}
	return false
}

func isIterator(t types.Type) bool {
	named, ok := types.Unalias(t).(*types.Named)
	return ok && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == "iter" && strings.HasPrefix(named.Obj().Name(), "Seq")
}
