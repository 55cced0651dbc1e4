package pack

import (
	"math"
	"slices"
)

// pairsMax is how many pairs of a set of pods and a part of it are examined at most to find the
// best instances exactly.
const pairsMax = 1 << 18

// halvings is how often less is tried for instances to be fewer.
const halvings = 6

// exact finds the cheapest instances by examining all sets of pods, where these are few: about ten
// different pods, or some hundred of one class. Of answers within three per cent it prefers
// those with fewer instances. It takes a few times the steps at most. Limits are examined
// afterwards: there is no answer where the cheapest instances exceed one.
func (s *solver) exact(groups []int32, steps int64) ([]instance, bool) {
	if !s.few(groups, min(pairsMax, steps)) {
		return nil, false
	}
	e := newEnumeration(s, groups)
	best, ok := e.solve(0)
	if !ok || !s.keeps(best, s.limits) {
		return nil, false
	}
	least := s.cost(best)
	each := float64(least * Fewer)
	for range halvings {
		if fewer, _ := e.solve(each); len(fewer) < len(best) && s.cost(fewer) <= float64(least*(1+Fewer)) && s.keeps(fewer, s.limits) {
			return fewer, true
		}
		each /= 2
	}
	return best, true
}

// few reports whether so many pairs are enough to examine all sets of the pods.
func (s *solver) few(groups []int32, most int64) bool {
	pairs := int64(1)
	for _, group := range groups {
		n := s.left[group]
		if n > most {
			return false
		}
		if pairs *= (n + 1) * (n + 2) / 2; pairs > most {
			return false
		}
	}
	return true
}

// enumeration is all sets of the pods, numbered in mixed radix: so many of
// each group, the first group the lowest digit.
type enumeration struct {
	s        *solver
	groups   []int32
	counts   []int64
	weight   []int // of one pod of each group in the number of a set
	offering []int32
	price    []float64 // by set: of the cheapest instance for it
	orders   [][]part  // by set: in which its pods join, where it can be had
	least    []float64 // by set: of the cheapest instances for it
	first    []int     // by set: what is on one of these
}

func newEnumeration(s *solver, groups []int32) *enumeration {
	e := &enumeration{s: s, groups: groups}
	sets := 1
	for _, group := range groups {
		e.weight, e.counts = append(e.weight, sets), append(e.counts, s.left[group])
		sets *= int(s.left[group]) + 1
	}
	e.offering, e.price, e.orders = make([]int32, sets), make([]float64, sets), make([][]part, sets)
	e.least, e.first = make([]float64, sets), make([]int, sets)
	for set := 1; set < sets; set++ {
		e.appraise(set)
	}
	return e
}

// count is how many pods of a group, by its position, are in a set.
func (e *enumeration) count(set, at int) int64 {
	return int64(set/e.weight[at]) % (e.counts[at] + 1)
}

// appraise finds the cheapest instance for a set of pods.
func (e *enumeration) appraise(set int) {
	e.price[set] = math.Inf(1)
	var parts []part
	sum := make([]int64, len(e.s.worth))
	for at, group := range e.groups {
		n := e.count(set, at)
		if n == 0 {
			continue
		}
		parts = append(parts, part{group, n})
		for d, v := range e.s.need(group) {
			sum[d] += v * n
		}
	}
	e.s.steps += int64(len(parts))
	for i, o := range e.s.offerings {
		if !holds(o.free, sum) || slices.ContainsFunc(parts, func(p part) bool { return !e.s.may(p.group, i) }) {
			continue
		}
		if order, ok := e.s.order(parts); ok {
			e.offering[set], e.price[set], e.orders[set] = int32(i), o.cost, order
		}
		return
	}
}

// order finds an order in which the parts may join one instance, as far as caps decide. It is made
// from its end: the part that may join when all others are there may as well be the last, since
// fewer are then in the way of these.
func (s *solver) order(parts []part) ([]part, bool) {
	left := slices.Clone(parts)
	slices.SortStableFunc(left, func(a, b part) int {
		return len(s.batch.Groups[b.group].Caps) - len(s.batch.Groups[a.group].Caps)
	})
	for n := len(left); n > 0; n-- {
		last := n - 1
		for last >= 0 && !s.joins(left[:n], last) {
			last--
		}
		if last < 0 {
			return nil, false
		}
		p := left[last]
		copy(left[last:], left[last+1:n])
		left[n-1] = p
	}
	return left, true
}

// joins reports whether all pods of the part at a position may join when the
// others are there.
func (s *solver) joins(parts []part, at int) bool {
	group := &s.batch.Groups[parts[at].group]
	for _, c := range group.Caps {
		var n int64
		for i, q := range parts {
			if i != at && slices.Contains(s.batch.Groups[q.group].Kinds, c.Kind) {
				n += q.n
			}
		}
		if slices.Contains(group.Kinds, c.Kind) {
			n += parts[at].n - 1
		}
		if n >= c.Most {
			return false
		}
	}
	return true
}

// solve finds the cheapest instances for all pods if each costs so much more than its price.
func (e *enumeration) solve(each float64) ([]instance, bool) {
	for set := 1; set < len(e.least); set++ {
		e.divide(set, each)
	}
	all := len(e.least) - 1
	if math.IsInf(e.least[all], 1) {
		return nil, false
	}
	var out []instance
	for set := all; set > 0; set -= e.first[set] {
		on := e.first[set]
		out = append(out, e.s.instanceOf(e.offering[on], e.orders[on]))
	}
	return out, true
}

// divide finds the best part of a set for one instance, the rest being solved already. The instance
// has a pod of the last group of the set, so that no division is examined twice.
func (e *enumeration) divide(set int, each float64) {
	last := len(e.groups) - 1
	for e.count(set, last) == 0 {
		last--
	}
	e.least[set], e.first[set] = math.Inf(1), set
	digits := make([]int64, last+1)
	digits[last] = 1
	on := e.weight[last]
	for {
		e.s.steps++
		if cost := e.price[on] + each + e.least[set-on]; cost < e.least[set] {
			e.least[set], e.first[set] = cost, on
		}
		at := 0
		for ; at <= last; at++ {
			if digits[at] < e.count(set, at) {
				digits[at]++
				on += e.weight[at]
				break
			}
			if at == last {
				return
			}
			on -= int(digits[at]) * e.weight[at]
			digits[at] = 0
		}
	}
}
