package pack

import (
	"cmp"
	"math"
	"slices"
)

// programGroups is for how many groups the linear program over patterns is solved.
const programGroups = 150

// sure is the fraction from which on one more instance of a pattern is launched.
const sure = 0.8

// divesMax is how often the program's answer is made whole at most.
const divesMax = 64

// divide finds instances for all pods of the groups by the linear program over patterns, of which some
// are known: those of an answer first. Its answer is made whole in several ways, of which the cheapest
// counts.
func (s *solver) divide(groups []int32, known []pattern, until int64) (best []instance, ok bool) {
	s.waiting()
	root := newProgram(s, groups, known)
	root.solve(s.steps + (until-s.steps)/2)
	list, least := root.solution(), math.Inf(1)
	for dive := 0; dive < divesMax && (dive == 0 || s.steps < until); dive++ {
		s.waiting()
		if dive > 0 {
			s.shuffle(list)
		}
		out, all := s.dive(groups, list, slices.Clone(root.pool), until)
		if cost := s.cost(out); all && cost < least {
			best, ok, least = out, true, cost
		}
	}
	return best, ok
}

// shuffle changes the order in which fractions are made whole a little.
func (s *solver) shuffle(list []launched) {
	for i := range list {
		list[i].rank = fraction(list[i].n) + s.chance.share()
	}
	slices.SortStableFunc(list, func(a, b launched) int { return cmp.Compare(b.rank, a.rank) })
}

// dive launches what is launched whole, then what is launched nearly whole, and solves the program
// again for the pods that are left. When the steps are used up instances are opened for the rest.
func (s *solver) dive(groups []int32, list []launched, pool []pattern, until int64) ([]instance, bool) {
	var out []instance
	for {
		before := len(out)
		out = s.launch(out, list)
		groups = slices.DeleteFunc(slices.Clone(groups), func(group int32) bool { return s.left[group] == 0 })
		if len(groups) == 0 {
			return out, true
		}
		if s.steps >= until || len(out) == before {
			return s.open(out, groups, s.look(s.worth, startTries, 0), math.Inf(1))
		}
		pool = s.still(pool)
		p := newProgram(s, groups, pool)
		p.solve(s.steps + (until-s.steps)/4)
		list, pool = p.solution(), p.pool
	}
}

// patternsOf lists the loads of instances, each once where equal ones follow each other.
func (s *solver) patternsOf(instances []instance) []pattern {
	var out []pattern
	for i, m := range instances {
		if i == 0 || &m.parts[0] != &instances[i-1].parts[0] {
			out = append(out, pattern{m.offering, m.parts, s.offerings[m.offering].cost})
		}
	}
	return out
}

// launch adds instances that are launched whole, then the first fraction as a whole one, and those
// after it that nearly are.
func (s *solver) launch(out []instance, list []launched) []instance {
	for _, b := range list {
		for range whole(b.n) {
			if m, ok := s.instanceFor(b.pattern); ok {
				out = append(out, m)
			}
		}
	}
	first := true
	for _, b := range list {
		if f := fraction(b.n); f <= tiny || !first && f < sure {
			continue
		}
		if m, ok := s.instanceFor(b.pattern); ok {
			out, first = append(out, m), false
		}
	}
	return out
}

// instanceFor makes an instance for the pods of a pattern that are left, which may be a cheaper one
// than the pattern's.
func (s *solver) instanceFor(p *pattern) (instance, bool) {
	var parts []part
	sum := make([]int64, len(s.worth))
	for _, x := range p.parts {
		n := min(x.n, s.left[x.group])
		if n == 0 {
			continue
		}
		parts = append(parts, part{x.group, n})
		s.left[x.group] -= n
		for d, v := range s.need(x.group) {
			sum[d] += v * n
		}
	}
	if len(parts) == 0 {
		return instance{}, false
	}
	offering := p.offering
	for i := range offering {
		if holds(s.offerings[i].free, sum) && !slices.ContainsFunc(parts, func(x part) bool { return !s.may(x.group, int(i)) }) {
			offering = i
			break
		}
	}
	return s.instanceOf(offering, parts), true
}

// still cuts patterns to the pods that are left.
func (s *solver) still(pool []pattern) []pattern {
	out := pool[:0]
	for _, p := range pool {
		if !slices.ContainsFunc(p.parts, func(x part) bool { return s.left[x.group] < x.n }) {
			out = append(out, p)
			continue
		}
		var parts []part
		for _, x := range p.parts {
			if n := min(x.n, s.left[x.group]); n > 0 {
				parts = append(parts, part{x.group, n})
			}
		}
		if len(parts) > 0 {
			out = append(out, pattern{p.offering, parts, p.cost})
		}
	}
	return out
}
