package launch

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

// noted is the class's hash that claim a carries, and the number of its attempt.
func noted(t *testing.T, store client.Client) (hash string, attempt int) {
	t.Helper()
	c := &karpv1.NodeClaim{}
	if err := store.Get(t.Context(), client.ObjectKey{Name: "a"}, c); err != nil {
		t.Fatal(err)
	}
	a, _ := attemptOf(c)
	return c.Annotations[api.AnnotationNodeClassHash], a.n
}

// TestAClaimCarriesTheClassItsInstanceWasLaunchedFrom: the hash of the class is
// written before the launch. The process ends then, and the class is edited.
// An instance that came of the launch is one of the older form; where none did,
// it takes another attempt to launch one of the newer.
func TestAClaimCarriesTheClassItsInstanceWasLaunchedFrom(t *testing.T) {
	lost := func(cloud.LaunchRequest) error { return errors.New("connection reset") }
	tests := map[string]struct {
		there, back func(cloud.LaunchRequest) error // what becomes of the first request
		unseen      time.Duration                   // its instance
		attempt     int
		want        string
	}{
		"the first request arrived":             {nil, lost, 0, 1, "old"},
		"and its machine is not to be seen yet": {nil, lost, 10 * time.Second, 1, "old"},
		"the first request got lost":            {lost, nil, 0, 2, "new"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store, s := storeWith("a"), newEmulated()
				s.before, s.after, s.unseen = tt.there, tt.back, tt.unseen
				s.marks = map[string]string{api.AnnotationNodeClassHash: "old"}
				launch(t, store, s, nil, 500*time.Millisecond)
				if got, _ := noted(t, store); got != "old" {
					t.Errorf("before the machine is known the claim carries %q", got)
				}
				s.before, s.after, s.marks = nil, nil, map[string]string{api.AnnotationNodeClassHash: "new"}
				launch(t, store, s, nil, 3*time.Minute)
				if got, attempt := noted(t, store); got != tt.want || attempt != tt.attempt || len(s.instances) != 1 {
					t.Errorf("with %d machines the claim carries %q and attempt %d, want %q and %d", len(s.instances), got, attempt, tt.want, tt.attempt)
				}
			})
		})
	}
}

// edited is a class that was changed since the launch.
type edited struct{ reservedCapacity }

func (edited) Known(context.Context, karpv1.NodeClassReference) (translate.LaunchClass, error) {
	return translate.LaunchClass{Annotations: map[string]string{api.AnnotationNodeClassHash: "new"}}, nil
}

// TestAInstanceIsNotTakenForOneOfAnEditedClass: what was noted before the
// launch stays; only a claim that says nothing gets what is known now.
func TestAInstanceIsNotTakenForOneOfAnEditedClass(t *testing.T) {
	for before, want := range map[string]string{"old": "old", "": "new"} {
		o, c, _, _ := outcomesFor(t)
		o.Classes = edited{}
		if before != "" {
			c.Annotations = map[string]string{api.AnnotationNodeClassHash: before}
			if err := o.Store.Update(t.Context(), c); err != nil {
				t.Fatal(err)
			}
		}
		if err := o.Launched(t.Context(), c, cloud.Instance{ID: "i-1", ProviderID: "aws:///a/i-1", Kind: "m5.large", Zone: "a", Option: cluster.Spot}); err != nil {
			t.Fatal(err)
		}
		if got, _ := noted(t, o.Store); got != want {
			t.Errorf("a claim that says %q says %q in the end, want %q", before, got, want)
		}
	}
}
