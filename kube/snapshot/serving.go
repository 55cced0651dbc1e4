package snapshot

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api/mark"
)

// keeping is what a pod says of being the last ready one of a Service.
type keeping struct{ asPool, always bool }

// keepingOf reads the annotation; the pool's holds where it says nothing.
func keepingOf(pod *corev1.Pod) keeping {
	without, _ := mark.Leave{}.Over(pod.Annotations)
	with, _ := mark.Leave{KeepReady: true}.Over(pod.Annotations)
	return keeping{asPool: with.KeepReady != without.KeepReady, always: without.KeepReady}
}

// kept is a ready pod on a node that stays while it is the last of a Service.
type kept struct {
	e      *podEntry
	target [2]int // of the node and the pod
}

// kept lists the pods to be asked whether they are the last ready ones of Services.
// Cost: linear in nodes and their pods where any asks for it.
func (b *builder) kept() []kept {
	asks := map[cluster.PoolID]bool{}
	for id, o := range b.k.pools {
		if leave, _ := (mark.Leave{}).Over(o.Annotations); leave.KeepReady {
			asks[id] = true
		}
	}
	if !b.keeps && len(asks) == 0 {
		return nil
	}
	var out []kept
	for i := range b.out.Nodes {
		n := &b.out.Nodes[i]
		v := b.k.views.of[n.Name]
		if n.Claim == "" || v == nil || !v.keeps && !asks[n.Pool] {
			continue
		}
		for j, e := range v.pods {
			if e.up && (e.keeps.always || e.keeps.asPool && asks[n.Pool]) {
				out = append(out, kept{e, [2]int{i, j}})
			}
		}
	}
	return out
}

// lastReady tells pods of which Service each is the last that is ready while there
// is another which may become so, or more than one is wanted. It comes before other
// pods are put on nodes. Cost: linear in pods where any asks for it.
func (b *builder) lastReady() {
	list := b.kept()
	if len(list) == 0 {
		return
	}
	beside := map[string][]*podEntry{}
	for _, k := range list {
		beside[k.e.name.Namespace] = nil
	}
	for name, e := range b.k.pods {
		if list, asked := beside[name.Namespace]; asked && !e.ended && e.subject != nil {
			beside[name.Namespace] = append(list, e)
		}
	}
	counted, own := map[types.NamespacedName][2]int{}, map[int]bool{}
	for _, k := range list {
		services := b.k.spreading.namesOf(k.e.name.Namespace, k.e.subject.labels)
		slices.SortFunc(services, func(a, b types.NamespacedName) int { return cmp.Compare(a.Name, b.Name) })
		for _, s := range services {
			n, known := counted[s]
			if !known {
				n = countReady(b.k.spreading.services[s], beside[s.Namespace])
				counted[s] = n
			}
			if ready, all := n[0], n[1]; ready == 1 && (all > 1 || b.k.wants(k.e.subject.owner) > 1) {
				node := &b.out.Nodes[k.target[0]]
				if !own[k.target[0]] {
					node.Pods, own[k.target[0]] = slices.Clone(node.Pods), true
				}
				node.Pods[k.target[1]].LastOf = s.Name
				break
			}
		}
	}
}

// countReady counts the pods that a selector is about, those that are ready first.
func countReady(selector map[string]string, pods []*podEntry) (n [2]int) {
	for _, e := range pods {
		if !within(selector, e.subject.labels) {
			continue
		}
		if n[1]++; e.up {
			n[0]++
		}
	}
	return n
}
