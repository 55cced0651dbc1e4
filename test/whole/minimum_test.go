package whole_test

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/mark"
	"github.com/daemok/daemok/kube/translate/podspec"
)

// hasMinimum reports whether the pool has a minimum of on-demand nodes, which changes in the trouble. One whose
// template says which nodes are spot instances has none.
func hasMinimum(u draws) bool { return u("minimum") < 0.3 && u("labelled") >= 0.5 }

// hasPodMinimum reports whether some pods of the deployment are to be on demand.
func hasPodMinimum(u draws) bool { return u("pod minimum") < 0.3 && u("labelled") >= 0.5 }

// hasCommitments reports whether there are commitments, which change and cannot be read now and then in the trouble.
func hasCommitments(u draws) bool { return u("commitments") < 0.3 }

// demandOnDemand has the pool and its pods ask for on-demand nodes where the seed says so.
func demandOnDemand(u draws, p *karpv1.NodePool) {
	if hasMinimum(u) || hasPodMinimum(u) {
		bothOptions(p)
	}
	if hasMinimum(u) {
		p.Annotations = map[string]string{api.AnnotationOnDemandMinimum: chosen(u, "least", "1", "2", "50%")}
	}
}

// webOf is what pods of the deployment ask for.
func webOf(u draws) func(*corev1.Pod) {
	if hasPodMinimum(u) {
		return asking(chosen(u, "least pods", "1", "3", "40%"))
	}
	return plain
}

// commits has people change a minimum and commitments, as it may happen in a minute of trouble.
func (w *world) commits(u draws, minute int) {
	name := func(what string) string { return fmt.Sprint(what, minute) }
	if hasMinimum(u) && u(name("other minimum")) < 0.3 {
		w.asksFor(chosen(u, name("least"), "1", "3", "50%", "few"))
	}
	if !hasCommitments(u) || u(name("commits")) > 0.4 {
		return
	}
	c := &corev1.ConfigMap{}
	c.Namespace, c.Name = "kube-system", api.ConfigMapCommitments
	edit(w, c, func(c *corev1.ConfigMap) {
		c.Data = map[string]string{api.CommitmentsFile: commitmentsOf(u, name("committed"))}
	})
}

// asksFor has the pool ask for another minimum.
func (w *world) asksFor(minimum string) {
	edit(w, w.defaultPool(), func(p *karpv1.NodePool) {
		p.Annotations = map[string]string{api.AnnotationOnDemandMinimum: minimum}
	})
}

func commitmentsOf(u draws, name string) string {
	return chosen(u, name,
		"reservedInstances: [{id: web, instanceType: m5.large, count: 2, sizeFlexible: true}]",
		"reservedInstances: [{id: zonal, instanceType: c5.xlarge, count: 1, zone: "+zoneB+"}]",
		"savingsPlans: [{id: compute, commitment: 0.2, discount: 30%}]",
		"reservedInstances: [{id: web, count: 2}]", // which cannot be read
	)
}

// keepsMinimum looks at a NodeClaim that the controller deletes by choice: its pool keeps its minimum of on-demand
// nodes, unless an on-demand instance takes its place, or others took some away a moment ago.
func (p *promises) keepsMinimum(c *karpv1.NodeClaim, pool *karpv1.NodePool) {
	isSpot := func(c *karpv1.NodeClaim) bool { return c.Labels[api.LabelCapacityType] == "spot" }
	least, err := mark.OnDemandMinimum(pool.Annotations)
	if err != nil || pool.DeletionTimestamp != nil || isSpot(c) {
		return
	}
	for _, d := range p.deleted {
		if time.Since(d.at) < lateWatches {
			return
		}
	}
	var after cluster.Balance
	for _, o := range p.claims {
		stays := o.DeletionTimestamp == nil && o.Status.ProviderID != "" && o.Name != c.Name
		if !stays || o.Labels[api.LabelNodePool] != pool.Name {
			continue
		}
		if !isSpot(o) && replaces(o, c.Name) {
			return
		}
		after.Count(isSpot(o), 1)
	}
	if least.Short(after) > 0 {
		p.breaks("minimums hold", "NodeClaim "+c.Name,
			"without it %d of %d nodes of NodePool %s are on demand, and its minimum is %s",
			after.OnDemand, after.OnDemand+after.Spot, pool.Name, least)
	}
}

// keepsPlaces looks at a NodeClaim that the controller deletes by choice, on demand and with pods of a workload that
// has its minimum of pods on demand: other on-demand nodes have places for that many. Places are what CPU leaves beside
// pods of other workloads; what came a moment ago may not have been known.
func (p *promises) keepsPlaces(c *karpv1.NodeClaim) {
	web, need := p.onDemandPods()
	on, lost := 0, 0
	for _, pod := range web {
		if n := p.nodes[pod.Spec.NodeName]; n != nil && isOnDemand(n.Labels) {
			on++
			if n.Name == c.Status.NodeName {
				lost++
			}
		}
	}
	if lost == 0 || int64(on) < need {
		return
	}
	request, places := max(1, cpuOf(web[0].Pod)), int64(0)
	for _, pod := range web {
		request = min(request, max(1, cpuOf(pod.Pod)))
	}
	for _, o := range p.claims {
		n := p.nodes[o.Status.NodeName]
		switch {
		case o.Name == c.Name || o.DeletionTimestamp != nil || o.Status.ProviderID == "" || !isOnDemand(o.Labels):
		case n == nil:
			places += o.Status.Allocatable.Cpu().MilliValue() / request
		default:
			places += max(0, n.Status.Allocatable.Cpu().MilliValue()-p.others(n.Name)) / request
		}
	}
	if places < need {
		p.breaks("minimums of workloads hold", "NodeClaim "+c.Name,
			"%d pods of a workload are on demand, %d of them on it, %d have to be, and other nodes have %d places",
			on, lost, need, places)
	}
}

func isOnDemand(labels map[string]string) bool {
	is := labels[api.LabelCapacityType]
	return is == "on-demand" || is == "reserved"
}

// onDemandPods are the pods of the workload that has a minimum, and how many of these are to be on demand.
func (p *promises) onDemandPods() (web []*podLife, need int64) {
	var least cluster.Minimum
	for _, pod := range p.pods {
		asks, err := mark.OnDemandMinimum(pod.Annotations)
		known := time.Since(pod.CreationTimestamp.Time) >= lateWatches
		if err == nil && asks.Any() && known && pod.DeletionTimestamp == nil && !podspec.IsTerminal(pod.Pod) {
			web, least = append(web, pod), asks
		}
	}
	return web, least.Of(int64(len(web)))
}

// others is what CPU pods of other workloads request on a node, as far as that was known.
func (p *promises) others(node string) (cpu int64) {
	for _, pod := range p.pods {
		known := pod.Spec.NodeName == node && time.Since(pod.boundAt) >= lateWatches && !podspec.IsTerminal(pod.Pod)
		if known && pod.Annotations[api.AnnotationOnDemandMinimum] == "" {
			cpu += cpuOf(pod.Pod)
		}
	}
	return cpu
}

func cpuOf(pod *corev1.Pod) (milli int64) {
	for i := range pod.Spec.Containers {
		milli += pod.Spec.Containers[i].Resources.Requests.Cpu().MilliValue()
	}
	return milli
}
