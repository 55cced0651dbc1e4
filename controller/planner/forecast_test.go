package planner

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/decide"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/scenario"
	"github.com/daemok/daemok/kube/apply"
	"github.com/daemok/daemok/kube/snapshot/pods"
)

// crowd is a world in which pods arrive by a timetable, and what became of
// them is written down with the time.
type crowd struct {
	t        *testing.T
	began    time.Time
	arrivals []time.Duration // of each pod, from the beginning
	slow     time.Duration   // how long preparing takes
	changed  chan struct{}
	change   func(s *cluster.Snapshot, after time.Duration) // what else changes; nil: nothing

	mu      sync.Mutex
	story   []string
	ordered bool
	text    string // of the last snapshot
	last    *cluster.Snapshot
}

func newCrowd(t *testing.T, arrivals ...time.Duration) *crowd {
	c := &crowd{t: t, began: time.Now(), arrivals: arrivals, changed: make(chan struct{}, 1)}
	for _, after := range arrivals {
		time.AfterFunc(after, func() { c.changed <- struct{}{} })
	}
	return c
}

func (c *crowd) here() []pods.Arrival {
	var list []pods.Arrival
	for i, after := range c.arrivals {
		if at := c.began.Add(after); !at.After(time.Now()) {
			list = append(list, pods.Arrival{UID: fmt.Sprint(i), At: at})
		}
	}
	return list
}

func (c *crowd) Arrivals() (list []pods.Arrival, next, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ordered {
		return nil, time.Time{}, time.Now()
	}
	return c.here(), time.Time{}, time.Now()
}

func (c *crowd) Snapshot() *cluster.Snapshot {
	text := "snapshot 7 2026-11-21T04:00:00Z\nshape web namespace=default cpu=1500m memory=1Gi\n"
	for i := range c.here() {
		text += fmt.Sprintf("waiting default/web-%d shape=web\n", i)
	}
	return c.seen(text + `catalogue c1 1
kind m5.large cpu=2 memory=8Gi pods=29
  offer us-west-2a on-demand 0.096
pool NodePool/default catalogue=c1
`)
}

// seen is a snapshot; what has not changed is the same values, as those of a cluster state are.
func (c *crowd) seen(text string) *cluster.Snapshot {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.text != text {
		s, err := scenario.Parse(text)
		if err != nil {
			c.t.Error(err)
		}
		c.text, c.last = text, s
	}
	out := *c.last
	if c.change != nil {
		c.change(&out, time.Since(c.began))
	}
	return &out
}

func (c *crowd) Changed() <-chan struct{}                              { return c.changed }
func (c *crowd) Project(s *cluster.Snapshot) *cluster.Snapshot         { return s }
func (c *crowd) Planned(*cluster.Snapshot, plan.Plan, time.Duration)   {}
func (c *crowd) Explain(*cluster.Snapshot, plan.Plan)                  {}
func (c *crowd) Launched([]apply.Launched)                             {}
func (c *crowd) Withdraw(context.Context, plan.Plan) []apply.Withdrawn { return nil }
func (c *crowd) Withdrawn([]apply.Withdrawn)                           {}
func (c *crowd) Replacing(plan.Move, apply.Launched)                   {}
func (c *crowd) Stuck(plan.Move, error)                                {}
func (c *crowd) Hold(*cluster.Snapshot, plan.Plan)                     {}
func (c *crowd) Moved(apply.Ended)                                     {}
func (*crowd) Sought(time.Duration)                                    {}
func (*crowd) Gathered(error)                                          {}
func (*crowd) Gather(context.Context, plan.Plan) error                 { return nil }

func (c *crowd) note(what string, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.story = append(c.story, fmt.Sprintf("%v: %s %d", time.Since(c.began), what, n))
}

func (c *crowd) Prepare(_ context.Context, launches []plan.Launch) {
	c.note("prepare", len(launches))
	time.Sleep(c.slow) // virtual time
}

func (c *crowd) Launch(_ context.Context, _ *cluster.Snapshot, p plan.Plan) []apply.Launched {
	c.note("launch", len(p.Launches))
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ordered = true
	return nil
}

func (c *crowd) Move(context.Context, *cluster.Snapshot, plan.Plan, apply.Listener) {}

// planner plans for the pods.
func (c *crowd) planner() *Planner {
	return &Planner{
		Source: c, Ledger: c, Listener: c, Applier: c,
		Window: Window{Idle: time.Second, Max: 10 * time.Second}, Now: time.Now,
	}
}

