package pack

import (
	"cmp"
	"math"
	"slices"
)

// programRows is for how many rows the linear program over patterns is solved.
const programRows = 150

// sure is the fraction from which on one more machine of a pattern is bought.
const sure = 0.8

// divesMax is how often the program's answer is made whole at most.
const divesMax = 64

// divide finds machines for all pods of the rows by the linear program over
// patterns, of which some are known: those of an answer first. Its answer is made whole in several ways,
// of which the cheapest counts.
func (s *solver) divide(rows []int32, known []pattern, until int64) (best []machine, ok bool) {
	s.waiting()
	root := newProgram(s, rows, known)
	root.solve(s.steps + (until-s.steps)/2)
	list, least := root.solution(), math.Inf(1)
	for dive := 0; dive < divesMax && (dive == 0 || s.steps < until); dive++ {
		s.waiting()
		if dive > 0 {
			s.shuffle(list)
		}
		out, all := s.dive(rows, list, slices.Clone(root.pool), until)
		if cost := s.cost(out); all && cost < least {
			best, ok, least = out, true, cost
		}
	}
	return best, ok
}

// shuffle changes the order in which fractions are made whole a little.
func (s *solver) shuffle(list []bought) {
	for i := range list {
		list[i].rank = fraction(list[i].n) + s.chance.share()
	}
	slices.SortStableFunc(list, func(a, b bought) int { return cmp.Compare(b.rank, a.rank) })
}

// dive buys what is bought whole, then what is bought nearly whole, and solves
// the program anew for the pods that are left. When the steps are used up
// machines are opened for the rest.
func (s *solver) dive(rows []int32, list []bought, pool []pattern, until int64) ([]machine, bool) {
	var out []machine
	for {
		before := len(out)
		out = s.buy(out, list)
		rows = slices.DeleteFunc(slices.Clone(rows), func(row int32) bool { return s.left[row] == 0 })
		if len(rows) == 0 {
			return out, true
		}
		if s.steps >= until || len(out) == before {
			return s.open(out, rows, s.look(s.worth, startTries, 0), math.Inf(1))
		}
		pool = s.still(pool)
		p := newProgram(s, rows, pool)
		p.solve(s.steps + (until-s.steps)/4)
		list, pool = p.solution(), p.pool
	}
}

// patternsOf lists the loads of machines, each once where equal ones follow
// each other.
func (s *solver) patternsOf(machines []machine) []pattern {
	var out []pattern
	for i, m := range machines {
		if i == 0 || &m.parts[0] != &machines[i-1].parts[0] {
			out = append(out, pattern{m.offer, m.parts, s.offers[m.offer].cost})
		}
	}
	return out
}

// buy adds machines that are bought whole, then the first fraction as a whole
// one, and those after it that nearly are.
func (s *solver) buy(out []machine, list []bought) []machine {
	for _, b := range list {
		for range whole(b.n) {
			if m, ok := s.machineFor(b.pattern); ok {
				out = append(out, m)
			}
		}
	}
	first := true
	for _, b := range list {
		if f := fraction(b.n); f <= tiny || !first && f < sure {
			continue
		}
		if m, ok := s.machineFor(b.pattern); ok {
			out, first = append(out, m), false
		}
	}
	return out
}

// machineFor makes a machine for the pods of a pattern that are left, which
// may be a cheaper one than the pattern's.
func (s *solver) machineFor(p *pattern) (machine, bool) {
	var parts []part
	sum := make([]int64, len(s.worth))
	for _, x := range p.parts {
		n := min(x.n, s.left[x.row])
		if n == 0 {
			continue
		}
		parts = append(parts, part{x.row, n})
		s.left[x.row] -= n
		for d, v := range s.need(x.row) {
			sum[d] += v * n
		}
	}
	if len(parts) == 0 {
		return machine{}, false
	}
	offer := p.offer
	for i := range offer {
		if holds(s.offers[i].free, sum) && !slices.ContainsFunc(parts, func(x part) bool { return !s.may(x.row, int(i)) }) {
			offer = i
			break
		}
	}
	return s.machineOf(offer, parts), true
}

// still cuts patterns to the pods that are left.
func (s *solver) still(pool []pattern) []pattern {
	out := pool[:0]
	for _, p := range pool {
		if !slices.ContainsFunc(p.parts, func(x part) bool { return s.left[x.row] < x.n }) {
			out = append(out, p)
			continue
		}
		var parts []part
		for _, x := range p.parts {
			if n := min(x.n, s.left[x.row]); n > 0 {
				parts = append(parts, part{x.row, n})
			}
		}
		if len(parts) > 0 {
			out = append(out, pattern{p.offer, parts, p.cost})
		}
	}
	return out
}
