package termination

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/observe"
	"github.com/daemok/daemok/test/scraped"
	"github.com/daemok/daemok/test/store"
)

// region is an emulated cloud whose instances end a minute after they were terminated. It
// counts calls by instance.
type region struct {
	cloud.Instances

	mu     sync.Mutex
	endsAt map[string]time.Time
	ends   map[string]int
	looks  map[string]int
	refuse int // calls to terminate that are throttled first
	ignore int // calls to terminate that are answered, and have no effect

	blind   int         // checks that do not find what runs
	blindAt func() bool // whether checks do not now; nil: they do
}

func newRegion() *region {
	return &region{endsAt: map[string]time.Time{}, ends: map[string]int{}, looks: map[string]int{}}
}

func (r *region) Terminate(_ context.Context, ids ...string) (gone []string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, id := range ids {
		if r.ends[id]++; r.ends[id] <= r.refuse {
			return nil, &cloud.ThrottledError{Call: "TerminateInstances"}
		}
		if _, given := r.endsAt[id]; !given && r.ends[id] > r.ignore {
			r.endsAt[id] = time.Now().Add(time.Minute)
		}
	}
	return nil, nil
}

func (r *region) List(_ context.Context, f cloud.Filter) (found []cloud.Instance, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.blind--; r.blind >= 0 || r.blindAt != nil && r.blindAt() {
		return nil, nil
	}
	for _, id := range f.IDs {
		r.looks[id]++
		switch at, given := r.endsAt[id]; {
		case !given:
			found = append(found, cloud.Instance{ID: id, State: cloud.Running})
		case time.Now().Before(at):
			found = append(found, cloud.Instance{ID: id, State: cloud.ShuttingDown})
		}
	}
	return found, nil
}

// departing is a cluster whose empty nodes are all being deleted.
func departing(t *testing.T, nodes int, ready corev1.ConditionStatus, r *region) *Reconciler {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, karpv1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	hand := store.New(s, time.Now).Connect(nil)
	for i := range nodes {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: nodeName(i),
			Finalizers: []string{api.FinalizerTermination}, Labels: map[string]string{api.LabelZone: "a",
				api.LabelZoneID: "a-1"}},
			Spec:   corev1.NodeSpec{ProviderID: fmt.Sprintf("aws:///a/i-%d", i)},
			Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: ready}}}}
		if err := hand.Create(t.Context(), n); err != nil {
			t.Fatal(err)
		}
		if err := hand.Delete(t.Context(), n); err != nil {
			t.Fatal(err)
		}
	}
	return &Reconciler{Store: hand, Live: hand, Serves: translate.Generations{translate.NodePools()}, Instances: r,
		Log: slog.New(slog.DiscardHandler), Now: time.Now, Events: &said{}, Foreign: allOurs,
		Metrics: observe.NewMetrics(prometheus.NewRegistry(), "", "", "", "")}
}

func nodeName(i int) string { return fmt.Sprintf("n-%d", i) }

// drive checks a node whenever it asks to be checked, and every so often besides, as events
// of the node and its pods do. It returns when the node waits for nothing any more.
func drive(t *testing.T, r *Reconciler, name string, events time.Duration) {
	for began := time.Now(); time.Since(began) < 10*time.Minute; {
		wait, err := r.Reconcile(t.Context(), name)
		if err != nil {
			wait = 5 * time.Millisecond // as the queue repeats what failed
		} else if wait == 0 {
			return
		}
		time.Sleep(min(wait, events))
	}
	t.Errorf("node %s is still there after ten minutes", name)
}

func TestALeavingInstanceCostsFewCalls(t *testing.T) {
	const seldom = time.Hour
	tests := map[string]struct {
		nodes       int
		ready       corev1.ConditionStatus
		events      time.Duration
		change      func(*region)
		ends, looks int // at most, for each instance
		failed      string
	}{
		"thirty nodes":     {30, corev1.ConditionTrue, seldom, nil, 1, 7, ""},
		"a thousand nodes": {1000, corev1.ConditionTrue, seldom, nil, 1, 7, ""},
		"silent kubelets":  {30, corev1.ConditionUnknown, seldom, nil, 1, 9, ""},
		"many events": {30, corev1.ConditionUnknown, 50 * time.Millisecond, nil, 1, 9,
			""},
		"refusals are not run against": {30, corev1.ConditionTrue, seldom,
			func(r *region) { r.refuse = 3 }, 4, 8, "zone=a zone_id=a-1 90"},
		"an order that came to nothing is repeated": {30, corev1.ConditionTrue, seldom,
			func(r *region) { r.ignore = 1 }, 2, 12, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				instances := newRegion()
				if tt.change != nil {
					tt.change(instances)
				}
				r, registry := departing(t, tt.nodes, tt.ready, instances), prometheus.NewRegistry()
				r.Metrics = observe.NewMetrics(registry, "", "", "", "")
				var all sync.WaitGroup
				for i := range tt.nodes {
					all.Go(func() { drive(t, r, nodeName(i), tt.events) })
				}
				all.Wait()
				ends, looks := most(instances.ends), most(instances.looks)
				if len(instances.endsAt) != tt.nodes || ends > tt.ends || looks > tt.looks {
					t.Errorf("%d of %d machines ended, with up to %d ends and %d looks each, want at most %d and %d",
						len(instances.endsAt), tt.nodes, ends, looks, tt.ends, tt.looks)
				}
				const counted = "karpenter_cloudprovider_instance_termination_failures_total "
				if got, err := scraped.Lines(registry,
					strings.TrimSpace(counted)); err != nil || strings.TrimPrefix(strings.Join(got,
					"\n"), counted) != tt.failed {
					t.Errorf("counted %q, %v; want failures %q", got, err, tt.failed)
				}
				if left := len(r.seen.ending.of) + len(r.seen.silent.of); left > 0 {
					t.Errorf("%d machines that are gone are remembered", left)
				}
			})
		})
	}
}

func most(counts map[string]int) int {
	out := 0
	for _, n := range counts {
		out = max(out, n)
	}
	return out
}

func TestLooksComeLessAndLessOften(t *testing.T) {
	var l looks
	now := time.Unix(0, 0)
	var got []time.Duration
	for range 6 {
		got = append(got, l.note("i-1", now)/time.Second)
	}
	if want := []time.Duration{2, 4, 8, 15, 15, 15}; !slices.Equal(got, want) {
		t.Errorf("pauses of %v seconds, want %v", got, want)
	}
	if left := l.wait("i-1", now.Add(10*time.Second)); left != 5*time.Second {
		t.Errorf("%v left of 15 s after 10 s", left)
	}
	if l.drop("i-1"); l.wait("i-1", now) > 0 {
		t.Error("what was dropped waits")
	}
}
