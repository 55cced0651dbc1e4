package retire

import (
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/place"
	"github.com/daemok/daemok/core/plan"
)

// Found is what a search came to, to be looked at again: a search of a large
// cluster takes seconds, in which the cluster changes.
type Found struct {
	groups [][]string // by move: the nodes that go to save money
	others [][]string // by move: those that go for other reasons
	kept   []plan.Kept
}

// Found returns what the search has come to so far, but for nodes without pods:
// those need no search.
func (x *Search) Found() *Found {
	out := &Found{kept: x.Kept}
	for i := range x.Moves {
		var names []string
		for j := range x.Moves[i].Removals {
			names = append(names, x.Moves[i].Removals[j].Node)
		}
		switch x.Moves[i].Removals[0].Reason {
		case plan.Empty:
		case plan.Underutilized:
			out.groups = append(out.groups, names)
		default:
			out.others = append(out.others, names)
		}
	}
	return out
}

// Moves reports whether anything goes.
func (f *Found) Moves() bool { return len(f.groups)+len(f.others) > 0 }

// Tells reports whether it says of other nodes than an earlier one, which may be
// nil, that they stay, or that they do so for other reasons.
func (f *Found) Tells(earlier *Found) bool {
	if earlier == nil {
		return len(f.kept) > 0
	}
	return !slices.Equal(f.kept, earlier.kept)
}

// has reports whether the node is to be asked about; every node is where
// nothing was found before.
func (f *Found) has(node string) bool {
	in := func(names []string) bool { return slices.Contains(names, node) }
	return f == nil || slices.ContainsFunc(f.groups, in) || slices.ContainsFunc(f.others, in)
}

// Again begins a search for no more than what an earlier one found, in the
// cluster as it is by now. Nodes without pods go beside that. What keeps
// the nodes that are not asked about is what the earlier one said.
func Again(s *cluster.Snapshot, needed func(node string) bool, survey func() *place.Ground, o Options, found *Found) *Search {
	x := begin(s, needed, survey, o, found)
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

// repeat asks about the next group that was found, as far as its nodes may still go.
func (x *consolidator) repeat() bool {
	for len(x.known.groups) > x.at {
		names := x.known.groups[x.at]
		x.at++
		var nodes []*candidate
		for _, c := range x.left {
			if slices.Contains(names, c.Name) && !x.stays(c) {
				nodes = append(nodes, c)
			}
		}
		if len(nodes) == len(names) {
			x.try(nodes)
			return true
		}
		note(nodes, "nodes that it was to go with may not go any more")
	}
	x.tell(x.left)
	return false
}
