package place

import (
	"github.com/daemok/daemok/core/demand"
	"slices"
)

// short reports whether pods are left for which a pool that instances are launched
// from offerings some that its limits forbid now.
func (li *lister) short() bool {
	for _, b := range li.run.candidates {
		if b.Remaining != nil && b.Remaining.Used() && slices.ContainsFunc(li.run.waiting, func(g *demand.Group) bool {
			return g.Left() > 0 && b.HeldBack(g.PodClass.Required().Wants, g.Need)
		}) {
			return true
		}
	}
	return false
}
