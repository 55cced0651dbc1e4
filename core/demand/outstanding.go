package demand

import (
	"github.com/daemok/daemok/core/supply"
)

// Part is n of the group's pods on an instance, the first of which takes so much beyond its own amounts.
func (g *Group) Part(w *supply.Way, n int64, first []int64) supply.Part {
	return supply.Part{Group: g.At, N: n, Way: w, First: first, Ports: g.PodClass.Ports, Rules: g.Level.Rules}
}
