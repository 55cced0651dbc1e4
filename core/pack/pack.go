// Package pack searches for the cheapest instances for many pods together, within an effort limit.
//
// It promises that no instance is too small, that every pod is on at most one instance, that groups
// are only where the batch allows them, that equal batches give equal answers, to the bit, on every
// processor, and that the work ends after a number of steps that is known in advance. It does not know
// the rules behind a batch: core/provisioning makes the batch, and checks the answer against them.
//
// The method is a greedy start and a large neighbourhood search. Resources get the prices of the
// linear program that may split pods. The search opens instances for the pods that are hardest to
// place, by the value they hold for their price; then it repeatedly removes a few instances and opens
// others under other prices (Shaw, "Using constraint programming and local search methods to solve
// vehicle routing problems", 1998; Schrimpf and others, "Record breaking optimization results using
// the ruin and recreate principle", 2000). Where many pods are alike there is a second start: the
// linear program over loads of single instances, solved by column generation (Gilmore and Gomory, "A
// linear programming approach to the cutting-stock problem", 1961) and rounded step by step.
package pack

import (
	"math"
	"slices"
)

// Effort is the steps that one search may take. A step is about one check of pods that might be put
// on an instance, some ten nanoseconds.
type Effort int64

// Usual is the effort for a number of pods: about a fifth of a second for a
// thousand and less than a second for five thousand and more. What is at stake grows
// with the pods, and so does what there is to try.
func Usual(pods int) Effort { return Effort(8_000_000 + 12_000*min(int64(pods), 5_000)) }

// Packer is the search for one plan.
type Packer struct {
	effort Effort
	pods   int
	left   budget
}

// New returns a packer that takes the effort for a batch of so many pods, and less
// for a smaller one, as is usual. All batches together, of every tier and every
// round, take the effort and an eighth at most.
func New(effort Effort, pods int) *Packer {
	return &Packer{effort, pods, budget{effort, effort / 8}}
}

// Pack chooses instances for the batch, see Solve. Batches that follow each other share the effort by their pods; what
// one of them does not use is left to the others.
func (p *Packer) Pack(batch Batch) []Instance {
	mine := 0
	for i := range batch.Groups {
		mine += int(batch.Groups[i].Count)
	}
	share := min(1, float64(Usual(mine))/float64(Usual(p.pods)))
	effort := Effort(float64(share * float64(p.effort)))
	if batch.After == 0 {
		return Solve(batch, p.left.take(effort))
	}
	mineOf := float64(mine) / float64(mine+batch.After)
	given := p.left.take(min(effort, max(smallest, Effort(float64(mineOf*float64(p.left.left))))))
	out, used := solve(&batch, given)
	p.left.left += max(0, given-used)
	return out
}

// smallest is the effort for the smallest batch of several: it suffices to choose exactly for a handful of pods.
const smallest = Effort(250_000)

// budget is the effort that is left, and what is kept back for batches that
// come when it is used up.
type budget struct{ left, reserve Effort }

// take returns as much of what is asked for as there is. Of the reserve each
// gets half at most, so that something is left for another one.
func (b *budget) take(want Effort) Effort {
	out := min(want, b.left)
	b.left -= out
	more := min(want-out, b.reserve/2)
	b.reserve -= more
	return out + more
}

// Fewer is by what share an answer may cost more if it has fewer instances.
const Fewer = 0.03

// alike is the share of the steps that is taken for so few different pods that
// the linear program over patterns is solved: there is less to try.
const alike = 0.6

// Of these steps a search that finds patterns takes the first share, and the
// program is done after the second.
const (
	toGather = 0.4
	toDivide = 0.6
)

// Solve chooses instances for a batch. Of the answers that were found within one per cent of the
// cheapest, it is one of those with the fewest instances. Pods that no offering has room for are
// left out. Where limits do not suffice for all others there is no answer: it is not for costs to
// decide which pods go without.
func Solve(batch Batch, effort Effort) []Instance {
	out, _ := solve(&batch, effort)
	return out
}

// solve is Solve, and returns the steps that it took.
func solve(batch *Batch, effort Effort) ([]Instance, Effort) {
	s := newSolver(batch)
	if len(s.offerings) == 0 {
		return nil, 0
	}
	out := s.solve(effort)
	return out, Effort(s.steps)
}

