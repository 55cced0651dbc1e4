package snapshot

import (
	"cmp"
	"slices"

	"github.com/daemok/daemok/core/cluster"
)

// wants is how many pods an owner keeps; 0 where it is not known.
func (k *ClusterState) wants(id ownerID) int32 {
	of := k.spreading.owners[id]
	return of.Wants()
}

// recordSurplus takes in that an owner wants others, or has others, and reports whether it
// has more pods than it wants now, or had. Of one that wants none no pod returns in any
// event; those of a StatefulSet are told by their ordinals; and a Job that counts a pod as
// done may know of its end before the watch of pods does.
func (k *ClusterState) recordSurplus(id ownerID) bool {
	_, had := k.surplus[id]
	of, known := k.spreading.owners[id]
	has := known && (id.kind == "ReplicaSet" || id.kind == "ReplicationController") && of.Wants() > 0 && k.alive[id] > of.Wants()
	if delete(k.surplus, id); has {
		k.surplus[id] = struct{}{}
	}
	return had || has
}

// unwanted has pods not return of owners that have more than they want: as many as are
// too many, those first that Kubernetes ends first. An owner creates none for the
// first that are evicted, whichever these are. Cost: linear in pods where any owner has
// too many.
func (b *builder) unwanted() {
	if len(b.k.surplus) == 0 {
		return
	}
	of := map[ownerID][]*podEntry{}
	for _, e := range b.k.pods {
		if !e.lives() {
			continue
		}
		if _, too := b.k.surplus[e.subject.owner]; too {
			of[e.subject.owner] = append(of[e.subject.owner], e)
		}
	}
	own := map[*cluster.Node]bool{}
	for id, pods := range of {
		beside := map[string]int{}
		for _, e := range pods {
			beside[e.pod.Node]++
		}
		slices.SortFunc(pods, func(x, y *podEntry) int { return endsBefore(x, y, beside) })
		for _, e := range pods[:max(0, int32(len(pods))-b.k.wants(id))] {
			node := b.at(e.pod.Node)
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
func endsBefore(x, y *podEntry, beside map[string]int) int {
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
