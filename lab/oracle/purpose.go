package oracle

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/kube/translate/podspec"
)

// The rules by which plans are stricter than the scheduler on purpose. Each leaves a pod
// that the scheduler would place; none places one that it would not. They hold while
// instances are on their way: TestWaitsEnd carries plans out until all is idle, and no pod
// waits by them then.

// onPurpose reports whether plans avoid a node that accepts the pod.
func (st *stage) onPurpose(ctx context.Context, pod *corev1.Pod, node string) bool {
	return lacksRoom(st, pod, node) || st.undecided(ctx, pod, node) || st.spreadsFurther(ctx, pod, node)
}

// undecided: instances that are being launched may still turn out otherwise, and then the
// node would refuse the pod. Plans reckon with everything that they may be; the scheduler
// sees what they became, some seconds later. What speaks for it is always one way in which
// all of them turn out, in which it is refused.
func (st *stage) undecided(ctx context.Context, pod *corev1.Pod, node string) bool {
	return !st.eachOutcome(ctx, pod, node, func() bool { return st.judge(ctx, pod, node)[0].accepted })
}

// lacksRoom: an instance that may still turn out to be of several types counts as having the least that any of them has,
// less what the DaemonSets of any of them request. Each type by itself may leave more.
func lacksRoom(st *stage, pod *corev1.Pod, node string) bool {
	options := st.options[node]
	if len(options) < 2 {
		return false
	}
	room := options[0].instanceType.Allocatable
	for _, o := range options {
		room = room.Min(o.instanceType.Allocatable)
	}
	for _, ds := range st.world.Daemons {
		for _, o := range options {
			if d := daemonPod(ds, nodeObject(node, o.instanceType, o.labels)); d != nil {
				room = room.Sub(podspec.PodRequests(d))
				break
			}
		}
	}
	for _, p := range st.nodes.byName[node].GetPods() {
		if of := metav1.GetControllerOf(p.GetPod()); of == nil || of.Kind != "DaemonSet" {
			room = room.Sub(podspec.PodRequests(p.GetPod()))
		}
	}
	return !podspec.PodRequests(pod).FitsIn(room)
}

func valueOf(o option, key string) string {
	value, _ := o.labels.Get(key)
	return value
}

// overfull: the daemon pods of an instance alone do not fit on it. The scheduler checks
// nothing that a pod does not ask for, so a pod that asks for nothing could go there; such
// instances are not launched.
func (st *stage) overfull(name string) bool {
	n := st.nodes.byName[name]
	asked, has := n.GetRequested(), n.GetAllocatable()
	return asked.GetMilliCPU() > has.GetMilliCPU() || asked.GetMemory() > has.GetMemory() || len(n.GetPods()) > has.GetAllowedPodNumber()
}

// gone: nodes that are being deleted are no domains of spreads, since plans
// are for the time when they are gone. The scheduler counts them until then. It
// takes those away that no pod may keep from going, and reports whether there
// were any.
func (st *stage) gone() bool {
	any := false
	for i := range st.snapshot.Nodes {
		n := &st.snapshot.Nodes[i]
		if n.Goes() && st.nodes.byName[n.Name] != nil {
			st.leave(n.Name)
			any = true
		}
	}
	return any
}

// spreadsFurther: the pod spreads over domains that an instance could be launched in, or
// that one being launched may turn up in. Such domains count, as empty ones, before there
// is a node, or else the first pods of a deployment would all go to one zone. The scheduler
// counts them as soon as there is one.
func (st *stage) spreadsFurther(ctx context.Context, pod *corev1.Pod, node string) bool {
	if !slices.ContainsFunc(pod.Spec.TopologySpreadConstraints, func(c corev1.TopologySpreadConstraint) bool {
		return c.WhenUnsatisfiable == corev1.DoNotSchedule
	}) {
		return false
	}
	machines := st.undecidedMachines(pod)
	var added []string
	open := func(o option, taints []constraintTaint) {
		name := fmt.Sprintf("domain-%d", len(added))
		if st.arrive(name, o, taints) == nil {
			added = append(added, name)
		}
	}
	for i := range st.snapshot.Pools {
		p := &st.snapshot.Pools[i]
		for _, o := range optionsOf(st.world.Catalogue, p, p.Requirements, nil) {
			if p.NotReady == "" && !p.Static() && o.offering.Available && st.withinLimits(p, o.instanceType) {
				open(o, p.Taints)
			}
		}
	}
	for _, m := range machines {
		for _, o := range m.options {
			open(o, taintsOf(st.nodes.byName[m.name].Node()))
		}
	}
	accepted := st.eachOutcome(ctx, pod, node, func() bool {
		return st.judge(ctx, pod, node)[0].plugin != names.PodTopologySpread
	})
	for _, name := range added {
		st.leave(name)
	}
	return !accepted
}

func taintsOf(n *corev1.Node) []constraintTaint {
	var out []constraintTaint
	for _, t := range n.Spec.Taints {
		out = append(out, constraintTaint{Key: t.Key, Value: t.Value, Effect: constraint.Effect(t.Effect)})
	}
	return out
}
