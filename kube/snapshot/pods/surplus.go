package pods

import (
	"cmp"
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/snapshot/owner"
)

// unwanted has pods not return of owners that have more than they want: as many as are
// too many, those first that Kubernetes ends first. An owner creates none for the
// first that are evicted, whichever these are. Cost: linear in pods where any owner has
// too many.
func (s *showing) unwanted() {
	if len(s.surplus) == 0 {
		return
	}
	of := map[owner.ID][]*Pod{}
	for _, e := range s.pods {
		if !e.lives() {
			continue
		}
		if _, too := s.surplus[e.shaped.Owner]; too {
			of[e.shaped.Owner] = append(of[e.shaped.Owner], e)
		}
	}
	own := map[*cluster.Node]bool{}
	for id, pods := range of {
		beside := map[string]int{}
		for _, e := range pods {
			beside[e.pod.Node]++
		}
		slices.SortFunc(pods, func(x, y *Pod) int { return endsBefore(x, y, beside) })
		for _, e := range pods[:max(0, int32(len(pods))-s.wants(id))] {
			node := s.at(e.pod.Node)
			if node == nil {
				continue
			}
			if !own[node] {
				node.Pods, own[node] = slices.Clone(node.Pods), true
			}
			if at := slices.IndexFunc(node.Pods, func(p cluster.Pod) bool { return p.UID == e.pod.UID }); at >= 0 {
				node.Pods[at].Returns = false
			}
		}
	}
}

// endsBefore orders the pods of an owner as Kubernetes ends those that are too many:
// those without a node, those that have not started, those that are not ready, those of
// the least deletion cost, those of nodes with most of them, the youngest.
func endsBefore(x, y *Pod, beside map[string]int) int {
	rank := func(yes bool) int {
		if yes {
			return 0
		}
		return 1
	}
	return cmp.Or(
		rank(x.pod.Node == "")-rank(y.pod.Node == ""),
		rank(x.pod.Pending)-rank(y.pod.Pending),
		rank(!x.up)-rank(!y.up),
		cmp.Compare(x.cost, y.cost),
		cmp.Compare(beside[y.pod.Node], beside[x.pod.Node]),
		y.pod.CreatedAt.Compare(x.pod.CreatedAt),
		byEntry(x, y))
}
