package planner

import (
	"context"
	"errors"
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

// oneWaits is a world in which one pod waits and nothing else changes.
type oneWaits struct{ s *cluster.Snapshot }

func (w oneWaits) Snapshot() *cluster.Snapshot { return w.s }
func (w oneWaits) Arrivals() (list []pods.Arrival, next, now time.Time) {
	return []pods.Arrival{{UID: w.s.Waiting[0].UID, At: time.Now()}}, time.Time{}, time.Now()
}
func (w oneWaits) Changed() <-chan struct{}                              { return nil }
func (w oneWaits) Project(s *cluster.Snapshot) *cluster.Snapshot         { return s }
func (w oneWaits) Planned(*cluster.Snapshot, plan.Plan, time.Duration)   {}
func (w oneWaits) Launched([]apply.Launched)                             {}
func (w oneWaits) Explain(*cluster.Snapshot, plan.Plan)                  {}
func (w oneWaits) Withdraw(context.Context, plan.Plan) []apply.Withdrawn { return nil }
func (w oneWaits) Withdrawn([]apply.Withdrawn)                           {}
func (w oneWaits) Replacing(plan.Move, apply.Launched)                   {}
func (w oneWaits) Stuck(plan.Move, error)                                {}
func (w oneWaits) Moved(apply.Ended)                                     {}
func (w oneWaits) Sought(time.Duration)                                  {}
func (w oneWaits) Hold(*cluster.Snapshot, plan.Plan)                     {}
func (w oneWaits) Gathered(error)                                        {}
func (w oneWaits) Gather(context.Context, plan.Plan) error               { return nil }

func onePodWaits(t *testing.T) oneWaits {
	t.Helper()
	s, err := scenario.Parse(`snapshot 7 2026-11-21T04:00:00Z
shape web namespace=default cpu=500m memory=1Gi
waiting default/web shape=web
catalogue c1 1
kind m5.large cpu=2 memory=8Gi pods=29
  offer us-west-2a on-demand 0.096
pool NodePool/default catalogue=c1
`)
	if err != nil {
		t.Fatal(err)
	}
	return oneWaits{s}
}

// refusing is an applier whose API server creates nothing.
type refusing struct{ tries *int }

func (r refusing) Launch(_ context.Context, _ *cluster.Snapshot, p plan.Plan) []apply.Launched {
	*r.tries++
	return []apply.Launched{{Launch: p.Launches[0], Err: errors.New("the API server is away")}}
}
func (refusing) Withdraw(context.Context, plan.Plan) []apply.Withdrawn { return nil }
func (refusing) Hold(*cluster.Snapshot, plan.Plan)                     {}
func (refusing) Gather(context.Context, plan.Plan) error               { return nil }
func (refusing) Move(context.Context, *cluster.Snapshot, plan.Plan, apply.Listener) {
}

// TestAnOrderThatFailedIsRepeated: nothing changes in the watches when a claim
// could not be created, and its pod must not wait for a change.
func TestAnOrderThatFailedIsRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		world, tries := onePodWaits(t), 0
		p := &Planner{
			Source: world, Ledger: world, Listener: world, Applier: refusing{&tries},
			Window: Window{Idle: time.Second, Max: 10 * time.Second}, Now: time.Now,
		}
		ctx, cancel := context.WithTimeout(t.Context(), 3*retryEvery)
		defer cancel()
		if err := p.Run(ctx); err != nil {
			t.Fatal(err)
		}
		if tries != 3 {
			t.Errorf("the order was tried %d times in %v, want one in each %v", tries, 3*retryEvery, retryEvery)
		}
	})
}

// slow is a listener that takes long to explain a plan, and an applier.
type slow struct {
	oneWaits
	ordered chan<- time.Time
}

func (s slow) Explain(*cluster.Snapshot, plan.Plan) { time.Sleep(20 * time.Second) }
func (s slow) Launch(_ context.Context, _ *cluster.Snapshot, p plan.Plan) []apply.Launched {
	s.ordered <- time.Now()
	return nil
}
func (s slow) Move(context.Context, *cluster.Snapshot, plan.Plan, apply.Listener) {}

// TestNoInstanceWaitsForWordsAboutThePlan: the events of pods may take long, and the
// instances are being launched by then.
func TestNoInstanceWaitsForWordsAboutThePlan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, ordered := time.Now(), make(chan time.Time, 10)
		world := slow{onePodWaits(t), ordered}
		p := &Planner{
			Source: world, Ledger: world, Listener: world, Applier: world,
			Window: Window{Idle: time.Second, Max: 10 * time.Second}, Now: time.Now,
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if err := p.Run(ctx); err != nil {
			t.Fatal(err)
		}
		if after := (<-ordered).Sub(began); after > time.Second {
			t.Errorf("the machine was ordered after %v, want it when the window closes", after)
		}
	})
}

// hardly is a world whose host is so short of processors that a plan takes
// half a minute, and where something changes all the time.
type hardly struct {
	oneWaits
	changed chan struct{}
	plans   []time.Time
}

func (h *hardly) Changed() <-chan struct{} { return h.changed }
func (h *hardly) Arrivals() (list []pods.Arrival, next, now time.Time) {
	return nil, time.Time{}, time.Now()
}
func (h *hardly) effort(s *cluster.Snapshot) decide.Effort {
	h.plans = append(h.plans, time.Now())
	time.Sleep(30 * time.Second)
	return decide.Usual(s)
}

// TestPodsDoNotWaitForRestAfterASlowPlan: a plan that took half a minute is
// followed by another one soon, not after nine times as long.
func TestPodsDoNotWaitForRestAfterASlowPlan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries := 0
		w := &hardly{oneWaits: onePodWaits(t), changed: make(chan struct{}, 1)}
		p := &Planner{
			Source: w, Ledger: w, Listener: w, Applier: refusing{&tries}, Effort: Effort{Of: w.effort},
			Window: Window{Idle: time.Second, Max: 10 * time.Second}, Now: time.Now,
		}
		ctx, cancel := context.WithTimeout(t.Context(), 70*time.Second)
		defer cancel()
		began := time.Now()
		w.changed <- struct{}{}
		if err := p.Run(ctx); err != nil {
			t.Fatal(err)
		}
		if len(w.plans) < 2 || w.plans[1].Sub(began) != 30*time.Second+pauseMax {
			t.Errorf("plans began at %v, want the second %v after the end of the first", w.plans, pauseMax)
		}
	})
}
