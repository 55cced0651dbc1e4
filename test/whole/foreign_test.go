package whole_test

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/test/fakecloud"
)

// neighbours are what another provider with the same API has in the cluster: a
// pool, a claim that it has just made, and one whose node is closed to pods
// because it is to go.
type neighbours struct {
	pool      *karpv1.NodePool
	new, used *karpv1.NodeClaim
	node      *corev1.Node
}

func (w *world) neighbours() neighbours {
	theirs := karpv1.NodeClassReference{Group: "karpenter.azure.com", Kind: "AKSNodeClass", Name: "default"}
	out := neighbours{pool: w.pool("theirs", func(p *karpv1.NodePool) {
		p.Spec.Template.Spec.NodeClassRef, p.Spec.Weight = theirs, new(int32(100))
	})}
	for _, kind := range []string{karpv1.NodePoolValidationSucceeded, karpv1.NodePoolClassReady, "Ready"} {
		condition.SetTrue(out.pool, kind, time.Now())
	}
	claim := func(name string) *karpv1.NodeClaim {
		c := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{api.LabelNodePool: "theirs"}}}
		c.Spec.NodeClassRef, c.Spec.Requirements, c.Spec.ExpireAfter = theirs, []karpv1.Requirement{}, "10m"
		w.create(c)
		return c
	}
	out.new, out.used = claim("theirs-new"), claim("theirs-used")
	out.node = &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "theirs", Labels: map[string]string{api.LabelHostname: "theirs", api.LabelNodePool: "theirs"}, Finalizers: []string{api.FinalizerTermination}},
		Spec: corev1.NodeSpec{ProviderID: "azure:///vm/1", Taints: []corev1.Taint{
			{Key: api.TaintDisrupted, Effect: corev1.TaintEffectNoSchedule}}},
	}
	w.create(out.node)
	out.node.Status.Allocatable = corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourceMemory: resource.MustParse("8Gi"), corev1.ResourcePods: resource.MustParse("20")}
	out.node.Status.Capacity = out.node.Status.Allocatable
	out.node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionFalse}}
	out.used.Status.ProviderID, out.used.Status.NodeName = out.node.Spec.ProviderID, out.node.Name
	for _, kind := range []string{karpv1.ClaimLaunched, karpv1.ClaimRegistered, karpv1.ClaimInitialized, karpv1.ClaimConsolidatable, karpv1.ClaimDrifted} {
		condition.SetTrue(out.used, kind, time.Now())
	}
	condition.Set(out.used, karpv1.ClaimDisruptionReason, metav1.ConditionTrue, "Drifted", "as its own provider says", time.Now())
	for _, o := range []client.Object{out.pool, out.node, out.used} {
		if err := w.hand.Status().Update(context.Background(), o); err != nil {
			w.t.Fatal(err)
		}
	}
	return out
}

// untouched demands that an object is as its owner left it.
func untouched[T client.Object](w *world, was, now T) {
	w.t.Helper()
	if err := w.hand.Get(context.Background(), client.ObjectKeyFromObject(was), now); err != nil {
		w.t.Errorf("%T %s, which is another provider's: %v", was, was.GetName(), err)
		return
	}
	now.SetResourceVersion(was.GetResourceVersion())
	if !equality.Semantic.DeepEqual(was, now) {
		w.t.Errorf("%T %s, which is another provider's, was written:\n%+v\nit was\n%+v", was, was.GetName(), now, was)
	}
}

func (w *world) allUntouched(n neighbours) {
	w.t.Helper()
	untouched(w, n.pool, &karpv1.NodePool{})
	untouched(w, n.new, &karpv1.NodeClaim{})
	untouched(w, n.used, &karpv1.NodeClaim{})
	untouched(w, n.node, &corev1.Node{})
}

// SC-241, SC-257: neither the start of a controller, which opens what an earlier
// one closed, nor what gives claims up that do not come to anything, nor
// consolidation, drift and expiry concern another provider's.
func TestObjectsOfAnotherProviderAreLeftAlone(t *testing.T) {
	report(t, fakecloud.Options{Seed: 71}, func(t *testing.T, w *world) {
		n := w.neighbours()
		w.pool("default", nil)
		w.start(setup{})
		w.scale("web", 1)
		w.until(5*time.Minute, "the pod running", func() bool { return w.run(1) })
		time.Sleep(30 * time.Minute)
		w.allUntouched(n)
		if w.launched() != 1 {
			t.Errorf("bought %d machines, want one, for the pod; %s", w.launched(), w.state())
		}
	})
}

// SC-257: its owner drains a node and takes the finalizer off; that its claim may
// be gone by then does not make it a node of ours that no claim is about.
func TestANodeOfAnotherProviderIsDrainedByItsOwner(t *testing.T) {
	for _, first := range []string{"node", "claim"} {
		t.Run(first+" deleted first", func(t *testing.T) {
			report(t, fakecloud.Options{Seed: 72}, func(t *testing.T, w *world) {
				n := w.neighbours()
				pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "on-theirs"}, Spec: corev1.PodSpec{NodeName: n.node.Name}}
				w.create(pod)
				w.start(setup{})
				if first == "claim" {
					w.delete(n.used)
				}
				w.delete(n.node)
				time.Sleep(30 * time.Minute)
				now := &corev1.Node{}
				if err := w.hand.Get(context.Background(), client.ObjectKeyFromObject(n.node), now); err != nil {
					t.Fatalf("the node of another provider was disrupted: %v", err)
				}
				if len(now.Finalizers) != 1 || len(now.Spec.Taints) != 1 || len(now.Labels) != len(n.node.Labels) {
					t.Errorf("the node of another provider was written: %+v", now)
				}
				if running, all := w.podsRunning(); running != 1 || all != 1 {
					t.Errorf("the pod on it was evicted: %s", w.state())
				}
				if first == "node" {
					untouched(w, n.used, &karpv1.NodeClaim{})
				}
			})
		})
	}
}
