package simulate

import (
	"cmp"
	"slices"
	"time"

	"github.com/daemok/daemok/bench"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/quantity"
)

// Level is what is wanted from a moment on.
type Level struct {
	At             time.Duration // since the beginning
	DollarsPerHour float64       // that no instances for it can cost less than
}

// bound returns a lower bound on the cost of the workload: that of the instances, in fractions, for all pods that are
// wanted at each moment, as if each of them had a node at once. Jobs count from their creation for their length.
func (w *Workload) bound(pools []cluster.Pool) (dollars float64, levels []Level) {
	changes := w.changes()
	floor := bench.NewFloor(pools)
	var wanted quantity.Resources
	for i, c := range changes {
		wanted = wanted.Add(times(c.requests, c.count))
		if i+1 < len(changes) && changes[i+1].at == c.at {
			continue
		}
		until := w.For
		if i+1 < len(changes) {
			until = changes[i+1].at
		}
		level := Level{c.at, floor.DollarsPerHour(wanted)}
		dollars += level.DollarsPerHour * (until - c.at).Hours()
		levels = append(levels, level)
	}
	return dollars, levels
}

// want is so many pods more that are wanted from a moment on, or fewer.
type want struct {
	at       time.Duration
	requests quantity.Resources
	count    int
}

// changes lists how the number of wanted pods changes, in order of time, before the end.
func (w *Workload) changes() (out []want) {
	for i := range w.Services {
		s := &w.Services[i]
		before := 0
		for _, r := range s.Replicas {
			out = append(out, want{r.At, s.Shape.Requests, r.Count - before})
			before = r.Count
		}
	}
	for i := range w.Jobs {
		j := &w.Jobs[i]
		until := j.To
		if j.Length > 0 {
			until = j.From + j.Length
		}
		out = append(out, want{j.From, j.Shape.Requests, 1}, want{until, j.Shape.Requests, -1})
	}
	out = slices.DeleteFunc(out, func(x want) bool { return x.at >= w.For })
	slices.SortStableFunc(out, func(a, b want) int { return cmp.Compare(a.at, b.at) })
	return out
}

// times is what so many pods request; of a negative number it is what so many no longer do.
func times(r quantity.Resources, count int) quantity.Resources {
	return quantity.Resources{CPU: r.CPU * quantity.MilliCPU(count), Memory: r.Memory * quantity.Bytes(count), Pods: r.Pods * int64(count)}
}
