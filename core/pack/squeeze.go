package pack

import "math"

// dearer is what a limit costs while machines are sought that keep to it: all
// that is left of it so many times what all machines would without limits. It
// outweighs what they cost themselves, which is looked at afterwards.
const dearer = 8

// squeezed seeks machines for all pods of the rows where first finds none within
// the limits: without limits, but with a price on what they hold back, until that
// is enough or the steps are used up.
func (s *solver) squeezed(rows []int32, until int64) ([]machine, bool) {
	limits, worth, byClass := s.limits, s.worth, s.byClass
	costs := make([]float64, len(s.offers))
	for i := range s.offers {
		costs[i] = s.offers[i].cost
	}
	defer func() {
		s.limits, s.worth, s.byClass = limits, worth, byClass
		for i := range s.offers {
			s.offers[i].cost = costs[i]
		}
	}()
	s.limits = make([]int64, len(limits))
	for i := range s.limits {
		s.limits[i] = math.MaxInt64 / 2
	}
	list, ok := s.first(rows, s.steps)
	if !ok {
		return nil, false
	}
	all := s.cost(list)
	for i := range s.offers {
		s.offers[i].cost += float64(dearer * float64(all*s.offers[i].shareOf(limits)))
	}
	s.worth = s.prices(len(worth))
	s.byClass = s.oneWorth()
	s.waiting()
	list, _ = s.first(rows, s.steps+(until-s.steps)/8)
	for _, part := range [...]int64{4, 1} { // of the steps that are left
		list = s.search(list, s.steps+(until-s.steps)/part).fewest(0)
		if s.keeps(list, limits) {
			return list, true
		}
	}
	return nil, false
}

// shareOf is which part of limits a machine takes, all of them together.
func (o *offer) shareOf(limits []int64) float64 {
	sum := 0.0
	for _, t := range o.takes {
		sum += float64(t.Amount) / float64(max(1, limits[t.Limit]))
	}
	return sum
}

// keeps reports whether machines are within limits.
func (s *solver) keeps(machines []machine, limits []int64) bool {
	taken := make([]int64, len(limits))
	for i := range machines {
		for _, t := range s.offers[machines[i].offer].takes {
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
