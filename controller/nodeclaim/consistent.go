package nodeclaim

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/observe"
)

// leastOfHundred is how much of a hundred parts of what an instance was launched to have
// its node must show, to be as it was launched.
const leastOfHundred = 90

// consistency compares nodes with what their instances were launched to have.
type consistency struct {
	events publisher
	memory func(kind, image string, memory quantity.Bytes) // nil: it is not reported
	now    func() time.Time

	devices devices // nil: no extended resource is served by drivers of dynamic resource allocation
}

// compare notes whether the node of an initialised claim has what its instance was
// launched to have: pods were placed by that.
func (k consistency) compare(c *karpv1.NodeClaim, node *corev1.Node) {
	lacks := append(lacking(k.without(c, node), node.Status.Capacity), tooFew(c, node.Status.Allocatable)...)
	if len(lacks) == 0 {
		condition.SetTrue(c, karpv1.ClaimConsistentStateFound, k.now())
		return
	}
	text := fmt.Sprintf("node %s has less than it was launched to have: %s", node.Name, strings.Join(lacks, ", "))
	if condition.SetFalse(c, karpv1.ClaimConsistentStateFound, karpv1.ReasonConsistencyCheckFailed, text, k.now()) {
		k.events.Publish(observe.Event{About: c, Key: "NodeClaim/" + c.Name, Warning: true,
			Reason: "FailedConsistencyCheck", Message: text})
	}
}

// without is a claim without what drivers of dynamic resource allocation serve, which no node says of itself.
func (k consistency) without(c *karpv1.NodeClaim, node *corev1.Node) *karpv1.NodeClaim {
	if k.devices == nil {
		return c
	}
	served := func(name corev1.ResourceName, _ resource.Quantity) bool {
		_, there := node.Status.Capacity[name]
		return !there && k.devices.Serves(node.Name, string(name))
	}
	out := c.DeepCopy()
	maps.DeleteFunc(out.Spec.Resources.Requests, served)
	return out
}

// weigh reports how much memory the instance turned out to have. What is kept from pods
// beyond what was planned is as good as not there: else an instance would be launched again
// and again for a pod that fits none.
func (k consistency) weigh(c *karpv1.NodeClaim, node *corev1.Node) {
	if k.memory == nil || !translate.IsReady(node) {
		return
	}
	has := translate.Resources(node.Status.Capacity).Memory
	if forPods := translate.Resources(node.Status.Allocatable).Memory; forPods > 0 && len(c.Status.Allocatable) > 0 {
		kept := translate.Resources(c.Status.Capacity).Memory - translate.Resources(c.Status.Allocatable).Memory
		has = min(has, forPods+kept)
	}
	k.memory(c.Labels[api.LabelInstanceType], c.Status.ImageID, has)
}

// lacking lists the resources of which there is clearly less than the instance was
// launched to have, in words, by name. Those that none asked for may be missing, as
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

// tooFew lists the resources of which pods get less than those ask for that the instance
// was launched for, in words, by name.
func tooFew(c *karpv1.NodeClaim, forPods corev1.ResourceList) (out []string) {
	for name, asked := range c.Spec.Resources.Requests {
		if has, reported := forPods[name]; reported && has.Cmp(asked) < 0 {
			out = append(out, fmt.Sprintf("%s %s for pods that ask for %s", name, has.String(), asked.String()))
		}
	}
	slices.Sort(out)
	return out
}