// runs plans until instances for the pods are being launched, and a while longer.
func (c *crowd) runs(p *Planner) {
	ctx, cancel := context.WithTimeout(c.t.Context(), 5*time.Second)
	defer cancel()
	if err := p.Run(ctx); err != nil {
		c.t.Error(err)
	}
}

// run returns the story.
func (c *crowd) run(prepared bool) string {
	p := c.planner()
	if prepared {
		p.Preparer = c
	}
	c.runs(p)
	return fmt.Sprint(c.story)
}

// Pods are prepared for as they come, and once no more have come for a tenth of the
// window the plan is made ahead, and what it launches prepared.
func TestForecasts(t *testing.T) {
	ms := time.Millisecond
	tests := map[string]struct {
		arrivals []time.Duration
		slow     time.Duration
		without  bool // no preparer
		want     string
	}{
		"a pod's launch is prepared when it arrives": {[]time.Duration{0}, 0, false,
			"[0s: prepare 1 100ms: prepare 1 1s: launch 1]"},
		"pods that follow are prepared for together": {[]time.Duration{0, 100 * ms, 200 * ms, 300 * ms}, 0, false,
			"[0s: prepare 1 400ms: prepare 4 1.3s: launch 4]"},
		"late ones are too": {[]time.Duration{0, 900 * ms, 1000 * ms}, 0, false,
			"[0s: prepare 1 100ms: prepare 1 900ms: prepare 2 1.1s: prepare 3 2s: launch 3]"},
		"a slow cloud delays no plan": {[]time.Duration{0, 100 * ms}, 3 * time.Second, false,
			"[0s: prepare 1 200ms: prepare 2 1.1s: launch 2]"},
		"a cloud that was slow once is told of what came meanwhile": {[]time.Duration{0, 100 * ms}, 500 * ms, false,
			"[0s: prepare 1 200ms: prepare 2 1.1s: launch 2]"},
		"without anybody to tell there are none": {[]time.Duration{0, 100 * ms}, 0, true,
			"[1.1s: launch 2]"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCrowd(t, tt.arrivals...)
				c.slow = tt.slow
				if got := c.run(!tt.without); got != tt.want {
					t.Errorf("story %s\nwant  %s", got, tt.want)
				}
			})
		})
	}
}

// TestAForecastThatComesTooLateIsDropped: when the real plan is made already,
// its own launches prepare what they need.
func TestAForecastThatComesTooLateIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrowd(t)
		f := forecast{preparer: c, now: time.Now, done: make(chan outlook, 1)}
		f.decide = func(s *cluster.Snapshot) plan.Plan {
			time.Sleep(time.Second)
			return decide.Decide(s, decide.Policy{}, decide.Quick())
		}
		c.arrivals = []time.Duration{0}
		f.begin(t.Context(), c.Snapshot(), 1)
		f.close()
		f.under.Wait()
		if len(c.story) > 0 {
			t.Errorf("story %v, want nothing prepared", c.story)
		}
		f.finished(<-f.done)
		if wait, due := f.dueIn(2, time.Now()); !due || wait != 9*time.Second {
			t.Errorf("after a forecast of a second the next is due in %v (%v), want 9s", wait, due)
		}
	})
}

// late is a crowd of which the first pod comes while a snapshot is taken.
type late struct{ *crowd }

func (l late) Snapshot() *cluster.Snapshot {
	l.mu.Lock()
	if len(l.arrivals) == 0 {
		l.arrivals = []time.Duration{time.Since(l.began)}
	}
	l.mu.Unlock()
	return l.crowd.Snapshot()
}

// TestPodsThatComeInTheMomentOfAPlanAreGatheredFirst: something else asked for
// the plan, and pods that come while it is begun wait for their window.
func TestPodsThatComeInTheMomentOfAPlanAreGatheredFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrowd(t)
		p := &Planner{
			Source: late{c}, Ledger: c, Listener: c, Applier: c,
			Window: Window{Idle: time.Second, Max: 10 * time.Second}, Now: time.Now,
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if err := p.Run(ctx); err != nil {
			t.Fatal(err)
		}
		if want := []string{"1s: launch 1"}; !slices.Equal(c.story, want) {
			t.Errorf("the story was %v, want %v", c.story, want)
		}
	})
}
