package provisioning

import (
	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/demand"
	"github.com/daemok/daemok/core/explanation"
	"github.com/daemok/daemok/core/supply"
)

// tear records that no instance that may be launched now has room for the whole co-located set, as a reason for those of
// its pods that are left in the end.
func (a *affinities) tear(g *demand.Group, c *demand.Colocation) {
	if g.Level != g.PodClass.Required() {
		return
	}
	for _, m := range c.Parts {
		if a.torn[m.Group.Of] == nil {
			a.torn[m.Group.Of] = c
		}
	}
}

// TornApart returns such a co-located set that pods of the group belong to, if that explains why they have no place.
func (a *affinities) TornApart(g *demand.Group) (explanation.Torn, bool) {
	c := a.torn[g]
	if c == nil || c.Pods < 2 {
		return explanation.Torn{}, false
	}
	b, option := a.roomiest(c)
	if b == nil {
		return explanation.Torn{}, false
	}
	free := b.Free[b.Options[option].Kind]
	enough := amount.Fits(free, c.Sum)
	out := explanation.Torn{Pods: c.Pods, Others: c.Others(g), Need: c.Sum, Largest: b.InstanceType(b.Options[option]).Name, Has: free, Limits: enough}
	if enough && a.pr.MinValues != BestEffort {
		out.TooFew = a.tooFewFor(c)
	}
	return out, !enough || a.pr.limited || out.TooFew != ""
}

// tooFewFor says which minValues of the first pool with room for the whole co-located set forbids it; empty where some
// pool has enough values for it.
func (a *affinities) tooFewFor(c *demand.Colocation) string {
	text := ""
	for _, b := range a.pr.Candidates {
		if c.Options[b.At] == nil {
			continue
		}
		fitting := b.AvailableNow.Clone()
		fitting.And(c.Options[b.At])
		for i := fitting.Next(0); i >= 0; i = fitting.Next(i + 1) {
			if free := b.Free[b.Options[i].Kind]; free == nil || !amount.Fits(free, c.Sum) {
				fitting.Remove(i)
			}
		}
		if fitting.Next(0) < 0 {
			continue
		}
		short := b.MinValuesShort(fitting, b.FirstKinds(fitting))
		if short == nil {
			return ""
		}
		if text == "" {
			text = short.Text
		}
	}
	return text
}

// roomiest returns the instance that has room for the greatest part of the
// co-located set, limits aside; the cheapest of equals.
func (a *affinities) roomiest(c *demand.Colocation) (pool *supply.Candidate, option int) {
	most := -1.0
	for _, b := range a.pr.Candidates {
		options := c.Options[b.At]
		for i := options.Next(0); options != nil && i >= 0; i = options.Next(i + 1) {
			free := b.Free[b.Options[i].Kind]
			if free == nil || !b.AvailableNow.Has(i) {
				continue
			}
			if part := amount.Share(free, c.Sum); part > most || part == most && b == pool && b.Cost[i] < b.Cost[option] {
				pool, option, most = b, i, part
			}
		}
	}
	return pool, option
}
