package disruption

import (
	"slices"

	"github.com/daemok/daemok/core/demand"
	"github.com/daemok/daemok/core/place"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/removal"
)

// worthwhile leaves out of a question preferences about hosts that do not hold on the node now,
// where no plan would launch instances for them either: then the pods need not be better off
// elsewhere. A preference that holds is held, whatever was paid for it, so that nothing is launched
// for a preference and terminated.
func (x *economy) worthwhile(q removal.Question, c *candidate) (out demand.Counting) {
	broken := map[string]bool{}
	for _, p := range c.moving {
		if demand.Crowded(c.Node, p) {
			broken[demand.RulesText(p.Shape)] = true
		}
	}
	if x.options.Weigh == nil || len(broken) == 0 {
		return out
	}
	q.Below = removal.Any
	worth := x.options.Weigh(x.snapshot, c.copies(), func(preferences demand.Counting) place.Result {
		q.Preferences = preferences
		return *x.ask(q)
	})
	for rules, which := range worth.Of {
		if which != demand.AllPreferences && broken[rules] {
			if out.Of == nil {
				out.Of = map[string]demand.Preferences{}
			}
			out.Of[rules] = demand.NotOfHosts
		}
	}
	return out
}

// setAside records with the last move which preferences of pods of its node did not count.
func (x *economy) setAside(c *candidate, preferences demand.Counting) {
	if preferences.All() {
		return
	}
	move, at := &x.Moves[len(x.Moves)-1], map[string]int{}
	for _, p := range c.copies() {
		lost := slices.DeleteFunc(demand.PreferencesOf(p.Shape), preferences.For(p.Shape).Count)
		if len(lost) == 0 {
			continue
		}
		rules := demand.RulesText(p.Shape)
		i, known := at[rules]
		if !known {
			i, at[rules] = len(move.Dropped), len(move.Dropped)
			move.Dropped = append(move.Dropped, plan.Dropped{})
			for _, preference := range lost {
				move.Dropped[i].Preferences = append(move.Dropped[i].Preferences, preference.String())
			}
		}
		move.Dropped[i].Pods = append(move.Dropped[i].Pods, p)
	}
}
