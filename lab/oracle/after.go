package oracle

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

// Next carries a plan for the world out and returns the world that is there then: all
// instances have come and take pods, pods run where the plan has them, and nodes that were
// going are gone. It is nil where the plan changes nothing and nothing is on its way.
// Excused are the pods that the plan leaves on purpose although the scheduler would place
// them, and where.
func Next(ctx context.Context, w *World) (next *World, excused []string, err error) {
	s, err := w.Snapshot(ctx)
	if err != nil {
		return nil, nil, err
	}
	p, trouble := decided(s)
	if trouble != nil {
		return nil, nil, fmt.Errorf("world %d has no plan: %v", w.Seed, trouble)
	}
	nameForGood(p, len(w.Nodes))
	st, end, err := newStage(ctx, w, s, p, byChance)
	if err != nil {
		return nil, nil, err
	}
	defer end()
	if err := st.place(ctx); err != nil {
		return nil, nil, err
	}
	st.judgeLeft(ctx)
	if len(p.Placements)+len(p.Launches)+len(s.Instances) == 0 {
		return nil, st.excused, nil
	}
	st.gone()
	return st.after(), st.excused, nil
}

// nameForGood gives the instances of the plan names that no later plan uses.
func nameForGood(p *plan.Plan, nodes int) {
	for i := range p.Launches {
		p.Launches[i].Name = fmt.Sprintf("%d-%s", nodes, p.Launches[i].Name)
	}
	for i := range p.Placements {
		if x := &p.Placements[i]; x.On == plan.OnLaunch {
			x.Target = fmt.Sprintf("%d-%s", nodes, x.Target)
		}
	}
}

// after is the world that the stage shows.
func (st *stage) after() *World {
	out := *st.world
	out.Claims, out.Nodes, out.Pods = nil, nil, nil
	out.CSINodes, out.Volumes, out.Requests = stored(st, &storagev1.CSINode{}), stored(st, &corev1.PersistentVolume{}), stored(st, &corev1.PersistentVolumeClaim{})
	out.CSINodes = slices.DeleteFunc(out.CSINodes, func(n *storagev1.CSINode) bool { return st.nodes.byName[n.Name] == nil })
	placed := map[string]bool{}
	for _, info := range st.nodes.order {
		n := info.Node()
		if st.leaves(n) {
			continue
		}
		out.Nodes = append(out.Nodes, n)
		if c := st.claimOf(n); c != nil {
			out.Claims = append(out.Claims, c)
		}
		for _, p := range info.GetPods() {
			pod := p.GetPod()
			placed[nameOf(pod)] = true
			if pod.Status.Phase == corev1.PodPending {
				pod.Status = corev1.PodStatus{Phase: corev1.PodRunning,
					ResourceClaimStatuses: pod.Status.ResourceClaimStatuses}
			}
			out.Pods = append(out.Pods, pod)
		}
	}
	for _, pod := range st.world.Pods {
		if again := st.still(st.pods[nameOf(pod)]); again != nil && !placed[nameOf(pod)] {
			out.Pods = append(out.Pods, again)
		}
	}
	out.Slices, out.ResourceClaims = st.devices.store()
	return &out
}

// leaves reports whether the node belongs to an instance that was given up before it came.
func (st *stage) leaves(n *corev1.Node) bool {
	return slices.ContainsFunc(st.snapshot.Instances, func(m cluster.Instance) bool { return m.Claim == n.Name && m.Deleting })
}

// still is what becomes of a pod that is on no node of the stage: one that waits
// does so, one that had to leave its node waits or, as long as the node is there,
// has not left it. It is nil for pods that have ended.
func (st *stage) still(pod *corev1.Pod) *corev1.Pod {
	switch {
	case pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed:
		return nil
	case pod.Spec.NodeName == "" || st.nodes.byName[pod.Spec.NodeName] != nil:
		return pod
	case pod.DeletionTimestamp != nil || metav1.GetControllerOf(pod) == nil || metav1.GetControllerOf(pod).Kind == "DaemonSet":
		return nil
	}
	again := pod.DeepCopy()
	again.Spec.NodeName, again.Status = "", waitingStatus()
	again.Status.ResourceClaimStatuses = pod.Status.ResourceClaimStatuses
	st.devices.release(resourceClaimsOf(again)...)
	return again
}

// claimOf is the claim of a node that is there: the one that it has, or the one by which it
// was launched; nil for a node that has none.
func (st *stage) claimOf(n *corev1.Node) *karpv1.NodeClaim {
	for _, c := range st.world.Claims {
		if c.Status.NodeName == n.Name {
			return c
		}
		if c.Name == n.Name {
			return started(c.DeepCopy(), n)
		}
	}
	at := slices.IndexFunc(st.plan.Launches, func(l plan.Launch) bool { return l.Name == n.Name })
	if at < 0 {
		return nil
	}
	pool := slices.IndexFunc(st.world.Pools, func(p *karpv1.NodePool) bool { return p.Name == st.plan.Launches[at].Pool.Name })
	return started(claimObject(n.Name, st.world.Pools[pool], &cluster.InstanceType{}, n.Labels), n)
}

// started makes the claim that of a node which has registered and takes pods.
func started(c *karpv1.NodeClaim, n *corev1.Node) *karpv1.NodeClaim {
	for key, value := range n.Labels {
		if key != api.LabelHostname && key != api.LabelRegistered && key != api.LabelInitialized {
			metav1.SetMetaDataLabel(&c.ObjectMeta, key, value)
		}
	}
	c.Status.ProviderID, c.Status.NodeName = n.Spec.ProviderID, n.Name
	c.Status.Capacity, c.Status.Allocatable = n.Status.Capacity, n.Status.Allocatable
	condition.SetTrue(c, karpv1.ClaimRegistered, began)
	condition.SetTrue(c, karpv1.ClaimInitialized, began)
	return c
}

// stored lists the objects of a type that the scheduler knows, by name.
func stored[T metav1.Object](st *stage, like T) []T {
	var out []T
	for _, o := range st.store(like).List() {
		out = append(out, o.(T))
	}
	slices.SortFunc(out, func(a, b T) int {
		return cmp.Or(cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()))
	})
	return out
}
