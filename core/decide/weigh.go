package decide

import (
	"cmp"
	"slices"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/demand"
	"github.com/daemok/daemok/core/place"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
)

// weighing finds out which preferences are worth what they cost: for each workload all of them
// count, those alone that examine no hosts, or none. A preference is worth a share of what its pods
// cost without it. What is sought is the way in which instances and the preferences that are
// dropped come to the least together.
type weighing struct {
	s       *cluster.Snapshot
	solve   func(preferences demand.Counting) place.Result // seeks places for the pods
	worth   float64                                        // of a preference, as a share of what its pods cost
	dims    amount.Dims
	wishers []*wisher
	at      map[string]int // position of a wisher by the rules of its pods
	tried   []*trial       // the first with all preferences, the second with none
}

// wisher is pods for which the same rules hold.
type wisher struct {
	preferences []demand.Preference
	pods        []cluster.Pod
}

// trial is an answer with some preferences left out.
type trial struct {
	keeps  []demand.Preferences // by wisher
	result place.Result
	parts  []share // by wisher
}

// share is what pods cost, in millionths of a dollar an hour.
type share struct {
	paid float64 // their part of instances that are launched
	room float64 // of those that are there
}

func (p share) all() float64 { return p.paid + p.room }

func newWeighing(s *cluster.Snapshot, pods []cluster.Pod, worth float64, solve func(demand.Counting) place.Result) *weighing {
	w := &weighing{s: s, solve: solve, worth: worth, at: map[string]int{}}
	texts := map[*cluster.Shape]string{}
	for _, p := range pods {
		text, known := texts[p.Shape]
		if !known {
			text = demand.RulesText(p.Shape)
			texts[p.Shape] = text
		}
		if _, known := w.at[text]; !known {
			w.at[text] = len(w.wishers)
			w.wishers = append(w.wishers, &wisher{preferences: demand.PreferencesOf(p.Shape)})
		}
		x := w.wishers[w.at[text]]
		x.pods = append(x.pods, p)
	}
	w.dims = amount.Of(pods)
	return w
}

// best returns the trial that comes to the least; nil where there is nothing to weigh: nothing is
// launched, or what that costs is not known.
func (w *weighing) best() *trial {
	all := w.try(demand.AllPreferences)
	if len(all.result.Launches) == 0 || all.result.Unpriced > 0 || all.result.Exhausted || all.result.Expensive {
		return nil
	}
	none := w.try(demand.NoPreferences)
	if compare(&none.result, &all.result) >= 0 || none.result.Exhausted {
		return nil
	}
	if slices.ContainsFunc(w.wishers, func(x *wisher) bool { return x.usual(demand.NotOfHosts) == demand.NotOfHosts }) {
		w.try(demand.NotOfHosts)
	}
	w.tryAll(w.each())
	return slices.MinFunc(w.tried, func(a, b *trial) int {
		return cmp.Or(compareLeft(&a.result, &b.result), cmp.Compare(a.result.Unpriced, b.result.Unpriced), cmp.Compare(w.total(a), w.total(b)))
	})
}

// try leaves the same preferences of all pods.
func (w *weighing) try(keeps demand.Preferences) *trial {
	each := make([]demand.Preferences, len(w.wishers))
	for i, x := range w.wishers {
		each[i] = x.usual(keeps)
	}
	return w.tryAll(each)
}

// tryAll seeks places with these preferences alone, unless that was done.
func (w *weighing) tryAll(keeps []demand.Preferences) *trial {
	for _, t := range w.tried {
		if slices.Equal(t.keeps, keeps) {
			return t
		}
	}
	t := &trial{keeps: keeps}
	t.result = w.solve(w.preferences(t))
	t.parts = w.split(&t.result)
	w.tried = append(w.tried, t)
	return t
}

// preferences says which preferences count in a trial.
func (w *weighing) preferences(t *trial) demand.Counting {
	if t == nil || !slices.ContainsFunc(t.keeps, func(x demand.Preferences) bool { return x != demand.AllPreferences }) {
		return demand.Counting{}
	}
	out := demand.Counting{Of: map[string]demand.Preferences{}}
	for rules, at := range w.at {
		out.Of[rules] = t.keeps[at]
	}
	return out
}

// usual names the preferences that are left by the fewest or the most that they are.
func (x *wisher) usual(keeps demand.Preferences) demand.Preferences {
	switch lost := x.lost(keeps); {
	case len(lost) == 0:
		return demand.AllPreferences
	case len(lost) == len(x.preferences):
		return demand.NoPreferences
	}
	return keeps
}

// lost lists the preferences that are left out.
func (x *wisher) lost(keeps demand.Preferences) []demand.Preference {
	return slices.DeleteFunc(slices.Clone(x.preferences), keeps.Count)
}

// each chooses for every wisher by itself what comes to the least, of equal ones
// that with the most preferences.
func (w *weighing) each() []demand.Preferences {
	out := make([]demand.Preferences, len(w.wishers))
	for i := range w.wishers {
		best := w.tried[0]
		for _, t := range w.tried[1:] {
			if w.of(t, i) < w.of(best, i) {
				best = t
			}
		}
		out[i] = best.keeps[i]
	}
	return out
}

// of is what the pods of a wisher cost in a trial, with what their preferences are
// worth that are left out.
func (w *weighing) of(t *trial, wisher int) float64 {
	parts := 0.0
	for _, x := range w.wishers[wisher].lost(t.keeps[wisher]) {
		parts += x.Part
	}
	return t.parts[wisher].all() + float64(w.worth*float64(parts*w.tried[1].parts[wisher].all()))
}

func (w *weighing) total(t *trial) float64 {
	sum := 0.0
	for i := range w.wishers {
		sum += w.of(t, i)
	}
	return sum
}

// dropped reports the preferences that are left out in a trial.
func (w *weighing) dropped(t *trial) []plan.Dropped {
	if t == nil {
		return nil
	}
	var out []plan.Dropped
	for i, x := range w.wishers {
		lost := x.lost(t.keeps[i])
		if len(lost) == 0 {
			continue
		}
		d := plan.Dropped{Pods: x.pods, Saves: quantity.MicroUSDPerHour(max(0, w.tried[0].parts[i].paid-t.parts[i].paid))}
		for _, preference := range lost {
			d.Preferences = append(d.Preferences, preference.String())
		}
		slices.SortFunc(d.Pods, plan.ByName)
		out = append(out, d)
	}
	return out
}
