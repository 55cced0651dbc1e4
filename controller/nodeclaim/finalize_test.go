package nodeclaim

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/observe"
	"github.com/daemok/daemok/test/scraped"
	"github.com/daemok/daemok/test/store"
)

// ending is a cloud with one instance, which ends so long after it was given
// back. It counts the calls.
type ending struct {
	cloud.Instances // no more of it than List and Terminate is supported

	after  time.Duration
	ignore int       // calls to give it back that come to nothing
	hidden time.Time // EC2 does not know the instance before
	endsAt time.Time
	ends   int
	looks  int
}

func (e *ending) Terminate(_ context.Context, ids ...string) (gone []string, err error) {
	if time.Now().Before(e.hidden) {
		return nil, &cloud.NotVisibleError{InstanceID: ids[0]}
	}
	e.ends++
	if e.ends > e.ignore && e.endsAt.IsZero() {
		e.endsAt = time.Now().Add(e.after)
	}
	if e.gone() {
		return ids, nil
	}
	return nil, nil
}

func (e *ending) gone() bool { return !e.endsAt.IsZero() && !time.Now().Before(e.endsAt) }

func (e *ending) List(_ context.Context, f cloud.Filter) ([]cloud.Instance, error) {
	e.looks++
	switch {
	case e.gone():
		return nil, nil
	case e.endsAt.IsZero():
		return []cloud.Instance{{ID: f.IDs[0], State: cloud.Running}}, nil
	}
	return []cloud.Instance{{ID: f.IDs[0], State: cloud.ShuttingDown}}, nil
}

// deleted is a reconciler over a cluster in which claim a, with instance i-1 and
// no node, was just deleted.
func deleted(t *testing.T, instances cloud.Instances) *Reconciler {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, karpv1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	hand := store.New(s, time.Now).Connect(nil)
	c := &karpv1.NodeClaim{Spec: store.ClaimSpec(),
		ObjectMeta: metav1.ObjectMeta{Name: "a", Finalizers: []string{api.FinalizerTermination}}}
	c.Status.ProviderID = "aws:///a/i-1"
	if err := hand.Create(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if err := hand.Delete(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	return &Reconciler{Store: hand, Live: hand, Instances: instances, Now: time.Now, Log: unheard,
		Metrics: observe.NewMetrics(prometheus.NewRegistry(), "", "", "", "")}
}

// TestAnEndingInstanceIsLookedAtSoonAndThenSeldom counts what it costs to give
// one instance back, and how long after its end the claim goes.
func TestAnEndingInstanceIsLookedAtSoonAndThenSeldom(t *testing.T) {
	tests := map[string]struct {
		after    time.Duration
		ignore   int
		ends     int
		looksMax int
		lateMax  time.Duration
	}{
		"gone before":              {0, 0, 1, 0, 0},
		"one that ends at once":    {time.Second, 0, 1, 1, time.Second},
		"one that takes a moment":  {4 * time.Second, 0, 1, 5, time.Second},
		"one that takes a while":   {40 * time.Second, 0, 1, 11, 10 * time.Second},
		"one that takes very long": {10 * time.Minute, 0, 1, 70, 10 * time.Second},
		"one that did not hear it": {40 * time.Second, 1, 2, 18, 10 * time.Second},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := &ending{after: tt.after, ignore: tt.ignore}
				r := deleted(t, e)
				time.Sleep(visibleAfter) // since its launch
				for began := time.Now(); r.Store.Get(t.Context(), client.ObjectKey{Name: "a"},
					&karpv1.NodeClaim{}) == nil; {
					wait, err := r.Reconcile(t.Context(), "a")
					if err != nil || time.Since(began) > time.Hour {
						t.Fatalf("after %v: %v", time.Since(began), err)
					}
					time.Sleep(wait) // virtual time
				}
				got := fmt.Sprintf("given back %d times, looked at %d times, noticed after %v", e.ends, e.looks,
					time.Since(e.endsAt))
				if e.ends != tt.ends || e.looks > tt.looksMax || time.Since(e.endsAt) > tt.lateMax {
					t.Errorf("%s; want %d, at most %d and %v", got, tt.ends, tt.looksMax, tt.lateMax)
				}
				t.Log(got)
			})
		})
	}
}

