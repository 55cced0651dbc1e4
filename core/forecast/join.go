package forecast

import (
	"cmp"
	"maps"
	"slices"

	"github.com/daemok/daemok/core/plan"
)

// step is instances that join the cluster, and those that let pods come then.
type step struct{ joins, opens []*spot }

// order sorts instances into steps. They join by chance, those launched before first; one that is
// in a group opens when each domain of the group has joined, and one with a later turn when all
// with earlier ones are open.
func (g *game) order(instances []*spot) []step {
	if g.opening.Together {
		return []step{{instances, instances}}
	}
	for i := len(instances) - 1; i > 0; i-- {
		j := g.draw(i + 1)
		instances[i], instances[j] = instances[j], instances[i]
	}
	slices.SortStableFunc(instances, func(a, b *spot) int { return cmp.Compare(rank(a.ordered), rank(b.ordered)) })
	missing, last := missingOf(instances), len(instances)-1
	later := map[int][]*spot{} // by turn
	steps := make([]step, len(instances))
	var waiting []*spot
	for i, x := range instances {
		held := func(x *spot) bool {
			return i < last && slices.ContainsFunc(x.joins, func(j plan.Join) bool { return j.Turn == 0 && missing[j.Group].waited > 0 })
		}
		some := i == last
		for _, j := range x.joins {
			some = missing[j.Group].joined(x.domain(j)) || some
		}
		opens := &steps[i].opens
		steps[i].joins = instances[i : i+1]
		switch {
		case x.turn() > 1:
			later[x.turn()] = append(later[x.turn()], x)
		case held(x):
			waiting = append(waiting, x)
		default:
			*opens = append(*opens, x)
		}
		if some {
			waiting = slices.DeleteFunc(waiting, func(w *spot) bool {
				if !held(w) {
					*opens = append(*opens, w)
				}
				return !held(w)
			})
		}
	}
	for _, turn := range slices.Sorted(maps.Keys(later)) {
		steps = append(steps, step{opens: later[turn]})
	}
	return steps
}

// turn is when the instance takes pods, of those of its plan; 0: it has none.
func (x *spot) turn() (out int) {
	for _, j := range x.joins {
		out = max(out, j.Turn)
	}
	return out
}

// missing is the domains of a group that no instance has joined in, and whether no node has them
// yet.
type missing struct {
	domains map[string]bool
	waited  int // those that no node has
}

// joined takes a domain off, and reports whether nothing is waited for any more.
func (m *missing) joined(domain string) bool {
	opens := m.domains[domain]
	delete(m.domains, domain)
	if opens {
		m.waited--
	}
	return opens && m.waited == 0
}

// missingOf lists what is missing by group.
func missingOf(instances []*spot) map[string]*missing {
	out := map[string]*missing{}
	for _, x := range instances {
		for _, j := range x.joins {
			m := out[j.Group]
			if m == nil {
				m = &missing{domains: map[string]bool{}}
				out[j.Group] = m
			}
			d := x.domain(j)
			if j.Opens && !m.domains[d] {
				m.waited++
			}
			m.domains[d] = j.Opens || m.domains[d]
		}
	}
	return out
}

// domain is the spot's value for the label of the group; without a label the spot
// is one of its own.
func (x *spot) domain(j plan.Join) string {
	if j.Key == "" {
		return x.node.Name
	}
	value, _ := x.node.Labels.Get(j.Key)
	return value
}

func rank(first bool) int {
	if first {
		return 0
	}
	return 1
}
