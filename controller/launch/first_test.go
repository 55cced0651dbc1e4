package launch

import (
	"slices"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

type asked []string

func (a *asked) Add(name string)   { *a = append(*a, name) }
func (a *asked) Nudge(name string) { *a = append(*a, "nudge "+name) }

// TestAStaleLookOverwritesNoCondition: the cache still shows a claim without
// conditions when the launcher has written the instance. What it wrote must
// stay.
func TestAStaleLookOverwritesNoCondition(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	store := storeWith("a")
	stale := &karpv1.NodeClaim{}
	if err := store.Get(t.Context(), client.ObjectKey{Name: "a"}, stale); err != nil {
		t.Fatal(err)
	}
	stale.Finalizers = []string{api.FinalizerTermination}
	stale.CreationTimestamp.Time = now
	launched := stale.DeepCopy()
	launched.Status.ProviderID = "aws:///a/i-1"
	condition.SetTrue(launched, karpv1.ClaimLaunched, now)
	if err := store.Status().Update(t.Context(), launched); err != nil {
		t.Fatal(err)
	}
	s := &Starter{Store: store, Launcher: &asked{}, Now: func() time.Time { return now.Add(beginAfter) }}
	if _, err := s.Launch(t.Context(), stale); !apierrors.IsConflict(err) {
		t.Errorf("Launch on a stale claim = %v, want a conflict, after which it looks again", err)
	}
	live := &karpv1.NodeClaim{}
	if err := store.Get(t.Context(), client.ObjectKey{Name: "a"}, live); err != nil {
		t.Fatal(err)
	}
	if !condition.IsTrue(live, karpv1.ClaimLaunched) {
		t.Errorf("condition Launched was overwritten: %+v", live.Status.Conditions)
	}
}

// TestNothingIsWrittenBeforeAInstanceIsAskedFor: each write costs the API server time, of which
// those who wait for instances by the thousand have none.
func TestNothingIsWrittenBeforeAInstanceIsAskedFor(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	store := storeWith("a")
	c := &karpv1.NodeClaim{}
	if err := store.Get(t.Context(), client.ObjectKey{Name: "a"}, c); err != nil {
		t.Fatal(err)
	}
	c.Finalizers, c.CreationTimestamp.Time = []string{api.FinalizerTermination}, now
	if err := store.Update(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	for _, look := range []struct {
		age, again time.Duration
		conditions bool
	}{{0, beginAfter, false}, {beginAfter, askAgain, true}} {
		var names asked
		s := &Starter{Store: store, Launcher: &names, Now: func() time.Time { return now.Add(look.age) }}
		again, err := s.Launch(t.Context(), c)
		if err != nil || again != look.again || !slices.Equal(names, asked{"a"}) {
			t.Errorf("after %v: Launch = %v, %v, and a machine asked for %v; want %v and for a", look.age, again, err, names, look.again)
		}
		if err := store.Get(t.Context(), client.ObjectKey{Name: "a"}, c); err != nil || len(c.Status.Conditions) > 0 != look.conditions {
			t.Errorf("after %v: conditions %v, %v; want some: %v", look.age, c.Status.Conditions, err, look.conditions)
		}
	}
}
