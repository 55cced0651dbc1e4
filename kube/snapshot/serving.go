package snapshot

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

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
	name types.NamespacedName
	seat [2]int // of the node and the pod
	e    podEntry
}

// noteKept notes a pod that was just put on a node.
func (b *builder) noteKept(name types.NamespacedName, e podEntry, seat int) {
	node := &b.out.Nodes[seat]
	if !e.up || !e.keeps.asPool && !e.keeps.always || node.Claim == "" {
		return
	}
	if e.keeps.asPool {
		if pool, _ := (mark.Leave{}).Over(b.k.pools[node.Pool].Annotations); !pool.KeepReady {
			return
		}
	}
	b.kept = append(b.kept, kept{name, [2]int{seat, len(node.Pods) - 1}, e})
}

// lastReady tells pods of which Service each is the last that is ready while there
// is another which may become so, or more than one is wanted. Cost: linear in pods where any asks for it.
func (b *builder) lastReady() {
	if len(b.kept) == 0 {
		return
	}
	beside := map[string][]podEntry{}
	for _, k := range b.kept {
		beside[k.name.Namespace] = nil
	}
	for name, e := range b.k.pods {
		if list, asked := beside[name.Namespace]; asked && !e.ended && e.subject != nil {
			beside[name.Namespace] = append(list, e)
		}
	}
	counted := map[types.NamespacedName][2]int{}
	for _, k := range b.kept {
		services := b.k.spreading.namesOf(k.name.Namespace, k.e.subject.labels)
		slices.SortFunc(services, func(a, b types.NamespacedName) int { return cmp.Compare(a.Name, b.Name) })
		for _, s := range services {
			n, known := counted[s]
			if !known {
				n = countReady(b.k.spreading.services[s], beside[s.Namespace])
				counted[s] = n
			}
			if ready, all := n[0], n[1]; ready == 1 && (all > 1 || b.k.spreading.owners[k.e.subject.owner].pods > 1) {
				b.out.Nodes[k.seat[0]].Pods[k.seat[1]].LastOf = s.Name
				break
			}
		}
	}
}

// countReady counts the pods that a selector is about, those that are ready first.
func countReady(selector map[string]string, pods []podEntry) (n [2]int) {
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
