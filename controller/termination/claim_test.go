package termination

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/test/store"
)

// counting is a client that counts the claims it returned.
type counting struct {
	client.Client
	claims int
}

func (c *counting) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	err := c.Client.List(ctx, list, options...)
	if l, ok := list.(*karpv1.NodeClaimList); ok {
		c.claims += len(l.Items)
	}
	return err
}

// TestTheClaimOfANodeIsLookedUp: among many claims the node's own is found without reading
// the others, and a node without an instance has none.
func TestTheClaimOfANodeIsLookedUp(t *testing.T) {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, karpv1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	hand := store.New(s, time.Now).Connect(nil)
	for i := range 1000 {
		c := &karpv1.NodeClaim{Spec: store.ClaimSpec(), ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("c-%d", i)}}
		if i >= 500 { // the others have no instance yet
			c.Status.ProviderID = fmt.Sprintf("aws:///a/i-%d", i)
		}
		if err := hand.Create(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	tests := map[string]struct{ providerID, want string }{
		"a node of ours":            {"aws:///a/i-700", "c-700"},
		"a node of somebody else":   {"aws:///a/i-1", ""},
		"a node without a provider": {"", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			store := &counting{Client: hand}
			node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"},
				Spec: corev1.NodeSpec{ProviderID: tt.providerID}}
			claim, err := (&Reconciler{Store: store}).claimOf(t.Context(), node)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if claim != nil {
				got = claim.Name
			}
			if got != tt.want || store.claims > 1 {
				t.Errorf("found %q after reading %d claims, want %q and no others", got, store.claims, tt.want)
			}
		})
	}
}

// late is a client whose cache of claims is behind.
type late struct {
	client.Client
	claims []karpv1.NodeClaim
}

func (l late) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if claims, is := list.(*karpv1.NodeClaimList); is {
		claims.Items = l.claims
		return nil
	}
	return l.Client.List(ctx, list, options...)
}

// A claim that was made again by its name, as from a backup, is not the one that a cache
// which is behind shows beside a node that leaves.
func TestAClaimThatHasTheNameByNowStays(t *testing.T) {
	inTown(t, func(t *testing.T, w *town) {
		is := &karpv1.NodeClaim{Spec: store.ClaimSpec(), ObjectMeta: metav1.ObjectMeta{Name: "c"}}
		w.create(is)
		was := is.DeepCopy()
		was.UID, was.Status.ProviderID = "of-the-one-that-is-gone", "aws:///a/i-"+leaves
		node := &corev1.Node{}
		w.get(leaves, node)
		if err := w.hand.Delete(t.Context(), node); err != nil {
			t.Fatal(err)
		}
		r := w.start()
		r.Store = late{r.Store, []karpv1.NodeClaim{*was}}
		if _, err := r.Reconcile(t.Context(), leaves); !apierrors.IsConflict(err) {
			t.Errorf("Reconcile = %v, want that the claim is another by now", err)
		}
		if !w.get("c", is) || is.DeletionTimestamp != nil {
			t.Error("the other claim goes")
		}
	})
}

// unaware is a client whose cache shows no pods yet.
type unaware struct{ client.Client }

func (u unaware) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if _, is := list.(*corev1.PodList); is {
		return nil
	}
	return u.Client.List(ctx, list, options...)
}

// A pod that was bound to the node just before it was closed may not be in the cache yet:
// the instance is not terminated under it.
func TestAPodThatTheCacheDoesNotShowKeepsTheInstance(t *testing.T) {
	inTown(t, func(t *testing.T, w *town) {
		w.run("web", leaves, nil, nil)
		node := &corev1.Node{}
		w.get(leaves, node)
		if err := w.hand.Delete(t.Context(), node); err != nil {
			t.Fatal(err)
		}
		r := w.start()
		r.Store = unaware{r.Store}
		for began := time.Now(); time.Since(began) < 5*time.Minute; time.Sleep(time.Second) {
			if _, err := r.Reconcile(t.Context(), leaves); err != nil {
				t.Fatal(err)
			}
		}
		if w.cloud.ends["i-"+leaves] > 0 || w.here("web") != 1 {
			t.Errorf("the instance was terminated %d times with %d pods on it", w.cloud.ends["i-"+leaves],
				w.here("web"))
		}
	})
}

// The pod of a StatefulSet comes again by its name, elsewhere: neither deletion nor
// eviction is for that one.
func TestAPodThatHasTheNameByNowStays(t *testing.T) {
	inTown(t, func(t *testing.T, w *town) {
		is := w.run("db", stays, nil, nil)
		was := is.DeepCopy()
		was.UID, was.Spec.NodeName = "of-the-one-that-is-gone", leaves
		node := &corev1.Node{}
		w.get(leaves, node)
		r := w.start()
		if err := errors.Join(r.delete(t.Context(), node, was, time.Second),
			r.evict(t.Context(), &departure{node: node}, was)); err != nil {
			t.Error(err)
		}
		if len(w.pods("db")) != 1 {
			t.Error("the other pod goes")
		}
	})
}
