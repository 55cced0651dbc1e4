package pack

import (
	"math"
	"slices"
)

// moreExpensive is what a limit costs while instances are sought that keep to it: all that is left
// of it so many times what all instances would without limits. It outweighs what they cost
// themselves, which is examined afterwards.
const moreExpensive = 8

// squeezed seeks instances for all pods of the groups where first finds none within the limits:
// without limits, but with a price on what they hold back, until that is enough or the steps are
// used up.
func (s *solver) squeezed(groups []int32, until int64) ([]instance, bool) {
	limits := s.limits
	s.limits = slices.Repeat([]int64{math.MaxInt64 / 2}, len(limits))
	list, ok := s.first(groups, s.steps)
	s.limits = limits
	if !ok {
		return nil, false
	}
	priced := s.withLimitsPriced(s.cost(list))
	defer func() { s.steps = priced.steps }()
	list, _ = priced.first(groups, priced.steps+(until-priced.steps)/8)
	for _, part := range [...]int64{4, 1} { // of the steps that are left
		list = priced.search(list, priced.steps+(until-priced.steps)/part).fewest(0)
		if own, ok := s.own(priced, list); ok && s.keeps(own, limits) {
			return own, true
		}
	}
	return nil, false
}

// withLimitsPriced is a solver for the same pods without limits, of which what is
// taken costs: other offerings are the cheapest for it, and others worthwhile.
func (s *solver) withLimitsPriced(all float64) *solver {
	batch := *s.batch
	batch.Limits, batch.Offerings = nil, slices.Clone(batch.Offerings)
	for i := range batch.Offerings {
		o := &batch.Offerings[i]
		o.Cost += float64(moreExpensive * float64(all*shareOf(o.Takes, s.limits)))
		o.Takes = nil
	}
	out := newSolver(&batch)
	out.steps = s.steps
	out.waiting()
	out.reportClasses()
	return out
}

// own returns instances of another solver of the same batch as those of this one.
func (s *solver) own(of *solver, list []instance) ([]instance, bool) {
	out := make([]instance, len(list))
	for i, m := range list {
		offering := slices.IndexFunc(s.offerings, func(o offering) bool { return o.at == of.offerings[m.offering].at })
		if offering < 0 {
			return nil, false
		}
		out[i] = s.instanceOf(int32(offering), m.parts)
	}
	return out, true
}

// shareOf is which part of limits an instance takes, all of them together.
func shareOf(takes []Take, limits []int64) float64 {
	sum := 0.0
	for _, t := range takes {
		sum += float64(t.Amount) / float64(max(1, limits[t.Limit]))
	}
	return sum
}

// keeps reports whether instances are within limits.
func (s *solver) keeps(instances []instance, limits []int64) bool {
	taken := make([]int64, len(limits))
	for i := range instances {
		for _, t := range s.offerings[instances[i].offering].takes {
			taken[t.Limit] += t.Amount
		}
	}
	for i, n := range taken {
		if n > limits[i] {
			return false
		}
	}
	return true
}
