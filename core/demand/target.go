package demand

import (
	"github.com/daemok/daemok/core/cluster"
)

// Forward makes the named pod the next one of its group.
func (g *Group) Forward(key [2]string) {
	for i := g.Placed; i < len(g.Pods); i++ {
		if PodKey(g.Pods[i].Pod) == key {
			w := g.Pods[i]
			copy(g.Pods[g.Placed+1:i+1], g.Pods[g.Placed:i])
			g.Pods[g.Placed] = w
			return
		}
	}
}

func PodKey(p *cluster.Pod) [2]string { return [2]string{p.Namespace, p.Name} }

func Rank(first bool) int {
	if first {
		return 0
	}
	return 1
}
