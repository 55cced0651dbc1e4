package nodepool

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/observe"
	"github.com/daemok/daemok/test/store"
)

// counting is a client that counts the lists it is asked for and the objects
// it returned.
type counting struct {
	client.Client
	lists, objects atomic.Int64
	copied         atomic.Int64  // lists that had every object copied
	takes          time.Duration // each list
}

func (c *counting) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	time.Sleep(c.takes)
	err := c.Client.List(ctx, list, options...)
	c.lists.Add(1)
	if in := (&client.ListOptions{}).ApplyOptions(options).UnsafeDisableDeepCopy; in == nil || !*in {
		c.copied.Add(1)
	}
	switch l := list.(type) {
	case *corev1.NodeList:
		c.objects.Add(int64(len(l.Items)))
	case *karpv1.NodeClaimList:
		c.objects.Add(int64(len(l.Items)))
	}
	return err
}

// TestALargePoolIsNotCountedAtEveryEvent: while three thousand nodes change,
// the pool is counted once a second, and the last change is in its status.
func TestALargePoolIsNotCountedAtEveryEvent(t *testing.T) {
	const nodes, took = 3000, 6 * time.Second
	synctest.Test(t, func(t *testing.T) {
		w := newBusyPool(t)
		began := time.Now()
		for i := range nodes {
			w.create(&karpv1.NodeClaim{Spec: store.ClaimSpec(), ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("c-%d", i), Labels: w.labels},
				Status: karpv1.NodeClaimStatus{Capacity: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}}})
			w.create(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("n-%d", i), Labels: w.labels}})
			time.Sleep(took / nodes)
		}
		grew := time.Since(began)
		time.Sleep(countEvery + 100*time.Millisecond)
		synctest.Wait()
		if p := w.pool(); p.Status.Nodes != nodes || p.Status.Resources.Cpu().Value() != 2*nodes {
			t.Errorf("in the end the status tells of %d nodes with %s of CPU, want all", p.Status.Nodes, p.Status.Resources.Cpu())
		}
		rounds := int64(grew/countEvery) + 2
		if looks := w.looks.Load(); looks < 10*rounds {
			t.Fatalf("the pool was looked at %d times only: this test shows nothing", looks)
		}
		if n := w.store.lists.Load(); n > 2*rounds {
			t.Errorf("%d lists in %v, want two for each of %d counts at most", n, grew, rounds)
		}
		if n := w.store.objects.Load(); n > 2*nodes*rounds {
			t.Errorf("%d objects were read for %d events", n, 2*nodes)
		}
		if n := w.store.copied.Load(); n > 0 {
			t.Errorf("%d counts copied every object of the pool", n)
		}
		before := w.store.lists.Load()
		time.Sleep(refreshEvery / 2)
		if n := w.store.lists.Load(); n != before {
			t.Errorf("%d lists while nothing changed", n-before)
		}
	})
}

// TestAPoolThatIsSlowToCountIsCountedLessOften: counts take a twentieth of the time at most.
func TestAPoolThatIsSlowToCountIsCountedLessOften(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newBusyPool(t)
		w.store.takes = 500 * time.Millisecond // each of two lists
		const changes = 600
		for i := range changes {
			w.create(&karpv1.NodeClaim{Spec: store.ClaimSpec(), ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("c-%d", i), Labels: w.labels}})
			time.Sleep(100 * time.Millisecond)
		}
		if n := w.store.lists.Load() / 2; n > 5 {
			t.Errorf("%d counts in a minute of changes, each of which took a second", n)
		}
		time.Sleep(time.Minute)
		if n := w.pool().Status.Nodes; n != changes {
			t.Errorf("in the end the status tells of %d nodes, want %d", n, changes)
		}
	})
}

// TestASingleChangeIsCountedAtOnce: only changes in quick succession wait.
func TestASingleChangeIsCountedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newBusyPool(t)
		time.Sleep(2 * countEvery)
		began := time.Now()
		w.create(&karpv1.NodeClaim{Spec: store.ClaimSpec(), ObjectMeta: metav1.ObjectMeta{Name: "c", Labels: w.labels}})
		synctest.Wait()
		if n := w.pool().Status.Nodes; n != 1 || time.Since(began) > 0 {
			t.Errorf("after %v the status tells of %d nodes, want 1 at once", time.Since(began), n)
		}
	})
}

// busyPool is a pool with its loop running over a cluster.
type busyPool struct {
	t      *testing.T
	hand   *store.Connection
	store  *counting
	looks  atomic.Int64
	labels map[string]string
}

func newBusyPool(t *testing.T) *busyPool {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, karpv1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	server := store.New(s, time.Now)
	cache := server.NewCache(nil, nil)
	w := &busyPool{t: t, hand: server.Connect(nil), labels: map[string]string{api.LabelNodePool: "default"}}
	w.store = &counting{Client: cache.Client(server.Connect(nil))}
	r := &Reconciler{
		Generation: generation(), Store: w.store, Now: time.Now, Health: &Health{}, Events: &listener{},
		ClassState: func(context.Context, karpv1.NodeClassReference) (ClassState, error) { return ready, nil },
		Offered:    func(karpv1.NodeClassReference) Offered { return nil },
		Catalogue:  unknown,
		Metrics:    observe.NewMetrics(prometheus.NewRegistry(), "", "", "", ""),
	}
	loop := &store.Driver{Step: func(ctx context.Context, name string) (time.Duration, error) {
		w.looks.Add(1)
		return r.Reconcile(ctx, name)
	}}
	poolOf := func(o client.Object) []string { return []string{o.GetLabels()[api.LabelNodePool]} }
	ctx, cancel := context.WithCancel(context.Background())
	if err := loop.Watch(ctx, cache, store.Trigger{Kind: &karpv1.NodePool{}, Names: store.Itself},
		store.Trigger{Kind: &karpv1.NodeClaim{}, Names: poolOf}, store.Trigger{Kind: &corev1.Node{}, Names: poolOf}); err != nil {
		t.Fatal(err)
	}
	w.create(pool([]karpv1.Requirement{}...))
	if err := cache.Follow(ctx); err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	running.Go(func() { loop.Run(ctx) })
	t.Cleanup(func() { cancel(); running.Wait(); cache.Wait() })
	return w
}

func (w *busyPool) create(o client.Object) {
	w.t.Helper()
	if err := w.hand.Create(w.t.Context(), o); err != nil {
		w.t.Fatal(err)
	}
}

func (w *busyPool) pool() *karpv1.NodePool {
	w.t.Helper()
	p := &karpv1.NodePool{}
	if err := w.hand.Get(w.t.Context(), client.ObjectKey{Name: "default"}, p); err != nil {
		w.t.Fatal(err)
	}
	return p
}
