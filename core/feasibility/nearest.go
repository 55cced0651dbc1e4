package feasibility

import (
	"slices"
	"strings"

	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/quantity"
)

// alternativesMax is how many of a pod's alternatives are examined for what would have to change.
const alternativesMax = 16

// Nearest returns the fewest and easiest changes by which one pod of the shape could have a new
// instance of the pool; none if it can have one as things are. Further constraints, such as the
// pool's limits, may be added.
//
// Cost: the options times what the pod asks for.
func (p *Pool) Nearest(s *cluster.Shape, more ...Constraint) Changes {
	out, _ := p.NearestOptions(s, more...)
	return out
}

// NearestOptions is Nearest that also returns the options which the pod could have after the
// changes, where that is known.
func (p *Pool) NearestOptions(s *cluster.Shape, more ...Constraint) (Changes, bitset.Set) {
	if s.Unable != "" {
		return Changes{NewChange(Unable, "", 0, s.Unable)}, nil
	}
	more = append(p.needs(s), more...)
	var best Changes
	var options bitset.Set
	for i, w := range preferencesOf(s) {
		if c, after := p.nearestFor(w, more); i == 0 || c.Effort() < best.Effort() {
			best, options = c, after
		}
	}
	out := append(p.toTolerate(s), best...)
	if !p.Closed() {
		if p.Static() {
			return append(out, NewChange(Static, "", 0, p.noPods())), nil
		}
		return out, options
	}
	out = slices.DeleteFunc(out, func(c Change) bool { return c.Rule == NoType && strings.Contains(p.NotReady, c.Text) })
	return append(out, p.toOpen()), nil
}

// Closed reports whether the pool may launch nothing now.
func (p *Pool) Closed() bool { return p.NotReady != "" || p.Catalogue == nil }

// Leaving reports whether the pool is being deleted.
func (p *Pool) Leaving() bool { return p.NotReady == cluster.PoolDeleting }

// toOpen is what would have to be different for the pool to launch anything.
func (p *Pool) toOpen() Change {
	if p.Leaving() {
		return NewChange(Deleting, "", 0, p.NotReady)
	}
	return NewChange(NotReady, "", 0, "pool is not ready: "+orElse(p.NotReady, "its class is not ready"))
}

// Selected reports whether the labels that all nodes of the pool have alike are
// those that the pods ask for in one of their alternatives. What the pool's types
// decide is no matter here, nor are taints.
func (p *Pool) Selected(s *cluster.Shape) bool {
	return slices.ContainsFunc(preferencesOf(s), func(w preferences) bool { return len(p.unlike(w)) == 0 })
}

// unlike lists what is asked for that the labels of the pool's nodes are not,
// whatever their type.
func (p *Pool) unlike(w preferences) (out Changes) {
	for _, r := range w.all {
		if p.decided(r.Key) {
			continue
		}
		if why := p.custom(r); !why.OK() {
			c := NewChange(Label, r.Key, 0, why.Text+p.hint(r, w)+w.blame(r.Key))
			if r.Key == cluster.LabelHostname {
				c.effort *= 3
			}
			out = append(out, c)
		}
	}
	return out
}

// decided reports whether instance types decide the label. Where the pool's are not known, those of
// a cloud may.
func (p *Pool) decided(key string) bool {
	if p.Catalogue != nil {
		return p.Defines(key)
	}
	_, own := p.Labels.Get(key)
	return !own && !p.Requirements.Has(key) && ofCloud(key)
}

// cloudDomains are the domains of labels that come from clouds and kubelets.
var cloudDomains = []string{"kubernetes.io", "k8s.io", "k8s.aws", "karpenter.sh"}

func ofCloud(key string) bool {
	domain, _, _ := strings.Cut(key, "/")
	return slices.ContainsFunc(cloudDomains, func(d string) bool { return domain == d || strings.HasSuffix(domain, "."+d) })
}

// AtLeast returns changes without which no instance of the pool will do whatever its type: a quick
// check before Nearest.
func (p *Pool) AtLeast(s *cluster.Shape) Changes { return p.toTolerate(s) }

func (p *Pool) toTolerate(s *cluster.Shape) (out Changes) {
	for _, t := range p.Taints {
		out = append(out, toTolerate(t, s.Tolerations)...)
	}
	return out
}

func toTolerate(t constraint.Taint, tolerations []constraint.Toleration) Changes {
	if _, found := constraint.Untolerated([]constraint.Taint{t}, tolerations); !found {
		return nil
	}
	out := NewChange(Taint, t.Key, 0, "tolerate "+t.String())
	out.Taint = t
	return Changes{out}
}

// preferences is one way in which a pod and its volumes may want nodes.
type preferences struct {
	all    constraint.Requirements
	pod    constraint.Requirements
	volume constraint.Requirements
}

func preferencesOf(s *cluster.Shape) []preferences {
	var out []preferences
	for _, pod := range orAny(s.NodeTerms) {
		for _, volume := range orAny(s.VolumeTerms) {
			if out = append(out, preferences{pod.AndAll(volume), pod, volume}); len(out) == alternativesMax {
				return out
			}
		}
	}
	return out
}