// A claim that is deleted seconds after its launch, while EC2 does not know the instance
// yet, says that its instance terminates once that was asked, within seconds.
func TestAnInstanceThatIsNotVisibleYetIsTerminatedWithinSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &ending{after: 10 * time.Second, hidden: time.Now().Add(5 * time.Second)}
		r := deleted(t, e)
		c := &karpv1.NodeClaim{}
		for began := time.Now(); r.Store.Get(t.Context(), client.ObjectKey{Name: "a"}, c) == nil; {
			if condition.IsTrue(c, karpv1.ClaimInstanceTerminating) && e.ends == 0 {
				t.Fatalf("%v after its deletion the claim says that its instance terminates, which nobody has asked for", time.Since(began))
			}
			wait, err := r.Reconcile(t.Context(), "a")
			if err != nil || time.Since(began) > time.Hour {
				t.Fatalf("after %v: %v", time.Since(began), err)
			}
			time.Sleep(wait) // virtual time
		}
		if late := e.endsAt.Add(-e.after).Sub(e.hidden); late > 2*time.Second || e.ends != 1 {
			t.Errorf("terminated %v after it was visible, %d times; want once, within seconds", late, e.ends)
		}
	})
}

// A process that has just started did not launch the instance itself, and so cannot know
// one that EC2 does not know yet from one that is gone.
func TestAnInstanceOfAMomentAgoIsNotTakenForOneThatIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &ending{endsAt: time.Now()} // as EC2 answers for an ID that it does not know
		r := deleted(t, e)
		if wait, err := r.Reconcile(t.Context(), "a"); err != nil || wait == 0 {
			t.Fatalf("it is looked at again after %v, %v", wait, err)
		}
		e.endsAt = time.Time{} // it is visible by now
		if _, err := r.Reconcile(t.Context(), "a"); err != nil || e.endsAt.IsZero() {
			t.Errorf("the instance runs on (%v)", err)
		}
	})
}

// late is a client whose cache of nodes is behind.
type late struct {
	client.Client
	nodes []corev1.Node
}

func (l late) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if nodes, is := list.(*corev1.NodeList); is {
		nodes.Items = l.nodes
		return nil
	}
	return l.Client.List(ctx, list, options...)
}

// A spot instance is taken back in the moment in which its node was made ready for pods
// and the claim does not say so yet: its pods leave by eviction all the same, whatever
// the watch of nodes has shown so far to a process that has just begun to lead.
func TestANodeThatTakesPodsIsDrainedWhateverTheClaimSays(t *testing.T) {
	ready, empty := []string{api.FinalizerTermination}, []string(nil)
	for name, tt := range map[string]struct {
		is       []string // the finalizers that the node has
		seen     bool     // the watch shows the node,
		seenWith []string // with these finalizers
		named    bool     // the claim names the node
		drained  bool
	}{
		"made ready for pods":                            {is: ready, seen: true, seenWith: ready, drained: true},
		"made ready since the watch showed it":           {is: ready, seen: true, seenWith: empty, drained: true},
		"not shown by the watch":                         {is: ready, drained: true},
		"not shown by the watch, but named by the claim": {is: ready, named: true, drained: true},
		"not looked at yet":                              {is: empty, seen: true, seenWith: empty},
	} {
		t.Run(name, func(t *testing.T) {
			instance := &ending{after: time.Minute}
			r := deleted(t, instance)
			c := &karpv1.NodeClaim{}
			if err := r.Store.Get(t.Context(), client.ObjectKey{Name: "a"}, c); err != nil {
				t.Fatal(err)
			}
			if tt.named {
				c.Status.NodeName = "n"
			}
			node := &corev1.Node{
				ObjectMeta: metav1.ObjectMeta{Name: "n", Finalizers: tt.is,
					Labels: map[string]string{api.LabelRegistered: "true"}},
				Spec: corev1.NodeSpec{ProviderID: c.Status.ProviderID},
			}
			if err := r.Store.Create(t.Context(), node); err != nil {
				t.Fatal(err)
			}
			var seen []corev1.Node
			if tt.seen {
				seen = []corev1.Node{*node.DeepCopy()}
				seen[0].Finalizers = tt.seenWith
			}
			r.Store = late{r.Store, seen}
			if _, err := r.finalizer().finalize(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			if err := r.Live.Get(t.Context(), client.ObjectKey{Name: "n"}, node); err != nil {
				t.Fatal(err)
			}
			if leaves := node.DeletionTimestamp != nil; leaves != tt.drained || (instance.ends == 0) != tt.drained {
				t.Errorf("the node leaves: %v, the instance was terminated %d times; want it drained first: %v",
					leaves, instance.ends, tt.drained)
			}
		})
	}
}

// The node of a deleted claim is gone and its address, and so its name, is another
// instance's by now, which a cache that is behind does not know.
func TestANodeThatHasTheNameByNowStays(t *testing.T) {
	r := deleted(t, &ending{})
	c := &karpv1.NodeClaim{}
	if err := r.Store.Get(t.Context(), client.ObjectKey{Name: "a"}, c); err != nil {
		t.Fatal(err)
	}
	condition.SetTrue(c, karpv1.ClaimRegistered, time.Now())
	was := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "ip-10-0-0-1"},
		Spec: corev1.NodeSpec{ProviderID: c.Status.ProviderID}}
	is := was.DeepCopy()
	is.Spec.ProviderID = "aws:///a/i-2"
	if err := r.Store.Create(t.Context(), is); err != nil {
		t.Fatal(err)
	}
	was.UID = "of-the-one-that-is-gone"
	r.Store = late{r.Store, []corev1.Node{was}}
	if _, err := r.finalizer().finalize(t.Context(), c); !apierrors.IsConflict(err) {
		t.Errorf("finalize = %v, want that the node is another by now", err)
	}
	if err := r.Store.Get(t.Context(), client.ObjectKey{Name: is.Name}, is); err != nil {
		t.Errorf("the other instance's node is gone: %v", err)
	}
}

