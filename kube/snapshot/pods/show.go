package pods

import (
	"slices"
	"sort"
	"time"

	"github.com/daemok/daemok/core/cluster"
)

// Around is what decides, beside the pods, how they are shown.
type Around struct {
	Went      map[string]time.Time    // nodes that were to go and have gone, and when
	KeepReady map[cluster.PoolID]bool // pools whose nodes stay while a pod on them is the last ready one of a Service
	AnyKeeps  bool                    // some pod on a node asks for that itself
}

// showing adds pods to a snapshot that has nodes with the pods that are bound to them.
type showing struct {
	*Table
	Around
	out *cluster.Snapshot
}

// Show completes a snapshot whose nodes have their pods already: which of these return, and which is the last ready
// one of a Service; the pods without a node; those that are expected in place of evicted ones; and the nodes of the
// controller.
func (t *Table) Show(out *cluster.Snapshot, around Around) {
	s := &showing{Table: t, Around: around, out: out}
	s.unwanted()
	s.lastReady()
	s.wait()
	s.showExpected()
	s.controllers()
}

// at finds a node of the snapshot by its name; nil where it shows none.
func (s *showing) at(node string) *cluster.Node { return NodeOf(s.out, node) }

// NodeOf finds a node of a snapshot, whose nodes are sorted, by its name; nil where it shows none.
func NodeOf(s *cluster.Snapshot, node string) *cluster.Node {
	i := sort.Search(len(s.Nodes), func(i int) bool { return s.Nodes[i].Name >= node })
	if i == len(s.Nodes) || s.Nodes[i].Name != node {
		return nil
	}
	return &s.Nodes[i]
}

// wait puts pods that wait for a node among the waiting, unless the scheduler has
// promised them a live one: those count as placed there, for as long as the promise counts.
// Those that have just come are expected: the scheduler may place them in a moment, and room
// that they would need otherwise is not given up meanwhile.
func (s *showing) wait() {
	now := s.out.Now
	var promised []*Pod
	for name := range s.unbound {
		switch p := s.pods[name]; {
		case p.ended:
		case !s.waits(p, now):
			if p.unjudged {
				s.out.Expected = append(s.out.Expected, s.show(p, now))
			}
		case p.nominated != "":
			promised = append(promised, p)
		default:
			s.out.Waiting = append(s.out.Waiting, s.show(p, now))
		}
	}
	slices.SortFunc(promised, byPromise)
	for _, p := range promised {
		if node := s.at(p.nominated); node != nil && p.isPromised(node, now) {
			node.Add(s.placed(p, node.Uproots(now), now))
			continue
		}
		s.out.Waiting = append(s.out.Waiting, s.show(p, now))
	}
}
