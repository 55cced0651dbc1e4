package snapshot

import (
	"maps"
	"slices"
	"time"

	"github.com/daemok/daemok/core/cluster"
)

// expectedFor is how long another pod is expected in place of one whose node is gone:
// controllers that have many to make are through by then, and what still keeps them
// from it, such as a quota, may last.
const expectedFor = 5 * time.Minute

// targetExpected has pods that were evicted count where they were until their owners have
// made others, as long as these want more than they have: their places are given to no
// other pods meanwhile, and machines that they are to go to are not taken for empty
// ones. Where their nodes are gone, others are expected.
func (b *builder) targetExpected() {
	b.expectUncollected()
	missing := b.missing()
	if len(missing) == 0 {
		return
	}
	for _, of := range slices.SortedFunc(maps.Keys(b.k.evictions), owner.compare) {
		for _, e := range slices.Backward(b.k.evictions[of]) { // those that went last: others have come for the first
			node := b.at(e.pod.Node)
			if e.subject == nil || e.subject.shape == nil || missing[e.subject.owner] <= 0 || !b.k.spreading.creates(&e.pod, e.subject.owner) {
				continue
			}
			missing[e.subject.owner]--
			if node == nil {
				if b.out.Now.Sub(e.at) >= expectedFor {
					continue // what keeps its owner from making another may last
				}
				b.expect(&e.pod, e.subject)
				continue
			}
			at := slices.IndexFunc(node.Pods, func(p cluster.Pod) bool { return p.UID == e.pod.UID })
			if at < 0 { // it has ended
				p := e.pod
				p.Shape, p.PDBs, p.Ending, p.DoNotDisrupt = e.subject.shape, "", true, false
				p.Returns = true
				node.Add(p)
				continue
			}
			node.Pods = slices.Clone(node.Pods)
			node.Pods[at].Returns = true
		}
	}
}

// expectUncollected expects others in the place of pods whose node was to go and is gone,
// as when the cloud took its machine: the garbage collector has not found them yet. Not in
// the place of those that their owner does not want any more: the first by node and name.
func (b *builder) expectUncollected() {
	unwanted := map[ownerID]int32{}
	for _, node := range slices.Sorted(maps.Keys(b.k.went)) {
		v := b.k.views.of[node]
		if v == nil || v.node != nil || b.out.Now.Sub(b.k.went[node]) >= expectedFor {
			continue
		}
		for _, e := range v.pods {
			id := e.subject.owner
			if p := &e.pod; !p.Returns || p.Ending || e.subject.shape == nil || !b.k.spreading.creates(p, id) {
				continue
			}
			if _, counted := unwanted[id]; !counted {
				unwanted[id] = b.k.alive[id] - b.k.wants(id)
			}
			if unwanted[id] > 0 {
				unwanted[id]--
				continue
			}
			b.expect(&e.pod, e.subject)
		}
	}
}

func (b *builder) expect(p *cluster.Pod, s *subject) {
	other := *p
	other.Shape, other.PDBs, other.Node, other.DoNotDisrupt = s.shape, "", "", false
	b.out.Expected = append(b.out.Expected, other)
}

// missing counts how many pods owners of evicted ones want more than they have.
func (b *builder) missing() map[ownerID]int32 {
	out := map[ownerID]int32{}
	for _, list := range b.k.evictions {
		for i := range list {
			if list[i].subject != nil {
				id := list[i].subject.owner
				out[id] = b.k.wants(id) - b.k.alive[id]
			}
		}
	}
	maps.DeleteFunc(out, func(_ ownerID, n int32) bool { return n <= 0 })
	return out
}
