package place

import (
	"cmp"
	"slices"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/bound"
	"github.com/daemok/daemok/core/demand"
	"github.com/daemok/daemok/core/feasibility"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/supply"
)

// clientele is the pods on instances of this plan from one tier of pools, by what they may be on.
type clientele struct {
	classes []*class
	of      map[custom]*class
	byText  map[string]*class
}

// custom is what decides, beside the tier, which options pods may be on: their pod class, devices and room.
type custom struct {
	podClass *demand.PodClass
	devices  uint64 // a bit for each of the first resources from amount.Devices on
	cramped  bool   // they are on instances that leave less to pods than the pool's floor asks for
}

// class is pods that may be on the same options as far as labels, taints and devices decide. Preferences, which may be
// dropped, and other pods do not count.
type class struct {
	sum     []int64
	options []bitset.Set // by Candidate.At; nil: none of it
}

// classesMax is how many classes the proof distinguishes: those that ask for most. The rest count as one class, which
// may be on every option that any of them may be on.
const classesMax = 12

// clienteles sums up the pods on launches by the tier of their pools.
func (pv *prover) clienteles() map[int]*clientele {
	out := map[int]*clientele{}
	for _, x := range pv.run.Placed {
		if x.On != plan.OnLaunch {
			continue
		}
		l := &pv.run.Provisioner.Launched[x.Launch]
		tier := l.Candidate.Weight
		if out[tier] == nil {
			out[tier] = &clientele{of: map[custom]*class{}, byText: map[string]*class{}}
		}
		of := customOf(x.Group)
		of.cramped = l.Candidate.IsCramped(l.Options.Next(0))
		amount.Take(out[tier].classOf(pv.run, of, tier).sum, x.Group.Need, -1)
	}
	for _, c := range out {
		c.merge(pv.run.Provisioner.Values.Worth)
	}
	return out
}

// customOf returns the custom of the group's pods, without cramped.
func customOf(g *demand.Group) custom {
	out := custom{podClass: g.PodClass}
	for i, v := range g.Need[amount.Devices:] {
		if v > 0 && i < 64 {
			out.devices |= 1 << i
		}
	}
	return out
}

func (c *clientele) classOf(r *Run, of custom, tier int) *class {
	if known := c.of[of]; known != nil {
		return known
	}
	options := make([]bitset.Set, len(r.Candidates))
	for _, m := range r.scheduler.Index.OfferingSetsOf(of.podClass.Required()) {
		for _, s := range m.ByPool {
			if s.Candidate.Weight != tier {
				continue
			}
			if options[s.Candidate.At] == nil {
				options[s.Candidate.At] = bitset.New(len(s.Candidate.Options))
			}
			options[s.Candidate.At].Or(s.Options)
		}
	}
	for i, set := range options {
		of.keep(r.Candidates[i], set)
	}
	var text []byte
	for _, set := range options {
		if set == nil {
			text = append(text, 0)
			continue
		}
		text = supply.AppendSet(append(text, 1), set)
	}
	out := c.byText[string(text)]
	if out == nil {
		out = &class{sum: make([]int64, r.Dims.Len()), options: options}
		c.byText[string(text)] = out
		c.classes = append(c.classes, out)
	}
	c.of[of] = out
	return out
}

// keep removes the options that are unavailable, that lack one of the devices, or that are cramped if these pods are not
// on a cramped instance.
func (of custom) keep(b *supply.Candidate, set bitset.Set) {
	for o := set.Next(0); o >= 0; o = set.Next(o + 1) {
		if !b.AvailableNow.Has(o) || !of.cramped && b.IsCramped(o) {
			set.Remove(o)
			continue
		}
		for i, v := range b.Free[b.Options[o].Kind][amount.Devices:] {
			if v <= 0 && i < 64 && of.devices>>i&1 == 1 {
				set.Remove(o)
			}
		}
	}
}

// merge makes one class of those that ask for least, so that the proof stays cheap.
func (c *clientele) merge(worth []float64) {
	if len(c.classes) <= classesMax {
		return
	}
	slices.SortStableFunc(c.classes, func(a, b *class) int { return cmp.Compare(amount.Value(worth, b.sum), amount.Value(worth, a.sum)) })
	last := c.classes[classesMax-1]
	for _, x := range c.classes[classesMax:] {
		amount.Take(last.sum, x.sum, -1)
		for i, set := range x.options {
			if last.options[i] == nil {
				last.options[i] = set
			} else if set != nil {
				last.options[i].Or(set)
			}
		}
	}
	c.classes = c.classes[:classesMax]
}

// useful returns the options that may be part of the cheapest offerings for the classes: the frontier where one class
// alone uses the pool, else all that are available. They are all where interruptions are likely to cost something, since
// that counts on the frontier, and not in the bound.
func (c *clientele) useful(b *supply.Candidate) bitset.Set {
	var only *class
	for _, x := range c.classes {
		if set := x.options[b.At]; set == nil || set.Next(0) < 0 {
			continue
		}
		if only != nil {
			return b.AvailableNow
		}
		only = x
	}
	if only == nil {
		return nil
	}
	if b.Risk != nil {
		return b.AvailableNow
	}
	asked := make([]bool, len(only.sum))
	for i, v := range only.sum {
		asked[i] = v > 0
	}
	return b.Frontier([]bitset.Set{only.options[b.At]}, asked)
}

// open returns the classes whose pods may be on the option, one bit each.
func (c *clientele) open(b *supply.Candidate, option int) (mask uint64) {
	for i, x := range c.classes {
		if set := x.options[b.At]; set != nil && set.Has(option) {
			mask |= 1 << i
		}
	}
	return mask
}

// zone returns the zone that all options of the class are in, if pools have options in other zones too; else nothing.
func (x *class) zone(r *Run) string {
	found, elsewhere := "", false
	for i, set := range x.options {
		b := r.Candidates[i]
		for o := set.Next(0); o >= 0; o = set.Next(o + 1) {
			if zone := b.Offering(b.Options[o]).Zone; found == "" {
				found = zone
			} else if zone != found {
				return ""
			}
		}
	}
	for _, b := range r.Candidates {
		elsewhere = elsewhere || slices.ContainsFunc(b.Options, func(o feasibility.Option) bool { return b.Offering(o).Zone != found })
	}
	if !elsewhere {
		return ""
	}
	return found
}

// least solves the linear program for the pods and the offerings that they may be on.
func (c *clientele) least(offerings []bound.Offering) bound.Divided {
	demands := make([][]float64, len(c.classes))
	for i, x := range c.classes {
		demands[i] = amount.Positive(x.sum)
	}
	if len(demands) > 1 {
		return bound.Divide(demands, offerings)
	}
	var columns []bound.Column
	for _, o := range offerings {
		columns = append(columns, o.Column)
	}
	answer := bound.Cover(demands[0], columns)
	return bound.Divided{Cost: answer.Cost, Worth: [][]float64{answer.Worth}}
}
