package translate

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/mark"
)

// Node converts a node. Its claim is nil for a node that is not ours. Pods, Price, QuietSince and
// ChangedAt are filled in by the caller.
func Node(n *corev1.Node, claim *karpv1.NodeClaim, autoscaler mark.ClusterAutoscaler) cluster.Node {
	out := cluster.Node{
		Name:         n.Name,
		InstanceID:   InstanceID(n.Spec.ProviderID),
		Labels:       constraint.NewLabels(n.Labels).With(FieldName, n.Name),
		Taints:       Taints(n.Spec.Taints),
		Allocatable:  Resources(n.Status.Allocatable),
		Capacity:     Resources(n.Status.Capacity),
		CreatedAt:    n.CreationTimestamp.UTC(),
		Ready:        IsReady(n),
		Initialized:  true,
		Deleting:     IsLeaving(n),
		DoNotDisrupt: n.Annotations[api.AnnotationDoNotDisrupt] == "true" || autoscaler.KeepsNode(n),
	}
	if n.Spec.Unschedulable && !hasTaint(n.Spec.Taints, corev1.TaintNodeUnschedulable, corev1.TaintEffectNoSchedule) {
		out.Taints = append(out.Taints, constraint.Taint{Key: corev1.TaintNodeUnschedulable, Effect: constraint.NoSchedule})
	}
	if claim == nil {
		return out
	}
	out.Claim = claim.Name
	out.Pool = PoolOf(claim)
	out.DoNotConsolidate = out.Pool.Kind == KindProvisioner && n.Annotations[api.AnnotationDoNotConsolidate] == "true"
	out.CreatedAt = claim.CreationTimestamp.UTC()
	_, out.StartupTaints = parted(n.Spec.Taints, claim.Spec.StartupTaints, autoscaler)
	out.Initialized = condition.IsTrue(claim, karpv1.ClaimInitialized) && n.Labels[api.LabelInitialized] == "true" // by its label this state of the node is no older than that
	out.Deleting = out.Deleting || claim.DeletionTimestamp != nil
	out.EndsAt = EndsAt(claim)
	out.InstanceEnds = condition.IsTrue(claim, karpv1.ClaimInstanceTerminating)
	out.HasGrace = claim.Spec.TerminationGracePeriod != ""
	out.ExpiresAt = expiry(claim)
	if c := condition.Get(claim, karpv1.ClaimDrifted); c != nil && c.Status == "True" {
		out.Drifted, out.DriftedAt = c.Reason, c.LastTransitionTime.UTC()
	}
	out.DoNotDisrupt = out.DoNotDisrupt || claim.Annotations[api.AnnotationDoNotDisrupt] == "true"
	if !out.Initialized {
		out.Allocatable = expectExtended(out.Allocatable, Resources(claim.Status.Allocatable))
		out.Capacity = expectExtended(out.Capacity, Resources(claim.Status.Capacity))
	}
	return out
}

// nodeWords are annotations of nodes that mean something on nodes of a Provisioner.
var nodeWords = []string{api.AnnotationDoNotConsolidate, api.AnnotationScaleDownDisabled, api.AnnotationEmptinessTimestamp, api.AnnotationVoluntaryDisruption}

// SameWords reports whether two states of a node say the same in the annotations of
// the v1alpha5 API, and of Cluster Autoscaler.
func SameWords(a, b *corev1.Node) bool {
	return !slices.ContainsFunc(nodeWords, func(key string) bool { return a.Annotations[key] != b.Annotations[key] })
}

// EndsAt is when the cloud takes the claim's instance away, by its annotation; zero: it is not known to.
func EndsAt(claim *karpv1.NodeClaim) time.Time {
	at, err := time.Parse(time.RFC3339, claim.Annotations[api.AnnotationEnds])
	if err != nil {
		return time.Time{}
	}
	return at.UTC()
}

// expiry is when the claim is too old, by its expireAfter; zero: never.
func expiry(claim *karpv1.NodeClaim) time.Time {
	after, ever := claim.Spec.ExpireAfter.Value()
	if !ever || claim.Spec.ExpireAfter == "" {
		return time.Time{}
	}
	return claim.CreationTimestamp.UTC().Add(after)
}

// IsExpired reports whether the claim is older than it may be.
func IsExpired(claim *karpv1.NodeClaim, now time.Time) bool {
	at := expiry(claim)
	return !at.IsZero() && !now.Before(at)
}

