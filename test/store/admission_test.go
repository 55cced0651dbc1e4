package store_test

import (
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/api/daemok/v1alpha1"
	"github.com/daemok/daemok/test/store"
)

// What the definition of a kind refuses, the server refuses: of a new object, of
// a patch, of an update and of a status.
func TestDaemoksKindsAreHeldToTheirDefinitions(t *testing.T) {
	night := func() *v1alpha1.DisruptionPolicy {
		return &v1alpha1.DisruptionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "night"},
			Spec: v1alpha1.DisruptionPolicySpec{Breaker: &v1alpha1.Breaker{Nodes: "5"}}}
	}
	// patched changes the policy as a controller does that has read it.
	patched := func(status bool, change func(*v1alpha1.DisruptionPolicy)) func(*testing.T, *store.Connection) error {
		return func(t *testing.T, c *store.Connection) error {
			p := night()
			if err := c.Create(t.Context(), p); err != nil {
				t.Fatal(err)
			}
			before := p.DeepCopy()
			change(p)
			if status {
				return c.Status().Patch(t.Context(), p, client.MergeFrom(before))
			}
			return c.Patch(t.Context(), p, client.MergeFrom(before))
		}
	}
	tests := map[string]struct {
		try  func(*testing.T, *store.Connection) error
		want string // in the refusal
	}{
		"a new object": {func(t *testing.T, c *store.Connection) error {
			p := night()
			p.Spec.Breaker.Nodes = "0"
			return c.Create(t.Context(), p)
		}, "spec.breaker.nodes"},
		"a name": {func(t *testing.T, c *store.Connection) error {
			p := night()
			p.Name = "Night"
			return c.Create(t.Context(), p)
		}, "metadata.name"},
		"a patch": {patched(false, func(p *v1alpha1.DisruptionPolicy) { p.Spec.Breaker.Nodes = "" }), "set nodes, failedReplacements or both"},
		"a label": {patched(false, func(p *v1alpha1.DisruptionPolicy) { p.Labels = map[string]string{"team": "our shop"} }), "metadata.labels"},
		"an update": {func(t *testing.T, c *store.Connection) error {
			p := night()
			if err := c.Create(t.Context(), p); err != nil {
				t.Fatal(err)
			}
			p.Spec.Breaker.Within = "25h"
			return c.Update(t.Context(), p)
		}, "at most a day"},
		"a status that lacks what Go's zero stands for": {patched(true, func(p *v1alpha1.DisruptionPolicy) {
			p.Status.Pools = []v1alpha1.PoolAllowance{{Name: "web"}}
		}), "status.allowed: Required value"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			err := tt.try(t, policies(t))
			if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want a refusal with %q", err, tt.want)
			}
		})
	}
}

// Rules about whole numbers find whole numbers.
func TestAWholeNumberIsAdmitted(t *testing.T) {
	three := int32(3)
	p := &v1alpha1.DisruptionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "night"},
		Spec: v1alpha1.DisruptionPolicySpec{Breaker: &v1alpha1.Breaker{FailedReplacements: &three}}}
	if err := policies(t).Create(t.Context(), p); err != nil {
		t.Error(err)
	}
}

// A client that writes an object gets it returned with its defaults, and so does one that reads it.
func TestDefaultsAreStored(t *testing.T) {
	c := policies(t)
	p := &v1alpha1.DisruptionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "night"}, Spec: v1alpha1.DisruptionPolicySpec{Breaker: &v1alpha1.Breaker{Nodes: "5"}}}
	if err := c.Create(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	read := &v1alpha1.DisruptionPolicy{}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(p), read); err != nil {
		t.Fatal(err)
	}
	if p.Spec.Breaker.Within != "30m" || read.Spec.Breaker.Within != "30m" {
		t.Errorf("within is %q for the writer and %q for a reader, want 30m", p.Spec.Breaker.Within, read.Spec.Breaker.Within)
	}
}

func policies(t *testing.T) *store.Connection {
	t.Helper()
	s := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	return store.New(s, time.Now).Connect(nil)
}
