package fit

import (
	"slices"

	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/constraint"
)

// column is what the options of a pool say of one label. There are far fewer
// values than options, and wishes are compared with values.
type column struct {
	values []string // in the order in which options have them
	of     []int32  // by option: position of its value; -1: it has no such label
}

// column returns the column of a label that kinds and offers decide.
func (p *Pool) column(key string) *column {
	out := p.columns[key]
	if out != nil {
		return out
	}
	out = &column{of: make([]int32, len(p.Options))}
	at := map[string]int32{}
	for i, o := range p.Options {
		value, present := p.Label(o, key)
		if !present {
			out.of[i] = -1
			continue
		}
		n, known := at[value]
		if !known {
			n = int32(len(out.values))
			at[value] = n
			out.values = append(out.values, value)
		}
		out.of[i] = n
	}
	p.columns[key] = out
	return out
}

// Matching returns the options whose labels meet the requirement; its key
// must be one that kinds and offers decide.
func (p *Pool) Matching(r constraint.Requirement) bitset.Set {
	c := p.column(r.Key)
	allowed := make([]bool, len(c.values))
	for n, value := range c.values {
		allowed[n] = r.Set.Allows(value)
	}
	absent := r.Set.AllowsAbsent()
	out := bitset.New(len(p.Options))
	for i, n := range c.of {
		if n < 0 && absent || n >= 0 && allowed[n] {
			out.Add(i)
		}
	}
	return out
}

// valuesOf lists the values of a label that are known of: those of kinds and
// offers, else those of the pool. Not to be written.
func (p *Pool) valuesOf(key string) []string {
	out, known := p.values[key]
	if known {
		return out
	}
	if value, ok := p.Labels.Get(key); ok {
		out = append(out, value)
	}
	if p.Defines(key) {
		for _, o := range p.shelf.options {
			if value, ok := p.Label(o, key); ok {
				out = append(out, value)
			}
		}
	} else if p.Requirements.Has(key) {
		values, _ := p.Requirements.Get(key).Finite()
		out = append(out, values...)
	}
	slices.Sort(out)
	out = slices.Compact(out)
	p.values[key] = out
	return out
}

// freeOf returns how much of a resource machines have for pods, by kind.
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
