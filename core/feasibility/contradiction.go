package feasibility

import (
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
)

// Contradiction says which of the pool's own requirements, its labels and its floor on instance
// size leave no instance type, and that none is left; empty where some type is, or types are not
// known.
func Contradiction(p *cluster.Pool) string {
	if p.Catalogue == nil || len(p.Catalogue.InstanceTypes) == 0 {
		return ""
	}
	out := &Pool{Pool: p, catalogueIndex: newCatalogueIndex(p.Catalogue)}
	if out.rules = out.ownRules(); out.within(out.rules, p.Floor.Size).Count() > 0 {
		return ""
	}
	return out.noType()
}

// noType is Contradiction for a pool that leaves no type.
func (p *Pool) noType() string {
	if p.floorLeavesNone() {
		return "the pool's requirements and its minimum instance size (" + p.floorText() + ") leave no instance type"
	}
	rules := p.enough()
	words := make([]string, len(rules))
	for i, r := range rules {
		words[i] = WantWord(r)
	}
	switch len(words) {
	case 0:
		return "the pool's requirements leave no instance type"
	case 1:
		return "the pool's requirements leave no instance type: none has " + words[0]
	}
	return "the pool's requirements leave no instance type: none has " + join(words) + " together"
}

// enough returns a few of the pool's own rules that leave no type, of which none can
// be spared.
func (p *Pool) enough() constraint.Requirements {
	out := p.rules
	for i := len(out) - 1; i >= 0; i-- {
		if without := slices.Delete(slices.Clone(out), i, i+1); p.within(without).Count() == 0 {
			out = without
		}
	}
	return out
}
