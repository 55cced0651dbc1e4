package pack

import (
	"cmp"
	"slices"
)

// pattern is a load of one instance that may be launched any number of times.
type pattern struct {
	offering int32
	parts    []part
	cost     float64
}

// program is the linear program that launches fractions of patterns: the revised
// simplex method with an explicit inverse, since there are few groups. All
// patterns that were ever found are kept.
type program struct {
	s       *solver
	groups  []int32
	at      []int32 // by group of the batch: its position here
	pool    []pattern
	basis   []int     // by position: a pattern, or surplus
	inverse []float64 // of the basis, group by group
	amounts []float64 // of the basis
	worth   []float64 // of a pod of each group
	turn    []float64 // scratch of enter
	pricer  *pricer
}

// surplus in a basis stands for pods of a group for which there is more room
// than is needed.
const surplus = -1

const (
	tiny     = 1e-9
	worthier = 1 + 1e-6 // times its cost is what a pattern must be worth to be launched
)

// newProgram starts with each group on instances of its own.
func newProgram(s *solver, groups []int32, pool []pattern) *program {
	n := len(groups)
	p := &program{s: s, groups: groups, at: make([]int32, len(s.left)), pool: pool, basis: make([]int, n), inverse: make([]float64, n*n),
		amounts: make([]float64, n), worth: make([]float64, n), turn: make([]float64, n)}
	for i, group := range groups {
		p.at[group] = int32(i)
	}
	for i, group := range groups {
		own := s.ownPattern(group)
		p.basis[i] = len(p.pool)
		p.pool = append(p.pool, own)
		each := float64(own.parts[0].n)
		p.inverse[i*n+i] = 1 / each
		p.amounts[i], p.worth[i] = float64(s.left[group])/each, own.cost/each
	}
	p.pricer = newPricer(p)
	return p
}

// ownPattern is the instance that is cheapest for each pod if all pods on it are of one group.
func (s *solver) ownPattern(group int32) pattern {
	best := pattern{offering: -1}
	for i, o := range s.offerings {
		if !s.may(group, i) || !holds(o.free, s.need(group)) {
			continue
		}
		s.filler.empty(i)
		n := max(1, s.filler.fitting(group))
		if best.offering < 0 || o.cost/float64(n) < best.cost/float64(best.parts[0].n) {
			best = pattern{int32(i), []part{{group, n}}, o.cost}
		}
	}
	return best
}

// solve launches better and better patterns until there is none, or the steps are
// used up.
func (p *program) solve(until int64) {
	for p.s.steps < until {
		column := p.best()
		if column < 0 {
			if column = p.pricer.find(); column < 0 {
				return
			}
		}
		if !p.enter(column) {
			return
		}
		p.dropSurplus()
	}
}

// best returns the pattern that is worth most for its cost, if that is more
// than its cost.
func (p *program) best() int {
	out, most := -1, worthier
	for i := range p.pool {
		if v := p.value(&p.pool[i]) / p.pool[i].cost; v > most {
			out, most = i, v
		}
	}
	p.s.steps += int64(len(p.pool))
	return out
}

func (p *program) value(of *pattern) float64 {
	sum := 0.0
	for _, x := range of.parts {
		sum += float64(float64(x.n) * p.worth[p.at[x.group]])
	}
	return sum
}

// enter makes a pattern one of the basis.
func (p *program) enter(column int) bool {
	n := len(p.groups)
	it := &p.pool[column]
	for k := range n {
		sum := 0.0
		for _, x := range it.parts {
			sum += float64(float64(x.n) * p.inverse[k*n+int(p.at[x.group])])
		}
		p.turn[k] = sum
	}
	return p.pivot(column, it.cost-p.value(it))
}

// dropSurplus lets there be room for more pods of a group than there are, while
// another pod of it would make all cheaper.
func (p *program) dropSurplus() {
	for range 4 {
		group := -1
		for i, w := range p.worth {
			if w < -tiny && (group < 0 || w < p.worth[group]) {
				group = i
			}
		}
		if group < 0 {
			return
		}
		n := len(p.groups)
		for k := range n {
			p.turn[k] = -p.inverse[k*n+group]
		}
		if !p.pivot(surplus, p.worth[group]) {
			return
		}
	}
}

// pivot exchanges a column, of which turn says how it is made from the basis,
// for the one that is used up first. Of several the one with the largest
// element goes, for the sake of precision.
func (p *program) pivot(column int, saving float64) bool {
	n, out, least := len(p.groups), -1, 0.0
	for k, v := range p.turn {
		if v <= tiny {
			continue
		}
		ratio := max(0, p.amounts[k]) / v
		if out < 0 || ratio < least-tiny || ratio < least+tiny && v > p.turn[out] {
			out, least = k, ratio
		}
	}
	if out < 0 {
		return false
	}
	gone := p.inverse[out*n : out*n+n]
	scale := p.turn[out]
	for j := range gone {
		gone[j] /= scale
	}
	for k := range n {
		if v := p.turn[k]; k != out && v != 0 {
			mine := p.inverse[k*n : k*n+n]
			for j, g := range gone {
				mine[j] -= float64(v * g)
			}
			p.amounts[k] -= float64(v * least)
		}
	}
	p.amounts[out], p.basis[out] = least, column
	for j, g := range gone {
		p.worth[j] += float64(saving * g)
	}
	p.s.steps += int64(n + n*n/16)
	return true
}

// launched is a pattern and how many of it.
type launched struct {
	pattern *pattern
	n       float64
	rank    float64 // see shuffle
}

// solution lists what is launched, the largest fraction first.
func (p *program) solution() []launched {
	var out []launched
	for k, column := range p.basis {
		if column != surplus && p.amounts[k] > tiny {
			out = append(out, launched{pattern: &p.pool[column], n: p.amounts[k]})
		}
	}
	slices.SortStableFunc(out, func(a, b launched) int { return cmp.Compare(fraction(b.n), fraction(a.n)) })
	return out
}

// whole is how many instances of so many are launched for certain.
func whole(n float64) int64 { return int64(n + 1e-6) }

func fraction(n float64) float64 { return n - float64(whole(n)) }