// closed is a cloud that takes nothing back.
type closed struct{ cloud.Instances }

func (closed) Terminate(context.Context, ...string) ([]string, error) {
	return nil, &cloud.ThrottledError{Call: "TerminateInstances"}
}

// An instance that cannot be terminated keeps its claim, and is counted by its zone.
func TestAInstanceThatCannotBeGivenBackIsCounted(t *testing.T) {
	r, registry := deleted(t, closed{}), prometheus.NewRegistry()
	r.Metrics = observe.NewMetrics(registry, "", "", "", "")
	c := &karpv1.NodeClaim{}
	if err := r.Store.Get(t.Context(), client.ObjectKey{Name: "a"}, c); err != nil {
		t.Fatal(err)
	}
	c.Labels = map[string]string{api.LabelZone: "us-east-1a", api.LabelZoneID: "use1-az1"}
	if err := r.Store.Update(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := r.Reconcile(t.Context(), "a"); err == nil {
			t.Fatal("the claim went on though its machine was not given back")
		}
	}
	const counted = "karpenter_cloudprovider_instance_termination_failures_total"
	if got, err := scraped.Lines(registry,
		counted); err != nil || len(got) != 1 || got[0] != counted+" zone=us-east-1a zone_id=use1-az1 2" {
		t.Errorf("counted %q, %v; want two of the zone", got, err)
	}
}

// SC-246: nothing is asked of the cloud about a claim that never had an instance.
func TestAClaimWithoutAInstanceGoesAtOnce(t *testing.T) {
	e := &ending{}
	r := deleted(t, e)
	c := &karpv1.NodeClaim{}
	if err := r.Store.Get(t.Context(), client.ObjectKey{Name: "a"}, c); err != nil {
		t.Fatal(err)
	}
	c.Status.ProviderID = ""
	if _, err := r.finalizer().finalize(t.Context(), c); err != nil || e.ends+e.looks > 0 {
		t.Errorf("finalize: %v, after %d calls to give a machine back and %d looks", err, e.ends, e.looks)
	}
	if err := r.Store.Get(t.Context(), client.ObjectKey{Name: "a"}, c); !apierrors.IsNotFound(err) {
		t.Errorf("the claim is still there: %v", err)
	}
}

