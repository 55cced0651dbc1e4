package provisioning

import (
	"fmt"
	"slices"

	"github.com/daemok/daemok/core/feasibility"
	"github.com/daemok/daemok/core/supply"
)

// MinValues says what happens when too few values stay open for minValues.
type MinValues string

// The policies. The zero value is Strict.
const (
	Strict     MinValues = ""           // nothing is launched
	BestEffort MinValues = "BestEffort" // as many as there are will do
)

// Set makes it the policy of that name, as settings have it.
func (m *MinValues) Set(name string) error {
	switch name {
	case "Strict":
		*m = Strict
	case string(BestEffort):
		*m = BestEffort
	default:
		return fmt.Errorf("%q: want Strict or BestEffort", name)
	}
	return nil
}

// KeepMinValues reduces the load until enough values stay open for every minValues of the pool. Where even the least
// load is too much it returns the reason or, by policy, ignores minValues. The least load is one pod, or the whole
// co-located set that the instance is launched for. Of other pods that must share a host, all stay or none.
func (li *lister) KeepMinValues(b *supply.Candidate, l supply.Load, e Errand) (supply.Load, feasibility.Reason) {
	if li.keeps(b, &l) {
		return l, feasibility.Reason{}
	}
	t := li.trimOf(&l, e)
	low, high := t.least, l.Pods()
	if short := b.MinValuesOf(li.cut(&l, t, low)); short != nil {
		if li.pr.MinValues == BestEffort {
			l.Relaxed = true
			return l, feasibility.Reason{}
		}
		return supply.Load{}, *short
	}
	if all := li.allBound(&l, t); all.least > low && li.keeps(b, li.cut(&l, all, all.least)) {
		t, low = all, all.least
	}
	for high-low > 1 {
		if mid := low + (high-low)/2; li.keeps(b, li.cut(&l, t, mid)) {
			low = mid
		} else {
			high = mid
		}
	}
	out := li.cut(&l, t, low)
	li.pr.tournament.stabilize(b, out)
	return *out, feasibility.Reason{}
}

// trim says how a load may be reduced.
type trim struct {
	stay  []int64 // by part: pods that stay whatever goes
	rest  []int64 // by part: pods of which any number may stay, the first first
	least int64   // pods
}

// trimOf says how the load of an errand may be reduced without tearing apart pods that must share a host. A co-located
// set that is torn apart anyway is reduced like other pods.
func (li *lister) trimOf(l *supply.Load, e Errand) trim {
	out := trim{make([]int64, len(l.Parts)), make([]int64, len(l.Parts)), 1}
	torn := e.g == nil || e.g.Component != nil && !e.whole
	for i, p := range l.Parts {
		if torn || li.pr.Groups[p.Group].Component == nil {
			out.rest[i] = p.N
		}
	}
	if !e.whole {
		return out
	}
	out.least = 0
	for _, m := range e.colocation.Parts {
		if at := slices.IndexFunc(l.Parts, func(p supply.Part) bool { return p.Group == m.Group.At }); at >= 0 {
			out.stay[at] = min(m.N, l.Parts[at].N)
			out.least += out.stay[at]
		}
	}
	return out
}

// allBound is the trim with all pods that must share a host.
func (li *lister) allBound(l *supply.Load, t trim) trim {
	out := trim{slices.Clone(t.stay), t.rest, 0}
	for i, p := range l.Parts {
		if li.pr.Groups[p.Group].Component != nil && t.rest[i] == 0 {
			out.stay[i] = p.N
		}
		out.least += out.stay[i]
	}
	return out
}

func (li *lister) keeps(b *supply.Candidate, l *supply.Load) bool {
	return !b.Varied || b.MinValuesOf(l) == nil
}

// cut returns the load with only n pods: those that stay, and the first of the others.
func (li *lister) cut(l *supply.Load, t trim, n int64) *supply.Load {
	out := &supply.Load{Option: l.Option, Modest: l.Modest, Sum: make([]int64, li.pr.Dims.Len())}
	for _, m := range t.stay {
		n -= m
	}
	for i, p := range l.Parts {
		m := min(max(0, n), t.rest[i])
		g := li.pr.Groups[p.Group]
		out.Add(g.Part(p.Way, t.stay[i]+m, p.First), g.Need)
		n -= m
	}
	return out
}
