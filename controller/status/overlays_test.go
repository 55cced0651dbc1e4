package status

import (
	"log/slog"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/daemok/daemok/kube/api/condition"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha1"
	"github.com/daemok/daemok/kube/snapshot/pools"
)

func TestConditionsOfOverlays(t *testing.T) {
	tests := map[string]struct {
		is     pools.Overlay
		want   string // status and reason of ValidationSucceeded, and the status of Ready
		events []string
	}{
		"one that is applied": {pools.Overlay{Known: true}, "True ValidationSucceeded True", nil},
		"one that is in conflict": {pools.Overlay{Known: true, Idle: "conflict with NodeOverlay b"}, "False Conflict False",
			[]string{"NodeOverlay/o Conflict conflict with NodeOverlay b"}},
		"one that is invalid": {pools.Overlay{Known: true, Invalid: "spec.price: is none"}, "False RuntimeValidation False",
			[]string{"NodeOverlay/o RuntimeValidation spec.price: is none"}},
		"one of which nothing is known yet": {pools.Overlay{}, "", nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := runtime.NewScheme()
			if err := v1alpha1.AddToScheme(s); err != nil {
				t.Fatal(err)
			}
			price, now := "0.1", time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			o := &v1alpha1.NodeOverlay{ObjectMeta: metav1.ObjectMeta{Name: "o", Generation: 3}}
			o.Spec.Price = &price
			store := fake.NewClientBuilder().WithScheme(s).WithObjects(o).WithStatusSubresource(o).Build()
			var events heard
			r := &Overlays{Reporter: Reporter{
				Store: store, Events: &events, Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return now },
			}}
			round := func() (revision, text string) {
				live := &v1alpha1.NodeOverlay{}
				if err := store.Get(t.Context(), client.ObjectKeyFromObject(o), live); err != nil {
					t.Fatal(err)
				}
				tt.is.Object = live
				r.List = func() []pools.Overlay { return []pools.Overlay{tt.is} }
				if _, err := r.Round(t.Context()); err != nil {
					t.Fatal(err)
				}
				if err := store.Get(t.Context(), client.ObjectKeyFromObject(o), live); err != nil {
					t.Fatal(err)
				}
				c, ready := condition.Get(live, v1alpha1.OverlayValidationSucceeded), condition.Get(live, condition.Ready)
				if c != nil && ready != nil {
					text = string(c.Status) + " " + c.Reason + " " + string(ready.Status)
				}
				return live.ResourceVersion, text
			}
			written, got := round()
			if got != tt.want || !slices.Equal(events, tt.events) {
				t.Errorf("its conditions are %q and its events %q, want %q and %q", got, events, tt.want, tt.events)
			}
			if again, _ := round(); again != written {
				t.Error("what has not changed is written again")
			}
		})
	}
}

// A conflict stays while it is not known of all pools what they may launch, such as after a restart.
func TestAConflictStaysWhileItMayBeOne(t *testing.T) {
	conflict := pools.Overlay{Known: true, Idle: "conflict with NodeOverlay b"}
	unsure, sure := pools.Overlay{Known: true, Unsure: true}, pools.Overlay{Known: true}
	edited := func(o *v1alpha1.NodeOverlay) { o.Generation++ }
	tests := map[string]struct {
		first, then pools.Overlay
		edit        func(*v1alpha1.NodeOverlay)
		want        string
	}{
		"while a pool may have it":         {conflict, unsure, nil, "False Conflict"},
		"until no pool has it":             {conflict, sure, nil, "True ValidationSucceeded"},
		"not once its spec is another one": {conflict, unsure, edited, "True ValidationSucceeded"},
		"none is made up":                  {unsure, unsure, nil, "True ValidationSucceeded"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := runtime.NewScheme()
			if err := v1alpha1.AddToScheme(s); err != nil {
				t.Fatal(err)
			}
			o := &v1alpha1.NodeOverlay{ObjectMeta: metav1.ObjectMeta{Name: "o", Generation: 3}}
			o.Spec.Price = new("0.1")
			store := fake.NewClientBuilder().WithScheme(s).WithObjects(o).WithStatusSubresource(o).Build()
			r := &Overlays{Reporter: Reporter{
				Store: store, Events: &heard{}, Log: slog.New(slog.DiscardHandler), Now: time.Now,
			}}
			var live v1alpha1.NodeOverlay
			read := func() {
				if err := store.Get(t.Context(), client.ObjectKeyFromObject(o), &live); err != nil {
					t.Fatal(err)
				}
			}
			for i, is := range []pools.Overlay{tt.first, tt.then} {
				read()
				if i == 1 && tt.edit != nil {
					tt.edit(&live)
				}
				is.Object = live.DeepCopy()
				r.List = func() []pools.Overlay { return []pools.Overlay{is} }
				if _, err := r.Round(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			read()
			c := condition.Get(&live, v1alpha1.OverlayValidationSucceeded)
			if got := string(c.Status) + " " + c.Reason; got != tt.want {
				t.Errorf("its condition is %q, want %q", got, tt.want)
			}
		})
	}
}
