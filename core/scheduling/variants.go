package scheduling

import (
	"math"
	"slices"

	"github.com/daemok/daemok/core/demand"
)

// chooser follows the variants that the caller asks for, and records which there are.
type chooser struct {
	*Places
	variants []Variant
	Choices  []Choice // by shape, in the order of placing
}

// Variant is how the pods of one shape get their places otherwise than usual,
// where that is decided before instances are chosen. What is best depends on
// instances that are not known then, so that who has the time tries several.
// The zero value is the usual way. It is for the first round: pods that find
// no home so find one as usual.
type Variant struct {
	Kept int64 // so many of its pods at least are kept off what is there and on its way
	Turn int   // of domains with as few pods, which one comes first: 1 for the first, 0 for that with most in its favour
}

// Choice is what a variant could change for the pods of one shape.
type Choice struct {
	Pods   int64 // that found a home, or instances to be launched for
	Placed int64 // of these: on what is there or on its way, where they might be elsewhere as well
	Turns  int   // domains among which one may come first; 0 where it makes no difference
}

// begin makes groups lean as is asked for.
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

// turnTo lets the domain come first that the group leans to, if instances are
// offered there by pools as heavy as elsewhere.
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

// recordChoice notes among how many sites the group might have chosen: none where
// all have as many pods in the end, whichever comes first.
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

// RecordPlaced counts the pods of each group that have their place already. Those
// with preferences, which might not be met elsewhere, and those that are more
// important than others keep it.
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
