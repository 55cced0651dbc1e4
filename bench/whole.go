package bench

import (
	"math"
	"slices"

	"github.com/daemok/daemok/core/cluster"
)

// How many rows whole adds.
const (
	stepsMax   = 60 // amounts by which pods are counted in steps, of each resource
	partsEvery = 4  // of one in so many of these, parts as well
	partsMost  = 4  // a half, a third and a quarter
	atOnce     = 16 // rows that are added to the problem at once
	roundsMost = 4  // how often all are tried
)

// Whole returns a bound that knows, besides what Constrained knows, that a pod is on one
// instance. It is never below LowerBound nor Constrained.
//
// Each row that is added is fulfilled by every plan that places all pods, see
// steps and large, so the problem's solution stays a lower bound. Rows are added
// a few at a time and those kept that bind: a bound with fewer rows is one too.
// What is known of loads is a bound of its own, see loadsBound.
func Whole(s *cluster.Snapshot) float64 {
	c := newCover(s)
	plain := c.cost()
	c.slots(s)
	c.zones(s)
	known := len(c.rows)
	c.whole(s)
	more := c.rows[known:]
	c.rows = c.rows[:known:known]
	out := max(plain, c.cost(), c.costWith(more))
	return max(out, loadsBound(s, out))
}

// whole adds rows for cpu and for memory.
func (c *cover) whole(s *cluster.Snapshot) {
	w := wholes{pods: podAmounts(s), there: c.thereAmounts(s)}
	for d := range resources - 1 {
		var needs []int64
		for _, p := range w.pods {
			if p.each[d] > 0 {
				needs = append(needs, p.each[d])
			}
		}
		slices.Sort(needs)
		for i, v := range thinned(slices.Compact(needs), stepsMax) {
			c.rows = append(c.rows, w.large(d, v)...)
			c.rows = append(c.rows, w.steps(d, float64(v)))
			for part := 2; i%partsEvery == 0 && part <= partsMost; part++ {
				c.rows = append(c.rows, w.steps(d, float64(v)/float64(part)))
			}
		}
	}
}

// wholes is what rows about whole pods are made from.
type wholes struct {
	pods  []alike
	there [][resources]int64 // free on nodes and instances being launched
}

// alike is pods with equal requests.
type alike struct {
	each  [resources]int64
	count float64
}

func podAmounts(s *cluster.Snapshot) []alike {
	known := map[[resources]int64]int{}
	var out []alike
	for i := range s.Waiting {
		each := amountsOf(s.Waiting[i].Shape.Requests)
		at, found := known[each]
		if !found {
			at = len(out)
			known[each], out = at, append(out, alike{each: each})
		}
		out[at].count++
	}
	return out
}

func (c *cover) thereAmounts(s *cluster.Snapshot) [][resources]int64 {
	var out [][resources]int64
	for i := range c.free {
		out = append(out, amountsOf(c.free[i]))
	}
	for i := range s.Instances {
		out = append(out, amountsOf(s.Instances[i].Allocatable.ClampNegative()))
	}
	return out
}

// steps is a row that counts a resource in whole steps of a size: an instance of 7.9 cores
// has three steps of two cores, and a pod of three cores takes one.
//
// Proof: a pod that needs x takes floor(x/step) steps. Pods on one instance need no more
// together than it has free, and a sum of numbers rounded down is no more than their sum
// rounded down. So new instances have at least the steps that all waiting pods take, less
// those of nodes and of instances being launched.
func (w *wholes) steps(d int, step float64) row {
	demand := 0.0
	for _, p := range w.pods {
		demand += float64(p.count * math.Floor(float64(p.each[d])/step))
	}
	// What instances have is rounded up where it is short of a step by no more than what a
	// quotient is wrong by.
	count := func(x int64) float64 { return math.Floor(float64(x)/step + 1e-9) }
	for _, x := range w.there {
		demand -= count(x[d])
	}
	return row{max(0, demand), func(x column) float64 { return count(amountsOf(x.free)[d]) }}
}

// large is rows for the pods that need so much of a resource or more.
//
// Proof: each is on an instance that has as much, so these instances have all that such
// pods need, of each resource.
func (w *wholes) large(d int, least int64) []row {
	var demand [resources]float64
	for _, p := range w.pods {
		for k, v := range p.each {
			if p.each[d] >= least {
				demand[k] += float64(p.count * float64(v))
			}
		}
	}
	for _, x := range w.there {
		for k, v := range x {
			if x[d] >= least {
				demand[k] -= float64(v)
			}
		}
	}
	var out []row
	for k, v := range demand {
		out = append(out, row{max(0, v), func(x column) float64 {
			if has := amountsOf(x.free); has[d] >= least {
				return float64(has[k])
			}
			return 0
		}})
	}
	return out
}

// costWith is the cost with as many of the rows as bind, found a few at a time.
func (c *cover) costWith(more []row) float64 {
	most, kept := c.cost(), []row(nil)
	for range roundsMost {
		before := most
		for few := range slices.Chunk(more, atOnce) {
			try := cover{columns: c.columns, rows: slices.Concat(c.rows, kept, few)}
			cost, worth := try.solve()
			if math.IsNaN(cost) || cost <= most {
				continue
			}
			most, kept = cost, nil
			for i := len(c.rows); i < len(try.rows); i++ {
				if worth[i] > 0 {
					kept = append(kept, try.rows[i])
				}
			}
		}
		if most <= before {
			break
		}
	}
	return most
}
