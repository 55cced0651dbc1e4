package place

import (
	"slices"

	"github.com/daemok/daemok/core/demand"
)

// short reports whether pods are left for which a pool that instances are launched
// from offerings some that its limits forbid now.
func (r *run) short() bool {
	for _, b := range r.candidates {
		if b.Remaining != nil && b.Remaining.Used() && slices.ContainsFunc(r.waiting, func(g *demand.Group) bool {
			return g.Left() > 0 && b.HeldBack(g.PodClass.Required().Wants, g.Need)
		}) {
			return true
		}
	}
	return false
}
