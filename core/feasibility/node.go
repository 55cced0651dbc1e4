package feasibility

import (
	"slices"
	"strings"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/quantity"
)

// ephemeral lists the taints that a node has while it starts and that are
// expected to vanish by themselves.
var ephemeral = []constraint.Taint{
	{Key: taintNotReady, Effect: constraint.NoSchedule},
	{Key: taintNotReady, Effect: constraint.NoExecute},
	{Key: taintUnreachable, Effect: constraint.NoSchedule},
	{Key: "node.cloudprovider.kubernetes.io/uninitialized", Value: "true", Effect: constraint.NoSchedule},
	{Key: "karpenter.sh/unregistered", Effect: constraint.NoExecute},
}

// These say what the kubelet says of itself, or that it says nothing.
const (
	taintNotReady    = "node.kubernetes.io/not-ready"
	taintUnreachable = "node.kubernetes.io/unreachable"
)

// readinessPrefix begins the keys of taints that readiness gates put on
// starting nodes.
const readinessPrefix = "readiness.k8s.io/"

// OnNode reports whether one pod of the shape may run on the node, of which free is left (see
// Free). It names the first rule that says no, resources last, since those change by the minute.
func OnNode(s *cluster.Shape, n *cluster.Node, free quantity.Resources) Reason {
	if r := NodeAdmits(s, n); !r.OK() {
		return r
	}
	return Room(s.Requests, free)
}

// NodeAdmits is OnNode without the resources: what stays true while pods come
// and go.
func NodeAdmits(s *cluster.Shape, n *cluster.Node) Reason {
	if r := unable(s.Unable); !r.OK() {
		return r
	}
	if n.Deleting {
		return Reason{Deleting, "", "node is being deleted"}
	}
	if r := untolerated(LastingTaints(n), s.Tolerations); !r.OK() {
		return r
	}
	return anyTerm(Alternatives(s), func(term constraint.Requirements) Reason { return nodeTerm(term, n) })
}

// LastingTaints returns the taints that count for pods: all of them on a foreign node. On one of
// ours, those that vanish by themselves do not count while it is not ready, nor its startup taints
// until it is initialized. That a ready node is not ready is a taint which goes in a moment: the
// controller that removes it sees the kubelet's condition no sooner than any other.
func LastingTaints(n *cluster.Node) []constraint.Taint {
	if n.Claim == "" || len(n.Taints) == 0 {
		return n.Taints
	}
	started := n.Initialized && n.Ready
	return slices.DeleteFunc(slices.Clone(n.Taints), func(t constraint.Taint) bool {
		return Ephemeral(t) && (!started || t.Key == taintNotReady || t.Key == taintUnreachable) || !n.Initialized && slices.ContainsFunc(n.StartupTaints, func(s constraint.Taint) bool {
			return s.Key == t.Key && s.Effect == t.Effect
		})
	})
}

// Ephemeral reports whether the taint is one that starting nodes lose by
// themselves.
func Ephemeral(t constraint.Taint) bool {
	return strings.HasPrefix(t.Key, readinessPrefix) ||
		slices.ContainsFunc(ephemeral, func(e constraint.Taint) bool {
			return e.Key == t.Key && e.Effect == t.Effect && (e.Value == "" || e.Value == t.Value)
		})
}

// Free returns what the node has left for further pods: allocatable, less its
// pods, less what daemon pods are still expected to take. Amounts may be
// negative. Extended resources that a starting node of ours does not show yet
// are taken from its capacity.
func Free(n *cluster.Node, daemons []cluster.Daemon) quantity.Resources {
	var bound, present, expected quantity.Resources
	for i := range n.Pods {
		bound = bound.Add(n.Pods[i].Takes())
		if n.Pods[i].Daemon {
			present = present.Add(n.Pods[i].Takes())
		}
	}
	for i := range daemons {
		if daemonOnNode(daemons[i].Shape, n) {
			expected = expected.Add(daemons[i].Shape.Requests)
		}
	}
	return startingAllocatable(n).Sub(bound).Sub(expected.Sub(present).ClampNegative())
}

// Expected lists the daemon pods that are still to come to the node.
func Expected(n *cluster.Node, daemons []cluster.Daemon) []*cluster.Shape {
	var out []*cluster.Shape
	for i := range daemons {
		s := daemons[i].Shape
		there := slices.ContainsFunc(n.Pods, func(p cluster.Pod) bool {
			return p.Daemon && p.Shape.Namespace == s.Namespace && slices.Equal(p.Shape.Labels, s.Labels) && p.Shape.Requests.Equal(s.Requests)
		})
		if !there && daemonOnNode(s, n) {
			out = append(out, s)
		}
	}
	return out
}

// Ports returns the host ports that are taken on the node, by its pods and by
// daemon pods that are still expected there.
func Ports(n *cluster.Node, daemons []cluster.Daemon) []cluster.Port {
	var out []cluster.Port
	for i := range n.Pods {
		out = append(out, n.Pods[i].Shape.Ports...)
	}
	for i := range daemons {
		if s := daemons[i].Shape; len(s.Ports) > 0 && daemonOnNode(s, n) {
			out = append(out, s.Ports...)
		}
	}
	return out
}

func startingAllocatable(n *cluster.Node) quantity.Resources {
	out := n.Allocatable
	if n.Initialized || n.Claim == "" {
		return out
	}
	for _, e := range n.Capacity.Extended {
		if out.Get(e.Name) == 0 {
			out = out.With(e.Name, e.Amount)
		}
	}
	return out
}

func daemonOnNode(s *cluster.Shape, n *cluster.Node) bool {
	if !untolerated(LastingTaints(n), s.Tolerations).OK() || lacksDevices(s, n.Allocatable) {
		return false
	}
	return anyTerm(s.NodeTerms, func(term constraint.Requirements) Reason {
		for _, r := range term {
			if assumed(r) {
				continue
			}
			if why := wants("node", r, n.Labels); !why.OK() {
				return why
			}
		}
		return Reason{}
	}).OK()
}

func nodeTerm(term constraint.Requirements, n *cluster.Node) Reason {
	for _, r := range term {
		if why := wants("node", r, n.Labels); !why.OK() {
			return why
		}
	}
	return Reason{}
}

// wants reports whether a thing with these labels meets the requirement.
func wants(of string, r constraint.Requirement, labels constraint.Labels) Reason {
	value, present := labels.Get(r.Key)
	switch {
	case present && r.Set.Allows(value), !present && r.Set.AllowsAbsent():
		return Reason{}
	case present:
		return Reason{Label, r.Key, of + " label " + r.Key + " is " + quoted(value) + ", want " + r.Set.String()}
	}
	return Reason{Label, r.Key, of + " has no label " + r.Key + ", want " + r.Set.String()}
}

// quoted makes an empty value visible.
func quoted(value string) string {
	if value == "" {
		return `""`
	}
	return value
}

// anyTerm tries alternatives in order; no alternatives at all mean yes. The
// reason is that of the first one.
func anyTerm(terms []constraint.Requirements, try func(constraint.Requirements) Reason) Reason {
	var first Reason
	for i, term := range terms {
		why := try(term)
		if why.OK() {
			return why
		}
		if i == 0 {
			first = why
		}
	}
	return first
}
