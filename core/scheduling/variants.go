package scheduling

import (
	"math"
	"slices"

	"github.com/daemok/daemok/core/demand"
)

// chooser applies the variants that the caller asks for, and records which others there could be.
type chooser struct {
	*Places
	variants []Variant
	Choices  []Choice // by shape, in the order of placing
}

// Variant changes how the pods of one shape get their places, where that is decided before instances are chosen. What
// is best depends on instances that are not known then, so that a caller with enough time tries several. The zero
// value changes nothing. Variants count in the first round only: pods that find no place so find one as usual.
type Variant struct {
	Kept int64 // how many of its pods at least go to no existing target
	Turn int   // which of the domains with the fewest pods comes first: 1 for the first; 0: as usual, see site.before
}

// Choice is what a variant could change for the pods of one shape.
type Choice struct {
	Pods   int64 // that got a place, or for which instances are to be launched
	Placed int64 // of these: on existing targets, where they might be elsewhere as well
	Turns  int   // domains among which one may come first; 0 where it makes no difference
}

// begin applies the variants to groups, and starts to record choices.
func (ch *chooser) begin() {
	for i, g := range ch.Waiting {
		g.Rides = math.MaxInt64
		if ch.Round == 1 && i < len(ch.variants) {
			if kept := ch.variants[i].Kept; kept > 0 {
				g.Rides = max(0, g.Left()-kept)
			}
		}
	}
	if ch.Round == 1 {
		ch.Choices = make([]Choice, len(ch.Waiting))
		for i, g := range ch.Waiting { // those whose instances were launched for them have no choice
			ch.Choices[i] = Choice{Pods: -int64(g.Placed), Placed: -int64(g.Placed)}
		}
	}
}

// turnTo puts the domain first that the variant of the group asks for, if no site has offerings of heavier pools.
func (ch *chooser) turnTo(g *demand.Group, sites []*site) {
	if ch.Round > 1 || g.At >= len(ch.variants) {
		return
	}
	at := ch.variants[g.At].Turn - 1
	if at < 0 || at >= len(sites) || slices.ContainsFunc(sites, func(s *site) bool { return s.tier > sites[at].tier }) {
		return
	}
	for i, s := range sites {
		s.turn = (i - at + len(sites)) % len(sites)
		if s.offeringSet == nil || s.tier < sites[at].tier {
			s.turn += len(sites)
		}
	}
}

// recordChoice records among how many sites the group might have chosen: none where all sites have as many pods in
// the end, whichever comes first.
func (ch *chooser) recordChoice(g *demand.Group, lv *demand.Level, sites []*site) {
	if ch.Round > 1 || len(sites) < 2 || len(g.PodClass.Levels) > 1 {
		return
	}
	for _, s := range sites[1:] {
		if ch.Board.Count(lv.Rules, s.spot) != ch.Board.Count(lv.Rules, sites[0].spot) {
			ch.Choices[g.At].Turns = len(sites)
		}
	}
}

// RecordPlaced counts the pods of each group that have their place already. Pods with preferences, which might not be
// met elsewhere, and pods of a higher priority than others have no choice.
func (ch *chooser) RecordPlaced() {
	if ch.Round > 1 {
		return
	}
	for _, x := range ch.Placed {
		ch.Choices[x.Group.At].Placed++
	}
	least := ch.Waiting[len(ch.Waiting)-1].Shape.Priority
	for i, g := range ch.Waiting {
		ch.Choices[i].Pods += int64(g.Placed)
		if len(g.PodClass.Levels) > 1 || g.Shape.Priority > least {
			ch.Choices[i].Placed = 0
		}
	}
}
