package whole_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	"github.com/daemok/daemok/kube/api/daemok/v1alpha1"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/test/fakecloud"
)

func disruptionPolicy(spec v1alpha1.DisruptionPolicySpec) *v1alpha1.DisruptionPolicy {
	return &v1alpha1.DisruptionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "night"}, Spec: spec}
}

func (w *world) policy() *v1alpha1.DisruptionPolicy {
	w.t.Helper()
	p := &v1alpha1.DisruptionPolicy{}
	if err := w.hand.Get(context.Background(), client.ObjectKey{Name: "night"}, p); err != nil {
		w.t.Fatal(err)
	}
	return p
}

// stay waits, and checks that so many nodes are left alone meanwhile.
func (w *world) stay(nodes int, wait time.Duration) {
	w.t.Helper()
	for end := time.Now().Add(wait); time.Now().Before(end); time.Sleep(time.Second) {
		if alone := len(w.nodes()) - w.draining() - w.closed(); alone != nodes {
			w.t.Fatalf("%d nodes are left alone, want %d; %s", alone, nodes, w.state())
		}
	}
}

// TestNodesGoWhileAWindowIsOpen: an empty node stays until the hour that its
// pool's policy names, by the clocks of that place, and the policy says so.
func TestNodesGoWhileAWindowIsOpen(t *testing.T) {
	report(t, fakecloud.Options{Seed: 51}, func(t *testing.T, w *world) { // it is midnight in London
		w.create(disruptionPolicy(v1alpha1.DisruptionPolicySpec{Windows: []v1alpha1.Window{{TimeZone: "Europe/Berlin", Start: "01:30", Duration: "1h"}}}))
		w.up(1, nil, plain)
		w.scale("web", 0)
		w.stay(1, 20*time.Minute)
		s := w.policy().Status
		if opens := time.Date(2000, 1, 1, 0, 30, 0, 0, time.UTC); s.Allowed != 0 || s.NextOpens == nil || !s.NextOpens.Time.Equal(opens) {
			t.Errorf("the status allows %d and opens at %v, want none until %v", s.Allowed, s.NextOpens, opens)
		}
		if len(s.Pools) != 1 || !strings.Contains(s.Pools[0].Because, "no window of DisruptionPolicy night is open, the next opens 2000-01-01T00:30:00Z") {
			t.Errorf("of its pools it says %+v", s.Pools)
		}
		w.until(15*time.Minute, "an empty cluster, once the window is open", w.empty)
		if now := time.Now().UTC(); now.Hour() != 0 || now.Minute() < 30 {
			t.Errorf("the node was gone at %s", now)
		}
	})
}

// TestAPolicyThatIsNotUnderstoodKeepsNodes: a slip of the pen is told of and
// costs no node.
func TestAPolicyThatIsNotUnderstoodKeepsNodes(t *testing.T) {
	report(t, fakecloud.Options{Seed: 52}, func(t *testing.T, w *world) {
		w.create(disruptionPolicy(v1alpha1.DisruptionPolicySpec{Windows: []v1alpha1.Window{{TimeZone: "Europe/Berlim", Start: "00:00", Duration: "24h"}}}))
		w.up(1, nil, plain)
		w.scale("web", 0)
		w.stay(1, 10*time.Minute)
		if c := condition.Get(w.policy(), v1alpha1.PolicyValidationSucceeded); c == nil || !strings.Contains(c.Message, `"Europe/Berlim" is no time zone`) || !w.events.said(v1alpha1.ReasonInvalid) {
			t.Errorf("the condition is %s", condition.Describe(c))
		}
		edit(w, w.policy(), func(p *v1alpha1.DisruptionPolicy) { p.Spec.Windows[0].TimeZone = "Europe/Berlin" })
		w.until(5*time.Minute, "an empty cluster, once it is put right", w.empty)
		w.until(time.Minute, "a policy in order", func() bool { return condition.IsTrue(w.policy(), v1alpha1.PolicyReady) })
	})
}

