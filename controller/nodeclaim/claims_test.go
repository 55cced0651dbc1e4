package nodeclaim

import (
	"log/slog"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/observe"
)

// heard collects events.
type heard []observe.Event

func (h *heard) Publish(e observe.Event) { *h = append(*h, e) }

var unheard = slog.New(slog.DiscardHandler)

func storeWith(claims ...string) client.Client {
	s := runtime.NewScheme()
	_ = karpv1.AddToScheme(s)
	b := fake.NewClientBuilder().WithScheme(s).WithStatusSubresource(&karpv1.NodeClaim{})
	for _, name := range claims {
		b = b.WithObjects(&karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{
			Name: name, UID: types.UID("uid-" + name), CreationTimestamp: metav1.Now(),
		}})
	}
	return b.Build()
}
