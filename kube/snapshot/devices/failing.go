package devices

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/device"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/kube/translate/podspec"
	"github.com/daemok/daemok/kube/translate/resourceclaim"
)

// failing lists, by the name of a bundle, the nodes with a free device for which a selector of it cannot be evaluated.
// kube-scheduler places a pod with the bundle nowhere as long as it looks at such a node. The zero value: there is
// none.
type failing map[string][]failure

// failure is a device for which a selector cannot be evaluated.
type failure struct {
	node, driver, device string
	state                string // of the node: equal as long as the same pods may run there
}

func compareFailures(a, b failure) int { return cmp.Compare(a.node, b.node) }

// findFailing finds where selectors of the bundles cannot be evaluated for free devices.
func findFailing(r *resourceclaim.Reader, bundles []*device.Bundle, on map[string][]*resourceclaim.Pool,
	allocated resourceclaim.Allocated, node func(name string) *corev1.Node) failing {
	out := failing{}
	for name, of := range on {
		inv := &device.Inventory{}
		for _, p := range of {
			r.AddPool(inv, p, name, allocated)
		}
		for _, b := range bundles {
			if d := inv.Failing(b); d != nil {
				out[b.Name] = append(out[b.Name], failure{name, d.Driver, d.Name, stateOf(node(name))})
			}
		}
	}
	for name := range out {
		slices.SortFunc(out[name], compareFailures)
		out[name] = slices.Compact(out[name])
	}
	return out
}

// stateOf is what mayRunOn reads of a node, in words.
func stateOf(n *corev1.Node) string {
	if n == nil {
		return ""
	}
	return fmt.Sprint(n.Labels, translate.Taints(n.Spec.Taints), n.Spec.Unschedulable)
}

// whyNot says why kube-scheduler places no pod of a shape that claims the bundles; empty: there is no such reason.
func (f failing) whyNot(shape *cluster.Shape, of []device.Counted, node func(name string) *corev1.Node) string {
	if len(f) == 0 {
		return ""
	}
	for _, b := range of {
		for _, x := range f[b.Name] {
			if n := node(x.node); n != nil && mayRunOn(shape, n) {
				return fmt.Sprintf("kube-scheduler cannot evaluate a selector of the pod's ResourceClaim for device %s "+
					"of %s on node %s, and then places the pod nowhere: let the selector ask for the driver, and "+
					"whether the device has the attribute, first", x.device, x.driver, x.node)
			}
		}
	}
	return ""
}

// beside looks up nodes that a selector does not select: what a pod leaves has a taint by then.
func beside(left *corev1.NodeSelector, node func(name string) *corev1.Node) func(name string) *corev1.Node {
	terms, ok := podspec.Reaching(cluster.Shape{}, left)
	return func(name string) *corev1.Node {
		if n := node(name); n != nil && !(ok && meetsAny(n, terms)) {
			return n
		}
		return nil
	}
}

// mayRunOn reports whether a pod may run on a node by its labels and taints.
func mayRunOn(shape *cluster.Shape, n *corev1.Node) bool {
	_, tainted := constraint.Untolerated(translate.Taints(n.Spec.Taints), shape.Tolerations)
	terms, ok := podspec.Reaching(*shape, nil)
	return ok && !tainted && !n.Spec.Unschedulable && meetsAny(n, terms)
}

// meetsAny reports whether a node meets one of these alternatives; none at all means that any node does.
func meetsAny(n *corev1.Node, terms []constraint.Requirements) bool {
	labels := constraint.NewLabels(n.Labels).With(translate.FieldName, n.Name)
	meets := func(term constraint.Requirements) bool { _, ok := term.Allow(labels); return ok }
	return len(terms) == 0 || slices.ContainsFunc(terms, meets)
}
