package decide

import (
	"cmp"
	"fmt"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/pack"
	"github.com/daemok/daemok/core/place"
	"github.com/daemok/daemok/core/plan"
)

// Preferences says what to do about wishes of pods that may give way.
type Preferences string

// The policies. The zero value is Weigh.
const (
	Weigh   Preferences = ""        // they hold while what they cost is at most what they are worth
	Respect Preferences = "Respect" // they hold until a pod cannot be placed with them
	Ignore  Preferences = "Ignore"  // they do not count
)

// String names the policy as options do.
func (p Preferences) String() string {
	if p == Weigh {
		return "Weigh"
	}
	return string(p)
}

// Set makes it the policy of that name.
func (p *Preferences) Set(name string) error {
	for _, known := range []Preferences{Weigh, Respect, Ignore} {
		if name == known.String() {
			*p = known
			return nil
		}
	}
	return fmt.Errorf("%q: want Weigh, Respect or Ignore", name)
}

// Type is what help on options calls it.
func (p *Preferences) Type() string { return "policy" }

// Worth is by what share a wish may raise what its pods cost without it, where
// nothing else is set: to twice as much.
const Worth = 1.0

// weighEffort is which part of the search for cheaper machines each answer gets
// that wishes are weighed by: it is about shares, not about per cents.
const weighEffort = 8

// options is how places are sought for the snapshot. It says which wishes are
// left out because they cost too much, and how many steps that took to find.
func (p Policy) options(s *cluster.Snapshot, effort Effort) (o place.Options, dropped []plan.Dropped, steps int64) {
	o = p.asking()
	o.Steps = effort.Place
	if p.Preferences != Weigh {
		return o, nil, 0
	}
	w := newWeighing(s, o, cmp.Or(p.PreferenceWorth, Worth))
	if effort.Pack > 0 {
		w.options.Packer = pack.Packer(effort.Pack/weighEffort, place.Pods(s))
	}
	best := w.best()
	o.Wishes = w.wishes(best)
	return o, w.dropped(best), w.steps
}

// asking is how places are sought for pods of nodes that could go.
func (p Policy) asking() place.Options {
	o := place.Options{MinValues: p.MinValues}
	if p.Preferences == Ignore {
		o.Wishes = func(*cluster.Shape) place.Wishes { return place.NoWishes }
	}
	return o
}
