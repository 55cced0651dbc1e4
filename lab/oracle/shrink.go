package oracle

import (
	"context"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/daemok/daemok/core/cluster"
)

// Shrink returns a smaller world that still shows a disagreement about the same rule, and
// that disagreement. Nothing can be left out of it: no object, instance type, offering or
// rule of a pod.
func Shrink(ctx context.Context, w *World, like Disagreement) (*World, Disagreement) {
	s := &shrinker{ctx: ctx, world: w, still: like}
	for again := true; again; {
		again = s.dropObjects()
		again = s.dropOfferings() || again
		again = s.simplifyPods() || again
	}
	s.try(s.world.withoutUnused())
	return s.world, s.still
}

type shrinker struct {
	ctx   context.Context
	world *World
	still Disagreement
}

// try keeps the world if it still shows the disagreement.
func (s *shrinker) try(w *World) bool {
	found, err := Check(s.ctx, w)
	if err != nil {
		return false
	}
	if len(found) == 0 || !found[0].Like(s.still) {
		return false
	}
	s.world, s.still = w, found[0]
	return true
}

// dropObjects leaves out objects of each Kind: many at once as long as that works, then one
// by one.
func (s *shrinker) dropObjects() bool {
	smaller := false
	fields := reflect.TypeOf(World{}).NumField()
	for f := fields - 1; f >= 0; f-- {
		list := func() reflect.Value { return reflect.ValueOf(s.world).Elem().Field(f) }
		if list().Kind() != reflect.Slice || kept[reflect.TypeOf(World{}).Field(f).Name] {
			continue
		}
		for chunk := list().Len(); chunk > 0; chunk /= 2 {
			for at := 0; at < list().Len(); {
				if s.try(s.world.without(f, at, chunk)) {
					smaller = true
				} else {
					at += chunk
				}
			}
		}
	}
	return smaller
}

// kept are lists that stay whole: a volume whose claim is there and itself is
// not would be a disagreement of another kind. What no pod uses goes at the end.
var kept = map[string]bool{"Namespaces": true, "Classes": true, "Volumes": true, "Requests": true,
	"DeviceClasses": true, "ResourceClaims": true}

// withoutUnused is a copy without claims that no pod uses and their volumes.
func (w *World) withoutUnused() *World {
	used := map[string]bool{}
	for _, pod := range w.Pods {
		for _, name := range claimsOf(pod) {
			used[pod.Namespace+"/"+name] = true
		}
	}
	out, volumes := *w, map[string]bool{}
	out.Requests, out.Volumes = nil, nil
	for _, c := range w.Requests {
		if used[c.Namespace+"/"+c.Name] {
			out.Requests, volumes[c.Spec.VolumeName] = append(out.Requests, c), true
		}
	}
	for _, v := range w.Volumes {
		if volumes[v.Name] {
			out.Volumes = append(out.Volumes, v)
		}
	}
	return &out
}

// without is a copy that lacks n objects of one list.
func (w *World) without(field, at, n int) *World {
	out := *w
	list := reflect.ValueOf(w).Elem().Field(field)
	kept := reflect.MakeSlice(list.Type(), 0, list.Len())
	for i := range list.Len() {
		if i < at || i >= at+n {
			kept = reflect.Append(kept, list.Index(i))
		}
	}
	reflect.ValueOf(&out).Elem().Field(field).Set(kept)
	return &out
}

// dropOfferings leaves out instance types and offerings.
func (s *shrinker) dropOfferings() bool {
	smaller := false
	for k := len(s.world.Catalogue.InstanceTypes) - 1; k >= 0; k-- {
		if s.try(s.world.offering(func(kind, _ int) bool { return kind != k })) {
			smaller = true
			continue
		}
		for o := len(s.world.Catalogue.InstanceTypes[k].Offerings) - 1; o >= 0; o-- {
			smaller = s.try(s.world.offering(func(kind, offering int) bool { return kind != k || offering != o })) || smaller
		}
	}
	return smaller
}

// offering is a copy in which only some offerings are left.
func (w *World) offering(keep func(kind, offering int) bool) *World {
	out := *w
	out.Catalogue = &cluster.Catalogue{Revision: w.Catalogue.Revision}
	for k, instanceType := range w.Catalogue.InstanceTypes {
		all := instanceType.Offerings
		instanceType.Offerings = nil
		for o := range all {
			if keep(k, o) {
				instanceType.Offerings = append(instanceType.Offerings, all[o])
			}
		}
		if len(instanceType.Offerings) > 0 {
			out.Catalogue.InstanceTypes = append(out.Catalogue.InstanceTypes, instanceType)
		}
	}
	return &out
}

