package claim

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/observe"
)

// leastOfHundred is how much of a hundred parts of what a machine was bought to have
// its node must show, to be as it was bought.
const leastOfHundred = 90

// compare notes whether the node of an initialised claim has what its machine was
// bought to have: pods were placed by that.
func (r *Reconciler) compare(c *karpv1.NodeClaim, node *corev1.Node) {
	lacks := lacking(c, node.Status.Capacity)
	if len(lacks) == 0 {
		condition.SetTrue(c, karpv1.ClaimConsistentStateFound, r.Now())
		return
	}
	text := fmt.Sprintf("node %s has less than it was bought to have: %s", node.Name, strings.Join(lacks, ", "))
	if condition.SetFalse(c, karpv1.ClaimConsistentStateFound, karpv1.ReasonConsistencyCheckFailed, text, r.Now()) {
		r.Events.Publish(observe.Event{About: c, Key: "NodeClaim/" + c.Name, Warning: true, Reason: "FailedConsistencyCheck", Message: text})
	}
}

// weigh tells how much memory the machine turned out to have.
func (r *Reconciler) weigh(c *karpv1.NodeClaim, node *corev1.Node) {
	if r.Memory != nil && translate.IsReady(node) {
		r.Memory(c.Labels[api.LabelInstanceType], c.Status.ImageID, translate.Resources(node.Status.Capacity).Memory)
	}
}

// lacking lists the resources of which there is clearly less than the machine was
// bought to have, in words, by name. Those that nobody asked for may be missing, as
// devices are without their plugin.
func lacking(c *karpv1.NodeClaim, there corev1.ResourceList) (out []string) {
	for name, asked := range c.Spec.Resources.Requests {
		want := c.Status.Capacity[name]
		if has := there[name]; !asked.IsZero() && has.AsApproximateFloat64() < want.AsApproximateFloat64()*leastOfHundred/100 {
			out = append(out, fmt.Sprintf("%s %s of %s", name, has.String(), want.String()))
		}
	}
	slices.Sort(out)
	return out
}
