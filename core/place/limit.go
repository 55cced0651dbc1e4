package place

import (
	"slices"
)

// short reports whether pods are left for which a pool that instances are launched
// from offerings some that its limits forbid now.
func (li *lister) short() bool {
	for _, b := range li.run.candidates {
		if b.Remaining != nil && b.Remaining.Used() && slices.ContainsFunc(li.run.waiting, func(g *group) bool {
			return g.left() > 0 && b.HeldBack(g.podClass.required().wants, g.need)
		}) {
			return true
		}
	}
	return false
}
