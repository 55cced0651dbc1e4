package steer

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/steering"
	"github.com/daemok/daemok/observe"
	"github.com/daemok/daemok/test/scraped"
	"github.com/daemok/daemok/test/store"
)

// town is a cluster, and who has its nodes empty.
type town struct {
	*Steering
	t       *testing.T
	server  *store.Server
	hand    *store.Connection // a user's
	now     time.Time
	fault   store.Fault
	metrics *prometheus.Registry
	calls   []string // writes of the loop
	events  []string
}

func (w *town) Publish(e observe.Event) {
	w.events = append(w.events, e.Key+" "+e.Reason+": "+e.Message)
}

func newTown(t *testing.T, objects ...client.Object) *town {
	t.Helper()
	s := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	w := &town{t: t, now: start, fault: func(store.Call) (before, after error) { return nil, nil }}
	w.server = store.New(s, func() time.Time { return w.now })
	w.hand = w.server.Connect(nil)
	w.leads()
	for _, o := range objects {
		if err := w.hand.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// leads has a new process lead, which knows of nothing.
func (w *town) leads() {
	w.metrics = prometheus.NewRegistry()
	w.Steering = &Steering{Events: w, Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return w.now }, Metrics: observe.NewMetrics(w.metrics, "", "", "", ""),
		Store: w.server.Connect(func(c store.Call) (before, after error) {
			if c.Writes() {
				w.calls = append(w.calls, c.String())
			}
			return w.fault(c)
		})}
}

// plans has a plan name nodes that are to empty.
func (w *town) plans(nodes ...string) {
	p := plan.Plan{Asked: true}
	for _, n := range nodes {
		p.Emptying = append(p.Emptying, plan.Emptying{Node: n, Note: "it is nearly empty"})
	}
	w.Newest(p)
}

// pass makes one pass, a minute later, and returns how many writes it took.
func (w *town) pass() int {
	w.t.Helper()
	w.now, w.calls = w.now.Add(time.Minute), nil
	if _, err := w.Round(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	return len(w.calls)
}

// stands lists what is steered: nodes with the taint, then pods with their costs, in which o is Daemok's and u a user's.
func (w *town) stands() string {
	w.t.Helper()
	var nodes corev1.NodeList
	var pods corev1.PodList
	if err := errors.Join(w.hand.List(w.t.Context(), &nodes), w.hand.List(w.t.Context(), &pods)); err != nil {
		w.t.Fatal(err)
	}
	var out []string
	for _, n := range nodes.Items {
		for _, taint := range n.Spec.Taints {
			if taint.Key == api.TaintEmptying {
				out = append(out, "node "+n.Name+" "+strings.TrimPrefix(taint.ToString(), api.TaintEmptying))
			}
		}
	}
	for _, p := range pods.Items {
		text, set := p.Annotations[api.AnnotationPodDeletionCost]
		if _, ours := steering.Cost(&p); ours {
			text = "low"
		}
		if set || isNoted(&p) {
			out = append(out, p.Name+" "+text)
		}
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

func (w *town) want(what, want string) {
	w.t.Helper()
	if got := w.stands(); got != want {
		w.t.Errorf("%s: %s\nwant: %s", what, got, want)
	}
}

func (w *town) edit(o client.Object, change func()) {
	w.t.Helper()
	if err := w.hand.Get(w.t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
		w.t.Fatal(err)
	}
	change()
	if err := w.hand.Update(w.t.Context(), o); err != nil {
		w.t.Fatal(err)
	}
}

var noRight = apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "p", errors.New("no right to patch pods"))

// Nodes that a plan names empty; those that it names no more are as before, and what users set stays throughout.
func TestNodesEmptyAsPlansSay(t *testing.T) {
	w := newTown(t, node("a"), node("b"), pod("p", "a"), pod("mine", "a", costsUser("2147483647")), pod("q", "b"), pod("lone", "b", owned("apps/v1", "StatefulSet")))
	if after, err := w.Round(t.Context()); err != nil || after > 10*time.Second || w.stands() != "mine 2147483647" {
		t.Errorf("before the first plan: %v, %v, %s; want nothing done, and soon again", after, err, w.stands())
	}
	w.plans("a")
	w.pass()
	w.want("a is to empty", "mine 2147483647, node a :PreferNoSchedule, p low")
	if n := w.pass(); n != 0 {
		t.Errorf("nothing has changed, and there are writes: %q", w.calls)
	}
	w.Newest(plan.Plan{}) // made for pods alone
	if n := w.pass(); n != 0 {
		t.Errorf("a plan that asked about no nodes leads to %q", w.calls)
	}
	w.plans("b")
	w.pass()
	w.want("b is to empty", "mine 2147483647, node b :PreferNoSchedule, q low")
	lines, err := scraped.Lines(w.metrics, "daemok_nodes_emptying", "daemok_pods_emptying", "daemok_emptying_writes_total")
	if want := []string{"daemok_emptying_writes_total kind=node result=written 3", "daemok_emptying_writes_total kind=pod result=written 3",
		"daemok_nodes_emptying nodepool=web 1", "daemok_pods_emptying 1"}; err != nil || !slices.Equal(lines, want) {
		t.Errorf("metrics are %q, %v", lines, err)
	}
	w.plans()
	w.pass()
	w.want("none is to empty", "mine 2147483647")
}

// The taint says since when the node is to empty, also once more pods came.
func TestTheTaintSaysSinceWhen(t *testing.T) {
	w := newTown(t, node("a"))
	w.plans("a")
	w.pass()
	since := w.now
	if err := w.hand.Create(t.Context(), pod("p", "a")); err != nil {
		t.Fatal(err)
	}
	w.pass()
	n := node("a")
	if err := w.hand.Get(t.Context(), client.ObjectKeyFromObject(n), n); err != nil || !steering.Since(n).Equal(since) {
		t.Errorf("it is to empty since %v (%v), want %v", steering.Since(n), err, since)
	}
}

// Switched off it takes back what there is, and a new leader what the one before left, even where the taint has gone.
func TestWhatIsThereIsTakenBack(t *testing.T) {
	left := func() []client.Object {
		return []client.Object{node("a", tainted), node("b"), pod("p", "a", costsOurs(-9)), pod("q", "b", costsOurs(-8)), pod("mine", "b", costsUser("4"))}
	}
	w := newTown(t, left()...)
	w.Off = true
	w.plans("a")
	w.pass()
	w.want("switched off", "mine 4")
	w = newTown(t, left()...)
	w.plans()
	w.pass()
	w.want("a new leader that has none empty", "mine 4")
	w = newTown(t, left()...)
	w.plans("a")
	if n := w.pass(); n != 1 { // that of q
		t.Errorf("a new leader of the same mind writes %q", w.calls)
	}
	w.want("a new leader of the same mind", "mine 4, node a :PreferNoSchedule, p low")
}

// A node with thousands of pods takes passes, the first nodes first, of two hundred pods each at most; and a leader that
// comes in between goes on.
func TestAPassIsBounded(t *testing.T) {
	w := newTown(t, node("a"), node("b"))
	const pods = 5000
	for i := range pods {
		if err := w.hand.Create(t.Context(), pod(fmt.Sprintf("p%04d", i), map[bool]string{true: "a", false: "b"}[i%2 == 1])); err != nil {
			t.Fatal(err)
		}
	}
	w.plans("a", "b")
	passes := 0
	for n := 1; n > 0 && passes < 100; {
		if n = w.pass(); n > podsMax+nodesMax {
			t.Fatalf("pass %d makes %d writes", passes, n)
		}
		if passes == 0 {
			if first := w.stands(); !strings.Contains(first, "node b") || strings.Contains(first, "p0000") || !strings.Contains(first, "p0001 low") {
				t.Errorf("after the first pass: %s; want both nodes tainted, and pods of the first", first)
			}
		}
		if n > 0 {
			passes++
		}
		if passes == 10 {
			w.leads()
			w.plans("a", "b")
		}
	}
	if got := strings.Count(w.stands(), " low"); passes != pods/podsMax || got != pods {
		t.Errorf("after %d passes %d pods have their cost, want %d after %d", passes, got, pods, pods/podsMax)
	}
	w.plans("b", "a") // pods of b may keep theirs
	if w.pass(); strings.Contains(strings.Join(w.calls, " "), "p0000") {
		t.Errorf("b comes first now, and its pods are written again: %q", w.calls[:3])
	}
	w.plans()
	w.pass()
	if got := w.stands(); !strings.Contains(got, "node a") || strings.Count(got, " low") != pods-podsMax {
		t.Errorf("taking back began with %d pods, or untainted a node before its pods", pods-strings.Count(got, " low"))
	}
	for range pods / podsMax {
		w.pass()
	}
	w.want("in the end", "")
}

// Without the right to patch pods nodes empty by their taint alone, which is said once.
func TestWithoutTheRightToPatchPods(t *testing.T) {
	w := newTown(t, node("a"), node("b"), pod("p", "a"), pod("q", "a"), pod("r", "b"))
	w.fault = func(c store.Call) (before, after error) {
		if c.Writes() && c.Kind == "Pod" {
			return noRight, nil
		}
		return nil, nil
	}
	w.plans("a", "b")
	w.pass()
	w.want("the taint alone", "node a :PreferNoSchedule, node b :PreferNoSchedule")
	for range 70 { // minutes
		w.pass()
	}
	if len(w.events) != 1 || !strings.Contains(w.events[0], "Node/a DeletionCostRefused: ") || !strings.Contains(w.events[0], "rbac-steering.yaml") {
		t.Errorf("events are %q, want one with the way out", w.events)
	}
	lines, err := scraped.Lines(w.metrics, "daemok_emptying_writes_total")
	if want := []string{"daemok_emptying_writes_total kind=node result=written 2", "daemok_emptying_writes_total kind=pod result=forbidden 2"}; err != nil || !slices.Equal(lines, want) {
		t.Errorf("metrics are %q, want two attempts in more than an hour", lines)
	}
	w.fault = func(store.Call) (before, after error) { return nil, nil }
	for range 61 {
		w.pass()
	}
	w.want("once the right is there", "node a :PreferNoSchedule, node b :PreferNoSchedule, p low, q low, r low")
}

// Where pods of one namespace may not be written, those of others are.
func TestANamespaceThatRefuses(t *testing.T) {
	elsewhere := pod("q", "a")
	elsewhere.Namespace = "tenant"
	w := newTown(t, node("a"), pod("p", "a"), elsewhere)
	w.fault = func(c store.Call) (before, after error) {
		if c.Writes() && c.Name == "p" {
			return apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "p", errors.New("admission webhook denied the request")), nil
		}
		return nil, nil
	}
	w.plans("a")
	w.pass()
	w.want("one namespace refuses", "node a :PreferNoSchedule, q low")
	w.plans()
	w.pass()
	w.want("it is taken back", "")
}

// A taint of a user's by the same key stays, is reported once a day, and Daemok changes nothing there.
func TestAUsersTaintStays(t *testing.T) {
	w := newTown(t, node("a", taintedByUser), node("b", taintedByUser), pod("p", "a"))
	w.Events = &observe.Events{Now: func() time.Time { return w.now }, Recorder: recorder{w}}
	w.plans("a")
	w.pass()
	w.pass()
	w.want("a user's taint", "node a =mine:NoSchedule, node b =mine:NoSchedule")
	if want := []string{"a EmptyingTaintKept: taint daemok.sh/emptying=mine:NoSchedule was not set by Daemok and stays, so Daemok does not empty the node; remove the taint to allow it"}; !slices.Equal(w.events, want) {
		t.Errorf("events are %q, want %q", w.events, want)
	}
	w.plans()
	w.pass()
	w.want("nor is it taken away", "node a =mine:NoSchedule, node b =mine:NoSchedule")
}

type recorder struct{ *town }

func (r recorder) Event(o runtime.Object, _, reason, message string) {
	r.events = append(r.events, o.(client.Object).GetName()+" "+reason+": "+message)
}
func (r recorder) Eventf(runtime.Object, string, string, string, ...any) {}
func (r recorder) AnnotatedEventf(runtime.Object, map[string]string, string, string, string, ...any) {
}

// What a user sets between the check and the write is not written over: the next pass sees
// it.
func TestAUserIsFaster(t *testing.T) {
	w := newTown(t, node("a"), pod("p", "a"))
	raced := false
	w.fault = func(c store.Call) (before, after error) {
		if c.Writes() && c.Kind == "Pod" && !raced {
			raced = true
			p := pod("p", "a")
			w.edit(p, func() { costsUser("-1")(p) })
		}
		return nil, nil
	}
	w.plans("a")
	w.pass()
	w.want("the user's", "node a :PreferNoSchedule, p -1")
	if n := w.pass(); n != 0 {
		t.Errorf("the next pass writes %q", w.calls)
	}
}

// Nodes and pods that go meanwhile are no errors.
func TestWhatGoesMeanwhile(t *testing.T) {
	w := newTown(t, node("a"), node("b"), pod("p", "b"), pod("q", "b"))
	w.fault = func(c store.Call) (before, after error) {
		if c.Writes() && (c.Name == "a" || c.Name == "p") {
			return apierrors.NewNotFound(schema.GroupResource{}, c.Name), nil
		}
		return nil, nil
	}
	w.plans("a", "b")
	w.pass()
	w.want("those that are there", "node b :PreferNoSchedule, q low")
}

// An API server that does not answer is asked a few times a minute, and no node is untainted before its pods.
func TestAnAPIServerThatFails(t *testing.T) {
	w := newTown(t, node("a", tainted))
	for i := range 20 {
		if err := w.hand.Create(t.Context(), pod(fmt.Sprint("p", i), "a", costsOurs(-9))); err != nil {
			t.Fatal(err)
		}
	}
	w.fault = func(c store.Call) (before, after error) {
		if c.Writes() {
			return errors.New("no answer"), nil
		}
		return nil, nil
	}
	w.plans()
	if _, err := w.Round(t.Context()); err == nil || !strings.Contains(err.Error(), "change the deletion cost of pod default/p0 on node a: no answer") || len(w.calls) != failuresMax {
		t.Errorf("%d writes, %v; want %d and an error that names pods", len(w.calls), err, failuresMax)
	}
	w.fault = func(store.Call) (before, after error) { return nil, nil }
	w.pass()
	w.want("once it answers", "")
}

// Where the node changed meanwhile, its pods wait for the next pass: by the taint another leader finds them.
func TestPodsWaitForTheTaint(t *testing.T) {
	w := newTown(t, node("a"), pod("p", "a"))
	conflicts := true
	w.fault = func(c store.Call) (before, after error) {
		if c.Writes() && c.Kind == "Node" && conflicts {
			return apierrors.NewConflict(schema.GroupResource{Resource: "nodes"}, "a", errors.New("the node changed")), nil
		}
		return nil, nil
	}
	w.plans("a")
	w.pass()
	w.want("the node changed meanwhile", "")
	conflicts = false
	w.pass()
	w.want("in the next pass", "node a :PreferNoSchedule, p low")
}

// All pods are checked until nothing is left of what an earlier leader did on nodes without the taint.
func TestManyPodsWithoutTheTaint(t *testing.T) {
	w := newTown(t, node("a"))
	for i := range podsMax + 1 {
		if err := w.hand.Create(t.Context(), pod(fmt.Sprint("p", i), "a", costsOurs(-9))); err != nil {
			t.Fatal(err)
		}
	}
	w.plans()
	w.pass()
	w.pass()
	w.want("after two passes", "")
}
