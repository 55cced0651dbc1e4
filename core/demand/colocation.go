package demand

import (
	"github.com/daemok/daemok/core/bitset"
)

// Colocation is a co-located set: pods that must share one instance. It holds a pod with those that it needs on its
// host, and of all pods that can only be beside these a share, so that the rest find room beside the others that
// they could be with.
type Colocation struct {
	Parts   []Member // each may come when those before it are there
	Sum     []int64
	Options []bitset.Set // by candidate: those that all of its pods allow, whatever their size
	Pods    int64
}

// Member is n pods of a group.
type Member struct {
	Group *Group
	N     int64
}

// Others names the pods of the co-located set without one pod of the group.
func (c *Colocation) Others(g *Group) []string {
	var names []string
	for _, m := range c.Parts {
		n := m.N
		if m.Group.Of == g {
			n--
		}
		for i := range n {
			names = append(names, m.Group.Pods[i].Namespace+"/"+m.Group.Pods[i].Name)
		}
	}
	return names
}