func orAny(terms []constraint.Requirements) []constraint.Requirements {
	if len(terms) == 0 {
		return []constraint.Requirements{nil}
	}
	return terms
}

// nearestFor finds the option of which the constraints that it does not clear are
// the easiest to remove.
func (p *Pool) nearestFor(w preferences, more []Constraint) (out Changes, after bitset.Set) {
	out = p.unlike(w)
	if p.Catalogue == nil {
		return out, nil
	}
	if len(p.Options) == 0 {
		return append(out, NewChange(NoType, "", 0, p.noType())), nil
	}
	var constraints []*Constraint
	for _, r := range w.all {
		if p.Defines(r.Key) {
			constraints = append(constraints, p.labelConstraint(r, w))
		}
	}
	for _, s := range p.special {
		if w.all.Get(s.unless.Key).Allows(s.unless.Value) {
			constraints = append(constraints, p.askConstraint(s))
		}
	}
	for i := range more {
		constraints = append(constraints, &more[i])
	}
	best := p.easiest(constraints)
	after = p.every.Clone()
	for _, h := range constraints {
		if h.Cleared.Has(best) {
			after.And(h.Cleared)
			continue
		}
		h.lowerFor(best, after)
		out = append(out, p.removal(h, best, constraints))
	}
	return withoutRepeats(out), after
}

// lowerFor keeps what clears the constraint once it is as low as the option needs.
func (h *Constraint) lowerFor(option int, list bitset.Set) {
	if h.Short == nil {
		return
	}
	most, _ := h.Short(option)
	for i := list.Next(0); i >= 0; i = list.Next(i + 1) {
		if short, _ := h.Short(i); short > most {
			list.Remove(i)
		}
	}
}

// withoutRepeats leaves out that daemon pods are too much for a type where an
// amount that they leave none of is named already.
func withoutRepeats(list Changes) Changes {
	return slices.DeleteFunc(list, func(c Change) bool {
		return c.Rule == NoType && c.Key == keyDaemons && slices.ContainsFunc(list, func(o Change) bool { return o.Rule == Resource })
	})
}

// keyDaemons marks the constraint that daemon pods are by themselves.
const keyDaemons = "daemons"

// easiest returns the option whose constraints are the lowest together. Mostly a single one is in
// the way, which is found without examining each option.
func (p *Pool) easiest(constraints []*Constraint) int {
	best, least := p.easiestButOne(constraints)
	if best >= 0 && least <= twoLowest(constraints) {
		return best
	}
	for i := range p.Options {
		sum := 0
		for _, h := range constraints {
			if !h.Cleared.Has(i) {
				if sum += h.base(); best >= 0 && sum >= least {
					break
				}
			}
		}
		if best >= 0 && sum >= least {
			continue
		}
		if sum = total(constraints, i); best < 0 || sum < least {
			best, least = i, sum
		}
	}
	return best
}

// easiestButOne returns the option with a single constraint, or none at all, that
// is the lowest; -1 where every option has several.
func (p *Pool) easiestButOne(constraints []*Constraint) (best, least int) {
	best = -1
	after := make([]bitset.Set, len(constraints)+1) // what clears the constraints from here on
	after[len(constraints)] = p.every
	for i := len(constraints) - 1; i >= 0; i-- {
		after[i] = after[i+1].Clone()
		after[i].And(constraints[i].Cleared)
	}
	if first := after[0].Next(0); first >= 0 {
		return first, 0
	}
	before := p.every.Clone()
	for k, h := range constraints {
		others := before.Clone()
		others.And(after[k+1])
		for i := others.Next(0); i >= 0; i = others.Next(i + 1) {
			if height := h.height(i); best < 0 || height < least || height == least && i < best {
				best, least = i, height
			}
			if h.Short == nil {
				break
			}
		}
		before.And(h.Cleared)
	}
	return best, least
}

// twoLowest is the least that two constraints can be together.
func twoLowest(constraints []*Constraint) int {
	low, next := 1<<30, 1<<30
	for _, h := range constraints {
		switch e := h.base(); {
		case e < low:
			low, next = e, low
		case e < next:
			next = e
		}
	}
	return low + next
}

func total(constraints []*Constraint, option int) (sum int) {
	for _, h := range constraints {
		if !h.Cleared.Has(option) {
			sum += h.height(option)
		}
	}
	return sum
}

// base is how high the constraint is at least.
func (h *Constraint) base() int {
	if h.effort == 0 {
		h.effort = effort[h.Rule] * efforts
	}
	return h.effort
}

// height is how hard it is to take the constraint away from before an option.
func (h *Constraint) height(option int) int {
	out := h.base()
	if h.Short != nil {
		short, of := h.Short(option)
		if beyond := of - quantity.Product(h.most, 2); h.most > 0 && beyond > 0 {
			short, of = short-beyond, of-beyond // options differ by what they have, however much is asked for
		}
		if of > 0 {
			out += int(float64(efforts-1) * min(1, float64(short)/float64(of)))
		}
	}
	return out
}
