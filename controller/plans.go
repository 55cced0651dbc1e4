package controller

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/controller/launch"
	"github.com/daemok/daemok/controller/nodepool"
	"github.com/daemok/daemok/controller/planner"
	"github.com/daemok/daemok/controller/remember"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/internal/pause"
	"github.com/daemok/daemok/kube/apply"
	"github.com/daemok/daemok/kube/snapshot"
	"github.com/daemok/daemok/observe/record"
)

// resumeAgain is when it is tried again to take up what an earlier process left.
const resumeAgain = 2 * time.Second

// plans is the task that makes plans, once everything that there is has been
// seen and what an earlier process left is taken up. newest are handed each; planned is closed with the first.
func (p Parts) plans(
	clusterState *snapshot.ClusterState, ledger *apply.Ledger, applier *apply.Applier, requests *launch.Requests,
	newest []func(plan.Plan), planned chan<- struct{},
) func(context.Context) error {
	recorder := &planner.Recorder{Log: p.Log, Events: p.Events, Metrics: p.Metrics, Nominations: p.Nominations, Failures: p.Failures, Pods: p.Pods,
		Workloads: planner.NewWorkloads(p.Live, p.Events), Becoming: p.becoming, Traces: p.Traces, First: func() { close(planned) }}
	listeners := planner.All{p.Traces, recorder, &record.Clerk{Record: p.Record, Now: p.Now}}
	if p.Savings != nil {
		listeners = append(listeners, p.Savings)
	}
	loop := &planner.Planner{
		Source: clusterState, Ledger: ledger, Applier: applier, Now: p.Now, Traces: p.Traces,
		Listener: withNewest{listeners, newest, p.Made},
		Preparer: &launch.Preparer{Pools: clusterState, Instances: p.Instances(plansName), Log: p.Log, Requests: requests},
		Policy:   p.Policy, Effort: p.Effort, Window: p.Window, Planning: p.Metrics.Planning,
	}
	book := &remember.Book{ClusterState: clusterState, Spot: p.Spot, Sizes: p.Sizes, Offerings: p.Offerings, Store: p.Store, Live: p.Live, Namespace: p.Namespace}
	return func(ctx context.Context) error {
		defer applier.Wait()
		if !p.Filled(ctx) || !clusterState.WaitForFirst(ctx) {
			return nil
		}
		if !catchUp(ctx, p.Log, clusterState, p.Live) {
			return nil
		}
		if err := book.Load(ctx); err != nil {
			p.Log.Warn("plans do not know what was seen before this process; it is tried again every minute", "error", err.Error())
		}
		if !resume(ctx, p.Log, applier, listeners) {
			return nil
		}
		p.Began()
		var telling sync.WaitGroup
		defer telling.Wait()
		telling.Go(func() { recorder.Workloads.Run(ctx) })
		telling.Go(func() { _ = Round{What: "store what the leader has seen", Do: book.Round}.Run(ctx, p.Log) })
		return loop.Run(ctx)
	}
}

// withNewest also hands on each plan when it is made, and once it is carried out.
type withNewest struct {
	planner.All
	newest []func(plan.Plan)
	made   func(*cluster.Snapshot, plan.Plan) // may be nil
}

// Explain reports a plan that is carried out.
func (w withNewest) Explain(s *cluster.Snapshot, p plan.Plan) {
	w.All.Explain(s, p)
	if w.made != nil {
		w.made(s, p)
	}
}

// Planned reports a new plan.
func (w withNewest) Planned(s *cluster.Snapshot, p plan.Plan, took time.Duration) {
	w.All.Planned(s, p, took)
	for _, of := range w.newest {
		of(p)
	}
}

// ring keeps the record in ConfigMaps, where it is known in which namespace, once the first plan is made.
func (p Parts) ring(planned <-chan struct{}) func(context.Context) error {
	return func(ctx context.Context) error {
		if p.Namespace == "" {
			return nil
		}
		await(ctx, planned)
		return (&record.Ring{
			Record: p.Record, Store: p.Store, Live: p.Live, Namespace: p.Namespace, Log: p.Log, Now: p.Now,
			Count: func(result string) { p.Metrics.RecordWrites.WithLabelValues(result).Inc() },
		}).Run(ctx)
	}
}

// catchUp waits, before the first plan, until the watches show what the API server has; it reports
// false when ctx ended first.
func catchUp(ctx context.Context, log *slog.Logger, clusterState *snapshot.ClusterState, live client.Reader) bool {
	late := func(what string) {
		log.Warn("no plan is made yet: the watches are behind the API server", "missing", what)
	}
	for {
		err := clusterState.CatchUp(ctx, live, late)
		if err == nil {
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		log.Error("could not compare the watches with the API server, trying again", "error", err.Error())
		if pause.For(ctx, resumeAgain) != nil {
			return false
		}
	}
}

// resume carries on, or undoes, what an earlier process began, before the first
// plan; it reports false when ctx ended first.
func resume(ctx context.Context, log *slog.Logger, applier *apply.Applier, reported apply.Listener) bool {
	for {
		err := applier.Resume(ctx, reported)
		if err == nil {
			return true
		}
		log.Error("could not read what an earlier process left, trying again", "error", err.Error())
		if pause.For(ctx, resumeAgain) != nil {
			return false
		}
	}
}

const (
	// becomingFor is how long after a class was made its pools alone say that it is not
	// ready.
	becomingFor = 15 * time.Minute
	// outdatedFor is how long after a class became ready plans may be reported that were
	// made before.
	outdatedFor = 10 * time.Second
)

// becoming reports whether the class of a pool is new, and was not ready yet when a plan
// of this moment was made. It is answered from memory.
func (p Parts) becoming(id cluster.PoolID) bool {
	at := slices.IndexFunc(p.Pools, func(g nodepool.Generation) bool { return g.Kind == id.Kind })
	if at < 0 {
		return false
	}
	o, ctx := p.Pools[at].New(), context.Background()
	if err := p.Store.Get(ctx, client.ObjectKey{Name: id.Name}, o); err != nil || o.GetDeletionTimestamp() != nil {
		return false
	}
	class, err := p.Classes.State(ctx, p.Pools[at].View(o).Class)
	return err == nil && isBecoming(class, p.Now())
}

func isBecoming(class nodepool.ClassState, now time.Time) bool {
	waits := class.Status != metav1.ConditionTrue || now.Sub(class.Since) < outdatedFor
	return class.Found && !class.Terminating && waits && now.Sub(class.CreatedAt) < becomingFor
}
