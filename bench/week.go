package bench

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/sim"
)

// weekSeconds is how much of a recorded cluster is run where nobody says.
const weekSeconds = int64(7 * 24 * time.Hour / time.Second)

// busiestWeek returns the start of the week in which most pods were created, the
// first of several. Stays are in order of creation.
func busiestWeek(stays []stay) (from int64) {
	most, next := 0, 0
	for i := range stays {
		for next < len(stays) && stays[next].from < stays[i].from+weekSeconds {
			next++
		}
		if next-i > most {
			most, from = next-i, stays[i].from
		}
	}
	return from
}

// span cuts the time from one moment to another out of a recorded cluster. Where
// both are 0 it is the busiest week, and where only the end is 0, a week.
func span(stays []stay, from, to int64) (out []stay, length time.Duration, err error) {
	slices.SortStableFunc(stays, func(a, b stay) int { return cmp.Compare(a.from, b.from) })
	if from == 0 && to == 0 {
		from = busiestWeek(stays)
	}
	if to == 0 {
		to = from + weekSeconds
	}
	if to <= from {
		return nil, 0, fmt.Errorf("from %d to %d: want the latter to be more", from, to)
	}
	for _, s := range stays {
		if s.from < to && s.to > from {
			s.from, s.to = max(s.from, from)-from, min(s.to, to)-from
			out = append(out, s)
		}
	}
	if len(out) == 0 {
		return nil, 0, fmt.Errorf("no pod was there from %d to %d", from, to)
	}
	return out, time.Duration(to-from) * time.Second, nil
}

// jobs are the pods as a virtual world runs them; equal ones share a shape. Those
// that fit on no machine are left out and counted.
func jobs(stays []stay, pool *cluster.Pool) (out []sim.Job, tooLarge int) {
	shapes := map[[resources]int64]*cluster.Shape{}
	for i, s := range stays {
		need := requests(s.pod)
		if !slices.ContainsFunc(pool.Catalogue.Kinds, func(k cluster.Kind) bool { return need.FitsIn(k.Allocatable) }) {
			tooLarge++
			continue
		}
		if shapes[amountsOf(need)] == nil {
			shapes[amountsOf(need)] = &cluster.Shape{Namespace: "default", Requests: need}
		}
		out = append(out, sim.Job{Name: fmt.Sprintf("job-%05d", i), Shape: shapes[amountsOf(need)],
			From: time.Duration(s.from) * time.Second, To: time.Duration(s.to) * time.Second})
	}
	return out, tooLarge
}

// boundDollars is less than what machines can cost that hold the jobs at every
// moment at which they are wanted: LowerBound, moment by moment.
func boundDollars(s *cluster.Snapshot, jobs []sim.Job) float64 {
	type change struct {
		at   time.Duration
		of   quantity.Resources
		goes bool
	}
	var all []change
	for _, j := range jobs {
		all = append(all, change{j.From, j.Shape.Requests, false}, change{j.To, j.Shape.Requests, true})
	}
	slices.SortStableFunc(all, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	c, known := newCover(s), map[[resources]int64]float64{}
	var wanted quantity.Resources
	out := 0.0
	for i, x := range all {
		if x.goes {
			wanted = wanted.Sub(x.of)
		} else {
			wanted = wanted.Add(x.of)
		}
		if i+1 == len(all) || all[i+1].at == x.at {
			continue
		}
		amounts := amountsOf(wanted)
		perHour, found := known[amounts]
		if !found {
			for d, n := range amounts {
				c.rows[d].demand = float64(n)
			}
			perHour = c.cost()
			known[amounts] = perHour
		}
		out += perHour * (all[i+1].at - x.at).Hours()
	}
	return out
}
