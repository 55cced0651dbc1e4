package disruption

import (
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/removal"
)

// Found is what a search came to, to be examined again: a search of a large cluster takes seconds,
// in which the cluster changes.
type Found struct {
	nodes []string // with pods, that go
	kept  []plan.Kept
}

// Found returns what the search has come to so far, but for nodes without pods:
// those need no search.
func (x *Search) Found() *Found {
	out := &Found{kept: x.Kept}
	for i := range x.Moves {
		if r := &x.Moves[i].Removals[0]; r.Reason != plan.Empty {
			out.nodes = append(out.nodes, r.Node)
		}
	}
	return out
}

// Moves reports whether anything goes.
func (f *Found) Moves() bool { return len(f.nodes) > 0 }

// Reports reports whether it says of other nodes than an earlier one, which may be
// nil, that they stay, or that they do so for other reasons.
func (f *Found) Reports(earlier *Found) bool {
	if earlier == nil {
		return len(f.kept) > 0
	}
	return !slices.Equal(f.kept, earlier.kept)
}

// has reports whether the node is to be asked about; every node is where
// nothing was found before.
func (f *Found) has(node string) bool { return f == nil || slices.Contains(f.nodes, node) }

// Again begins a search for no more than what an earlier one found, in the
// cluster as it is by now. Nodes without pods go beside that. What keeps
// the nodes that are not asked about is what the earlier one said.
func Again(s *cluster.Snapshot, needed map[string]bool, simulator *removal.Simulator, o Options, found *Found) *Search {
	x := begin(s, needed, simulator, o, found)
	x.tasks = append(x.tasks, func() bool {
		x.remember(found)
		return false
	})
	return x
}

// remember adds what kept nodes before to what keeps them now.
func (x *Search) remember(found *Found) {
	at := map[string]*candidate{}
	for _, c := range candidates(x.snapshot) {
		at[c.Name] = c
	}
	for _, k := range found.kept {
		if c := at[k.Node]; c != nil && !x.gone[c.at] {
			x.keepBy(c, k.Reason, k.By, k.Why)
		}
	}
}
