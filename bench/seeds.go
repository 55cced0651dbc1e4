package bench

import (
	"fmt"
	"slices"
)

// Summary is what was measured over several seeds: each field of the Result
// is the median, and what may be bad has its worst beside it.
type Summary struct {
	Result
	Seeds               int      `json:"seeds"`
	SecondsWorst        float64  `json:"secondsWorst"`
	CPUSecondsWorst     float64  `json:"cpuSecondsWorst"`
	GapWorst            *float64 `json:"gapWorst"`
	GapConstrainedWorst *float64 `json:"gapConstrainedWorst"`
	GapWholeWorst       *float64 `json:"gapWholeWorst"`
	OverBestWorst       *float64 `json:"overBestWorst"`
	AllocatedMiBWorst   float64  `json:"allocatedMiBWorst"`
	PeakRSSMiBWorst     float64  `json:"peakRSSMiBWorst"`
	UnplacedWorst       int      `json:"unplacedWorst"`
}

// PlaceSeeds measures the work of the seeds Seed, Seed+1 and so on, n in all.
// Its errors name the seed, so that it can be repeated alone.
func PlaceSeeds(o Options, n int) (Summary, error) {
	var all []Result
	for range n {
		r, err := Place(o)
		if err != nil {
			return Summary{}, fmt.Errorf("seed %d: %w", o.Seed, err)
		}
		all = append(all, r)
		o.Seed++
	}
	return summarise(all), nil
}

func summarise(all []Result) Summary {
	mid := func(of func(Result) float64) float64 { return median(each(all, of)) }
	midWorst := func(of func(Result) float64) (float64, float64) { return mid(of), slices.Max(each(all, of)) }
	gaps := func(of func(Result) *float64) (mid, most *float64) {
		var known []float64
		for _, r := range all {
			if g := of(r); g != nil {
				known = append(known, *g)
			}
		}
		if len(known) == 0 {
			return nil, nil
		}
		m, w := median(known), slices.Max(known)
		return &m, &w
	}
	out := Summary{Seeds: len(all)}
	out.Mix, out.Pods = all[0].Mix, all[0].Pods
	out.Seconds, out.SecondsWorst = midWorst(func(r Result) float64 { return r.Seconds })
	out.CPUSeconds, out.CPUSecondsWorst = midWorst(func(r Result) float64 { return r.CPUSeconds })
	out.AllocatedMiB, out.AllocatedMiBWorst = midWorst(func(r Result) float64 { return r.AllocatedMiB })
	out.PeakRSSMiB, out.PeakRSSMiBWorst = midWorst(func(r Result) float64 { return r.PeakRSSMiB })
	unplaced, most := midWorst(func(r Result) float64 { return float64(r.Unplaced) })
	out.Unplaced, out.UnplacedWorst = int(unplaced), int(most)
	out.PodsPerSecond = mid(func(r Result) float64 { return r.PodsPerSecond })
	out.Nodes = int(mid(func(r Result) float64 { return float64(r.Nodes) }))
	out.CostPerHour = mid(func(r Result) float64 { return r.CostPerHour })
	out.LowerBoundPerHour = mid(func(r Result) float64 { return r.LowerBoundPerHour })
	out.Gap, out.GapWorst = gaps(func(r Result) *float64 { return r.Gap })
	out.GapConstrained, out.GapConstrainedWorst = gaps(func(r Result) *float64 { return r.GapConstrained })
	out.GapWhole, out.GapWholeWorst = gaps(func(r Result) *float64 { return r.GapWhole })
	out.BoundWholePerHour = mid(func(r Result) float64 { return r.BoundWholePerHour })
	out.BoundConstrainedPerHour, _ = gaps(func(r Result) *float64 { return r.BoundConstrainedPerHour })
	out.BestPerHour, _ = gaps(func(r Result) *float64 { return r.BestPerHour })
	out.OverBest, out.OverBestWorst = gaps(func(r Result) *float64 { return r.OverBest })
	out.Simulated = simulatedOf(all, gaps)
	return out
}

// simulatedOf returns medians, nil where it was not measured.
func simulatedOf(all []Result, gaps func(of func(Result) *float64) (mid, most *float64)) *Simulated {
	if slices.ContainsFunc(all, func(r Result) bool { return r.Simulated == nil }) {
		return nil
	}
	mid := func(of func(*Simulated) float64) float64 {
		return median(each(all, func(r Result) float64 { return of(r.Simulated) }))
	}
	out := &Simulated{
		PerHour: mid(func(s *Simulated) float64 { return s.PerHour }), Left: int(mid(func(s *Simulated) float64 { return float64(s.Left) })),
		RelaxedPerHour:   mid(func(s *Simulated) float64 { return s.RelaxedPerHour }),
		RelaxedNodes:     int(mid(func(s *Simulated) float64 { return float64(s.RelaxedNodes) })),
		RelaxedSimulated: mid(func(s *Simulated) float64 { return s.RelaxedSimulated }),
	}
	out.Gap, _ = gaps(func(r Result) *float64 { return r.Simulated.Gap })
	out.RelaxedGap, _ = gaps(func(r Result) *float64 { return r.Simulated.RelaxedGap })
	out.RelaxedSimulatedGap, _ = gaps(func(r Result) *float64 { return r.Simulated.RelaxedSimulatedGap })
	return out
}

func each(all []Result, of func(Result) float64) []float64 {
	out := make([]float64, len(all))
	for i, r := range all {
		out[i] = of(r)
	}
	return out
}
