package pack

import (
	"math"
	"slices"
)

// How a search goes. Found by trying seeds 100 to 109 of the bench's
// distributions; the figures in docs/reference/benchmarks.md are of other seeds.
const (
	startTries  = 48    // offerings that are filled for each instance at the start
	changesLook = 32    // changes in one way of filling
	fewTries    = 3     // offerings that are filled for each instance later, at least
	moreTries   = 12    // and by how many more at most
	passOver    = 0.06  // one, two or no times this share of pods is passed over
	sway        = 0.15  // by which share prices differ at most
	idleWorth   = 0.1   // worth of all of an idle resource, of the most worth of a whole one
	idleMost    = 1     // the same in some ways of filling: it may be nearly as scarce as others
	idleLooks   = 3     // one in so many ways of filling is one of these
	narrowLooks = 2     // one in so many ways of filling takes narrow groups first
	worthLooks  = 2     // one in so many fills instances by worth, the others evenly
	heat        = 0.01  // by which share a change may cost more, at the start
	stray       = 0.004 // by which share the answer may cost more than the best one
	noteworthy  = 2e-5  // by which share an answer must be cheaper to be kept
	wasteOf     = 4     // the most wasteful of so many instances is changed
	together    = 2     // instances that are changed together, at least
	spread      = 10    // and how many different numbers of them are tried
	crowd       = 0.1   // share of the steps in which instances are to be fewer
	extra       = 0.02  // what each instance costs more then, as a share of the mean
)

// search changes the instances of an answer until the steps are used up. A change that makes it a
// little more expensive is kept at first, and less and less so: that leads out of dead ends.
func (s *solver) search(start []instance, until int64) *front {
	n := neighbourhood{s: s, instances: slices.Clone(start), cost: s.cost(start), front: newFront()}
	n.front.note(n.instances, n.cost)
	s.takeAll(n.instances, 1)
	from := s.steps
	var l *look
	for i := 0; s.steps < until && len(start) > 0; i++ {
		if i%changesLook == 0 {
			l = s.look(s.swayed(), fewTries+s.chance.below(moreTries), float64(passOver*float64(s.chance.below(3))))
			l.narrowFirst = s.narrow != nil && s.chance.below(narrowLooks) == 0
			if s.chance.below(worthLooks) > 0 {
				s.evenly(l)
			}
		}
		left := float64(until-s.steps) / float64(until-from)
		n.change(l, float64(heat*float64(left*left)))
	}
	s.takeAll(n.instances, -1)
	return n.front
}

// searchFewer goes on from the cheapest answer as if each instance cost a little more, and notes
// what it finds at its real cost: the search by cost alone has no reason to pass by answers that
// have fewer instances for nearly as much.
func (s *solver) searchFewer(f *front, until int64) {
	start := f.fewest(0)
	each := s.cost(start) / float64(max(1, len(start)))
	prices := make([]float64, len(s.offerings))
	for i := range s.offerings {
		prices[i] = s.offerings[i].cost
		s.offerings[i].cost += float64(extra * each)
	}
	found := s.search(start, until)
	for i := range s.offerings {
		s.offerings[i].cost = prices[i]
	}
	for _, a := range found.answers {
		f.note(a.instances, s.cost(a.instances))
	}
}

// swayed returns prices that differ a little. What is not scarce by the linear program gets a small
// price: it may be scarce on a single instance.
func (s *solver) swayed() []float64 {
	idle := idleWorth
	if s.chance.below(idleLooks) == 0 {
		idle = idleMost
	}
	out := s.variant(idle)
	for d, w := range s.worth {
		if w == 0 {
			out[d] *= s.chance.share()
		} else {
			out[d] *= 1 + float64(sway*(float64(2*s.chance.share())-1))
		}
	}
	return out
}

// neighbourhood is the instances of an answer while some are exchanged.
type neighbourhood struct {
	s         *solver
	instances []instance
	cost      float64
	front     *front
	chosen    []int // positions of those that are terminated
	groups    []int32
	fresh     []instance
}

