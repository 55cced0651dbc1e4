package bench

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// Joins says when instances join the cluster after their launch: at any moment between the
// two.
type Joins struct{ Earliest, Latest time.Duration }

// Carried is what became of a plan that was carried out: instances joined one by one,
// kube-scheduler put pods where it likes, and further plans were made for those that were
// left, until all had a node.
type Carried struct {
	Mix               string   `json:"mix"`
	Pods              int      `json:"pods"`
	LowerBoundPerHour float64  `json:"lowerBoundPerHour"`
	PlannedPerHour    float64  `json:"plannedPerHour"` // what the first plan launched
	LikelyPerHour     float64  `json:"likelyPerHour"`  // what it was expected to come to
	PaidPerHour       float64  `json:"paidPerHour"`    // what all instances cost in the end
	Gap               *float64 `json:"gap"`            // of what is paid to the bound
	OverPlanned       float64  `json:"overPlanned"`    // paid / planned - 1
	OverLikely        float64  `json:"overLikely"`
	Instances         int      `json:"machines"` // of the first plan
	More              int      `json:"more"`     // launched after it
	AsPlanned         float64  `json:"asPlanned"`
	MeanWaitSeconds   float64  `json:"meanWaitSeconds"`
	LastWaitSeconds   float64  `json:"lastWaitSeconds"`
}

// CarriedSummary is what was measured over several seeds: medians and, of what
// may be far off, what is farthest.
type CarriedSummary struct {
	Carried
	Seeds           int      `json:"seeds"`
	GapWorst        *float64 `json:"gapWorst"`
	OverPlannedMost float64  `json:"overPlannedWorst"`
	OverLikelyMost  float64  `json:"overLikelyWorst"` // farthest from none
	MoreWorst       int      `json:"moreWorst"`
	LastWaitWorst   float64  `json:"lastWaitSecondsWorst"`
}

// Carry decides about the work as the controller does and carries the plan out
// in virtual time.
func Carry(o Options, joins Joins) (Carried, error) {
	if joins.Earliest < 0 || joins.Latest < joins.Earliest {
		return Carried{}, fmt.Errorf("instances join from %s to %s: want the latter to be no less", joins.Earliest, joins.Latest)
	}
	s, name, err := Snapshot(o)
	if err != nil {
		return Carried{}, err
	}
	c := newCarrier(s, joins, o)
	if err := c.run(); err != nil {
		return Carried{}, err
	}
	out := c.outcome()
	out.Mix, out.LowerBoundPerHour = name, LowerBound(s)
	out.Gap = gap(out.PaidPerHour, out.LowerBoundPerHour)
	return out, nil
}

// CarrySeeds carries out the work of the seeds Seed, Seed+1 and so on, n in all.
func CarrySeeds(o Options, joins Joins, n int) (CarriedSummary, error) {
	var all []Carried
	for range n {
		one, err := Carry(o, joins)
		if err != nil {
			return CarriedSummary{}, fmt.Errorf("seed %d: %w", o.Seed, err)
		}
		all = append(all, one)
		o.Seed++
	}
	return summariseCarried(all), nil
}

func summariseCarried(all []Carried) CarriedSummary {
	list := func(of func(Carried) float64) []float64 {
		out := make([]float64, len(all))
		for i, c := range all {
			out[i] = of(c)
		}
		return out
	}
	mid := func(of func(Carried) float64) float64 { return median(list(of)) }
	most := func(of func(Carried) float64) float64 { return slices.Max(list(of)) }
	gapOf := func(c Carried) float64 {
		if c.Gap == nil {
			return 0
		}
		return *c.Gap
	}
	gapMid, gapMost := mid(gapOf), most(gapOf)
	out := CarriedSummary{Seeds: len(all), GapWorst: &gapMost}
	out.Mix, out.Pods, out.Gap = all[0].Mix, all[0].Pods, &gapMid
	out.LowerBoundPerHour = mid(func(c Carried) float64 { return c.LowerBoundPerHour })
	out.PlannedPerHour = mid(func(c Carried) float64 { return c.PlannedPerHour })
	out.LikelyPerHour = mid(func(c Carried) float64 { return c.LikelyPerHour })
	out.PaidPerHour = mid(func(c Carried) float64 { return c.PaidPerHour })
	out.OverPlanned = mid(func(c Carried) float64 { return c.OverPlanned })
	out.OverPlannedMost = most(func(c Carried) float64 { return c.OverPlanned })
	out.OverLikely = mid(func(c Carried) float64 { return c.OverLikely })
	out.Instances = int(mid(func(c Carried) float64 { return float64(c.Instances) }))
	out.More = int(mid(func(c Carried) float64 { return float64(c.More) }))
	out.MoreWorst = int(most(func(c Carried) float64 { return float64(c.More) }))
	out.AsPlanned = mid(func(c Carried) float64 { return c.AsPlanned })
	out.MeanWaitSeconds = mid(func(c Carried) float64 { return c.MeanWaitSeconds })
	out.LastWaitSeconds = mid(func(c Carried) float64 { return c.LastWaitSeconds })
	out.LastWaitWorst = most(func(c Carried) float64 { return c.LastWaitSeconds })
	for _, c := range all {
		if math.Abs(c.OverLikely) > math.Abs(out.OverLikelyMost) {
			out.OverLikelyMost = c.OverLikely
		}
	}
	return out
}
