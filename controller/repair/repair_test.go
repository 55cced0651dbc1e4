package repair

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/mark"
	"github.com/daemok/daemok/kube/snapshot"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/observe"
	"github.com/daemok/daemok/test/scraped"
	"github.com/daemok/daemok/test/store"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// ward is a cluster of one node, and who repairs it.
type ward struct {
	*Repairer
	t            *testing.T
	hand         *store.Connection
	clusterState *snapshot.ClusterState
	now          time.Time
	deny         func(store.Call) error
	metrics      *prometheus.Registry
	events       []string
}

func (w *ward) Publish(e observe.Event) {
	w.events = append(w.events, e.Key+" "+e.Reason+": "+e.Message)
}

// newWard has a node that joined at the start, of a pool that says so, or of none
// where it says "-".
func newWard(t *testing.T, says string, byDefault cluster.Repair) *ward {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, karpv1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	w := &ward{t: t, now: start, metrics: prometheus.NewRegistry(), deny: func(store.Call) error { return nil }}
	server := store.New(s, func() time.Time { return w.now })
	w.hand = server.Connect(nil)
	conn := server.Connect(func(c store.Call) (before, after error) { return w.deny(c), nil })
	w.clusterState = snapshot.New(func(karpv1.NodeClassReference) (*cluster.Catalogue, string) { return nil, "" }, func() time.Time { return w.now })
	w.clusterState.Configure(func(s *snapshot.Settings) { s.Pools.Repair = byDefault })
	w.Repairer = &Repairer{Store: conn, Live: conn, Snapshot: w.clusterState.Snapshot, Events: w, Log: slog.New(slog.DiscardHandler),
		Metrics: observe.NewMetrics(w.metrics, "", "", "", ""), Now: func() time.Time { return w.now }}
	claim := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c", Finalizers: []string{api.FinalizerTermination}}, Spec: store.ClaimSpec()}
	claim.Status.ProviderID = "aws:///a/i-1"
	if says != "-" {
		claim.Labels = map[string]string{api.LabelNodePool: "web"}
		pool := &karpv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: store.PoolSpec()}
		if says != "" {
			pool.Annotations = map[string]string{api.AnnotationRepair: says}
		}
		w.clusterState.PoolSeen(translate.FromNodePool(pool))
	}
	condition.SetTrue(claim, karpv1.ClaimRegistered, w.now)
	condition.SetTrue(claim, karpv1.ClaimInitialized, w.now)
	w.create(claim)
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}, Spec: corev1.NodeSpec{ProviderID: "aws:///a/i-1"}}
	w.create(node)
	w.see()
	return w
}

func (w *ward) create(o client.Object) {
	w.t.Helper()
	status := o.DeepCopyObject().(client.Object)
	if err := w.hand.Create(context.Background(), o); err != nil {
		w.t.Fatal(err)
	}
	status.SetResourceVersion(o.GetResourceVersion())
	status.SetUID(o.GetUID())
	if err := w.hand.Status().Update(context.Background(), status); err != nil {
		w.t.Fatal(err)
	}
}

func (w *ward) node() *corev1.Node {
	n := &corev1.Node{}
	if err := w.hand.Get(context.Background(), client.ObjectKey{Name: "n"}, n); err != nil {
		w.t.Fatal(err)
	}
	return n
}

func (w *ward) claim() *karpv1.NodeClaim {
	c := &karpv1.NodeClaim{}
	if err := w.hand.Get(context.Background(), client.ObjectKey{Name: "c"}, c); err != nil {
		w.t.Fatal(err)
	}
	return c
}

// see shows the cluster state what there is.
func (w *ward) see() {
	w.clusterState.Seen(w.node())
	w.clusterState.Seen(w.claim())
}

// ails gives the node a condition from now on.
func (w *ward) ails(kind, status string) {
	n := w.node()
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeConditionType(kind), Status: corev1.ConditionStatus(status), LastTransitionTime: metav1.NewTime(w.now)}}
	if err := w.hand.Status().Update(context.Background(), n); err != nil {
		w.t.Fatal(err)
	}
}