// TestABreakerStopsUntilItIsAcknowledged: when people delete instances by hand, no
// node goes by choice until somebody has looked, whatever the controller
// forgets when it starts again.
func TestABreakerStopsUntilItIsAcknowledged(t *testing.T) {
	report(t, fakecloud.Options{Seed: 53}, func(t *testing.T, w *world) {
		w.create(disruptionPolicy(v1alpha1.DisruptionPolicySpec{Breaker: &v1alpha1.Breaker{Nodes: "50%", Within: "10m"}}))
		c := w.up(4, nil, plain)
		old := w.claims()
		w.delete(&old[0])
		w.delete(&old[1])
		tripped := func() bool { b := w.policy().Status.Breaker; return b != nil && b.TrippedAt != nil }
		w.until(time.Minute, "a breaker that has tripped", tripped)
		w.until(10*time.Minute, "four other machines", func() bool { return w.run(4) && len(w.claims()) == 4 })
		c.stop()
		c = w.start(setup{})
		w.scale("web", 0)
		w.until(time.Minute, "no pods", func() bool { return w.run(0) })
		w.stay(4, 30*time.Minute)
		if reported := c.reports("daemok_disruption_breaker_tripped"); !slices.Equal(reported, []string{"daemok_disruption_breaker_tripped policy=" + w.policy().Name + " 1"}) {
			t.Errorf("a scrape tells %q", reported)
		}
		message := condition.Get(w.policy(), v1alpha1.PolicyBreakerClosed).Message
		at, _, found := strings.Cut(message[strings.Index(message, api.AnnotationAcknowledged+"=")+len(api.AnnotationAcknowledged)+1:], " ")
		if found || !strings.HasPrefix(message, "2 of ") || !w.events.said(v1alpha1.ReasonBreakerTripped) {
			t.Errorf("the condition says %q", message)
		}
		edit(w, w.policy(), func(p *v1alpha1.DisruptionPolicy) { p.Annotations = map[string]string{api.AnnotationAcknowledged: at} })
		w.until(5*time.Minute, "half of the nodes gone, and a breaker that has tripped again", func() bool { return len(w.claims()) == 2 && tripped() })
		w.stay(2, 30*time.Minute)
		w.sound()
	})
}

// TestABreakerCountsWhatWentBeforeARestart: two of four nodes are lost, one of them
// long gone when the controller starts again, and that is one too many.
func TestABreakerCountsWhatWentBeforeARestart(t *testing.T) {
	report(t, fakecloud.Options{Seed: 55}, func(t *testing.T, w *world) {
		w.create(disruptionPolicy(v1alpha1.DisruptionPolicySpec{Breaker: &v1alpha1.Breaker{Nodes: "2", Within: "1h"}}))
		c := w.up(4, nil, plain)
		lost := w.claims()[0]
		w.delete(&lost)
		w.until(10*time.Minute, "another machine in its place", func() bool { return w.run(4) && len(w.claims()) == 4 && len(w.instances()) == 4 })
		time.Sleep(2 * time.Minute)
		c.stop()
		w.start(setup{})
		time.Sleep(time.Minute)
		if b := w.policy().Status.Breaker; b == nil || b.Gone != 1 || b.TrippedAt != nil {
			t.Fatalf("after the restart the breaker is %+v, want one node gone", b)
		}
		lost = w.claims()[0]
		w.delete(&lost)
		w.until(time.Minute, "a breaker that has tripped", func() bool { return w.policy().Status.Breaker.TrippedAt != nil })
		w.until(10*time.Minute, "four machines", func() bool { return w.run(4) && len(w.claims()) == 4 && len(w.instances()) == 4 })
		w.sound()
	})
}

// TestReplacementsThatDoNotJoinTripABreaker: no more nodes are given up for
// instances that never come.
func TestReplacementsThatDoNotJoinTripABreaker(t *testing.T) {
	one := int32(1)
	report(t, fakecloud.Options{Seed: 54}, func(t *testing.T, w *world) {
		w.create(disruptionPolicy(v1alpha1.DisruptionPolicySpec{Breaker: &v1alpha1.Breaker{FailedReplacements: &one, Within: "1h"}}))
		w.up(1, nil, plain)
		lost := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "lost", Labels: map[string]string{api.LabelNodePool: "default"}, Finalizers: []string{api.FinalizerTermination},
			Annotations: map[string]string{api.AnnotationReplaces: w.claims()[0].Name, api.AnnotationStage: "done"}}, Spec: w.claims()[0].Spec}
		w.create(lost)
		launched := func() bool {
			return slices.ContainsFunc(w.claims(), func(c karpv1.NodeClaim) bool { return c.Name == "lost" && c.Status.ProviderID != "" })
		}
		w.until(time.Minute, "a machine", launched)
		w.delete(lost)
		w.until(time.Minute, "a breaker that has tripped", func() bool {
			b := w.policy().Status.Breaker
			return b != nil && b.TrippedAt != nil && strings.HasPrefix(b.Why, "1 replacements of nodes did not join within 1h")
		})
	})
}