// expectExtended takes extended resources, which device plugins publish only after the node has
// started, from what the instance was launched with. Where the kubelet has said nothing yet,
// everything is taken from there.
func expectExtended(seen, launched quantity.Resources) quantity.Resources {
	if seen.CPU == 0 {
		return launched
	}
	for _, e := range launched.Extended {
		if seen.Get(e.Name) == 0 {
			seen = seen.With(e.Name, e.Amount)
		}
	}
	return seen
}

// Instance converts a claim whose node has not registered yet. kinds is the instance types of its
// class; it reports what a claim that is not launched may become.
func Instance(claim *karpv1.NodeClaim, instanceTypes []cluster.InstanceType, autoscaler mark.ClusterAutoscaler) cluster.Instance {
	requirements, err := Requirements(claim.Spec.Requirements)
	if err != nil {
		requirements = Impossible() // nothing is placed on what cannot be understood
	}
	lasting, starting := parted(claim.Spec.Taints, claim.Spec.StartupTaints, autoscaler)
	m := cluster.Instance{
		Claim:         claim.Name,
		Pool:          PoolOf(claim),
		Labels:        constraint.NewLabels(KnownLabels(claim, requirements)),
		Requirements:  requirements,
		Taints:        lasting,
		StartupTaints: starting,
		CreatedAt:     claim.CreationTimestamp.UTC(),
		Launched:      claim.Status.ProviderID != "",
		Deleting:      claim.DeletionTimestamp != nil || IsWithdrawn(claim),
		Replacement:   claim.Annotations[api.AnnotationReplaces] != "",
		Launching:     claim.Annotations[api.AnnotationLaunchAttempt] != "",
		Planned:       claim.Annotations[api.AnnotationDecision] != "" && claim.Annotations[api.AnnotationReplaces] == "",
		TypesUnknown:  instanceTypes == nil && claim.Status.ProviderID == "",
	}
	_, all := ForPods(claim)
	m.PurposeUnknown = m.Planned && !all
	types := requirements.Get(cluster.LabelInstanceType)
	if launched, known := m.Labels.Get(cluster.LabelInstanceType); m.Launched && known {
		types = constraint.Values(launched)
	}
	m.Attachable = leastAttachable(types, instanceTypes)
	if m.Launched {
		m.Allocatable, m.Capacity = Resources(claim.Status.Allocatable), Resources(claim.Status.Capacity)
		return m
	}
	requests := Resources(claim.Spec.Resources.Requests)
	if m.TypesUnknown {
		m.Allocatable, m.Capacity = requests, requests // at least
		return m
	}
	m.Allocatable, m.Capacity = span(types, instanceTypes, requests)
	return m
}

// IsWithdrawn reports whether the claim was withdrawn. An instance that came all the same stays.
func IsWithdrawn(claim *karpv1.NodeClaim) bool {
	return claim.Annotations[api.AnnotationWithdrawn] != "" && claim.Status.ProviderID == ""
}

// span is the least allocatable and the most capacity among the instance types that an instance
// launched for the requests may still become.
func span(types constraint.Set, instanceTypes []cluster.InstanceType, requests quantity.Resources) (least, most quantity.Resources) {
	first := true
	for i := range instanceTypes {
		k := &instanceTypes[i]
		if !types.Allows(k.Name) {
			continue
		}
		allocatable, capacity := k.Ordered(requests)
		most = most.Max(capacity)
		if first {
			least, first = allocatable, false
			continue
		}
		least = lesser(least, allocatable)
	}
	return least, most
}

// leastAttachable is the least of each driver that any instance type names, sorted by driver.
func leastAttachable(types constraint.Set, instanceTypes []cluster.InstanceType) []cluster.Attachable {
	var out []cluster.Attachable
	for i := range instanceTypes {
		if !types.Allows(instanceTypes[i].Name) {
			continue
		}
		for _, a := range instanceTypes[i].Attachable {
			at, found := slices.BinarySearchFunc(out, a, ByDriver)
			if !found {
				out = slices.Insert(out, at, a)
			}
			out[at].Count = min(out[at].Count, a.Count)
		}
	}
	return out
}

func lesser(a, b quantity.Resources) quantity.Resources {
	return a.Add(b).Sub(a.Max(b))
}

