package simulate

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/daemok/daemok/bench"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/commitment"
	"github.com/daemok/daemok/core/feasibility"
	"github.com/daemok/daemok/kube/manifest"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/simulate/policy"
	"github.com/daemok/daemok/simulate/pools"
	"github.com/daemok/daemok/simulate/spot"
	"github.com/daemok/daemok/test/sim"
)

// Options says what to run.
type Options struct {
	Source
	Catalog   string               // file of instance types; empty: 400 made-up ones
	Capacity  string               // on-demand, spot or any; empty: on-demand or, with NodePools, what they say
	Budget    string               // nodes that may go at once: a number, or a share such as 10%; empty: 10% or, with NodePools, what they say
	Manifests []manifest.Object    // see pools.Of; none: one NodePool that may launch everything
	Older     translate.Generation // how Provisioners among them are read
	Spot      spot.Options
	Boots     sim.Boots // nil: see sim.Replay
	Seed      uint64
	Policies  []string // by name; none: the usual ones

	Commitments commitment.Commitments // of the account; costs are what they leave to pay

	Progress func(name string) // is called before each; nil: nothing is
}

// Report is what a workload comes to under each policy.
type Report struct {
	BoundDollars float64            `json:"boundDollars"`
	MixedDollars float64            `json:"mixedDollars"` // the bound if each instance holds the same mix of pods
	Hours        float64            `json:"hours"`
	Pods         int                `json:"pods"`
	TooLarge     int                `json:"tooLarge"` // pods that fit on no instance type and are left out
	Policies     map[string]Outcome `json:"policies"`
	Order        []string           `json:"-"` // of the policies
	Bound        []Level            `json:"-"`
	Of           Options            `json:"-"`
	Pools        []string           `json:"-"` // names of NodePools
	Notes        []string           `json:"-"` // what of manifests does not count
	Spot         string             `json:"-"` // what happens to spot instances; empty: none may be launched
	From         int64              `json:"-"` // second, as in the files
}

// Outcome is what a workload comes to under one policy.
type Outcome struct {
	CostDollars       float64      `json:"costDollars"`
	Gap               *float64     `json:"gap"`           // of the cost to the bound: 0.1 is a tenth more
	Evictions         int          `json:"evictions"`     // so that nodes could go for the better
	Interruptions     int          `json:"interruptions"` // of spot instances
	PendingP50Seconds float64      `json:"pendingP50Seconds"`
	PendingP95Seconds float64      `json:"-"`
	PendingP99Seconds float64      `json:"pendingP99Seconds"`
	NodesMean         float64      `json:"nodesMean"` // at a time
	Launched          int          `json:"launched"`  // instances, in all
	CPUSeconds        float64      `json:"cpuSeconds"`
	Seconds           float64      `json:"-"`
	Course            []sim.Moment `json:"-"`
}

// Run runs the workload under each policy, one after another. An error is of what was asked for, or of a policy that
// breaks a promise such as a disruption budget.
func Run(o Options) (Report, error) {
	policies, err := policy.Named(o.Policies)
	if err != nil {
		return Report{}, err
	}
	replay, out, err := o.prepare()
	if err != nil {
		return Report{}, err
	}
	for _, p := range policies {
		if o.Progress != nil {
			o.Progress(p.Name)
		}
		replay.Options = p.World(o.Seed)
		outcome, err := run(replay, out.BoundDollars)
		if err != nil {
			return Report{}, fmt.Errorf("policy %s: %w", p.Name, err)
		}
		out.Policies[p.Name], out.Order = outcome, append(out.Order, p.Name)
	}
	return out, nil
}

