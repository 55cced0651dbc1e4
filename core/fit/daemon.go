package fit

import (
	"slices"

	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/quantity"
)

// Labels that every node of ours has by the time that daemon pods matter.
const (
	labelRegistered  = "karpenter.sh/registered"
	labelInitialized = "karpenter.sh/initialized"
)

// Promised lists the labels that every node of ours gets with the value true.
func Promised() []string { return []string{labelInitialized, labelRegistered} }

// assumed reports whether a daemon's requirement holds whatever the node: the
// DaemonSet controller pins each pod to its node's name, and every node gets
// registered and initialized.
func assumed(r constraint.Requirement) bool {
	switch r.Key {
	case cluster.LabelHostname:
		return true
	case labelRegistered, labelInitialized:
		return r.Set.Allows("true")
	}
	return false
}

// overheads returns, for every kind of the catalogue, what daemon pods will
// take of a machine of that kind.
func (p *Pool) overheads(daemons []cluster.Daemon) []overhead {
	out := make([]overhead, len(p.kinds))
	for i := range daemons {
		s := daemons[i].Shape
		if !untolerated(p.Taints, s.Tolerations).OK() {
			continue
		}
		for k := range p.kinds {
			if p.runsOnKind(s, &p.kinds[k]) {
				out[k].amounts = out[k].amounts.Add(s.Requests)
				out[k].ports = append(out[k].ports, s.Ports...)
				out[k].pods = append(out[k].pods, s)
			}
		}
	}
	return out
}

// overhead is what daemon pods take of a machine.
type overhead struct {
	amounts quantity.Resources
	ports   []cluster.Port
	pods    []*cluster.Shape
}

// runsOnKind reports whether a daemon pod would run on some machine of the
// kind. What the offer decides is left open: a daemon bound to one zone counts
// for every kind that is sold there.
func (p *Pool) runsOnKind(s *cluster.Shape, kind *cluster.Kind) bool {
	return anyTerm(s.NodeTerms, func(term constraint.Requirements) Reason {
		for _, r := range term {
			if !assumed(r) && !p.daemonWants(r, kind) {
				return Reason{Rule: Label}
			}
		}
		return Reason{}
	}).OK()
}

func (p *Pool) daemonWants(r constraint.Requirement, kind *cluster.Kind) bool {
	if !p.Defines(r.Key) {
		return p.custom(r).OK()
	}
	if _, ofKind := kind.Labels.Get(r.Key); ofKind {
		return wants("type", r, kind.Labels).OK()
	}
	return slices.ContainsFunc(kind.Offers, func(o cluster.Offer) bool { return wants("offer", r, o.Labels).OK() })
}

// Brings tells whether machines of the pool may get a pod of the daemon if they
// become one of the options, and whether they do whichever it is.
func (p *Pool) Brings(s *cluster.Shape, options bitset.Set) (may, sure bool) {
	sure = true
	for i := options.Next(0); i >= 0; i = options.Next(i + 1) {
		comes := p.BringsAs(s, i)
		may, sure = may || comes, sure && comes
	}
	return may, may && sure
}

// BringsAs is Brings for one option.
func (p *Pool) BringsAs(s *cluster.Shape, option int) bool {
	return untolerated(p.Taints, s.Tolerations).OK() && anyTerm(s.NodeTerms, func(term constraint.Requirements) Reason {
		return p.daemonTerm(term, p.Options[option])
	}).OK()
}

func (p *Pool) daemonTerm(term constraint.Requirements, o Option) Reason {
	for _, r := range term {
		if assumed(r) || p.Defines(r.Key) && p.meets(o, r) || !p.Defines(r.Key) && p.custom(r).OK() {
			continue
		}
		return Reason{Rule: Label}
	}
	return Reason{}
}
