package feasibility

import (
	"slices"

	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
)

// columnOfAll returns what all offerings of the catalogue say of a label; nil where instance types
// and offerings do not decide it. It has only options of the catalogue: options of a split list keep
// their positions.
func (p *catalogueIndex) columnOfAll(key string) *cluster.Column {
	once := p.columns[key]
	if once == nil {
		return nil
	}
	return once.Get(func() *cluster.Column {
		out, at := &cluster.Column{Of: make([]int32, len(p.options))}, map[string]int32{}
		for i, o := range p.options {
			value, present := p.Label(o, key)
			if !present {
				out.Of[i] = -1
				continue
			}
			n, known := at[value]
			if !known {
				n = int32(len(out.Values))
				at[value] = n
				out.Values = append(out.Values, value)
			}
			out.Of[i] = n
		}
		return out
	})
}

// matchingOfAll returns which of all offerings of the catalogue meet the requirement.
func (p *catalogueIndex) matchingOfAll(r constraint.Requirement) bitset.Set {
	if c := p.columnOfAll(r.Key); c != nil {
		return meeting(c, r)
	}
	if r.Set.AllowsAbsent() {
		return bitset.Full(len(p.options))
	}
	return bitset.New(len(p.options))
}

// within returns which of all offerings of the catalogue keep all rules.
func (p *catalogueIndex) within(rules ...constraint.Requirements) bitset.Set {
	out := bitset.Full(len(p.options))
	for _, rs := range rules {
		for _, r := range rs {
			out.And(p.matchingOfAll(r))
		}
	}
	return out
}

// meeting returns the options whose label meets the requirement, by preferences for values: these
// are few.
func meeting(c *cluster.Column, r constraint.Requirement) bitset.Set {
	allowed := make([]bool, len(c.Values))
	for n, value := range c.Values {
		allowed[n] = r.Set.Allows(value)
	}
	absent, out := r.Set.AllowsAbsent(), bitset.New(len(c.Of))
	for i, n := range c.Of {
		if n < 0 && absent || n >= 0 && allowed[n] {
			out.Add(i)
		}
	}
	return out
}

// Column returns what the options of the pool say of a label, by their position; nil where instance
// types and offerings do not decide it. It is not to be written.
func (p *Pool) Column(key string) *cluster.Column {
	out, known := p.columns[key]
	if known {
		return out
	}
	if all := p.columnOfAll(key); all != nil {
		out = &cluster.Column{Values: all.Values, Of: make([]int32, len(p.places))}
		for i, at := range p.places {
			out.Of[i] = all.Of[at]
		}
	}
	p.columns[key] = out
	return out
}

// Matching returns the options whose labels meet the requirement; its key must be one that instance
// types and offerings decide.
func (p *Pool) Matching(r constraint.Requirement) bitset.Set { return meeting(p.Column(r.Key), r) }

// valuesOf lists the values of a label that are known of: those of instance types and offerings,
// else those of the pool. Not to be written.
func (p *Pool) valuesOf(key string) []string {
	out, known := p.values[key]
	if known {
		return out
	}
	if value, ok := p.Labels.Get(key); ok {
		out = append(out, value)
	}
	if all := p.columnOfAll(key); all != nil {
		out = append(out, all.Values...)
	} else if p.Requirements.Has(key) {
		values, _ := p.Requirements.Get(key).Finite()
		out = append(out, values...)
	}
	slices.Sort(out)
	out = slices.Compact(out)
	p.values[key] = out
	return out
}

// freeOf returns how much of a resource instances have for pods, by instance type.
func (p *Pool) freeOf(name string) []int64 {
	out := p.free[name]
	if out == nil {
		out = make([]int64, len(p.Kinds))
		for k := range p.Kinds {
			out[k] = p.Kinds[k].Free.Get(name)
		}
		p.free[name] = out
	}
	return out
}
