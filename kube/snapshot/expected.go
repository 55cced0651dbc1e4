package snapshot

import (
	"cmp"
	"maps"
	"slices"

	"github.com/daemok/daemok/core/cluster"
)

// seatExpected has pods that were evicted count where they were until their owners have
// made others, as long as these want more than they have: their places are given to no
// other pods meanwhile, and machines that they are to go to are not taken for empty
// ones. That is over, too, when their nodes are gone.
func (b *builder) seatExpected() {
	missing := b.missing()
	if len(missing) == 0 {
		return
	}
	grown := map[int]bool{}
	for _, of := range slices.SortedFunc(maps.Keys(b.k.lineage), owner.compare) {
		for _, e := range slices.Backward(b.k.lineage[of]) { // those that went last: others have come for the first
			seat, seated := b.nodeAt[e.pod.Node]
			if e.subject == nil || e.subject.shape == nil || !seated || missing[e.subject.owner] <= 0 {
				continue
			}
			missing[e.subject.owner]--
			node := &b.out.Nodes[seat]
			at := slices.IndexFunc(node.Pods, func(p cluster.Pod) bool { return p.UID == e.pod.UID })
			if at < 0 { // it has ended
				p := e.pod
				p.Shape, p.Guards, p.Ending, p.DoNotDisrupt = b.shape(e.subject.shape), "", true, false
				node.Pods = append(node.Pods, p)
				at, grown[seat] = len(node.Pods)-1, true
			}
			node.Pods[at].Returns = true
		}
	}
	for seat := range grown {
		slices.SortStableFunc(b.out.Nodes[seat].Pods, func(p, q cluster.Pod) int {
			return cmp.Or(cmp.Compare(p.Namespace, q.Namespace), cmp.Compare(p.Name, q.Name))
		})
	}
}

// missing counts how many pods owners of evicted ones want more than they have.
func (b *builder) missing() map[ownerID]int32 {
	out := map[ownerID]int32{}
	for _, list := range b.k.lineage {
		for i := range list {
			if list[i].subject != nil {
				id := list[i].subject.owner
				if of, known := b.k.spreading.owners[id]; known {
					out[id] = of.pods
				}
			}
		}
	}
	if len(out) == 0 {
		return out
	}
	for _, e := range b.k.pods {
		if e.subject != nil && !e.ended && !e.pod.Ending {
			if n, asked := out[e.subject.owner]; asked {
				out[e.subject.owner] = n - 1
			}
		}
	}
	maps.DeleteFunc(out, func(_ ownerID, n int32) bool { return n <= 0 })
	return out
}
