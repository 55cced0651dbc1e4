package nodeclaim

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/observe"
)

// askedOnDemand is a claim that asked for an instance on demand and was launched one.
func askedOnDemand() *karpv1.NodeClaim {
	c := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c", UID: "uid",
		Finalizers: []string{api.FinalizerTermination}, CreationTimestamp: metav1.NewTime(time.Now()), Labels: map[string]string{
			api.LabelNodePool: "default", api.LabelCapacityType: "on-demand", api.LabelInstanceType: "m5.large", api.LabelZone: "a", api.LabelArch: "amd64",
		}}}
	c.Spec.Requirements = []karpv1.Requirement{
		{Key: api.LabelNodePool, Operator: "In", Values: []string{"default"}},
		{Key: api.LabelCapacityType, Operator: "In", Values: []string{"on-demand"}},
		{Key: api.LabelTenancy, Operator: "In", Values: []string{"default"}}, // on which nothing is known
	}
	c.Status.ProviderID = "aws:///a/i-1"
	condition.SetTrue(c, karpv1.ClaimLaunched, time.Now())
	return c
}

// joining is a cluster with the claim and the node of its instance.
func joining(t *testing.T, c *karpv1.NodeClaim, node *corev1.Node) client.Client {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, karpv1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	index := func(o client.Object) []string { return []string{o.(*corev1.Node).Spec.ProviderID} }
	return fake.NewClientBuilder().WithScheme(s).WithObjects(c,
		node).WithStatusSubresource(c).WithIndex(&corev1.Node{}, IndexProviderID, index).Build()
}

func TestAnInstanceThatIsNotWhatWasAskedForIsReplaced(t *testing.T) {
	seen := map[string]string{api.LabelInstanceType: "m5.large", api.LabelZone: "a", api.LabelArch: "amd64"}
	tests := map[string]struct {
		change func(*karpv1.NodeClaim)
		node   map[string]string
		text   string // that says so; empty: it registers
	}{
		"as it was asked for":      {func(*karpv1.NodeClaim) {}, seen, ""},
		"of which nothing is said": {func(*karpv1.NodeClaim) {}, nil, ""},
		"spot, asked for on demand": {func(c *karpv1.NodeClaim) { c.Labels[api.LabelCapacityType] = "spot" }, seen,
			"label karpenter.sh/capacity-type is spot, and the NodeClaim asks for in on-demand"},
		"of another type": {func(*karpv1.NodeClaim) {},
			map[string]string{api.LabelInstanceType: "t3a.nano"}, "label node.kubernetes.io/instance-type of node n is t3a.nano, and of the NodeClaim m5.large"},
		"in another zone": {func(*karpv1.NodeClaim) {}, map[string]string{api.LabelZone: "b"},
			"label topology.kubernetes.io/zone of node n is b, and of the NodeClaim a"},
		"taken over as it is": {func(c *karpv1.NodeClaim) {
			c.Annotations = map[string]string{api.AnnotationAdopt: "aws:///a/i-1"}
			c.Labels[api.LabelCapacityType] = "spot"
		}, seen, ""},
		"whose reservation is over": {func(c *karpv1.NodeClaim) { c.Spec.Requirements[1].Values = []string{"reserved"} }, seen, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := askedOnDemand()
			tt.change(c)
			node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: tt.node},
				Spec: corev1.NodeSpec{ProviderID: c.Status.ProviderID, Taints: []corev1.Taint{fresh}}}
			store := joining(t, c, node)
			events := &heard{}
			r := &Reconciler{Store: store, Live: store, Events: events, Log: slog.New(slog.DiscardHandler),
				Now:     time.Now,
				Metrics: observe.NewMetrics(prometheus.NewRegistry(), "", "", "", "")}
			if _, err := r.Reconcile(t.Context(), "c"); err != nil {
				t.Fatal(err)
			}
			got, joined := &karpv1.NodeClaim{}, &corev1.Node{}
			if err := store.Get(t.Context(), client.ObjectKey{Name: "c"},
				got); err != nil && !apierrors.IsNotFound(err) {
				t.Fatal(err)
			}
			if err := store.Get(t.Context(), client.ObjectKey{Name: "n"}, joined); err != nil {
				t.Fatal(err)
			}
			registered := condition.Get(got, karpv1.ClaimRegistered)
			if tt.text == "" {
				if registered == nil || registered.Status != metav1.ConditionTrue || got.DeletionTimestamp != nil {
					t.Errorf("registered %+v, deleted at %v; want it to join", registered, got.DeletionTimestamp)
				}
				return
			}
			if registered == nil || registered.Reason != karpv1.ReasonInstanceMismatch || registered.Message != tt.text || got.DeletionTimestamp == nil {
				t.Errorf("registered %+v, deleted at %v; want it to go for %q", registered, got.DeletionTimestamp,
					tt.text)
			}
			if len(*events) != 1 || (*events)[0].Reason != karpv1.ReasonInstanceMismatch || !strings.Contains((*events)[0].Message, tt.text) {
				t.Errorf("events %+v", *events)
			}
			if joined.Labels[api.LabelRegistered] != "" || len(joined.Spec.Taints) != 1 || joined.Labels[api.LabelInstanceType] != tt.node[api.LabelInstanceType] {
				t.Errorf("node with labels %v and taints %v; want it as it was", joined.Labels, joined.Spec.Taints)
			}
		})
	}
}

// Pods may be on a node that joined without the taint: it is registered, so that its end is a drain.
func TestANodeOfAnotherInstanceThatPodsMayBeOnIsDrained(t *testing.T) {
	c := askedOnDemand()
	c.Labels[api.LabelCapacityType] = "spot"
	store := joining(t, c,
		&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}, Spec: corev1.NodeSpec{ProviderID: c.Status.ProviderID}})
	r := &Reconciler{Store: store, Live: store, Events: &heard{}, Log: slog.New(slog.DiscardHandler), Now: time.Now,
		Metrics: observe.NewMetrics(prometheus.NewRegistry(), "", "", "", "")}
	if _, err := r.Reconcile(t.Context(), "c"); err != nil {
		t.Fatal(err)
	}
	got, joined := &karpv1.NodeClaim{}, &corev1.Node{}
	if err := store.Get(t.Context(), client.ObjectKey{Name: "c"}, got); err != nil {
		t.Fatal(err)
	}
	if err := store.Get(t.Context(), client.ObjectKey{Name: "n"}, joined); err != nil {
		t.Fatal(err)
	}
	if !condition.IsTrue(got,
		karpv1.ClaimRegistered) || got.DeletionTimestamp == nil || joined.Labels[api.LabelCapacityType] != "spot" {
		t.Errorf("conditions %+v, deleted at %v, node labels %v; want a registered claim that goes, and the truth on the node", got.Status.Conditions, got.DeletionTimestamp, joined.Labels)
	}
}
