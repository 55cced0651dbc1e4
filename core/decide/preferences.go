package decide

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/demand"
	"github.com/daemok/daemok/core/pack"
	"github.com/daemok/daemok/core/place"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/supply"
)

// Preferences says what to do about preferences of pods that may give way.
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

// Worth is by what share a preference may raise what its pods cost without it, where
// nothing else is set: to twice as much.
const Worth = 1.0

// weighEffort is which part of the search for cheaper instances each answer gets that preferences
// are weighed by: it is about shares, not about per cents.
const weighEffort = 8

// options is how places are sought for the snapshot. It says which preferences are
// left out because they cost too much, and how many steps that took to find.
func (p Policy) options(s *cluster.Snapshot, effort Effort) (o place.Options, dropped []plan.Dropped, steps int64) {
	o = p.asking()
	o.Steps, o.Ready = effort.Place, supply.Prepare(s)
	if p.Preferences != Weigh {
		return o, nil, 0
	}
	trial := o
	if effort.Pack > 0 {
		trial.Packer = pack.New(effort.Pack/weighEffort, place.Pods(s))
	}
	o.Preferences, dropped = p.weigh(s, place.Waiting(s), func(preferences demand.Counting) place.Result {
		trial.Preferences = preferences
		out := place.Place(s, trial)
		steps += out.Steps
		return out
	})
	return o, dropped, steps
}

// weigh reports which preferences are worth what they cost, and those that are not.
func (p Policy) weigh(s *cluster.Snapshot, pods []cluster.Pod, solve func(demand.Counting) place.Result) (demand.Counting, []plan.Dropped) {
	if !slices.ContainsFunc(pods, func(p cluster.Pod) bool { return len(demand.PreferencesOf(p.Shape)) > 0 }) {
		return demand.Counting{}, nil
	}
	w := newWeighing(s, pods, cmp.Or(p.PreferenceWorth, Worth), solve)
	best := w.best()
	return w.preferences(best), w.dropped(best)
}

// Worthwhile reports which preferences of the pods are worth what they cost. It asks several times where they find places.
func (p Policy) Worthwhile(s *cluster.Snapshot, pods []cluster.Pod, solve func(demand.Counting) place.Result) demand.Counting {
	preferences, _ := p.weigh(s, pods, solve)
	return preferences
}

// asking is how places are sought for pods of nodes that could go.
func (p Policy) asking() place.Options {
	o := place.Options{MinValues: p.MinValues}
	if p.Preferences == Ignore {
		o.Preferences = demand.Counting{Usual: demand.NoPreferences}
	}
	return o
}
