package decide

import (
	"fmt"
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/pack"
	"github.com/daemok/daemok/core/place"
)

// How many other ways are tried to seat and spread pods before machines are
// chosen.
const (
	leanMost = 64  // for a few pods
	leanPods = 640 // pods in all tries together, in the mean
)

// leaner tries other ways to seat and spread the pods of an answer, those that
// differ least from the cheapest ones first, and returns the cheapest answer.
func leaner(s *cluster.Snapshot, options place.Options, effort Effort, first place.Result) place.Result {
	pods := place.Pods(s)
	best, steps := first, first.Steps
	open := []attempt{{cost: first.Cost, choices: first.Choices}}
	seen := map[string]bool{fmt.Sprint(make([]place.Leaning, len(first.Choices))): true}
	open[0].leanings = make([]place.Leaning, len(first.Choices))
	for tries := min(leanMost, leanPods/max(1, pods)); tries > 0 && len(open) > 0; {
		at := 0
		for i := range open {
			if open[i].cost < open[at].cost {
				at = i
			}
		}
		from := open[at]
		open = slices.Delete(open, at, at+1)
		for _, l := range from.next() {
			key := fmt.Sprint(l)
			if seen[key] {
				continue
			}
			if tries == 0 {
				break
			}
			seen[key] = true
			tries--
			options.Leanings = l
			options.Packer = pack.Packer(effort.Pack/otherEffort, pods)
			other := place.Place(s, options)
			steps += other.Steps
			if other.Exhausted {
				continue
			}
			open = append(open, attempt{l, other.Cost, other.Choices})
			if cheaper(&other, &best) {
				best = other
			}
		}
	}
	best.Steps = steps
	return best
}

// cheaper reports whether an answer is to be taken instead of another one.
func cheaper(a, b *place.Result) bool {
	switch left := compareLeft(a, b); {
	case left != 0:
		return left < 0
	case a.Unpriced != b.Unpriced:
		return a.Unpriced < b.Unpriced
	case len(a.Launches) > len(b.Launches):
		return a.Cost < float64(b.Cost*(1-pack.Fewer))
	}
	return a.Cost < b.Cost
}

// attempt is one way that was tried.
type attempt struct {
	leanings []place.Leaning
	cost     float64
	choices  []place.Choice
}

// next lists the ways that differ from it for the pods of one shape.
func (a *attempt) next() [][]place.Leaning {
	var out [][]place.Leaning
	add := func(i int, l place.Leaning) {
		if l != a.leanings[i] {
			more := slices.Clone(a.leanings)
			more[i] = l
			out = append(out, more)
		}
	}
	for i, c := range a.choices {
		for turn := range c.Turns {
			add(i, place.Leaning{Kept: a.leanings[i].Kept, Turn: turn + 1})
		}
		if c.Seated > 0 {
			add(i, place.Leaning{Kept: c.Pods - c.Seated + 1, Turn: a.leanings[i].Turn})
			add(i, place.Leaning{Kept: c.Pods, Turn: a.leanings[i].Turn})
		}
	}
	return out
}
