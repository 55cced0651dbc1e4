package controller

import (
	"context"
	"reflect"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/controller/class"
	"github.com/daemok/daemok/controller/termination"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

// Loop moves objects of one Kind, each by itself.
type Loop struct {
	Name    string
	Kind    client.Object // whose own changes lead to a check
	Others  []Trigger
	Workers int // objects checked at once
	// Step checks once and returns when the next is due; zero is when something changes. A
	// conflict says that the cache is a moment behind.
	Step func(ctx context.Context, name string) (time.Duration, error)
}

// Trigger names the objects to check when one of another Kind changed.
type Trigger struct {
	Kind  client.Object
	Names func(ctx context.Context, o client.Object) []string
}

// Names of loops, as users know them from logs and metrics.
const (
	classesName  = "nodeclass"
	claimsName   = "nodeclaim.lifecycle"
	tagsName     = "nodeclaim.tagging"
	nodesName    = "node.termination"
	collectName  = "nodeclaim.garbagecollection"
	driftName    = "nodeclaim.disruption"
	reservedName = "capacityreservation.capacitytype"
	plansName    = "provisioner"
)

// step is one loop's check the object of that name.
type step = func(ctx context.Context, name string) (time.Duration, error)

// claimLoop also checks claims that wait for another one when it changes.
func claimLoop(store client.Reader, look step, waiting func(context.Context, *karpv1.NodeClaim) []string) Loop {
	ofNode := func(ctx context.Context, o client.Object) []string {
		return claimsWith(ctx, store, o.(*corev1.Node).Spec.ProviderID)
	}
	return Loop{
		Name: claimsName, Kind: &karpv1.NodeClaim{}, Workers: 100, Step: look,
		Others: []Trigger{{&corev1.Node{}, ofNode}, {&karpv1.NodeClaim{}, func(ctx context.Context, o client.Object) []string {
			return waiting(ctx, o.(*karpv1.NodeClaim))
		}}},
	}
}

func nodeLoop(store client.Reader, look step) Loop {
	ofPod := func(ctx context.Context, o client.Object) []string {
		return leavingNode(ctx, store, o.(*corev1.Pod).Spec.NodeName)
	}
	return Loop{
		Name: nodesName, Kind: &corev1.Node{}, Workers: 100, Step: look,
		Others: []Trigger{{&corev1.Pod{}, ofPod}},
	}
}

func poolLoop(store client.Reader, g translate.Generation, classes []client.Object, look step) Loop {
	ofOwned := func(_ context.Context, o client.Object) []string {
		return named(o.GetLabels()[translate.PoolLabel(g.Kind)])
	}
	ofClass := func(ctx context.Context, o client.Object) []string { return poolsUsing(ctx, store, g, o.GetName()) }
	others := []Trigger{{&karpv1.NodeClaim{}, ofOwned}, {&corev1.Node{}, ofOwned}}
	for _, kind := range classes {
		others = append(others, Trigger{kind, ofClass})
	}
	return Loop{Name: g.Resource, Kind: g.New(), Workers: 10, Step: look, Others: others}
}

// driftLoop has instances compared with their class as soon as it is another: looked is
// called, and the round that compares ends its wait.
func driftLoop(kind client.Object, looked func(), wake chan<- struct{}) Loop {
	name := driftName
	if of := reflect.TypeOf(kind).Elem().Name(); of != class.KindEC2NodeClass {
		name += "." + strings.ToLower(of)
	}
	return Loop{Name: name, Kind: kind, Workers: 1, Step: func(context.Context, string) (time.Duration, error) {
		looked()
		select {
		case wake <- struct{}{}:
		default: // it is about to check anyway
		}
		return 0, nil
	}}
}

func named(name string) []string {
	if name == "" {
		return nil
	}
	return []string{name}
}

func claimsWith(ctx context.Context, store client.Reader, providerID string) []string {
	if providerID == "" {
		return nil
	}
	var list karpv1.NodeClaimList
	if err := store.List(ctx, &list, client.MatchingFields{termination.IndexProviderID: providerID}, client.UnsafeDisableDeepCopy); err != nil {
		return nil // the cache answers, or the claim's own events will
	}
	var names []string
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	return names
}

// leavingNode names the pod's node only where it is being drained, so that
// ordinary pod traffic costs nothing.
func leavingNode(ctx context.Context, store client.Reader, name string) []string {
	node := &corev1.Node{} // only read
	if name == "" || store.Get(ctx, client.ObjectKey{Name: name}, node, client.UnsafeDisableDeepCopy) != nil || node.DeletionTimestamp == nil {
		return nil
	}
	return named(name)
}

func poolsUsing(ctx context.Context, store client.Reader, g translate.Generation, class string) []string {
	pools, err := g.List(ctx, store, client.UnsafeDisableDeepCopy) // only read
	if err != nil {
		return nil // the cache answers, or the pool's own events will
	}
	var names []string
	for _, o := range pools {
		if g.View(o).Template.Spec.NodeClassRef.Name == class {
			names = append(names, o.GetName())
		}
	}
	return names
}