func (s *solver) solve(effort Effort) []Instance {
	groups := s.waiting()
	if best, ok := s.exact(groups, int64(effort)); ok {
		return s.answer(best)
	}
	s.reportClasses()
	if len(groups) <= programGroups {
		effort = Effort(float64(alike * float64(effort)))
	}
	until := s.steps + int64(effort)
	start, ok := s.first(groups, s.steps+int64(effort)/10)
	if !ok && len(s.limits) > 0 {
		start, ok = s.squeezed(groups, s.steps+int64(effort)/2)
	}
	if !ok {
		return nil
	}
	if simple, ok := s.simplest(groups, s.steps+int64(effort)/10, s.cost(start)); ok {
		start = simple
	}
	s.forget(float64(s.cost(start) * (1 + Fewer)))
	if len(groups) <= programGroups && len(s.limits) == 0 {
		start = s.divided(groups, start, int64(effort))
	}
	found := s.search(start, until-int64(float64(crowd*float64(effort))))
	s.searchFewer(found, until)
	return s.answer(found.fewest(Fewer))
}

// idleTries is what an idle resource is worth in turn at the start, see variant: what is idle by
// the linear program may be scarce once instances are whole.
var idleTries = [...]float64{0, idleWorth, 0.3, idleMost}

// first opens instances for all pods of the groups, the cheapest of several tries. The first is
// always made, the others while the steps last. Limits are as they were afterwards.
func (s *solver) first(groups []int32, until int64) (best []instance, ok bool) {
	for i, l := range s.startLooks(groups) {
		if i > 0 && s.steps >= until {
			break
		}
		s.waiting()
		found, all := s.open(nil, groups, l, math.Inf(1))
		s.takeAll(found, -1)
		if all && (!ok || s.cost(found) < s.cost(best)) {
			best, ok = found, true
		}
	}
	return best, ok
}

// startLooks lists how instances are opened at the start: filled evenly and by worth. The former
// comes first where pods are so many that there may be no steps for more, and no program over
// patterns will follow.
func (s *solver) startLooks(groups []int32) []*look {
	var out []*look
	for _, idle := range idleTries {
		worth := s.variant(idle)
		for _, apart := range s.orders(groups) {
			pair := []*look{s.evenly(s.look(worth, startTries, 0)), s.look(worth, startTries, 0)}
			if len(groups) <= programGroups {
				slices.Reverse(pair)
			}
			for _, l := range pair {
				l.apart, l.narrowFirst = apart, s.narrow != nil
				out = append(out, l)
			}
		}
		if !slices.Contains(s.worth, 0) {
			break
		}
	}
	return out
}

// orders are the orders in which first opens instances: also for those first of which a host takes
// so many, where there are some and others.
func (s *solver) orders(groups []int32) []bool {
	capped := 0
	for _, group := range groups {
		capped += min(1, len(s.batch.Groups[group].Caps))
	}
	if capped == 0 || capped == len(groups) {
		return []bool{false}
	}
	return []bool{false, true}
}

// takeAll accounts for each of the instances n times.
func (s *solver) takeAll(instances []instance, n int64) {
	for i := range instances {
		s.take(instances[i].offering, n)
	}
}

// divided improves instances by a search and then by the linear program over the patterns that it
// came by, and others.
func (s *solver) divided(groups []int32, start []instance, effort int64) []instance {
	from := s.steps
	s.pool = &pool{known: map[uint64]bool{}}
	start = s.search(start, from+int64(float64(toGather*float64(effort)))).fewest(0)
	known := append(s.patternsOf(start), s.pool.list...)
	s.pool = nil
	out, ok := s.divide(groups, known, from+int64(float64(toDivide*float64(effort))))
	if ok && s.cost(out) < s.cost(start) {
		return out
	}
	return start
}

func (s *solver) answer(instances []instance) []Instance {
	out := make([]Instance, len(instances))
	for i, m := range instances {
		out[i].Offering = s.offerings[m.offering].at
		for _, p := range m.parts {
			out[i].Parts = append(out[i].Parts, Part{Group: int(p.group), N: p.n})
		}
	}
	return out
}