// simplifyPods takes rules off pods and nodes, one by one.
func (s *shrinker) simplifyPods() bool {
	smaller := false
	for i := range s.world.Pods {
		for _, simpler := range simplerPods(s.world.Pods[i]) {
			w := *s.world
			w.Pods = append([]*corev1.Pod{}, w.Pods...)
			w.Pods[i] = simpler(s.world.Pods[i].DeepCopy())
			if size(w.Pods[i]) < size(s.world.Pods[i]) {
				smaller = s.try(&w) || smaller
			}
		}
	}
	for i := range s.world.Nodes {
		w := *s.world
		w.Nodes = append([]*corev1.Node{}, w.Nodes...)
		w.Nodes[i] = w.Nodes[i].DeepCopy()
		w.Nodes[i].Spec.Taints = nil
		if len(s.world.Nodes[i].Spec.Taints) > 0 {
			smaller = s.try(&w) || smaller
		}
	}
	return smaller
}

func size(o runtime.Object) int { return len(toYAML(o)) }

// simplerPods lists what may be taken off a pod.
func simplerPods(pod *corev1.Pod) []func(*corev1.Pod) *corev1.Pod {
	var out []func(*corev1.Pod) *corev1.Pod
	add := func(change func(*corev1.Pod)) {
		out = append(out, func(p *corev1.Pod) *corev1.Pod { change(p); return p })
	}
	add(func(p *corev1.Pod) { p.Spec.InitContainers = nil })
	add(func(p *corev1.Pod) { p.Spec.Tolerations = nil })
	add(func(p *corev1.Pod) { p.Spec.NodeSelector = nil })
	add(func(p *corev1.Pod) { p.Spec.Volumes = nil })
	add(func(p *corev1.Pod) { p.Spec.ResourceClaims, p.Spec.Containers[0].Resources.Claims = nil, nil })
	add(func(p *corev1.Pod) { p.Spec.Priority = nil })
	add(func(p *corev1.Pod) { p.Spec.Containers[0].Ports = nil })
	add(func(p *corev1.Pod) { p.Spec.Containers[0].Resources = corev1.ResourceRequirements{} })
	add(func(p *corev1.Pod) { p.Spec.Affinity = nil })
	add(func(p *corev1.Pod) { p.Labels = nil })
	for i := range pod.Spec.TopologySpreadConstraints {
		add(func(p *corev1.Pod) { drop(&p.Spec.TopologySpreadConstraints, i) })
	}
	for i := range pod.Spec.Volumes {
		add(func(p *corev1.Pod) { drop(&p.Spec.Volumes, i) })
	}
	for i := range pod.Spec.Tolerations {
		add(func(p *corev1.Pod) { drop(&p.Spec.Tolerations, i) })
	}
	if pod.Spec.Affinity != nil {
		simplerAffinity(add)
	}
	return out
}

// simplerAffinity lists what may be taken off an affinity. Each is tried on
// what earlier ones have left.
func simplerAffinity(add func(func(*corev1.Pod))) {
	on := func(change func(*corev1.Affinity)) {
		add(func(p *corev1.Pod) {
			if p.Spec.Affinity != nil {
				change(p.Spec.Affinity)
			}
		})
	}
	on(func(a *corev1.Affinity) { a.NodeAffinity = nil })
	on(func(a *corev1.Affinity) { a.PodAffinity = nil })
	on(func(a *corev1.Affinity) { a.PodAntiAffinity = nil })
	for i := range 3 {
		on(func(a *corev1.Affinity) {
			if a.NodeAffinity != nil && len(a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms) > 1 {
				drop(&a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms, i)
			}
		})
		on(func(a *corev1.Affinity) {
			if a.PodAffinity != nil {
				drop(&a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution, i)
			}
		})
		on(func(a *corev1.Affinity) {
			if a.PodAntiAffinity != nil {
				drop(&a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution, i)
				a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution = nil
			}
		})
	}
}

// drop takes one thing out of a list.
func drop[T any](list *[]T, i int) {
	if i < len(*list) {
		*list = append((*list)[:i:i], (*list)[i+1:]...)
	}
}
