package pack

import (
	"math"
	"slices"
)

// programRows is for how many rows the linear program over patterns is solved.
const programRows = 150

// sure is the fraction from which on one more machine of a pattern is bought.
const sure = 0.8

// divide finds machines for all pods that are left of the rows by the linear
// program over patterns, of which some are known: what it buys whole is bought,
// then what it buys nearly whole, and the program is solved anew for the pods
// that are left. When the steps are used up machines are opened for the rest.
func (s *solver) divide(rows []int32, known []machine, until int64) ([]machine, bool) {
	var out []machine
	pool := s.patternsOf(known)
	for first := true; ; first = false {
		rows = slices.DeleteFunc(slices.Clone(rows), func(row int32) bool { return s.left[row] == 0 })
		if len(rows) == 0 {
			return out, true
		}
		if s.steps >= until {
			return s.open(out, rows, s.look(s.worth, startTries, 0), math.Inf(1))
		}
		p := newProgram(s, rows, pool)
		// The later programs are small and begin with what the first one found.
		if share := until - s.steps; first {
			p.solve(s.steps + share*2/3)
		} else {
			p.solve(s.steps + share/4)
		}
		before := len(out)
		if out = s.buy(out, p.solution()); len(out) == before {
			until = 0
		}
		pool = s.still(p.pool)
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

// buy adds machines that are bought for certain, or one at least.
func (s *solver) buy(out []machine, list []bought) []machine {
	some := false
	for _, b := range list {
		for range whole(b.n) {
			m, ok := s.machineFor(b.pattern)
			if !ok {
				break
			}
			out, some = append(out, m), true
		}
	}
	for i, b := range list {
		if fraction(b.n) < sure && (some || i > 0) {
			break
		}
		if m, ok := s.machineFor(b.pattern); ok {
			out, some = append(out, m), true
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
