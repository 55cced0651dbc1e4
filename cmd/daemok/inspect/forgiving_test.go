package inspect

import (
	"context"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha1"
	vpav1 "github.com/daemok/daemok/kube/api/verticalpodautoscaler/v1"
)

// bare is a cluster that serves no kind of ours.
type bare struct{ client.Client }

func (bare) List(context.Context, client.ObjectList, ...client.ListOption) error {
	return &meta.NoKindMatchError{GroupKind: schema.GroupKind{Kind: "any"}}
}

// A kind of ours that is missing is named. One that many clusters do without is not.
func TestOnlyKindsOfOursAreMissed(t *testing.T) {
	scheme, err := Scheme()
	if err != nil {
		t.Fatal(err)
	}
	f := forgiving{Client: bare{fake.NewClientBuilder().WithScheme(scheme).Build()}, troubles: &troubles{}}
	for _, list := range []client.ObjectList{
		&vpav1.VerticalPodAutoscalerList{}, &v1alpha1.NodeOverlayList{}, &karpv1.NodeClaimList{},
	} {
		if err := f.List(t.Context(), list); err != nil {
			t.Errorf("%T: %v, want that there are none", list, err)
		}
	}
	if got := f.troubles.list(); len(got) != 1 || !strings.Contains(got[0], "nodeclaims.karpenter.sh") {
		t.Errorf("missing are said to be %q, want NodeClaims alone", got)
	}
}
