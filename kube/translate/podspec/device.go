package podspec

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/translate"
)

// DeviceUse is one ResourceClaim of a pod.
type DeviceUse struct {
	Claim    types.NamespacedName // without a name: it is not there yet
	Template string               // name of the ResourceClaimTemplate it is made from; empty: other pods may use it
	Count    int64                // of devices; then Template is the extended resource that it is made for
	Pod      types.UID
	State    DeviceUserState
}

// DeviceUserState is how soon a pod can have devices. Of pods that share a ResourceClaim, one with the least stands for
// all: the others follow it.
type DeviceUserState int

// States of pods with ResourceClaims.
const (
	HasNode      DeviceUserState = iota // the scheduler allocates devices before it binds a pod
	AwaitsNode                          // the scheduler has found none
	IsNew                               // the scheduler has yet to look
	AwaitsOthers                        // the ProvisioningRequest that it consumes may have to have capacity before
	FitsNowhere                         // no pool has instances for it
	NeedsNone                           // now: it ends, is gated, or no instance can be launched for it
)

func deviceUserState(pod *corev1.Pod) DeviceUserState {
	consumes := pod.Annotations[api.AnnotationConsumesRequest]+pod.Annotations[api.AnnotationConsumesRequestOld] != ""
	switch {
	case pod.Spec.NodeName != "":
		return HasNode
	case !IsWaiting(pod) && !IsUnjudged(pod):
		return NeedsNone
	case consumes:
		return AwaitsOthers
	case IsWaiting(pod):
		return AwaitsNode
	default:
		return IsNew
	}
}

// ClassOf is the DeviceClass that a claim is for which kube-scheduler makes for an extended resource; empty: another
// claim.
func (u DeviceUse) ClassOf() string {
	if u.Count == 0 {
		return ""
	}
	return strings.TrimPrefix(u.Template, resourcev1.ResourceDeviceClassPrefix)
}

// classUses are the claims for the extended resources of a pod that are named after DeviceClasses.
func classUses(pod *corev1.Pod) (out []DeviceUse) {
	is := func(c corev1.Container) bool {
		for name := range c.Resources.Requests {
			if isOfClass(string(name)) {
				return true
			}
		}
		return false
	}
	if !slices.ContainsFunc(pod.Spec.Containers, is) && !slices.ContainsFunc(pod.Spec.InitContainers, is) {
		return nil
	}
	use := DeviceUse{Claim: types.NamespacedName{Namespace: pod.Namespace}, State: NeedsNone}
	if made := pod.Status.ExtendedResourceClaimStatus; made != nil {
		use.Claim.Name = made.ResourceClaimName
	}
	for _, e := range allRequests(pod).Extended {
		if isOfClass(e.Name) && e.Amount > 0 {
			use.Template, use.Count = e.Name, e.Amount
			out = append(out, use)
		}
	}
	return out
}

// isOfClass reports whether an extended resource is named after a DeviceClass.
func isOfClass(name string) bool {
	return strings.HasPrefix(name, resourcev1.ResourceDeviceClassPrefix)
}

// DeviceUses lists the ResourceClaims of a pod, in its order, and then those for extended resources.
func DeviceUses(pod *corev1.Pod) (out []DeviceUse) {
	state := deviceUserState(pod)
	for _, c := range pod.Spec.ResourceClaims {
		use := DeviceUse{Claim: types.NamespacedName{Namespace: pod.Namespace}, Pod: pod.UID, State: state}
		switch {
		case c.ResourceClaimName != nil:
			use.Claim.Name = *c.ResourceClaimName
		case c.ResourceClaimTemplateName != nil:
			use.Template = *c.ResourceClaimTemplateName
			name, made := madeFor(pod, c.Name)
			if made && name == nil {
				continue // the pod turned out to need none
			}
			if made {
				use.Claim.Name = *name
			}
		}
		out = append(out, use)
	}
	for _, use := range classUses(pod) {
		use.Pod, use.State = pod.UID, state
		out = append(out, use)
	}
	return out
}

// DaemonDeviceUses lists the ResourceClaims of the pods of a DaemonSet, in their order, as far as each has its own.
func DaemonDeviceUses(pod *corev1.Pod) (out []DeviceUse) {
	for _, c := range pod.Spec.ResourceClaims {
		if c.ResourceClaimTemplateName != nil {
			out = append(out, DeviceUse{Claim: types.NamespacedName{Namespace: pod.Namespace},
				Template: *c.ResourceClaimTemplateName, State: NeedsNone})
		}
	}
	return append(out, classUses(pod)...)
}

// madeFor is the name of the claim that was made for a pod; nil: none had to be.
func madeFor(pod *corev1.Pod, name string) (claim *string, made bool) {
	for _, s := range pod.Status.ResourceClaimStatuses {
		if s.Name == name {
			return s.ResourceClaimName, true
		}
	}
	return nil, false
}

// DevicesUnplanned says why no instance can be launched for a pod with ResourceClaims where these are not planned for.
func DevicesUnplanned() string {
	return "the pod has ResourceClaims, which the controller leaves alone unless settings.ignoreDRARequests is " +
		"false; it waits for devices of nodes that exist"
}

// reachable lists the alternatives of which nodes can use devices; none at all means any.
func reachable(s *corev1.NodeSelector) (terms []constraint.Requirements) {
	if s == nil {
		return nil
	}
	for i := range s.NodeSelectorTerms {
		if term, ok := nodeSelectorTerm(&s.NodeSelectorTerms[i]); ok {
			terms = append(terms, term)
		}
	}
	if len(terms) == 0 {
		return []constraint.Requirements{translate.Impossible()}
	}
	return terms
}

// IsOfOneNode reports whether a selector names nodes, as that of devices does that are bound to their node.
func IsOfOneNode(s *corev1.NodeSelector) bool {
	if s == nil {
		return false
	}
	for i := range s.NodeSelectorTerms {
		if len(s.NodeSelectorTerms[i].MatchFields) == 0 {
			return false
		}
	}
	return len(s.NodeSelectorTerms) > 0
}

// resourceClaimMark begins the label of pods that share a ResourceClaim that has no devices yet.
const resourceClaimMark = "resourceclaim!"

// ShareDevices makes pods that share a ResourceClaim without devices follow to one node the first of them, for which
// the devices are counted: where it has no place, no other has one. So the first has to be one that can have a place.
func ShareDevices(shape *cluster.Shape, claim types.NamespacedName, first bool) {
	value := "shared"
	if first {
		value = "first"
	}
	together(shape, resourceClaimMark+claim.Name, claim.Namespace, corev1.LabelHostname, value, "first")
}

// Reaching lists the alternatives of which nodes that can use devices pods of a shape may be on; none at all means any.
// ok is false where there is no such node.
func Reaching(shape cluster.Shape, from *corev1.NodeSelector) (terms []constraint.Requirements, ok bool) {
	ReachDevices(&shape, from)
	terms, ok = both(shape.NodeTerms, shape.VolumeTerms)
	return terms, ok && shape.Unable == ""
}

// ReachDevices has pods go where devices can be used that they have already, or that plans count on for them.
func ReachDevices(shape *cluster.Shape, from *corev1.NodeSelector) {
	terms, ok := both(shape.VolumeTerms, reachable(from))
	if !ok && shape.Unable == "" {
		shape.Unable = "no node can reach all devices and volumes of the pod: some of its ResourceClaims have " +
			"devices that are elsewhere; delete these claims"
	}
	shape.VolumeTerms = terms
}