// change gives some instances back and opens others for their pods. They stay if they cost less, or
// at most by the share more.
func (n *neighbourhood) change(l *look, more float64) {
	n.choose(min(len(n.instances), together+n.s.chance.below(spread)))
	before := n.giveBack()
	enough := min(float64(before*(1+more)), before+float64(n.front.least*(1+stray))-n.cost)
	fresh, ok := n.s.open(n.fresh[:0], n.groups, l, math.Nextafter(enough, math.Inf(1)))
	n.fresh = fresh
	n.s.pool.keep(n.s, fresh)
	if !ok {
		n.takeAgain()
		return
	}
	n.replace()
	n.cost += n.s.cost(fresh) - before
	n.front.note(n.instances, n.cost)
}

// takeAgain undoes giving instances back and opening others.
func (n *neighbourhood) takeAgain() {
	for i := range n.fresh {
		n.s.take(n.fresh[i].offering, -1)
	}
	for _, i := range n.chosen {
		n.s.take(n.instances[i].offering, 1)
	}
}

// giveBack makes the pods of the chosen instances wait again and returns what these instances cost.
func (n *neighbourhood) giveBack() float64 {
	cost := 0.0
	n.groups = n.groups[:0]
	for _, i := range n.chosen {
		m := &n.instances[i]
		cost += n.s.offerings[m.offering].cost
		n.s.take(m.offering, -1)
		for _, p := range m.parts {
			if n.s.left[p.group] == 0 {
				n.groups = append(n.groups, p.group)
			}
			n.s.left[p.group] += p.n
		}
	}
	return cost
}

// replace puts the fresh instances where the chosen ones were.
func (n *neighbourhood) replace() {
	slices.Sort(n.chosen)
	for len(n.chosen) > len(n.fresh) {
		last := n.chosen[len(n.chosen)-1]
		n.chosen = n.chosen[:len(n.chosen)-1]
		n.instances[last] = n.instances[len(n.instances)-1]
		n.instances = n.instances[:len(n.instances)-1]
	}
	for i, m := range n.fresh {
		if i < len(n.chosen) {
			n.instances[n.chosen[i]] = m
		} else {
			n.instances = append(n.instances, m)
		}
	}
}

// choose picks instances, wasteful ones more often: each is the most wasteful of a few.
func (n *neighbourhood) choose(k int) {
	n.chosen = n.chosen[:0]
	for len(n.chosen) < k {
		best := -1
		for range wasteOf {
			i := n.s.chance.below(len(n.instances))
			if !slices.Contains(n.chosen, i) && (best < 0 || n.instances[i].waste > n.instances[best].waste) {
				best = i
			}
		}
		for i := 0; best < 0; i++ {
			if !slices.Contains(n.chosen, i) {
				best = i
			}
		}
		n.chosen = append(n.chosen, best)
	}
}

// front is the cheapest answers that were found, by number of instances.
type front struct {
	least   float64
	answers map[int]answer
}

type answer struct {
	instances []instance
	cost      float64
}

func newFront() *front { return &front{least: math.Inf(1), answers: map[int]answer{}} }

// note keeps a copy of the answer if it is the cheapest with so many instances and might be wanted
// in the end.
func (f *front) note(instances []instance, cost float64) {
	known, ok := f.answers[len(instances)]
	if ok && known.cost <= float64(cost*(1+noteworthy)) || cost > float64(f.least*(1+Fewer)) {
		return
	}
	f.least = min(f.least, cost)
	f.answers[len(instances)] = answer{append(known.instances[:0], instances...), cost}
}

// fewest returns the answer with the fewest instances among those that cost no more than the
// cheapest by the share.
func (f *front) fewest(share float64) []instance {
	var out []instance
	found := false
	for _, a := range f.answers {
		if a.cost <= float64(f.least*(1+share)) && (!found || len(a.instances) < len(out)) {
			out, found = a.instances, true
		}
	}
	return out
}
