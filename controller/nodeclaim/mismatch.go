package nodeclaim

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

// seenByKubelets are the labels that kubelets and cloud controllers read from the instance.
var seenByKubelets = []string{api.LabelInstanceType, api.LabelZone}

// reservationKeys may change while an instance stays the same: its reservation may end.
var reservationKeys = []string{api.LabelReservationID, api.LabelReservationType, api.LabelReservationInterruptible}

// mismatch says by which labels the instance of a node that joins is not what the claim
// asked for, or not what the claim says of it; empty: it is. The claim's labels are those
// of the instance as it was launched. Whoever takes an instance over takes it as it is.
func mismatch(c *karpv1.NodeClaim, node *corev1.Node) string {
	if translate.Adopts(c) {
		return ""
	}
	var out []string
	asked, _ := translate.Requirements(c.Spec.Requirements) // what cannot be read was never launched
	for _, r := range asked {
		value, known := c.Labels[r.Key]
		if known && api.IsOfInstances(r.Key) && !meetsAsIs(r, value) {
			out = append(out, fmt.Sprintf("label %s is %s, and the NodeClaim asks for %s", r.Key, value, r.Set))
		}
	}
	for _, key := range seenByKubelets {
		if is, said := node.Labels[key], c.Labels[key]; is != "" && said != "" && is != said {
			out = append(out,
				fmt.Sprintf("label %s of node %s is %s, and of the NodeClaim %s", key, node.Name, is, said))
		}
	}
	return strings.Join(out, "; ")
}

// meetsAsIs reports whether an instance with the label's value meets the requirement. One
// of a capacity reservation that is over goes on as one on demand.
func meetsAsIs(r constraint.Requirement, value string) bool {
	if slices.Contains(reservationKeys, r.Key) || r.Set.Allows(value) {
		return true
	}
	return r.Key == cluster.LabelCapacityType && value == api.CapacityTypeOnDemand && r.Set.Allows(api.CapacityTypeReserved)
}

// mismatchText says why the instance of a claim is replaced. A node that pods may be on already is drained first,
// since it is registered.
func mismatchText(c *karpv1.NodeClaim, why string) string {
	return fmt.Sprintf("instance %s is not what was asked for: %s; it is terminated, and another is launched for pods that need one",
		translate.InstanceID(c.Status.ProviderID), why)
}