// prepare makes the world in which all policies are run, and a report without them.
func (o Options) prepare() (sim.Replay, Report, error) {
	w, err := Read(o.Source)
	if err != nil {
		return sim.Replay{}, Report{}, err
	}
	replay, notes, err := o.replay()
	if err != nil {
		return sim.Replay{}, Report{}, err
	}
	all := poolsOf(replay)
	market, err := o.Spot.Market(replay.Pool.Catalogue, o.Seed)
	if err != nil {
		return sim.Replay{}, Report{}, err
	}
	of := ""
	if mayLaunchSpot(all, replay.Daemons) {
		replay.Spot, of = market, o.Spot.String()
	}
	w = w.fitting(all, replay.Daemons)
	if w.Pods == 0 {
		return sim.Replay{}, Report{}, fmt.Errorf("nothing is left to simulate: %s", strings.Join(append(w.Notes, notes...), "; "))
	}
	notes = append(notes, w.Notes...)
	replay.Boots = o.Boots
	replay.Jobs, replay.Services, replay.For = w.Jobs, w.Services, w.For
	replay.Commitments = o.Commitments
	out := Report{Hours: w.For.Hours(), Pods: w.Pods, TooLarge: w.TooLarge, Policies: map[string]Outcome{}, Of: o, Spot: of, From: w.From, Notes: notes}
	for _, p := range all {
		out.Pools = append(out.Pools, p.ID.Name)
	}
	out.BoundDollars, out.MixedDollars, out.Bound = w.bound(all, replay.Daemons, replay.Spot)
	return replay, out, nil
}

// replay is a world without work, and what does not count of the manifests.
func (o Options) replay() (r sim.Replay, notes []string, err error) {
	if r.BudgetNodes, r.BudgetPercent, err = parseBudget(cmp.Or(o.Budget, "10%")); err != nil {
		return r, nil, err
	}
	if r.Pool, err = bench.PoolOf(o.Catalog, o.Capacity); err != nil || len(o.Manifests) == 0 {
		return r, nil, err
	}
	w, err := pools.Of(o.Manifests, pools.Options{Catalogue: r.Pool.Catalogue, Budget: o.Budget, Older: o.Older})
	if err != nil {
		return r, nil, err
	}
	r.Ruled, r.Daemons = w.Pools, w.Daemons
	for i := range r.Ruled {
		if p := &r.Ruled[i]; o.Capacity != "" {
			p.Requirements = p.Requirements.AndAll(r.Pool.Requirements)
		}
	}
	return r, w.Notes, nil
}

// poolsOf are the pools that count.
func poolsOf(r sim.Replay) (out []cluster.Pool) {
	for _, p := range r.Ruled {
		out = append(out, p.Pool)
	}
	if len(out) == 0 {
		out = []cluster.Pool{r.Pool}
	}
	return out
}

// mayLaunchSpot reports whether any spot instance is for some pool.
func mayLaunchSpot(pools []cluster.Pool, daemons []cluster.Daemon) bool {
	return slices.ContainsFunc(feasibility.ForPools(pools, daemons), func(p *feasibility.Pool) bool {
		return slices.ContainsFunc(p.Options, func(o feasibility.Option) bool { return p.Offering(o).Option == cluster.Spot })
	})
}

func run(r sim.Replay, bound float64) (Outcome, error) {
	cpu, start := bench.CPUSeconds(), time.Now()
	ran := r.Run()
	if ran.Wrong != nil {
		return Outcome{}, fmt.Errorf("at %s: %s: %s", ran.Wrong.At, ran.Wrong.Rule, ran.Wrong.What)
	}
	slices.Sort(ran.Waits)
	m := ran.Meter
	out := Outcome{CostDollars: m.Dollars, Evictions: m.Evictions, Interruptions: m.Interrupted, PendingP50Seconds: percentile(ran.Waits, 50),
		PendingP95Seconds: percentile(ran.Waits, 95), PendingP99Seconds: percentile(ran.Waits, 99), NodesMean: m.Hours / r.For.Hours(), Launched: m.Launched, CPUSeconds: bench.CPUSeconds() - cpu, Seconds: time.Since(start).Seconds(), Course: ran.Course}
	if bound > 0 && !r.Commitments.Any() { // it is without them
		gap := m.Dollars/bound - 1
		out.Gap = &gap
	}
	return out, nil
}

// percentile is one of sorted times, in seconds; 0 where there are none.
func percentile(sorted []time.Duration, percent int) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[(len(sorted)-1)*percent/100].Seconds()
}

// parseBudget reads "10%" or "3".
func parseBudget(text string) (nodes, percent int64, err error) {
	number, isShare := strings.CutSuffix(text, "%")
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 1 || isShare && n > 100 {
		return 0, 0, fmt.Errorf("--budget is %q: want a number of nodes or a share such as 10%%", text)
	}
	if isShare {
		return 0, n, nil
	}
	return n, 0, nil
}
