package podspec

import (
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/daemok/daemok/core/quantity"
	vpav1 "github.com/daemok/daemok/kube/api/verticalpodautoscaler/v1"
)

// Recommendation is what a VerticalPodAutoscaler has new pods request, by container. Nil: nothing.
type Recommendation map[string]recommended

// recommended is what a container is to request.
type recommended struct {
	requests    corev1.ResourceList
	limitsStand bool // they bound it, since a VerticalPodAutoscaler does not raise them
}

// RecommendationOf reads what a VerticalPodAutoscaler sets at admission: what it recommends now, within the bounds of
// its policies and with the boost for the start. It is nil in mode Off, and before there is a recommendation.
func RecommendationOf(v *vpav1.VerticalPodAutoscaler) Recommendation {
	if v.Spec.TargetRef == nil || v.Status.Recommendation == nil {
		return nil
	}
	if v.Spec.UpdatePolicy != nil && v.Spec.UpdatePolicy.UpdateMode == vpav1.ModeOff {
		return nil
	}
	var out Recommendation
	for _, c := range v.Status.Recommendation.ContainerRecommendations {
		policy := policyFor(v, c.ContainerName)
		if policy.Mode == vpav1.ModeOff {
			continue
		}
		target := bounded(c.Target, policy)
		boost := policy.StartupBoost
		if boost == nil {
			boost = v.Spec.StartupBoost
		}
		if cpu, there := target[corev1.ResourceCPU]; there && boost != nil && boost.CPU != nil {
			target[corev1.ResourceCPU] = boosted(cpu, boost.CPU)
		}
		if len(target) == 0 {
			continue
		}
		if out == nil {
			out = Recommendation{}
		}
		out[c.ContainerName] = recommended{target, policy.ControlledValues == vpav1.RequestsOnly}
	}
	return out
}

// policyFor is the policy of a container: its own, or that of all containers.
func policyFor(v *vpav1.VerticalPodAutoscaler, container string) (out vpav1.ContainerPolicy) {
	if v.Spec.ResourcePolicy == nil {
		return out
	}
	for _, p := range v.Spec.ResourcePolicy.ContainerPolicies {
		switch p.ContainerName {
		case container:
			return p
		case vpav1.AllContainers:
			out = p
		}
	}
	return out
}

// bounded is what is recommended of the resources that the policy leaves to it, within its bounds.
func bounded(target corev1.ResourceList, policy vpav1.ContainerPolicy) corev1.ResourceList {
	out := corev1.ResourceList{}
	for name, amount := range target {
		if policy.ControlledResources != nil && !slices.Contains(*policy.ControlledResources, name) {
			continue
		}
		if least, there := policy.MinAllowed[name]; there && amount.Cmp(least) < 0 {
			amount = least
		}
		if most, there := policy.MaxAllowed[name]; there && amount.Cmp(most) > 0 {
			amount = most
		}
		out[name] = amount
	}
	return out
}

var one = resource.MustParse("1")

func boosted(cpu resource.Quantity, by *vpav1.Boost) resource.Quantity {
	switch {
	case by.Type == vpav1.BoostFactor && by.Factor != nil && by.Factor.Cmp(one) > 0:
		times := float64(cpu.MilliValue()) * by.Factor.AsApproximateFloat64()
		return *resource.NewMilliQuantity(int64(math.Ceil(times)), cpu.Format)
	case by.Type == vpav1.BoostQuantity && by.Quantity != nil && by.Quantity.Sign() > 0:
		cpu = cpu.DeepCopy()
		cpu.Add(*by.Quantity)
	}
	return cpu
}

// Requests is what kube-scheduler reserves for a new pod of a template: for each container and resource the larger of
// what the template and the recommendation say, and of that no more than a limit that stays.
func (r Recommendation) Requests(template *corev1.PodTemplateSpec) quantity.Resources {
	with := template.DeepCopy()
	for i := range with.Spec.Containers {
		c := &with.Spec.Containers[i]
		is := r[c.Name]
		for name, amount := range is.requests {
			if limit, there := c.Resources.Limits[name]; is.limitsStand && there && amount.Cmp(limit) > 0 {
				amount = limit
			}
			if asked, there := c.Resources.Requests[name]; there && asked.Cmp(amount) >= 0 {
				continue
			}
			if c.Resources.Requests == nil {
				c.Resources.Requests = corev1.ResourceList{}
			}
			c.Resources.Requests[name] = amount
		}
	}
	return TemplateRequests(with)
}
