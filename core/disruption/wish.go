package disruption

import (
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/place"
	"github.com/daemok/daemok/core/plan"
)

// keeps tells which wishes of pods count, by shape; nil: all.
type keeps = func(*cluster.Shape) place.Wishes

// worthwhile leaves out of a question wishes about hosts that do not hold on the
// node now, where no plan would buy machines for them either: then the pods need
// not be better off elsewhere. A wish that holds is held, whatever was paid for it,
// so that nothing is bought for a wish and given back. It is nil where none is left
// out.
func (x *Search) worthwhile(q place.Question, c *candidate) keeps {
	broken := map[string]bool{}
	for _, p := range c.moving {
		if place.Crowded(c.Node, p) {
			broken[place.RulesText(p.Shape)] = true
		}
	}
	if x.options.Weigh == nil || len(broken) == 0 {
		return nil
	}
	q.Below = place.Any
	worth := x.options.Weigh(x.snapshot, c.copies(), func(wishes func(*cluster.Shape) place.Wishes) place.Result {
		q.Wishes = wishes
		return *x.ask(q)
	})
	if worth == nil {
		return nil
	}
	return func(s *cluster.Shape) place.Wishes {
		if worth(s) != place.AllWishes && broken[place.RulesText(s)] {
			return place.NotOfHosts
		}
		return place.AllWishes
	}
}

// setAside tells with the last move which wishes of pods of its node did not
// count.
func (x *Search) setAside(c *candidate, wishes keeps) {
	if wishes == nil {
		return
	}
	move, at := &x.Moves[len(x.Moves)-1], map[string]int{}
	for _, p := range c.copies() {
		lost := slices.DeleteFunc(place.WishesOf(p.Shape), wishes(p.Shape).Count)
		if len(lost) == 0 {
			continue
		}
		rules := place.RulesText(p.Shape)
		i, known := at[rules]
		if !known {
			i, at[rules] = len(move.Dropped), len(move.Dropped)
			move.Dropped = append(move.Dropped, plan.Dropped{})
			for _, wish := range lost {
				move.Dropped[i].Wishes = append(move.Dropped[i].Wishes, wish.String())
			}
		}
		move.Dropped[i].Pods = append(move.Dropped[i].Pods, p)
	}
}
