package bench

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/decide"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/sim"
)

// TraceOptions says which recorded cluster to run, and in which pool.
type TraceOptions struct {
	Trace    string // file: comma separated values, see readStays
	Catalog  string // file; empty for the 400 made-up types
	From, To int64  // in seconds of the trace; both 0: its busiest week
	Budget   string // nodes that may go at once: a number or "10%"
	Capacity string // on-demand, spot or any; empty means on-demand
	Seed     uint64
}

// Course is what a week, or any other time, came to under one way to decide.
type Course struct {
	CostDollars            float64  `json:"costDollars"`
	Gap                    *float64 `json:"gap"` // of the cost to the bound
	SavedDollars           float64  `json:"savedDollars"`
	Evictions              int      `json:"evictions"` // so that nodes could go
	EvictionsPer100Dollars *float64 `json:"evictionsPer100Dollars"`
	PendingP50Seconds      float64  `json:"pendingP50Seconds"`
	PendingP99Seconds      float64  `json:"pendingP99Seconds"`
	Machines               int      `json:"machines"`     // bought in all
	MachinesMean           float64  `json:"machinesMean"` // at a time
	Moves                  int      `json:"moves"`        // that were carried out
	Plans                  int      `json:"plans"`
	Seconds                float64  `json:"seconds"`
	CPUSeconds             float64  `json:"cpuSeconds"`
}

// Traced is what a recorded cluster came to: as the controller decides and,
// beside that, by two plain rules, and where only empty nodes go. What is saved
// is counted from the last.
type Traced struct {
	Pods         int     `json:"pods"`
	TooLarge     int     `json:"tooLarge"` // pods that fit on no machine and are left out
	Hours        float64 `json:"hours"`
	BoundDollars float64 `json:"boundDollars"`
	Course
	Plain     Course `json:"plain"`
	Untouched Course `json:"untouched"`
}

// Trace runs a recorded cluster in virtual time.
func Trace(o TraceOptions) (Traced, error) {
	r, out, err := o.replay()
	if err != nil {
		return out, err
	}
	out.BoundDollars = boundDollars(&cluster.Snapshot{Pools: []cluster.Pool{r.Pool}}, r.Jobs)
	for _, way := range []struct {
		name   string
		decide func(*cluster.Snapshot) plan.Plan
		course *Course
	}{{"where only empty nodes go", untouched, &out.Untouched}, {"by plain rules", plainly(), &out.Plain}, {"as the controller decides", usual, &out.Course}} {
		r.Decide, r.Forgetful = way.decide, way.course == &out.Plain
		if *way.course, err = runCourse(r, out.BoundDollars); err != nil {
			return out, fmt.Errorf("%s: %w", way.name, err)
		}
	}
	out.Untouched.saved(out.Untouched.CostDollars)
	out.Plain.saved(out.Untouched.CostDollars)
	out.Course.saved(out.Untouched.CostDollars)
	return out, nil
}

func usual(s *cluster.Snapshot) plan.Plan { return decide.Decide(s, decide.Policy{}, decide.Usual(s)) }

func (o TraceOptions) replay() (r sim.Replay, out Traced, err error) {
	stays, err := readStays(o.Trace)
	if err != nil {
		return r, out, err
	}
	stays, r.For, err = span(stays, o.From, o.To)
	if err != nil {
		return r, out, fmt.Errorf("trace %s: %w", o.Trace, err)
	}
	if r.Pool, err = soldPool(o.Catalog, o.Capacity); err != nil {
		return r, out, err
	}
	if r.BudgetNodes, r.BudgetPercent, err = parseBudget(o.Budget); err != nil {
		return r, out, err
	}
	r.Seed = o.Seed
	r.Jobs, out.TooLarge = jobs(stays, &r.Pool)
	out.Pods, out.Hours = len(r.Jobs), r.For.Hours()
	return r, out, nil
}

// parseBudget reads "10%" or "3".
func parseBudget(text string) (nodes, percent int64, err error) {
	number, isShare := strings.CutSuffix(text, "%")
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 1 || isShare && n > 100 {
		return 0, 0, fmt.Errorf("budget %q: want a number of nodes or a share such as 10%%", text)
	}
	if isShare {
		return 0, n, nil
	}
	return n, 0, nil
}

func runCourse(r sim.Replay, bound float64) (Course, error) {
	cpu, start := cpuSeconds(), time.Now()
	ran := r.Run()
	if ran.Wrong != nil {
		return Course{}, fmt.Errorf("at %s: %s: %s", ran.Wrong.At, ran.Wrong.Rule, ran.Wrong.What)
	}
	slices.Sort(ran.Waits)
	at := func(percent int) float64 { return ran.Waits[(len(ran.Waits)-1)*percent/100].Seconds() }
	m := ran.Meter
	return Course{CostDollars: m.Dollars, Gap: gap(m.Dollars, bound), Evictions: m.Evictions, PendingP50Seconds: at(50), PendingP99Seconds: at(99),
		Machines: m.Bought, MachinesMean: m.Hours / r.For.Hours(), Moves: m.Moves, Plans: m.Plans,
		Seconds: time.Since(start).Seconds(), CPUSeconds: cpuSeconds() - cpu}, nil
}

// saved notes what was saved where it would have cost so much, and what that took.
func (c *Course) saved(from float64) {
	if c.SavedDollars = from - c.CostDollars; c.SavedDollars > 0 {
		each := 100 * float64(c.Evictions) / c.SavedDollars
		c.EvictionsPer100Dollars = &each
	}
}
