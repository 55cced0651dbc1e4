package nodeclaim

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/observe"
)

// reported is a cloud that lists these instances.
type reported struct {
	cloud.Instances
	list []cloud.Instance
}

func (m reported) List(_ context.Context, f cloud.Filter) ([]cloud.Instance, error) {
	return slices.DeleteFunc(slices.Clone(m.list),
		func(x cloud.Instance) bool { return !slices.Contains(f.IDs, x.ID) }), nil
}

// SC-234: a node takes no pods before it is known which partition its instance is in.
func TestRegistrationWaitsForThePartition(t *testing.T) {
	own := map[string]string{api.LabelPlacementGroupID: "pg-1", api.LabelNodePool: "web"}
	tests := map[string]struct {
		instances  []cloud.Instance
		registered bool
		partition  string
	}{
		"which the cloud chose":              {[]cloud.Instance{{ID: "i-1", Partition: "3"}}, true, "3"},
		"where the group has any":            {[]cloud.Instance{{ID: "i-1"}}, true, ""},
		"while the machine is not seen yet":  {nil, false, ""},
		"and does not take that of a friend": {[]cloud.Instance{{ID: "i-2", Partition: "1"}}, false, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			claim := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "web-1", Labels: own,
				Finalizers: []string{api.FinalizerTermination}, CreationTimestamp: metav1.NewTime(noon)}}
			claim.Status.ProviderID = "aws:///a/i-1"
			condition.SetTrue(claim, karpv1.ClaimLaunched, noon)
			node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n-1"},
				Spec: corev1.NodeSpec{ProviderID: "aws:///a/i-1", Taints: []corev1.Taint{fresh}}}
			s := runtime.NewScheme()
			_, _ = corev1.AddToScheme(s), karpv1.AddToScheme(s)
			store := fake.NewClientBuilder().WithScheme(s).WithObjects(claim, node).WithStatusSubresource(claim).
				WithIndex(&corev1.Node{}, IndexProviderID,
					func(o client.Object) []string { return []string{o.(*corev1.Node).Spec.ProviderID} }).Build()
			r := &Reconciler{Store: store, Live: store, Instances: reported{list: tt.instances},
				Now: func() time.Time { return noon }, Log: unheard,
				Metrics: observe.NewMetrics(prometheus.NewRegistry(), "", "", "", "")}
			if _, err := r.Reconcile(t.Context(), "web-1"); err != nil {
				t.Fatal(err)
			}
			if err := store.Get(t.Context(), client.ObjectKeyFromObject(claim), claim); err != nil {
				t.Fatal(err)
			}
			if err := store.Get(t.Context(), client.ObjectKeyFromObject(node), node); err != nil {
				t.Fatal(err)
			}
			is := condition.Get(claim, karpv1.ClaimRegistered)
			if got := is.Status == metav1.ConditionTrue; got != tt.registered || !got && is.Reason != karpv1.ReasonRegistrationHookPending {
				t.Errorf("condition = %+v, want registered: %v", is, tt.registered)
			}
			if node.Labels[api.LabelPlacementGroupPartition] != tt.partition || claim.Labels[api.LabelPlacementGroupPartition] != tt.partition {
				t.Errorf("labels of the node %v, of the claim %v; want partition %q", node.Labels, claim.Labels,
					tt.partition)
			}
			if kept := len(node.Spec.Taints) > 0; kept == tt.registered {
				t.Errorf("taints %v", node.Spec.Taints)
			}
		})
	}
}
