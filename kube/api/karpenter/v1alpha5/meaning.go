package v1alpha5

import (
	"maps"
	"math"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/daemok/daemok/kube/api"
)

// DefaultTemplate is the AWSNodeTemplate that a Provisioner means which names
// none and has no inline settings.
const DefaultTemplate = "default"

// Template names the AWSNodeTemplate of the nodes, and false where their
// settings are inline.
func (s *ProvisionerSpec) Template() (string, bool) {
	switch {
	case s.ProviderRef != nil:
		return s.ProviderRef.Name, true
	case s.Provider != nil:
		return "", false
	}
	return DefaultTemplate, true
}

// AllLabels returns the labels of the nodes; what stands in labels counts
// before what stands in label. The caller owns the map.
func (s *ProvisionerSpec) AllLabels() map[string]string {
	all := map[string]string{}
	maps.Copy(all, s.Label)
	maps.Copy(all, s.Labels)
	return all
}

// Effective returns the requirements as they are written, and after them those
// that hold where neither they nor labels of the Provisioner speak of a label: its
// labels are requirements of their own. The caller owns the slice.
func (s *ProvisionerSpec) Effective() []corev1.NodeSelectorRequirement {
	var all []corev1.NodeSelectorRequirement
	for _, r := range s.Requirements {
		all = append(all, corev1.NodeSelectorRequirement{Key: r.Key, Operator: r.Operator, Values: slices.Clone(r.Values)})
	}
	speaksOf := func(keys ...string) bool {
		for key := range s.AllLabels() {
			if slices.Contains(keys, api.Normalise(key)) {
				return true
			}
		}
		return slices.ContainsFunc(s.Requirements, func(r Requirement) bool { return slices.Contains(keys, api.Normalise(r.Key)) })
	}
	add := func(key string, operator corev1.NodeSelectorOperator, values ...string) {
		all = append(all, corev1.NodeSelectorRequirement{Key: key, Operator: operator, Values: values})
	}
	for _, usual := range []struct{ key, value string }{
		{api.LabelOS, "linux"}, {api.LabelArch, "amd64"}, {api.LabelCapacityType, api.CapacityTypeOnDemand},
	} {
		if !speaksOf(usual.key) {
			add(usual.key, corev1.NodeSelectorOpIn, usual.value)
		}
	}
	if !speaksOf(api.LabelInstanceType, api.LabelFamily, api.LabelCategory, api.LabelGeneration) {
		add(api.LabelCategory, corev1.NodeSelectorOpIn, "c", "m", "r")
		add(api.LabelGeneration, corev1.NodeSelectorOpGt, "2")
	}
	return all
}

// EmptyFor returns how long an empty node stays, and false where emptiness
// alone removes none.
func (s *ProvisionerSpec) EmptyFor() (time.Duration, bool) { return seconds(s.TTLSecondsAfterEmpty) }

// ExpireAfter returns the age at which a node is replaced, and false for
// never, which 0 means too: no node could live.
func (s *ProvisionerSpec) ExpireAfter() (time.Duration, bool) {
	after, set := seconds(s.TTLSecondsUntilExpired)
	return after, set && after > 0
}

// seconds is the length of time; one that is longer than can be represented,
// 292 years, is cut.
func seconds(n *int64) (time.Duration, bool) {
	if n == nil {
		return 0, false
	}
	return time.Duration(min(*n, math.MaxInt64/int64(time.Second))) * time.Second, true
}

// Consolidates reports whether nodes are removed or replaced to save money.
func (s *ProvisionerSpec) Consolidates() bool {
	return s.Consolidation != nil && s.Consolidation.Enabled != nil && *s.Consolidation.Enabled
}

// ScaleDown says when nodes that are not needed go, for the status.
func (s *ProvisionerSpec) ScaleDown() string {
	after, emptied := s.EmptyFor()
	switch {
	case s.Consolidates():
		return "consolidation: empty nodes go, and others when fewer or cheaper ones do"
	case emptied:
		return "empty nodes go after " + after.String()
	}
	return "off: no TTL, no consolidation; set spec.ttlSecondsAfterEmpty, or spec.consolidation.enabled"
}