// InstanceID is the cloud's own name in a provider ID such as
// aws:///us-east-1a/i-0123456789abcdef0.
func InstanceID(providerID string) string {
	return providerID[strings.LastIndexByte(providerID, '/')+1:]
}

// IsReady reports whether the node's kubelet says it is ready.
func IsReady(n *corev1.Node) bool {
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

func hasTaint(taints []corev1.Taint, key string, effect corev1.TaintEffect) bool {
	return slices.ContainsFunc(taints, func(t corev1.Taint) bool { return t.Key == key && t.Effect == effect })
}

// StabilizeFor is how long after the taint a scheduler may still bind a pod that it had assigned
// before it saw the taint. A scheduler sees a taint within milliseconds, as other watches see a
// bound pod; under load both take seconds. It is what Karpenter waits too, before it terminates a
// drained instance.
const StabilizeFor = 5 * time.Second

// IsLeaving reports whether a node is being drained, or deleted.
func IsLeaving(n *corev1.Node) bool {
	return n.DeletionTimestamp != nil || HasTaint(n, api.TaintDisrupted)
}

// HasTaint reports whether the node carries a taint with the key.
func HasTaint(n *corev1.Node, key string) bool {
	for _, t := range n.Spec.Taints {
		if t.Key == key {
			return true
		}
	}
	return false
}

// IsEphemeral reports whether a node carries the taint only until it has
// started; such a taint keeps it from counting as initialised.
func IsEphemeral(t corev1.Taint) bool {
	switch t.Key {
	case corev1.TaintNodeNotReady:
		return t.Effect == corev1.TaintEffectNoSchedule || t.Effect == corev1.TaintEffectNoExecute
	case corev1.TaintNodeUnreachable:
		return t.Effect == corev1.TaintEffectNoSchedule
	case api.TaintUninitialized, api.TaintUnregistered:
		return true
	}
	return strings.HasPrefix(t.Key, api.TaintReadinessPrefix)
}

// EmptySince is the moment since when an empty node of a punctual pool has been empty: what its
// annotation says or, where pods came or went later or it has none, when the last one did, by what
// this process has seen. Zero: it is not known, and it counts from when it is recorded. What is no
// time, or not over, counts as not said.
func EmptySince(n *corev1.Node, claim *karpv1.NodeClaim, lastPodEvent, now time.Time) time.Time {
	c := condition.Get(claim, karpv1.ClaimInitialized)
	if c == nil || c.Status != "True" {
		return time.Time{}
	}
	noted, err := time.Parse(time.RFC3339, n.Annotations[api.AnnotationEmptinessTimestamp])
	switch {
	case err == nil && !noted.After(now):
		return Latest(noted.UTC(), lastPodEvent)
	case !lastPodEvent.IsZero() || claim.Status.LastPodEventTime.IsZero():
		return Latest(c.LastTransitionTime.UTC(), lastPodEvent)
	}
	return time.Time{}
}

// Latest is the later of two moments; a zero one is none.
func Latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// OpenedAt is when the claim's node was opened to pods, to the second; just before
// the claim says so, that is now.
func OpenedAt(claim *karpv1.NodeClaim, now time.Time) time.Time {
	if c := condition.Get(claim, karpv1.ClaimRegistered); c != nil && c.Status == "True" {
		return c.LastTransitionTime.UTC()
	}
	return now
}

// QuietSince is the moment from which consolidateAfter counts: the last pod
// event or, before any, the node's initialisation. It is zero before that.
func QuietSince(claim *karpv1.NodeClaim, lastPodEvent time.Time) time.Time {
	c := condition.Get(claim, karpv1.ClaimInitialized)
	if c == nil || c.Status != "True" {
		return time.Time{}
	}
	return Latest(Latest(c.LastTransitionTime.UTC(), claim.Status.LastPodEventTime.UTC()), lastPodEvent)
}

// Boot is how long the claim took from launch to being initialised, where it is.
func Boot(claim *karpv1.NodeClaim) (took time.Duration, known bool) {
	c := condition.Get(claim, karpv1.ClaimInitialized)
	if c == nil || c.Status != "True" {
		return 0, false
	}
	took = c.LastTransitionTime.Sub(claim.CreationTimestamp.Time)
	return took, took > 0
}

// ByDriver orders attachable volumes by their drivers.
func ByDriver(a, b cluster.Attachable) int { return strings.Compare(a.Driver, b.Driver) }
