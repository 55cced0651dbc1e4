package nodeclaim

import (
	"context"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/test/store"
)

// nominating is a node that has joined, and pods that wait for it.
type nominating struct {
	*testing.T
	*Reconciler
	now   time.Time
	claim *karpv1.NodeClaim
	node  *corev1.Node
}

func nominates(t *testing.T) *nominating {
	s := runtime.NewScheme()
	if err := corev1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	n := &nominating{T: t, now: noon, claim: &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c", UID: "uid"}}}
	store := store.New(s, func() time.Time { return n.now }).Connect(nil)
	n.Reconciler = &Reconciler{Store: store, Now: func() time.Time { return n.now }, Nominations: &Nominations{}}
	n.node = &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"},
		Spec: corev1.NodeSpec{Taints: []corev1.Taint{fresh}}}
	n.create(n.node)
	return n
}

func (n *nominating) create(o client.Object) {
	n.Helper()
	if err := n.Store.Create(n.Context(), o); err != nil {
		n.Fatal(err)
	}
}

// pod creates a pod, on a node where one is named.
func (n *nominating) pod(name, node string) cluster.Pod {
	n.Helper()
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec: corev1.PodSpec{NodeName: node}}
	n.create(p)
	return cluster.Pod{Namespace: "default", Name: name, UID: string(p.UID)}
}

// ready has the kubelet report so.
func (n *nominating) ready() {
	n.Helper()
	n.node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	if err := n.Store.Status().Update(n.Context(), n.node); err != nil {
		n.Fatal(err)
	}
}

// look registers the claim as far as that goes, and reports whether its node is open.
func (n *nominating) look() (open bool) {
	n.Helper()
	if _, err := n.registration().register(n.Context(), n.claim, []corev1.Node{*n.node}, ""); err != nil {
		n.Fatal(err)
	}
	if err := n.Store.Get(n.Context(), client.ObjectKeyFromObject(n.node), n.node); err != nil {
		n.Fatal(err)
	}
	return !slices.ContainsFunc(n.node.Spec.Taints, func(t corev1.Taint) bool { return t.Key == api.TaintUnregistered })
}

// nominated lists the pods that the node is nominated for.
func (n *nominating) nominated() (names []string) {
	n.Helper()
	var all corev1.PodList
	if err := n.Store.List(n.Context(), &all); err != nil {
		n.Fatal(err)
	}
	for i := range all.Items {
		if all.Items[i].Status.NominatedNodeName == n.node.Name {
			names = append(names, all.Items[i].Name)
		}
	}
	slices.Sort(names)
	return names
}

// A node opens once it is ready and the pods that it was launched for are nominated: others can
// not take their place.
func TestPodsAreNominatedBeforeTheirNodeOpens(t *testing.T) {
	n := nominates(t)
	n.Nominations.Ordered("c",
		[]cluster.Pod{n.pod("a", ""), n.pod("bound", "elsewhere"), {Namespace: "default", Name: "gone", UID: "gone"}})
	n.Nominations.Decided(plan.Plan{Placements: []plan.Placement{{Pod: n.pod("b", ""), On: plan.OnInstance,
		Target: "c"}}})
	if n.look() || n.nominated() != nil {
		t.Fatalf("a node that is not ready is open, or nominated for %v", n.nominated())
	}
	if is := condition.Get(n.claim, karpv1.ClaimRegistered); is.Reason != karpv1.ReasonRegistrationHookPending {
		t.Errorf("the NodeClaim waits because of %s: %s", is.Reason, is.Message)
	}
	n.ready()
	if n.look() {
		t.Error("the node is open before watches show the nominations")
	}
	if got := n.nominated(); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("the node is nominated for %v, want a and b", got)
	}
	if !n.look() || !condition.IsTrue(n.claim, karpv1.ClaimRegistered) {
		t.Error("all pods are nominated, and the node is not open")
	}
}

// A network that does not tolerate the taint keeps a node from getting ready.
func TestANodeThatDoesNotGetReadyOpens(t *testing.T) {
	n := nominates(t)
	n.Nominations.Ordered("c", []cluster.Pod{n.pod("a", "")})
	if n.look() {
		t.Fatal("the node is open before it is ready")
	}
	if n.now = n.now.Add(readyFor); !n.look() || n.nominated() != nil {
		t.Errorf("after %v the node is not open, or nominated for %v", readyFor, n.nominated())
	}
}

// kube-scheduler drops a nomination where it tries a pod before the node is open.
func TestADroppedNominationIsMadeAgain(t *testing.T) {
	n := nominates(t)
	a, late := n.pod("a", ""), n.pod("late", "")
	n.Nominations.Ordered("c", []cluster.Pod{a})
	n.ready()
	for !n.look() {
		continue
	}
	n.drop(t.Context(), "a")
	n.Nominations.Decided(plan.Plan{Placements: []plan.Placement{{Pod: late, On: plan.OnNode, Target: "n"}}})
	n.again("a", "late")
	n.drop(t.Context(), "a", "late")
	n.now = n.now.Add(plannedWithin)
	n.again("late") // of a the plans of that time say nothing
	n.drop(t.Context(), "late")
	n.now = n.now.Add(nominateFor)
	n.again()
}

func (n *nominating) drop(ctx context.Context, names ...string) {
	n.Helper()
	for _, name := range names {
		p := &corev1.Pod{}
		if err := n.Store.Get(ctx, client.ObjectKey{Namespace: "default", Name: name}, p); err != nil {
			n.Fatal(err)
		}
		p.Status.NominatedNodeName = ""
		if err := n.Store.Status().Update(ctx, p); err != nil {
			n.Fatal(err)
		}
	}
}

func (n *nominating) again(want ...string) {
	n.Helper()
	if _, err := n.nominator().nominateAgain(n.Context(), n.claim, n.node); err != nil {
		n.Fatal(err)
	}
	if got := n.nominated(); !slices.Equal(got, want) {
		n.Errorf("the node is nominated for %v, want %v", got, want)
	}
}
