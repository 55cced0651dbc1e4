package main

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kubecontroller "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/daemok/daemok/controller"
)

// An object that changed during a check is examined again soon; that is no error, the cache is only
// a moment behind. Where it is further behind, this comes to less and less: what the cache waits
// for leads to a check by itself.
const (
	conflictFirst = 50 * time.Millisecond
	conflictMost  = 5 * time.Second
)

// looker has one loop examine objects.
type looker struct {
	step      func(ctx context.Context, name string) (time.Duration, error)
	conflicts workqueue.TypedRateLimiter[string] // by name
}

func newLooker(l controller.Loop) *looker {
	return &looker{l.Step, workqueue.NewTypedItemExponentialFailureRateLimiter[string](conflictFirst, conflictMost)}
}

func (l *looker) Reconcile(ctx context.Context, r reconcile.Request) (reconcile.Result, error) {
	after, err := l.step(ctx, r.Name)
	if ctx.Err() != nil {
		return reconcile.Result{}, nil //nolint:nilerr // the program ends; the next leader checks again
	}
	if apierrors.IsConflict(err) {
		return reconcile.Result{RequeueAfter: l.conflicts.When(r.Name)}, nil
	}
	l.conflicts.Forget(r.Name)
	if err != nil {
		return reconcile.Result{}, err // the next check comes by loopOptions
	}
	return reconcile.Result{RequeueAfter: after}, nil
}

// usualCPU is what the container is taken to ask for, in thousandths of a core, where it
// asks for nothing: as much as Loop.Workers are meant for.
const usualCPU = 1000

// workersOf is how many objects are examined at once where the container asks for so much of a
// core: of a loop that examines many, as many more or fewer, ten times as many at most.
func workersOf(usual, cpuRequests int) int {
	if usual == 1 || cpuRequests == 0 {
		return usual
	}
	return min(max(1, usual*cpuRequests/usualCPU), 10*usual)
}

// loopOptions bounds how many objects of a kind are examined at once and how fast one that fails is
// retried: from 100 ms, doubling to a minute.
func loopOptions(workers int) kubecontroller.Options {
	return kubecontroller.Options{
		MaxConcurrentReconciles: workers,
		RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](100*time.Millisecond, time.Minute),
	}
}

// addLoop registers with the manager which change leads to a check of which object.
func addLoop(m ctrl.Manager, l controller.Loop, cpuRequests int) error {
	b := ctrl.NewControllerManagedBy(m).Named(l.Name).For(l.Kind).WithOptions(loopOptions(workersOf(l.Workers, cpuRequests))).WithEventFilter(news())
	for _, t := range l.Others {
		b = b.Watches(t.Kind, handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, o client.Object) []reconcile.Request {
			return requests(t.Names(ctx, o))
		}))
	}
	return b.Complete(newLooker(l))
}

// news are changes that something came of. Each kubelet writes the status of its node every few minutes
// though nothing has changed, of which the caches keep the version alone.
func news() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, is := e.ObjectOld.(*corev1.Node)
		after, _ := e.ObjectNew.(*corev1.Node)
		if !is || after == nil || before.ResourceVersion == after.ResourceVersion { // the latter: everything is examined again
			return true
		}
		same := *after
		same.ResourceVersion = before.ResourceVersion
		return !equality.Semantic.DeepEqual(before, &same)
	}}
}

func requests(names []string) []reconcile.Request {
	var out []reconcile.Request
	for _, name := range names {
		out = append(out, reconcile.Request{NamespacedName: client.ObjectKey{Name: name}})
	}
	return out
}

// leading runs only while this process holds the lease.
type leading func(ctx context.Context) error

func (f leading) Start(ctx context.Context) error { return f(ctx) }
func (f leading) NeedLeaderElection() bool        { return true }

// always runs whether or not this process leads.
type always func(ctx context.Context) error

func (f always) Start(ctx context.Context) error { return f(ctx) }
func (f always) NeedLeaderElection() bool        { return false }

var (
	_ manager.LeaderElectionRunnable = leading(nil)
	_ manager.LeaderElectionRunnable = always(nil)
)
