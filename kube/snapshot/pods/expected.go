package pods

import (
	"maps"
	"slices"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/snapshot/owner"
	"github.com/daemok/daemok/kube/snapshot/shapes"
)

// expectedFor is how long another pod is expected in place of one whose node is gone:
// controllers that have many to make are through by then, and what still keeps them
// from it, such as a quota, may last.
const expectedFor = 5 * time.Minute

// showExpected has pods that were evicted count where they were until their owners have
// made others, as long as these want more than they have: their places are given to no
// other pods meanwhile, and instances that they are to go to are not taken for empty
// ones. Where their nodes are gone, others are expected.
func (s *showing) showExpected() {
	s.expectUncollected()
	missing := s.missing()
	if len(missing) == 0 {
		return
	}
	for _, of := range slices.SortedFunc(maps.Keys(s.evictions), owned.compare) {
		for _, e := range slices.Backward(s.evictions[of]) { // those that went last: others have come for the first
			node := s.at(e.pod.Node)
			if e.shaped == nil || e.shaped.Shape() == nil || missing[e.shaped.Owner] <= 0 || !s.creates(&e.pod, e.shaped.Owner) {
				continue
			}
			missing[e.shaped.Owner]--
			if node == nil {
				if s.out.Now.Sub(e.at) >= expectedFor {
					continue // what keeps its owner from making another may last
				}
				s.expect(&e.pod, e.shaped)
				continue
			}
			at := slices.IndexFunc(node.Pods, func(p cluster.Pod) bool { return p.UID == e.pod.UID })
			if at < 0 { // it has ended
				p := e.pod
				p.Shape, p.PDBs, p.Ending, p.DoNotDisrupt = e.shaped.Shape(), "", true, false
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
// as when the cloud took its instance: the garbage collector has not found them yet. Not in
// the place of those that their owner does not want any more: the first by node and name.
func (s *showing) expectUncollected() {
	unwanted := map[owner.ID]int32{}
	for _, node := range slices.Sorted(maps.Keys(s.Went)) {
		on := s.onNodes[node]
		if on == nil || s.out.Now.Sub(s.Went[node]) >= expectedFor {
			continue
		}
		for _, e := range on.pods {
			id := e.shaped.Owner
			if p := &e.pod; !p.Returns || p.Ending || e.shaped.Shape() == nil || !s.creates(p, id) {
				continue
			}
			if _, counted := unwanted[id]; !counted {
				unwanted[id] = s.alive[id] - s.wants(id)
			}
			if unwanted[id] > 0 {
				unwanted[id]--
				continue
			}
			s.expect(&e.pod, e.shaped)
		}
	}
}

func (s *showing) expect(p *cluster.Pod, e *shapes.Entry) {
	other := *p
	other.Shape, other.PDBs, other.Node, other.DoNotDisrupt = e.Shape(), "", "", false
	s.out.Expected = append(s.out.Expected, other)
}

// missing counts how many pods owners of evicted ones want more than they have.
func (s *showing) missing() map[owner.ID]int32 {
	out := map[owner.ID]int32{}
	for _, list := range s.evictions {
		for i := range list {
			if list[i].shaped != nil {
				id := list[i].shaped.Owner
				out[id] = s.wants(id) - s.alive[id]
			}
		}
	}
	maps.DeleteFunc(out, func(_ owner.ID, n int32) bool { return n <= 0 })
	return out
}