// An instance that another claim takes over stays, whatever deletes the claim that had it, and
// whenever.
func TestAInstanceThatIsTakenOverStays(t *testing.T) {
	e := &ending{}
	r := deleted(t, e)
	replacement := &karpv1.NodeClaim{Spec: store.ClaimSpec(),
		ObjectMeta: metav1.ObjectMeta{Name: "b",
			Annotations: map[string]string{api.AnnotationAdopt: "aws:///a/i-1", api.AnnotationAdoptFrom: "a"}}}
	replacement.Status.ProviderID = "aws:///a/i-1"
	if err := r.Store.Create(t.Context(), replacement); err != nil {
		t.Fatal(err)
	}
	if wait, err := r.Reconcile(t.Context(), "a"); err != nil || wait == 0 || r.Store.Get(t.Context(),
		client.ObjectKey{Name: "a"}, &karpv1.NodeClaim{}) != nil {
		t.Errorf("before the node is the heir's it waits %v, %v", wait, err)
	}
	before := replacement.DeepCopy()
	condition.SetTrue(replacement, karpv1.ClaimRegistered, time.Now())
	if err := r.Store.Status().Patch(t.Context(), replacement, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Reconcile(t.Context(), "a"); err != nil {
		t.Error(err)
	}
	if err := r.Store.Get(t.Context(), client.ObjectKey{Name: "a"},
		&karpv1.NodeClaim{}); !apierrors.IsNotFound(err) || e.ends > 0 {
		t.Errorf("the claim is there (%v), and the machine was given back %d times", err, e.ends)
	}
}

// Somebody who ends the drain of an instance that fails may do so while the claim is looked at.
func TestADeadlineThatWasSetMeanwhileStays(t *testing.T) {
	r := deleted(t, &ending{})
	seen := &karpv1.NodeClaim{}
	if err := r.Store.Get(t.Context(), client.ObjectKey{Name: "a"}, seen); err != nil {
		t.Fatal(err)
	}
	seen.Spec.TerminationGracePeriod = "24h"
	now, before := seen.DeepCopy(), seen.DeepCopy()
	now.Annotations = map[string]string{api.AnnotationTerminationTimestamp: "2026-01-01T00:00:00Z"}
	if err := r.Store.Patch(t.Context(), now, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	if err := r.finalizer().setDeadline(t.Context(), seen); !apierrors.IsConflict(err) {
		t.Errorf("setDeadline = %v, want that the claim is another by now", err)
	}
	if err := r.Store.Get(t.Context(), client.ObjectKey{Name: "a"},
		now); err != nil || now.Annotations[api.AnnotationTerminationTimestamp] != "2026-01-01T00:00:00Z" {
		t.Errorf("the drain must be over at %s, %v; want what was set meanwhile",
			now.Annotations[api.AnnotationTerminationTimestamp], err)
	}
}

// A deleted claim that is held keeps node and instance. One whose node goes already is not held: its drain has begun.
func TestADeletedClaimThatIsHeldKeepsItsNode(t *testing.T) {
	for name, begun := range map[string]bool{"nothing has begun": false, "its node goes already": true} {
		t.Run(name, func(t *testing.T) {
			r := deleted(t, &ending{})
			asked := 0
			r.Held = func(context.Context, *karpv1.NodeClaim) (bool, error) { asked++; return true, nil }
			node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n",
				Finalizers: []string{api.FinalizerTermination}}, Spec: corev1.NodeSpec{ProviderID: "aws:///a/i-1"}}
			if err := r.Store.Create(t.Context(), node); err != nil {
				t.Fatal(err)
			}
			if begun {
				if err := r.Store.Delete(t.Context(), node); err != nil {
					t.Fatal(err)
				}
			}
			wait, err := r.Reconcile(t.Context(), "a")
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Store.Get(t.Context(), client.ObjectKeyFromObject(node), node); err != nil {
				t.Fatal(err)
			}
			if held := asked == 1 && wait == recheckHeld; held == begun || (node.DeletionTimestamp != nil) != begun {
				t.Errorf("asked %d times, waits %s, node deleted at %v", asked, wait, node.DeletionTimestamp)
			}
		})
	}
}

// SC-247: when a drain must be over is settled when its claim is deleted, and
// nothing changes it later.
func TestADeadlineIsSetOnce(t *testing.T) {
	r := deleted(t, &ending{})
	c := &karpv1.NodeClaim{}
	if err := r.Store.Get(t.Context(), client.ObjectKey{Name: "a"}, c); err != nil {
		t.Fatal(err)
	}
	want := c.DeletionTimestamp.Add(time.Hour).UTC().Format(time.RFC3339)
	for _, grace := range []karpv1.Duration{"1h", "2h"} {
		c.Spec.TerminationGracePeriod = grace
		if err := r.finalizer().setDeadline(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		if got := c.Annotations[api.AnnotationTerminationTimestamp]; got != want {
			t.Errorf("with a term of %s the drain must be over at %s, want %s", grace, got, want)
		}
	}
}
