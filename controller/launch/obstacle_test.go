package launch

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

// failingOnce fails the first patch of the named claim.
func failingOnce(store client.Client, name string, why error) client.Client {
	var once sync.Once
	return interceptor.NewClient(store.(client.WithWatch), interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			err := error(nil)
			if o.GetName() == name {
				once.Do(func() { err = why })
			}
			if err != nil {
				return err
			}
			return c.Patch(ctx, o, p, opts...)
		},
	})
}

// TestAClaimThatCannotBeMarkedStaysInItsBatch: nothing is launched before every
// claim of the batch carries the attempt, and none is left behind.
func TestAClaimThatCannotBeMarkedStaysInItsBatch(t *testing.T) {
	claims := schema.GroupResource{Group: karpv1.GroupVersion.Group, Resource: "nodeclaims"}
	for name, why := range map[string]error{
		"because it changed meanwhile":         apierrors.NewConflict(claims, "b", errors.New("changed")),
		"because the API server was away then": apierrors.NewInternalError(errors.New("etcd is away")),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store, s := storeWith("a", "b", "c"), newEmulated()
				launch(t, failingOnce(store, "b", why), s, nil, time.Minute)
				if got, want := owners(t, store), "a=i-000 b=i-001 c=i-002"; got != want {
					t.Errorf("claims have %s; want %s", got, want)
				}
				if len(s.requests) != 1 || s.requests[0].Count != 3 {
					t.Errorf("bought with %d requests, want one of three", len(s.requests))
				}
			})
		})
	}
}

// TestABatchWhoseClaimsWentEnds: claims that are given up while the outcome
// of their launch is unknown must not be launched for, nor kept in mind.
func TestABatchWhoseClaimsWentEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, s := storeWith("a", "b"), newEmulated()
		s.before = func(cloud.LaunchRequest) error { return errors.New("no route to host") }
		ctx, cancel := context.WithCancel(t.Context())
		l := (&Launcher{
			Store: store, Live: store, Requests: s, Instances: s, Outcome: book{store: store}, Log: unheard, Now: time.Now, CallFor: 20 * time.Second,
		}).Open()
		l.Add("a")
		l.Add("b")
		var running sync.WaitGroup
		running.Go(func() { _ = l.Run(ctx) })
		time.Sleep(10 * time.Second) // virtual time
		if err := store.DeleteAllOf(t.Context(), &karpv1.NodeClaim{}); err != nil {
			t.Fatal(err)
		}
		tried := len(s.requests)
		time.Sleep(10 * time.Minute)
		l.queue.mu.Lock()
		busy := len(l.queue.busy)
		l.queue.mu.Unlock()
		l.turns.mu.Lock()
		turns := len(l.turns.slots)
		l.turns.mu.Unlock()
		if len(s.requests) != tried || busy+turns > 0 {
			t.Errorf("%d more requests for claims that are gone; %d claims and %d batches still in mind", len(s.requests)-tried, busy, turns)
		}
		cancel()
		running.Wait()
	})
}

// TestGroupsOfOneBatchShareNoInstance: a crash while a batch was being marked
// again leaves its claims with two attempts. Both groups see the instance that
// was launched before; one claim gets it.
func TestGroupsOfOneBatchShareNoInstance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, s := storeWith("a", "b"), newEmulated()
		for name, attempt := range map[string]string{"a": "x/1", "b": "x/2"} {
			c := &karpv1.NodeClaim{}
			if err := store.Get(t.Context(), client.ObjectKey{Name: name}, c); err != nil {
				t.Fatal(err)
			}
			c.Annotations = map[string]string{api.AnnotationLaunchAttempt: attempt}
			if err := store.Update(t.Context(), c); err != nil {
				t.Fatal(err)
			}
		}
		s.offer(cloud.LaunchRequest{Batch: "x", Count: 1, Options: []cloud.OfferingChoice{{Option: cluster.Spot}}})
		slow := func(string) bool { time.Sleep(time.Second); return false }
		launch(t, store, s, slow, 5*time.Minute)
		if got := owners(t, store); got != "a=i-000 b=i-001" && got != "a=i-001 b=i-000" {
			t.Errorf("claims have %s; want one machine each, the one that was there included", got)
		}
		if len(s.instances) != 2 {
			t.Errorf("%d machines for two claims", len(s.instances))
		}
	})
}