func (w *ward) round() time.Duration {
	w.t.Helper()
	after, err := w.Round(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	return after
}

// state says what became of the claim.
func (w *ward) state() string {
	c := w.claim()
	switch by := c.Annotations[api.AnnotationTerminationTimestamp]; {
	case c.DeletionTimestamp == nil:
		return "stays"
	case by == "":
		return "drains"
	default:
		return "goes by " + by
	}
}

// SC-360, SC-364: the pool's setting, or that of the controller where the pool has none,
// says when a node is repaired, and the next check is not later.
func TestWhenANodeIsRepaired(t *testing.T) {
	tests := map[string]struct {
		says, kind, status string
		usual              bool
		after              time.Duration // 0: never
	}{
		"the gate is off":                 {"", "Ready", "False", false, 0},
		"the gate is off and a pool asks": {"on", "Ready", "Unknown", false, 30 * time.Minute},
		"the gate is on":                  {"", "AcceleratedHardwareReady", "False", true, 10 * time.Minute},
		"the gate is on, for no pool":     {"-", "KernelReady", "False", true, 30 * time.Minute},
		"a pool that asks for none":       {"off", "Ready", "False", true, 0},
		"a pool that bears less":          {"Ready=90s", "Ready", "False", true, 90 * time.Second},
		"a pool that is misunderstood":    {"soon", "Ready", "False", true, 0},
		"a condition of the pool's own":   {"KernelDeadlock:True=5m", "KernelDeadlock", "True", false, 5 * time.Minute},
		"a status that is no ailment":     {"on", "StorageReady", "Unknown", true, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			usual := cluster.Repair{}
			if tt.usual {
				usual = mark.UsualRepair()
			}
			w := newWard(t, tt.says, usual)
			w.ails(tt.kind, tt.status)
			w.see()
			if w.now = start.Add(24 * time.Hour); tt.after > 0 {
				w.now = start.Add(tt.after - 2*time.Second)
				if next := w.round(); next != 2*time.Second || w.state() != "stays" {
					t.Errorf("just before: it %s, the next look is in %v", w.state(), next)
				}
				w.now = start.Add(tt.after)
			}
			w.round()
			want := "stays"
			if tt.after > 0 {
				want = "goes by " + w.now.Format(time.RFC3339)
			}
			if got := w.state(); got != want {
				t.Errorf("it %s, want %s", got, want)
			}
		})
	}
}

// What the watches have not shown yet counts: a node that has just become well stays.
func TestANodeThatIsWellAgainIsNotRepaired(t *testing.T) {
	w := newWard(t, "on", cluster.Repair{})
	w.ails("Ready", "Unknown")
	w.see()
	w.now = start.Add(time.Hour)
	w.ails("Ready", "True")
	if w.round(); w.state() != "stays" || len(w.events) > 0 {
		t.Errorf("it %s, and is told %q", w.state(), w.events)
	}
}

// The controller crashes, or may not write, after it has deleted the claim: the next check
// ends the drain, and counts nothing twice.
func TestARepairThatWasCutIsFinished(t *testing.T) {
	w := newWard(t, "on", cluster.Repair{})
	w.ails("Ready", "Unknown")
	w.see()
	w.now = start.Add(time.Hour)
	w.deny = func(c store.Call) error {
		if c.Verb == "patch" {
			return errors.New("not now")
		}
		return nil
	}
	if _, err := w.Round(context.Background()); err == nil || !strings.Contains(err.Error(), "end the drain of claim c to repair node n: not now") || w.state() != "drains" {
		t.Fatalf("it %s, %v", w.state(), err)
	}
	w.deny = func(store.Call) error { return nil }
	w.see()
	for range 2 {
		w.round()
		w.now = w.now.Add(time.Minute)
	}
	if got := w.state(); got != "goes by 2026-01-01T01:00:00Z" {
		t.Errorf("it %s", got)
	}
	if lines, err := scraped.Lines(w.metrics, "karpenter_nodeclaims_unhealthy_disrupted_total"); err != nil || len(lines) != 1 || !strings.HasSuffix(lines[0], " 1") {
		t.Errorf("counted %q, %v", lines, err)
	}
}

// SC-362: an unhealthy node does not wait, whichever user or controller deletes its claim
// without force or with a grace period.
func TestADrainOfAnUnhealthyNodeIsHastened(t *testing.T) {
	w := newWard(t, "on", cluster.Repair{})
	c := w.claim()
	c.Annotations = map[string]string{api.AnnotationTerminationTimestamp: "2026-01-02T00:00:00Z"}
	if err := errors.Join(w.hand.Update(context.Background(), c), w.hand.Delete(context.Background(), c)); err != nil {
		t.Fatal(err)
	}
	w.ails("Ready", "Unknown")
	w.see()
	w.now = start.Add(time.Hour)
	if w.round(); w.state() != "goes by 2026-01-01T01:00:00Z" {
		t.Errorf("it %s", w.state())
	}
}

// What stops repair is reported on the node and its claim, and nothing is written.
func TestABlockedRepairIsReported(t *testing.T) {
	w := newWard(t, "on", cluster.Repair{})
	w.clusterState.Configure(func(s *snapshot.Settings) { s.FreezeIn = "kube-system" })
	w.clusterState.Seen(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: api.ConfigMapFreeze}})
	w.ails("Ready", "Unknown")
	w.see()
	w.now = start.Add(time.Hour)
	if w.round(); w.state() != "stays" {
		t.Errorf("it %s", w.state())
	}
	for _, about := range []string{"Node/n", "NodeClaim/c"} {
		if !slices.ContainsFunc(w.events, func(e string) bool {
			return strings.HasPrefix(e, about+" NodeRepairBlocked: ") && strings.HasSuffix(e, "not now: frozen by ConfigMap kube-system/daemok-freeze")
		}) {
			t.Errorf("%s is told %q", about, w.events)
		}
	}
}
