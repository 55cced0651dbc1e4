package simulate

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/feasibility"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/test/sim"
)

// Workload is what is run, in time since its beginning.
type Workload struct {
	Services []sim.Service
	Jobs     []sim.Job
	For      time.Duration
	Pods     int      // that it creates, were none evicted
	TooLarge int      // pods that fit on no instance type and are left out
	From     int64    // second of the recording at which it begins
	Notes    []string // what is left out, and why
	left     int      // services and jobs
}

// Source says where a workload comes from, and which part of it is run.
type Source struct {
	Services string // prefix of files, or else
	Pods     string // a file
	From, To int64  // in seconds as in the files; a To of 0: see Read
}

// Read reads a workload. Where neither beginning nor end are given, that of services is run as a whole, and of pods
// the week in which most are created; where the end is not given, services are run to the last full hour in which anything
// changes, and pods for a week.
func Read(s Source) (Workload, error) {
	if (s.Services == "") == (s.Pods == "") {
		return Workload{}, fmt.Errorf("give exactly one of --services and --pods")
	}
	if s.From < 0 || s.To < 0 {
		return Workload{}, fmt.Errorf("--from is %d and --to is %d: want seconds, 0 or more", s.From, s.To)
	}
	read, path := readServices, s.Services
	if s.Pods != "" {
		read, path = readPods, s.Pods
	}
	all, err := read(path)
	if err != nil {
		return Workload{}, err
	}
	from, to := all.span(s.From, s.To)
	if from >= to {
		return Workload{}, fmt.Errorf("--from is %d and --to is %d: want the latter to be more", from, to)
	}
	out := all.cut(from, to)
	if out.Pods == 0 {
		return Workload{}, fmt.Errorf("workload %s has no pod from second %d to %d: give others by --from and --to", path, from, to)
	}
	return out, nil
}

// How much is run where the end is not given.
const (
	weekSeconds = int64(7 * 24 * time.Hour / time.Second)
	hourSeconds = int64(time.Hour / time.Second)
)

// span is which part to run.
func (x *recording) span(from, to int64) (int64, int64) {
	switch {
	case to > 0:
		return from, to
	case !x.fixed:
		return from, (x.last() + hourSeconds - 1) / hourSeconds * hourSeconds
	case from == 0:
		from = x.busiestWeek()
	}
	return from, from + weekSeconds
}

// last is the second at which something changes last.
func (x *recording) last() (out int64) {
	for _, d := range x.services {
		for _, c := range d.replicas {
			out = max(out, c.second)
		}
	}
	for _, j := range x.jobs {
		out = max(out, j.from)
	}
	return out
}

// busiestWeek is the start of the week in which most jobs are created, the first of several.
func (x *recording) busiestWeek() (from int64) {
	var created []int64
	for _, j := range x.jobs {
		created = append(created, j.from)
	}
	slices.Sort(created)
	most, next := 0, 0
	for i := range created {
		for next < len(created) && created[next] < created[i]+weekSeconds {
			next++
		}
		if next-i > most {
			most, from = next-i, created[i]
		}
	}
	return from
}

// cut is the part of a recording from one second to another.
func (x *recording) cut(from, to int64) Workload {
	out := Workload{For: seconds(to - from), From: from}
	for _, d := range x.services {
		s := sim.Service{Name: d.name, Shape: d.shape, Starts: d.starts, MaxUnavailable: d.maxUnavailable, Replicas: d.cut(from, to)}
		if n := podsOf(&s); n > 0 {
			out.Services, out.Pods = append(out.Services, s), out.Pods+n
		}
	}
	slices.SortStableFunc(x.jobs, func(a, b job) int { return cmp.Compare(a.from, b.from) })
	for _, j := range x.jobs {
		if j.from >= to || j.to <= from {
			continue
		}
		one := sim.Job{Name: j.name, Shape: j.shape, From: seconds(max(j.from, from) - from)}
		if x.fixed {
			one.Name, one.To = fmt.Sprintf("job-%05d", len(out.Jobs)), seconds(min(j.to, to)-from)
		} else {
			one.Length = seconds(j.to - max(j.from, from))
		}
		out.Jobs, out.Pods = append(out.Jobs, one), out.Pods+1
	}
	return out
}

func seconds(n int64) time.Duration { return time.Duration(n) * time.Second }

// cut is the state at one second, and all changes until another.
func (d *deployment) cut(from, to int64) (out []sim.Replicas) {
	for _, c := range d.replicas {
		switch {
		case c.second <= from:
			out = []sim.Replicas{{Count: c.count}}
		case c.second < to:
			out = append(out, sim.Replicas{At: seconds(c.second - from), Count: c.count})
		}
	}
	return out
}

// podsOf counts the pods that a service creates, were none evicted.
func podsOf(s *sim.Service) (n int) {
	before := 0
	for _, r := range s.Replicas {
		n += max(0, r.Count-before)
		before = r.Count
	}
	return n
}

// fitting leaves out pods that fit, beside daemon pods, on nothing that the pools may launch, and counts them.
func (w Workload) fitting(pools []cluster.Pool, daemons []cluster.Daemon) Workload {
	var free []quantity.Resources
	for _, p := range feasibility.ForPools(pools, daemons) {
		for _, o := range p.Options {
			if f := p.Kinds[o.Kind].Free; !slices.ContainsFunc(free, func(x quantity.Resources) bool { return f.FitsIn(x) }) {
				free = append(free, f)
			}
		}
	}
	fits := func(shape *cluster.Shape) bool {
		return slices.ContainsFunc(free, func(f quantity.Resources) bool { return shape.Requests.FitsIn(f) })
	}
	out := w
	out.Services, out.Jobs = nil, nil
	for i := range w.Services {
		if s := w.Services[i]; fits(s.Shape) {
			out.Services = append(out.Services, s)
		} else {
			out.leave(podsOf(&s), fmt.Sprintf("service %s is left out: each of its pods requests %s", s.Name, s.Shape.Requests))
		}
	}
	for _, j := range w.Jobs {
		if fits(j.Shape) {
			out.Jobs = append(out.Jobs, j)
		} else {
			out.leave(1, fmt.Sprintf("pod %s, created at second %d, is left out: it requests %s", j.Name, w.From+int64(j.From.Seconds()), j.Shape.Requests))
		}
	}
	return out
}

// leftMost is how many notes say what is left out.
const leftMost = 10

// leave leaves out pods that are too large.
func (w *Workload) leave(pods int, why string) {
	w.TooLarge, w.Pods = w.TooLarge+pods, w.Pods-pods
	switch w.left++; {
	case w.left <= leftMost:
		w.Notes = append(w.Notes, why+", more than any instance that may be launched has")
	case w.left == leftMost+1:
		w.Notes = append(w.Notes, "there are more that are left out")
	}
}
