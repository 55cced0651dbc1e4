package status

import (
	"context"
	"log/slog"
	"maps"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

// listed is a cloud that lists these instances.
type listed []cloud.Instance

func (l listed) List(context.Context, cloud.Filter) ([]cloud.Instance, error) { return l, nil }

func TestAInstanceThatLeftItsReservationIsOnDemand(t *testing.T) {
	reserved := map[string]string{
		api.LabelCapacityType: "reserved", api.LabelReservationID: "cr-1", api.LabelReservationType: "default",
		api.LabelReservationInterruptible: "false", api.LabelNodePool: "web",
	}
	onDemand := map[string]string{api.LabelCapacityType: "on-demand", api.LabelNodePool: "web"}
	instance := func(option cluster.Option, state cloud.State) listed {
		return listed{{ID: "i-1", ProviderID: "aws:///a/i-1", Option: option, State: state}}
	}
	tests := map[string]struct {
		instances listed
		want      map[string]string
	}{
		"once the cloud says so":                 {instance(cluster.OnDemand, cloud.Running), onDemand},
		"not while it is in it":                  {instance(cluster.Reserved, cloud.Running), reserved},
		"not when it is ending":                  {instance(cluster.OnDemand, cloud.ShuttingDown), reserved},
		"not when the cloud tells of it no more": {nil, reserved},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			scheme := runtime.NewScheme()
			for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, karpv1.AddToScheme} {
				if err := add(scheme); err != nil {
					t.Fatal(err)
				}
			}
			claim := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "web-1", Labels: maps.Clone(reserved)}}
			claim.Status.ProviderID = "aws:///a/i-1"
			node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "ip-1", Labels: maps.Clone(reserved)}, Spec: corev1.NodeSpec{ProviderID: "aws:///a/i-1"}}
			store := fake.NewClientBuilder().WithScheme(scheme).WithObjects(claim, node).WithStatusSubresource(claim).Build()
			s := &Reservations{Reporter{Store: store, Log: slog.New(slog.DiscardHandler)}, tt.instances}
			for range 2 {
				if again, err := s.Round(t.Context()); err != nil || again != reservationsEvery {
					t.Fatalf("Round = %v, %v", again, err)
				}
			}
			for _, o := range []client.Object{claim, node} {
				if err := store.Get(t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
					t.Fatal(err)
				}
				if !maps.Equal(o.GetLabels(), tt.want) {
					t.Errorf("%T has labels %v, want %v", o, o.GetLabels(), tt.want)
				}
			}
		})
	}
}
