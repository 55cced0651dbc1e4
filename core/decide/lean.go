package decide

import (
	"fmt"
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/pack"
	"github.com/daemok/daemok/core/place"
	"github.com/daemok/daemok/core/scheduling"
)

// How other ways are tried to seat and spread pods before instances are chosen.
const (
	leanMost    = 32    // for ten pods or fewer
	leanPods    = 320   // pods in all tries together
	leanLeast   = 4     // fewer tries are not worth while: of many pods it matters little which is where
	leanEffort  = 8     // all tries together get this part of the effort
	leanOutdoes = 0.005 // by what share another way must be cheaper
)

// attempt is a way to seat and spread pods with what comes of it.
type attempt struct {
	variants []scheduling.Variant
	result   place.Result
	done     bool // the ways next to it were tried
}

// lean returns how pods are best seated and spread before instances are chosen: the cheapest of
// some ways, those that are next to the cheapest ones first. For a few pods these are all ways. It
// is nil for the usual way. It says how many steps that took.
func lean(s *cluster.Snapshot, options place.Options, effort Effort, choices []scheduling.Choice) ([]scheduling.Variant, int64) {
	usual := attempt{variants: make([]scheduling.Variant, len(choices))}
	usual.result.Choices = choices
	l := leaner{s: s, options: options, seen: map[string]bool{}, most: min(leanMost, leanPods/max(1, place.Pods(s)))}
	if l.most < leanLeast || len(usual.next()) == 0 {
		return nil, 0
	}
	l.effort = effort.Pack / pack.Effort(leanEffort*l.most)
	l.try(usual.variants)
	for from := l.nearest(); from != nil && len(l.tried) < l.most; from = l.nearest() {
		from.done = true
		for _, to := range from.next() {
			l.try(to)
		}
	}
	best := l.tried[0]
	for _, a := range l.tried[1:] {
		if !a.result.Exhausted && outdoes(&a.result, &best.result) {
			best = a
		}
	}
	if best == l.tried[0] {
		return nil, l.steps
	}
	return best.variants, l.steps
}

// leaner is the ways that were tried for a snapshot.
type leaner struct {
	s       *cluster.Snapshot
	options place.Options
	effort  pack.Effort // of each
	most    int         // how many there may be
	tried   []*attempt
	seen    map[string]bool
	steps   int64
}

// try places pods in a way that is not known yet.
func (l *leaner) try(variants []scheduling.Variant) {
	key := fmt.Sprint(variants)
	if l.seen[key] || len(l.tried) >= l.most {
		return
	}
	l.seen[key] = true
	o := l.options
	o.Variants, o.Packer = variants, pack.New(l.effort, place.Pods(l.s))
	a := &attempt{variants: variants, result: place.Place(l.s, o)}
	a.done = a.result.Exhausted
	l.steps += a.result.Steps
	l.tried = append(l.tried, a)
}

// nearest returns the cheapest attempt next to which others are to be tried.
func (l *leaner) nearest() *attempt {
	var best *attempt
	for _, a := range l.tried {
		if !a.done && (best == nil || compare(&a.result, &best.result) < 0) {
			best = a
		}
	}
	return best
}

// outdoes reports whether an answer is cheaper by more than is due to chance. Which pods go without
// a place is not decided here.
func outdoes(a, b *place.Result) bool {
	return compareLeft(a, b) == 0 && a.Unpriced == b.Unpriced && a.Cost < float64(b.Cost*(1-leanOutdoes))
}

// next lists the ways that differ from it for the pods of one shape.
func (a *attempt) next() [][]scheduling.Variant {
	var out [][]scheduling.Variant
	for i, c := range a.result.Choices {
		was := a.variants[i]
		others := make([]scheduling.Variant, c.Turns, c.Turns+2)
		for turn := range others {
			others[turn] = scheduling.Variant{Kept: was.Kept, Turn: turn + 1}
		}
		if c.Placed > 0 {
			others = append(others, scheduling.Variant{Kept: c.Pods - c.Placed + 1, Turn: was.Turn}, scheduling.Variant{Kept: c.Pods, Turn: was.Turn})
		}
		for _, l := range others {
			more := slices.Clone(a.variants)
			more[i] = l
			out = append(out, more)
		}
	}
	return out
}
