// Package bench measures decisions: how long they take, what they cost, and
// how far from the least possible that is.
//
// It promises that only the decision is timed, that equal options make equal
// work, and that a figure is given only for plans whose every machine passes
// core/fit. No workload is known by name when it is decided about.
package bench

import (
	"fmt"
	"runtime"
	"slices"
	"syscall"
	"time"

	"github.com/daemok/daemok/core/bound"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/decide"
	"github.com/daemok/daemok/core/fit"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
)

// Options says what to measure. Work comes from Mix, from Workload or from
// Generate; exactly one must be given.
type Options struct {
	Mix      string // see Mixes
	Catalog  string // file; empty for the 400 made-up types that the mixes use
	Workload string // file
	Generate string // a distribution, see Distributions
	Pods     int
	Nodes    int // existing ones; for the mix existing
	Pools    int // equal pools; 0 means 1
	Seed     uint64
	Capacity string // on-demand, spot or any; empty means on-demand
	Daemons  string // "200m,300Mi,4": cpu and memory of each, how many; empty for none
	Runs     int    // the median is taken; 0 means 5
}

// Result is what was measured. Null values have no meaning for this work.
type Result struct {
	Mix                     string   `json:"mix"`
	Pods                    int      `json:"pods"`
	Seconds                 float64  `json:"seconds"`
	PodsPerSecond           float64  `json:"podsPerSecond"`
	Nodes                   int      `json:"nodes"`
	CostPerHour             float64  `json:"costPerHour"`
	LowerBoundPerHour       float64  `json:"lowerBoundPerHour"`
	Gap                     *float64 `json:"gap"`
	BoundConstrainedPerHour *float64 `json:"boundConstrainedPerHour"`
	GapConstrained          *float64 `json:"gapConstrained"`
	AllocatedMiB            float64  `json:"allocatedMiB"`
	PeakRSSMiB              float64  `json:"peakRSSMiB"`
	Unplaced                int      `json:"unplaced"`
}

// Place measures core/place with its own greedy rule.
func Place(o Options) (Result, error) {
	s, name, err := Snapshot(o)
	if err != nil {
		return Result{}, err
	}
	var made plan.Plan
	seconds := make([]float64, max(1, orFive(o.Runs)))
	allocated := make([]float64, len(seconds))
	for i := range seconds {
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		made = decide.Decide(s, decide.Policy{}, decide.Usual)
		seconds[i] = time.Since(start).Seconds()
		runtime.ReadMemStats(&after)
		allocated[i] = float64(after.TotalAlloc-before.TotalAlloc) / (1 << 20)
	}
	if err := Verify(s, &made); err != nil {
		return Result{}, err
	}
	out := Result{Mix: name, Pods: len(s.Waiting), Seconds: median(seconds), Nodes: len(made.Launches),
		CostPerHour: dollars(made.CostAfter - made.CostBefore), LowerBoundPerHour: LowerBound(s), AllocatedMiB: median(allocated)}
	out.PodsPerSecond = float64(out.Pods) / out.Seconds
	out.PeakRSSMiB = peakRSS()
	for _, u := range made.Unplaced {
		out.Unplaced += len(u.Pods)
	}
	if out.LowerBoundPerHour > 0 {
		gap := out.CostPerHour/out.LowerBoundPerHour - 1
		out.Gap = &gap
	}
	return out, nil
}

// Verify checks a plan for new machines against core/fit: that each machine
// has room for its pods, whichever of the types left open it becomes, and
// that every pod has one place at most.
func Verify(s *cluster.Snapshot, p *plan.Plan) error {
	pools := map[cluster.PoolID]*fit.Pool{}
	for i := range s.Pools {
		pools[s.Pools[i].ID] = fit.ForPool(&s.Pools[i], s.Daemons)
	}
	seen := map[[2]string]bool{}
	for i := range p.Launches {
		l := &p.Launches[i]
		for _, pod := range l.Pods {
			if key := [2]string{pod.Namespace, pod.Name}; seen[key] {
				return fmt.Errorf("pod %s/%s is placed twice", pod.Namespace, pod.Name)
			} else {
				seen[key] = true
			}
		}
		if err := verifyLaunch(pools[l.Pool], l); err != nil {
			return fmt.Errorf("%s: %w", l.Name, err)
		}
	}
	return nil
}

func verifyLaunch(pool *fit.Pool, l *plan.Launch) error {
	var sum quantity.Resources
	for _, pod := range l.Pods {
		sum = sum.Add(pod.Shape.Requests)
		if why := pool.OnNew(pod.Shape); !why.OK() {
			return fmt.Errorf("pod %s/%s: %s", pod.Namespace, pod.Name, why)
		}
	}
	types := l.Requirements.Get(cluster.LabelInstanceType)
	bought := false
	for k := range pool.Catalogue.Kinds {
		kind := &pool.Catalogue.Kinds[k]
		if !types.Allows(kind.Name) {
			continue
		}
		bought = bought || kind.Name == l.Choice.Kind
		if why := fit.Room(sum, pool.Kinds[k].Free); !why.OK() {
			return fmt.Errorf("type %s: %s", kind.Name, why)
		}
	}
	if !bought {
		return fmt.Errorf("its choice %s is not among the types left open", l.Choice.Kind)
	}
	return nil
}

// LowerBound returns the dollars an hour below which nothing can hold the
// waiting pods: fractions of machines cover their cpu, memory and pod slots,
// and no other rule counts. Machines count with what they have for pods,
// their own overhead and daemon pods taken off.
func LowerBound(s *cluster.Snapshot) float64 {
	var demand [3]float64
	for _, p := range s.Waiting {
		demand[0] += float64(p.Shape.Requests.CPU)
		demand[1] += float64(p.Shape.Requests.Memory)
		demand[2] += float64(p.Shape.Requests.Pods)
	}
	var columns []bound.Column
	for i := range s.Pools {
		pool := fit.ForPool(&s.Pools[i], s.Daemons)
		for _, o := range pool.Options {
			free, offer := pool.Kinds[o.Kind].Free.ClampNegative(), pool.Offer(o)
			if offer.Priced && offer.Available {
				columns = append(columns, bound.Column{Price: float64(offer.Price),
					Has: []float64{float64(free.CPU), float64(free.Memory), float64(free.Pods)}})
			}
		}
	}
	return bound.Cover(demand[:], columns).Cost / 1e6
}

func dollars(p quantity.MicroUSDPerHour) float64 { return float64(p) / 1e6 }

func orFive(n int) int {
	if n == 0 {
		return 5
	}
	return n
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

// peakRSS is the largest resident size of the process so far, in MiB.
func peakRSS() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return float64(usage.Maxrss) / 1024
}
