package translate

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/offering"
	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

// LaunchLabels are the claim's own labels and what is known of the instance;
// requirements with one possible value on the pool's own keys become labels too.
// What instances decide is as this one has it, whatever the claim said before: it may
// be of an earlier attempt.
func LaunchLabels(c *karpv1.NodeClaim, i offering.Identity, zoneID string, kind cluster.InstanceType, offering cluster.Offering) map[string]string {
	labels := kind.Labels.Merge(offering.Labels).Map()
	labels[api.LabelInstanceType] = i.Type
	labels[api.LabelZone] = i.Zone
	labels[api.LabelCapacityType] = string(i.CapacityType)
	if zoneID != "" {
		labels[api.LabelZoneID] = zoneID
	}
	if requirements, err := Requirements(c.Spec.Requirements); err == nil {
		maps.Copy(labels, singleValues(requirements))
	}
	for key, value := range c.Labels {
		if !api.IsOfInstances(key) {
			labels[key] = value
		}
	}
	return labels
}

func singleValues(requirements constraint.Requirements) map[string]string {
	out := map[string]string{}
	for _, r := range requirements {
		if values, finite := r.Set.Finite(); finite && len(values) == 1 && !api.IsWellKnown(r.Key) {
			out[r.Key] = values[0]
		}
	}
	return out
}

// InstanceTags are those that tell whose an instance of the claim is, beside the cluster's.
func InstanceTags(c *karpv1.NodeClaim) map[string]string {
	tags := map[string]string{}
	pool := PoolOf(c)
	if pool.Name != "" {
		tags[api.TagNodePool] = pool.Name // of any generation, so that one IAM policy serves all
	}
	if pool.Kind == KindProvisioner {
		tags[api.TagProvisioner] = pool.Name
	}
	return tags
}

// AttachedOf lists the extended resources that the claim's instance is to have: those that the claim was sized for, and
// those whose devices its pods request of a driver.
func AttachedOf(c *karpv1.NodeClaim) []string {
	out := ExtendedOf(c)
	if slices.Contains(RequestedDrivers(c), api.DriverEFA) && !slices.Contains(out, api.ResourceEFA) {
		out = append(out, api.ResourceEFA)
		slices.Sort(out)
	}
	return out
}

// ExtendedOf lists the extended resources that the claim was sized for.
func ExtendedOf(c *karpv1.NodeClaim) []string {
	var names []string
	for name, amount := range c.Spec.Resources.Requests {
		switch name {
		case corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage, corev1.ResourcePods:
		default:
			if !amount.IsZero() {
				names = append(names, string(name))
			}
		}
	}
	slices.Sort(names)
	return names
}
