package snapshot

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/snapshot/strip"
	"github.com/daemok/daemok/test/store"
)

// The watches are behind when this process begins to lead: it waits for as long as they are, and no longer.
func TestWatchesCatchUp(t *testing.T) {
	create := func(t *testing.T, c client.Client, o client.Object) {
		if err := c.Create(t.Context(), o); err != nil {
			t.Error(err)
		}
	}
	newPod := func(name string) *corev1.Pod { return pod(name, "1", "") }
	tests := map[string]struct {
		change func(t *testing.T, c client.Client)
		waits  bool
	}{
		"nothing has happened": {func(*testing.T, client.Client) {}, false},
		"a claim was made": {func(t *testing.T, c client.Client) {
			create(t, c, &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c"}, Spec: store.ClaimSpec()})
		}, true},
		"a node came": {func(t *testing.T, c client.Client) { create(t, c, node("n2")) }, true},
		"a pod came":  {func(t *testing.T, c client.Client) { create(t, c, newPod("new")) }, true},
		"a Service came, which no claim is for": {func(t *testing.T, c client.Client) {
			create(t, c, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "s"}})
		}, false},
		"a pod was bound": {func(t *testing.T, c client.Client) {
			p := newPod("old")
			p.UID = ""
			if err := c.Get(t.Context(), client.ObjectKeyFromObject(p), p); err != nil {
				t.Error(err)
			}
			before := p.DeepCopy()
			p.Spec.NodeName = "n"
			if err := c.Patch(t.Context(), p, client.MergeFrom(before)); err != nil {
				t.Error(err)
			}
		}, true},
		"a pod without a node went": {func(t *testing.T, c client.Client) {
			if err := c.Delete(t.Context(), newPod("old")); err != nil {
				t.Error(err)
			}
		}, true},
		"a pod came with its node, for which nothing is launched": {func(t *testing.T, c client.Client) { create(t, c, pod("daemon", "1", "n")) }, false},
		"a node went": {func(t *testing.T, c client.Client) {
			if err := c.Delete(t.Context(), node("n")); err != nil {
				t.Error(err)
			}
		}, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := runtime.NewScheme()
				_ = clientgoscheme.AddToScheme(s)
				_ = karpv1.AddToScheme(s)
				server := store.New(s, time.Now)
				hand := server.Connect(nil)
				create(t, hand, node("n"))
				create(t, hand, newPod("old"))
				shown := server.NewCache(func(client.Object) time.Duration { return 4 * time.Second }, strip.Strip)
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer shown.Wait()
				defer cancel()
				k := New(nothingOffered, time.Now)
				k.Configure(func(s *Settings) { s.Generations = nil })
				if err := k.Follow(ctx, shown, func(*karpv1.NodeClaim, bool) {}); err != nil {
					t.Fatal(err)
				}
				if err := shown.Follow(ctx); err != nil {
					t.Fatal(err)
				}
				tt.change(t, hand)
				began := time.Now()
				if err := k.CatchUp(ctx, hand, func(string) {}); err != nil {
					t.Fatal(err)
				}
				if waited := time.Since(began) >= 4*time.Second; waited != tt.waits || time.Since(began) > 4*time.Second+100*time.Millisecond {
					t.Errorf("it waited for %v", time.Since(began))
				}
			})
		})
	}
}
