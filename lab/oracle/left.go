package oracle

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
)

type constraintTaint = constraint.Taint

// judgeLeft asks the scheduler about every pod that the plan leaves, in the
// state that the plan leads to. Of pods with ResourceClaims it asks where plans count devices exactly.
func (st *stage) judgeLeft(ctx context.Context) {
	exact := st.devices.countExactly(st.world)
	for _, u := range st.plan.Unplaced {
		for i, p := range u.Pods {
			pod := st.waitingPod(p)
			if pod == nil {
				st.report(Disagreement{Kind: Broken, Pod: p.Namespace + "/" + p.Name, Plugin: "left", Reason: "the world has no such pod"})
				continue
			}
			if len(pod.Spec.ResourceClaims) > 0 && !exact {
				break
			}
			if !st.refused(ctx, pod, u) || i == 0 && !st.unsold(ctx, pod, u) {
				break
			}
		}
	}
}

// refused reports whether no node takes the pod, or none that the plan would
// not avoid on purpose.
func (st *stage) refused(ctx context.Context, pod *corev1.Pod, u plan.Unplaced) bool {
	verdicts := st.judge(ctx, pod, st.open...)
	for i, name := range st.open {
		if !verdicts[i].accepted {
			continue
		}
		if st.whatever(ctx, pod, name) && !st.onPurpose(ctx, pod, name) {
			st.report(Disagreement{Kind: Left, Pod: nameOf(pod), Node: name, Plugin: "accepted", Reason: why(u)})
			return false
		}
		st.excuse(pod, name)
	}
	return true
}

// whatever reports whether the pod is accepted by everything that an instance may turn out
// to be; what is there already is only itself.
func (st *stage) whatever(ctx context.Context, pod *corev1.Pod, name string) bool {
	for _, o := range st.options[name] {
		if o.instanceType.Allocatable.FitsIn(quantity.Resources{}) {
			continue
		}
		if !st.as(ctx, pod, name, o) {
			return false
		}
	}
	return true
}

// as reports whether the node would take the pod if it were this option.
func (st *stage) as(ctx context.Context, pod *corev1.Pod, name string, o option) bool {
	defer st.asBefore()()
	st.become(ctx, name, o)
	return st.judge(ctx, pod, name)[0].accepted
}

// unsold reports whether no instance that may be launched would take the pod. Pools with
// minValues and capacity that is unavailable are left alone.
func (st *stage) unsold(ctx context.Context, pod *corev1.Pod, u plan.Unplaced) bool {
	const name = "another-machine"
	for i := range st.snapshot.Pools {
		p := &st.snapshot.Pools[i]
		minimum := func(r constraint.Requirement) bool { return r.MinValues > 0 }
		if p.NotReady != "" || p.Static() || slices.ContainsFunc(p.Requirements, minimum) {
			continue
		}
		for _, o := range optionsOf(st.world.Catalogue, p, p.Requirements, nil) {
			if !o.offering.Available || !st.withinLimits(p, o.instanceType) {
				continue
			}
			if st.wouldTake(ctx, pod, name, o, p.Taints) {
				st.report(Disagreement{Kind: Unsold, Pod: nameOf(pod), Node: o.instanceType.Name + "/" + o.offering.Zone + "/" + string(o.offering.Option) + " of " + p.ID.Name,
					Plugin: "accepted", Reason: why(u)})
				return false
			}
		}
	}
	return true
}

func (st *stage) wouldTake(ctx context.Context, pod *corev1.Pod, name string, o option, taints []constraintTaint) bool {
	if err := st.arrive(name, o, taints); err != nil {
		return false
	}
	defer st.leave(name)
	for _, ds := range st.world.Daemons {
		if d := daemonPod(ds, st.nodes.byName[name].Node()); d != nil && st.bind(d, name) != nil {
			return false
		}
	}
	if st.overfull(name) || !st.judge(ctx, pod, name)[0].accepted {
		return false
	}
	if st.onPurpose(ctx, pod, name) {
		st.excuse(pod, o.instanceType.Name+" in "+o.offering.Zone)
		return false
	}
	return true
}

// excuse notes that the plan leaves the pod on purpose although the scheduler
// would place it.
func (st *stage) excuse(pod *corev1.Pod, where string) {
	st.excused = append(st.excused, nameOf(pod)+" on "+where)
}

// withinLimits counts what each launch may at most turn out to be.
func (st *stage) withinLimits(p *cluster.Pool, instanceType *cluster.InstanceType) bool {
	usage, nodes := p.Used.Capacity.Add(instanceType.Capacity), p.Used.Nodes+1
	for i := range st.plan.Launches {
		l := &st.plan.Launches[i]
		if l.Pool != p.ID {
			continue
		}
		var most quantity.Resources
		for _, o := range st.options[l.Name] {
			most = most.Max(o.instanceType.Capacity)
		}
		usage, nodes = usage.Add(most), nodes+1
	}
	for _, limit := range p.Limits.Amounts {
		if usage.Get(limit.Name) > limit.Amount {
			return false
		}
	}
	return p.Limits.Nodes == nil || nodes <= *p.Limits.Nodes
}

func why(u plan.Unplaced) string {
	out := ""
	for _, r := range u.Reasons {
		out += r.String() + "; "
	}
	return out
}
