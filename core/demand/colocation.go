package demand

import (
	"github.com/daemok/daemok/core/bitset"
)

// Colocation is pods that are to share one instance because of where they must be:
// those that one pod needs beside it on its host, and of all that can only be
// beside these their share, so that what is left finds room with the others
// that it could be beside.
type Colocation struct {
	Parts   []Member // each may come when those before it are there
	Sum     []int64
	Options []bitset.Set // by candidate: what all of them allow, sizes aside
	Pods    int64
}

// Member is n pods of a group.
type Member struct {
	Group *Group
	N     int64
}

// Others names the co-located set less one pod of the group.
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
