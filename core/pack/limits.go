package pack

import (
	"slices"

	"github.com/daemok/daemok/core/bitset"
)

// reachable returns the batch without the limits that no answer can exceed: there is more left of
// them than one instance for each pod could take, the one that takes most of those it may have.
// They would only be in the way of ways of searching that do without limits.
func reachable(batch *Batch, classes []int, sets []bitset.Set) *Batch {
	idle := make([]bool, len(batch.Limits))
	for i := range idle {
		idle[i] = beyondPods(batch, i, classes, sets)
	}
	if !slices.Contains(idle, true) {
		return batch
	}
	out := *batch
	out.Offerings = slices.Clone(batch.Offerings)
	for i := range out.Offerings {
		out.Offerings[i].Takes = without(out.Offerings[i].Takes, idle)
	}
	if !slices.Contains(idle, false) {
		out.Limits = nil
	}
	return &out
}

// beyondPods reports whether a limit suffices for the instances that take most of it, one for each
// pod.
func beyondPods(batch *Batch, limit int, classes []int, sets []bitset.Set) bool {
	most := make([]int64, len(sets))
	for i := range batch.Offerings {
		n := takesOf(batch.Offerings[i].Takes, limit)
		for class := range sets {
			if n > most[class] && sets[class].Has(i) {
				most[class] = n
			}
		}
	}
	left := batch.Limits[limit]
	for i := range batch.Groups {
		each, pods := most[classes[i]], batch.Groups[i].Count
		if each > 0 && pods > left/each {
			return false
		}
		left -= each * pods
	}
	return true
}

// forget drops the limits that no instances can exceed which cost so much in all.
func (s *solver) forget(cost float64) {
	idle := make([]bool, len(s.limits))
	for i := range idle {
		idle[i] = !slices.ContainsFunc(s.offerings, func(o offering) bool {
			return float64(cost/o.cost)*float64(takesOf(o.takes, i)) > float64(s.limits[i])
		})
	}
	for i := range s.offerings {
		s.offerings[i].takes = without(s.offerings[i].takes, idle)
	}
	if !slices.Contains(idle, false) {
		s.limits = nil
	}
}

// without returns what is taken of other limits than the idle ones.
func without(takes []Take, idle []bool) []Take {
	return slices.DeleteFunc(slices.Clone(takes), func(t Take) bool { return idle[t.Limit] })
}

func takesOf(takes []Take, limit int) int64 {
	for _, t := range takes {
		if t.Limit == limit {
			return t.Amount
		}
	}
	return 0
}
