package pods

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
	e    *Pod
	spot [2]int // of the node and the pod
}

// kept lists the pods to be asked whether they are the last ready ones of Services.
// Cost: linear in nodes and their pods where any asks for it.
func (s *showing) kept() []kept {
	if !s.AnyKeeps && len(s.KeepReady) == 0 {
		return nil
	}
	var out []kept
	for i := range s.out.Nodes {
		n := &s.out.Nodes[i]
		on := s.onNodes[n.Name]
		if n.Claim == "" || on == nil || !on.keeps && !s.KeepReady[n.Pool] {
			continue
		}
		for j, e := range on.pods {
			if e.up && (e.keeps.always || e.keeps.asPool && s.KeepReady[n.Pool]) {
				out = append(out, kept{e, [2]int{i, j}})
			}
		}
	}
	return out
}

// lastReady says of pods of which Service each is the last that is ready while there
// is another which may become so, or more than one is wanted. It comes before other
// pods are put on nodes. Cost: linear in pods where any asks for it.
func (s *showing) lastReady() {
	list := s.kept()
	if len(list) == 0 {
		return
	}
	beside := map[string][]*Pod{}
	for _, k := range list {
		beside[k.e.name.Namespace] = nil
	}
	for name, e := range s.pods {
		if list, asked := beside[name.Namespace]; asked && !e.ended && e.shaped != nil {
			beside[name.Namespace] = append(list, e)
		}
	}
	counted, own := map[types.NamespacedName][2]int{}, map[int]bool{}
	for _, k := range list {
		services := s.Workloads.Services(k.e.name.Namespace, k.e.shaped.Labels)
		slices.SortFunc(services, func(a, b types.NamespacedName) int { return cmp.Compare(a.Name, b.Name) })
		for _, service := range services {
			n, known := counted[service]
			if !known {
				n = s.countReady(service, beside[service.Namespace])
				counted[service] = n
			}
			if ready, all := n[0], n[1]; ready == 1 && (all > 1 || s.wants(k.e.shaped.Owner) > 1) {
				node := &s.out.Nodes[k.spot[0]]
				if !own[k.spot[0]] {
					node.Pods, own[k.spot[0]] = slices.Clone(node.Pods), true
				}
				node.Pods[k.spot[1]].LastOf = service.Name
				break
			}
		}
	}
}

// countReady counts the pods that a Service selects, those that are ready first.
func (s *showing) countReady(service types.NamespacedName, pods []*Pod) (n [2]int) {
	for _, e := range pods {
		if !s.Workloads.Selects(service, e.shaped.Labels) {
			continue
		}
		if n[1]++; e.up {
			n[0]++
		}
	}
	return n
}
