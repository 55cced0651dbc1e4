package feasibility

import (
	"fmt"

	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
)

// Term is one way in which pods of a shape may run on instances of a pool.
type Term struct {
	Requirements constraint.Requirements // what the pod asks for, beyond the pool's rules
	Options      bitset.Set              // the options with the right labels, unavailable or not; shared, not to be written
	Custom       constraint.Requirements // what is left of the pool's requirements on keys that instance types do not decide
}

// noOption is a quick no; Nearest reports what would have to change.
var noOption = Reason{NoType, "", "no type in the pool has all that is asked for"}

type answer struct {
	terms []Term
	why   Reason
}

// Terms returns the ways in which pods of the shape may run on instances of the pool, resources and
// shortage aside, in the order of the pod's alternatives. There are none if the reason is a no; it
// is that of the pod's first alternative.
func (p *Pool) Terms(s *cluster.Shape) ([]Term, Reason) {
	known, ok := p.terms[s]
	if !ok {
		known.terms, known.why = p.compile(s)
		p.terms[s] = known
	}
	return known.terms, known.why
}

func (p *Pool) compile(s *cluster.Shape) ([]Term, Reason) {
	if r := unable(s.Unable); !r.OK() {
		return nil, r
	}
	if p.NotReady != "" || p.Catalogue == nil {
		return nil, Reason{NotReady, "", "pool is not ready: " + orElse(p.NotReady, "its class is not ready")}
	}
	if p.Static() {
		return nil, Reason{Static, "", p.noPods()}
	}
	if r := untolerated(p.Taints, s.Tolerations); !r.OK() {
		return nil, r
	}
	alternatives := Alternatives(s)
	if len(alternatives) == 0 {
		alternatives = []constraint.Requirements{nil}
	}
	var out []Term
	var first Reason
	for i, want := range alternatives {
		term, why := p.term(want)
		if why.OK() {
			out = append(out, term)
		} else if i == 0 {
			first = why
		}
	}
	if len(out) > 0 {
		first = Reason{}
	}
	return out, first
}

func (p *Pool) term(want constraint.Requirements) (Term, Reason) {
	for _, r := range want { // most pods that a pool is not for are not meant by its labels
		if p.Defines(r.Key) {
			continue
		}
		if why := p.custom(r); !why.OK() {
			return Term{}, why
		}
	}
	want = want.Possible()
	out := Term{Requirements: want}
	for _, r := range want {
		if p.Defines(r.Key) {
			continue
		}
		if p.Requirements.Has(r.Key) {
			own := constraint.Requirement{Key: r.Key, Set: p.Requirements.Get(r.Key)}
			out.Custom = out.Custom.And(own).And(r)
		}
	}
	out.Options = p.openFor(want)
	narrowed := false
	for _, r := range want {
		if !p.Defines(r.Key) {
			continue
		}
		if !narrowed {
			out.Options, narrowed = out.Options.Clone(), true
		}
		out.Options.And(p.remembered(r))
	}
	if out.Options.Next(0) < 0 {
		return Term{}, noOption
	}
	return out, Reason{}
}

// custom judges a requirement on a key that no instance type and no offering decides: the pool's
// labels do, else its requirements, else nodes lack the label.
func (p *Pool) custom(r constraint.Requirement) Reason {
	if r.Key == cluster.LabelHostname {
		return newHostname(r)
	}
	if r.Key == labelRegistered || r.Key == labelInitialized {
		return wants("node", r, constraint.Labels{{Key: r.Key, Value: "true"}})
	}
	if _, labelled := p.Labels.Get(r.Key); labelled {
		return wants("pool", r, p.Labels)
	}
	if !p.Requirements.Has(r.Key) {
		return p.undefined(r)
	}
	own := p.Requirements.Get(r.Key)
	switch {
	case own.Intersects(r.Set.Possible()):
		return Reason{}
	case own.Intersects(r.Set):
		return Reason{Label, r.Key, fmt.Sprintf("label %s: no node can have a value of %s: %s", r.Key, spoken(r.Set), constraint.ValueRule)}
	}
	return Reason{Label, r.Key, fmt.Sprintf("label %s: pool allows %s, want %s", r.Key, own, r.Set)}
}

func (p *Pool) undefined(r constraint.Requirement) Reason {
	if r.Set.AllowsAbsent() {
		return Reason{}
	}
	text := fmt.Sprintf("label %s is set by neither the pool nor its instance types, want %s", r.Key, r.Set)
	if near, ok := p.nearKey(r.Key); ok {
		text += " (did you mean " + near + "?)"
	}
	return Reason{Label, r.Key, text}
}

// newHostname judges a preference about the name of an instance that does not exist yet: any listed
// name belongs to another node.
func newHostname(r constraint.Requirement) Reason {
	if _, listed := r.Set.Finite(); listed {
		return Reason{Label, r.Key, "a new node cannot have label " + r.Key + " " + r.Set.String()}
	}
	return Reason{}
}

// remembered is Matching with a memory, for preferences that many shapes share.
func (p *Pool) remembered(r constraint.Requirement) bitset.Set {
	key := r.Key + " " + r.Set.String()
	known, ok := p.matches[key]
	if !ok {
		known = p.Matching(r)
		p.matches[key] = known
	}
	return known
}

func orElse(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}
