// Package bench measures decisions: how long they take, what they cost, and how far that cost is above
// the lowest possible.
//
// It promises that only the decision is timed, that equal options make equal work, and that a figure
// is reported only for plans that Verify accepts, which checks them independently. The code that
// decides recognises no workload.
package bench

import (
	"slices"

	"github.com/daemok/daemok/core/quantity"
)

// Options says what to measure. Work comes from Mix, Workload, Trace or
// Generate; exactly one must be given.
type Options struct {
	Mix       string // see Mixes
	Catalog   string // file; empty for the 400 made-up types that the mixes use
	Workload  string // file
	Trace     string // file of a recorded cluster, of which the first Pods pods are taken
	Generate  string // a distribution, see Distributions
	Classes   int    // how many different pods Generate draws at most; 0: no two need be alike
	Pods      int
	Nodes     int // existing ones; for the mix existing
	Pools     int // equal pools; 0 means 1
	Types     int // how many types each pool names, small and large ones; 0: pools name none and may launch all
	Seed      uint64
	Capacity  string // on-demand, spot or any; empty means on-demand
	Daemons   string // "200m,300Mi,4": cpu and memory of each, how many; empty for none
	Runs      int    // the median is taken; 0 means 5
	Pack      bool   // search for the cheapest instances, as the controller does
	Simulated bool   // choose the plan that is likely to be the cheapest once kube-scheduler has put pods where it likes, as the controller does
	Effort    int64  // how many times the controller's search; 0 means 1
	Nominate  bool   // carried out: nodes are nominated for pods
	Best      string // file of the best costs known, a JSON list of Known; empty for none
}

// Simulated is what a plan is likely to come to, and what the plan would that is
// the cheapest if pods go where they are meant to go.
type Simulated struct {
	PerHour             float64  `json:"perHour"`
	Gap                 *float64 `json:"gap"`
	Left                int      `json:"left"` // pods that find no room at first
	RelaxedPerHour      float64  `json:"tightPerHour"`
	RelaxedGap          *float64 `json:"tightGap"`
	RelaxedNodes        int      `json:"tightNodes"`
	RelaxedSimulated    float64  `json:"tightSettledPerHour"`
	RelaxedSimulatedGap *float64 `json:"tightSettledGap"`
}

// Result is what was measured. Null values have no meaning for this work.
type Result struct {
	Mix                     string     `json:"mix"`
	Pods                    int        `json:"pods"`
	Seconds                 float64    `json:"seconds"`
	PodsPerSecond           float64    `json:"podsPerSecond"`
	Nodes                   int        `json:"nodes"`
	CostPerHour             float64    `json:"costPerHour"`
	LowerBoundPerHour       float64    `json:"lowerBoundPerHour"`
	Gap                     *float64   `json:"gap"`
	BoundConstrainedPerHour *float64   `json:"boundConstrainedPerHour"`
	GapConstrained          *float64   `json:"gapConstrained"`
	BoundWholePerHour       float64    `json:"boundWholePerHour"`
	GapWhole                *float64   `json:"gapWhole"`
	BestPerHour             *float64   `json:"bestPerHour"` // the least that was ever found, see Known
	OverBest                *float64   `json:"overBest"`
	AllocatedMiB            float64    `json:"allocatedMiB"`
	PeakRSSMiB              float64    `json:"peakRSSMiB"` // of the process while it solves: the program and the work in memory included
	Unplaced                int        `json:"unplaced"`
	Simulated               *Simulated `json:"settled,omitempty"`
	CPUSeconds              float64    `json:"cpuSeconds"` // of all processors, for one solve: garbage collection included
}

// Place measures how pods get their places: by the exact rules alone with instances chosen
// one after another or, with Pack, as the controller does it.
func Place(o Options) (Result, error) {
	s, name, err := Snapshot(o)
	if err != nil {
		return Result{}, err
	}
	made, took := solve(s, o)
	if err := Verify(s, &made); err != nil {
		return Result{}, err
	}
	out := Result{
		Mix: name, Pods: len(s.Waiting), Nodes: len(made.Launches),
		CostPerHour: dollars(made.CostAfter - made.CostBefore), LowerBoundPerHour: LowerBound(s), BoundWholePerHour: Whole(s),
		Seconds: median(took.seconds), CPUSeconds: median(took.cpuSeconds),
		AllocatedMiB: median(took.allocatedMiB), PeakRSSMiB: took.peakRSSMiB,
	}
	out.PodsPerSecond = float64(out.Pods) / out.Seconds
	for _, u := range made.Unplaced {
		out.Unplaced += len(u.Pods)
	}
	if out.Unplaced > 0 {
		return out, nil // what is launched is not for all of the work
	}
	out.Gap = gap(out.CostPerHour, out.LowerBoundPerHour)
	out.GapWhole = gap(out.CostPerHour, out.BoundWholePerHour)
	if l := made.Likely; l != nil {
		least := out.LowerBoundPerHour
		out.Simulated = &Simulated{
			PerHour: dollars(l.Cost), Gap: gap(dollars(l.Cost), least), Left: l.Left,
			RelaxedPerHour: dollars(l.Relaxed.Cost), RelaxedGap: gap(dollars(l.Relaxed.Cost), least), RelaxedNodes: l.Relaxed.Instances,
			RelaxedSimulated: dollars(l.RelaxedCost), RelaxedSimulatedGap: gap(dollars(l.RelaxedCost), least),
		}
	}
	known, err := best(o, out.LowerBoundPerHour)
	if err != nil {
		return Result{}, err
	}
	if known != nil {
		out.BestPerHour, out.OverBest = &known.CostPerHour, gap(out.CostPerHour, known.CostPerHour)
	}
	if bound, ok := Constrained(s); ok {
		out.BoundConstrainedPerHour, out.GapConstrained = &bound, gap(out.CostPerHour, bound)
	}
	return out, nil
}

// gap returns nil where nothing need be launched.
func gap(cost, bound float64) *float64 {
	if bound <= 0 {
		return nil
	}
	out := cost/bound - 1
	return &out
}

func dollars(p quantity.MicroUSDPerHour) float64 { return float64(p) / 1e6 }

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}
