package simulate

import (
	"cmp"
	"slices"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/floor"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/test/sim"
)

// Level is what is wanted from a moment on.
type Level struct {
	At             time.Duration // since the beginning
	DollarsPerHour float64       // that no instances for it can cost less than
}

// bound returns a lower bound on the cost of the workload: that of the instances, in fractions, for all pods that are
// wanted at each moment, as if each of them had a node at once, at the prices of that moment
// and beside daemon pods. Jobs count from their
// creation for their length. mixed is the least cost if each instance holds the same mix of pods.
func (w *Workload) bound(pools []cluster.Pool, daemons []cluster.Daemon, spot sim.SpotMarket) (dollars, mixed float64, levels []Level) {
	changes := w.changes(spot.PriceStep)
	var of *floor.Floor
	var wanted quantity.Resources
	for i, c := range changes {
		if of == nil || c.priced {
			of = floor.New(priced(pools, spot, c.at), daemons)
		}
		wanted = wanted.Add(times(c.requests, c.count))
		if i+1 < len(changes) && changes[i+1].at == c.at {
			continue
		}
		until := w.For
		if i+1 < len(changes) {
			until = changes[i+1].at
		}
		least, ofMix := of.DollarsPerHour(wanted)
		dollars += least * (until - c.at).Hours()
		mixed += ofMix * (until - c.at).Hours()
		levels = append(levels, Level{c.at, least})
	}
	return dollars, mixed, levels
}

// priced are the pools at the prices of a moment.
func priced(pools []cluster.Pool, spot sim.SpotMarket, at time.Duration) []cluster.Pool {
	out := slices.Clone(pools)
	for i := range out {
		out[i].Catalogue = spot.Priced(out[i].Catalogue, at)
	}
	return out
}

// want is so many pods more that are wanted from a moment on, or fewer, or other prices.
type want struct {
	at       time.Duration
	requests quantity.Resources
	count    int
	priced   bool // prices change
}

// changes lists how the number of wanted pods changes, and prices do where these have a step, in order of time, before
// the end.
func (w *Workload) changes(step time.Duration) (out []want) {
	for at := step; step > 0 && at < w.For; at += step {
		out = append(out, want{at: at, priced: true})
	}
	for i := range w.Services {
		s := &w.Services[i]
		before := 0
		for _, r := range s.Replicas {
			out = append(out, want{at: r.At, requests: s.Shape.Requests, count: r.Count - before})
			before = r.Count
		}
	}
	for i := range w.Jobs {
		j := &w.Jobs[i]
		until := j.To
		if j.Length > 0 {
			until = j.From + j.Length
		}
		out = append(out, want{at: j.From, requests: j.Shape.Requests, count: 1}, want{at: until, requests: j.Shape.Requests, count: -1})
	}
	out = slices.DeleteFunc(out, func(x want) bool { return x.at >= w.For })
	slices.SortStableFunc(out, func(a, b want) int { return cmp.Compare(a.at, b.at) })
	return out
}

// times is what so many pods request; of a negative number it is what so many no longer do.
func times(r quantity.Resources, count int) quantity.Resources {
	return quantity.Resources{CPU: r.CPU * quantity.MilliCPU(count), Memory: r.Memory * quantity.Bytes(count), Pods: r.Pods * int64(count)}
}
