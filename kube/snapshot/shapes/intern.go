package shapes

import (
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/translate/podspec"
)

// interner gives pods with equal scheduling fields one shared Shape. A shape
// that no pod uses any more is dropped when the next snapshot is built.
type interner struct {
	byKey map[string]*shared
	of    map[*cluster.Shape]*shared
}

type shared struct {
	key   string
	shape *cluster.Shape
	users int
}

// intern returns the shared shape and counts one more user.
func (in *interner) intern(s cluster.Shape) *cluster.Shape {
	if in.byKey == nil {
		in.byKey, in.of = map[string]*shared{}, map[*cluster.Shape]*shared{}
	}
	key := podspec.ShapeKey(&s)
	entry, known := in.byKey[key]
	if !known {
		entry = &shared{key: key, shape: &s}
		in.byKey[key], in.of[&s] = entry, entry
	}
	entry.users++
	return entry.shape
}

// again counts one more user of a shared shape.
func (in *interner) again(s *cluster.Shape) *cluster.Shape {
	in.of[s].users++
	return s
}

// release counts one user less and forgets a shape without users.
func (in *interner) release(s *cluster.Shape) {
	entry, known := in.of[s]
	if !known {
		return
	}
	if entry.users--; entry.users == 0 {
		delete(in.byKey, entry.key)
		delete(in.of, s)
	}
}
