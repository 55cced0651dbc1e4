package main

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/daemok/daemok/controller/drain"
	"github.com/daemok/daemok/kube/api"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

// step is one loop's look at the object of that name.
type step func(ctx context.Context, name string) (time.Duration, error)

// conflictAfter is when an object that changed under a look is looked at
// again; that is no error, the cache is only a moment behind.
const conflictAfter = 50 * time.Millisecond

func (s step) Reconcile(ctx context.Context, r reconcile.Request) (reconcile.Result, error) {
	after, err := s(ctx, r.Name)
	if apierrors.IsConflict(err) {
		return reconcile.Result{RequeueAfter: conflictAfter}, nil
	}
	return reconcile.Result{RequeueAfter: after}, err
}

// loopOptions bounds how many objects of a kind are looked at at once and how
// fast one that fails is retried: from 100 ms, doubling to a minute.
func loopOptions(workers int) controller.Options {
	return controller.Options{
		MaxConcurrentReconciles: workers,
		RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](100*time.Millisecond, time.Minute),
	}
}

// addLoops tells the manager which change leads to a look at which object.
func addLoops(m ctrl.Manager, claims, nodes, classes, pools step) error {
	store := m.GetClient()
	claimOfNode := func(ctx context.Context, o client.Object) []reconcile.Request {
		return claimsWith(ctx, store, o.(*corev1.Node).Spec.ProviderID)
	}
	if err := ctrl.NewControllerManagedBy(m).Named("nodeclaim.lifecycle").For(&karpv1.NodeClaim{}).
		Watches(&corev1.Node{}, handler.EnqueueRequestsFromMapFunc(claimOfNode)).
		WithOptions(loopOptions(100)).Complete(claims); err != nil {
		return err
	}
	nodeOfPod := func(ctx context.Context, o client.Object) []reconcile.Request {
		return leavingNode(ctx, store, o.(*corev1.Pod).Spec.NodeName)
	}
	if err := ctrl.NewControllerManagedBy(m).Named("node.termination").For(&corev1.Node{}).
		Watches(&corev1.Pod{}, handler.EnqueueRequestsFromMapFunc(nodeOfPod)).
		WithOptions(loopOptions(100)).Complete(nodes); err != nil {
		return err
	}
	if err := ctrl.NewControllerManagedBy(m).Named("nodeclass").For(&awsv1.EC2NodeClass{}).
		WithOptions(loopOptions(10)).Complete(classes); err != nil {
		return err
	}
	poolOf := func(_ context.Context, o client.Object) []reconcile.Request {
		return named(o.GetLabels()[api.LabelNodePool])
	}
	poolsOfClass := func(ctx context.Context, o client.Object) []reconcile.Request {
		return poolsUsing(ctx, store, o.GetName())
	}
	return ctrl.NewControllerManagedBy(m).Named("nodepool").For(&karpv1.NodePool{}).
		Watches(&karpv1.NodeClaim{}, handler.EnqueueRequestsFromMapFunc(poolOf)).
		Watches(&corev1.Node{}, handler.EnqueueRequestsFromMapFunc(poolOf)).
		Watches(&awsv1.EC2NodeClass{}, handler.EnqueueRequestsFromMapFunc(poolsOfClass)).
		WithOptions(loopOptions(10)).Complete(pools)
}

func named(names ...string) []reconcile.Request {
	var out []reconcile.Request
	for _, name := range names {
		if name != "" {
			out = append(out, reconcile.Request{NamespacedName: client.ObjectKey{Name: name}})
		}
	}
	return out
}

func claimsWith(ctx context.Context, store client.Reader, providerID string) []reconcile.Request {
	if providerID == "" {
		return nil
	}
	var list karpv1.NodeClaimList
	if err := store.List(ctx, &list, client.MatchingFields{drain.IndexProviderID: providerID}); err != nil {
		return nil // the cache answers, or the claim's own events will
	}
	var names []string
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	return named(names...)
}

// leavingNode names the pod's node only where it is being drained, so that
// ordinary pod traffic costs nothing.
func leavingNode(ctx context.Context, store client.Reader, name string) []reconcile.Request {
	node := &corev1.Node{}
	if name == "" || store.Get(ctx, client.ObjectKey{Name: name}, node) != nil || node.DeletionTimestamp == nil {
		return nil
	}
	return named(name)
}

func poolsUsing(ctx context.Context, store client.Reader, class string) []reconcile.Request {
	var list karpv1.NodePoolList
	if err := store.List(ctx, &list); err != nil {
		return nil
	}
	var names []string
	for i := range list.Items {
		if list.Items[i].Spec.Template.Spec.NodeClassRef.Name == class {
			names = append(names, list.Items[i].Name)
		}
	}
	return named(names...)
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
