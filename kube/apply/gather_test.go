package apply

import (
	"context"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

// blind is a cache that has seen no claim yet.
type blind struct{ client.Client }

func (blind) Get(_ context.Context, key client.ObjectKey, _ client.Object, _ ...client.GetOption) error {
	return apierrors.NewNotFound(karpv1.GroupVersion.WithResource("nodeclaims").GroupResource(), key.Name)
}

// TestClaimsOfEarlierPlansAreGathered: a claim that exists gets to know which others it waits for,
// even if no watch has shown it yet, unless pods may come to its node already; and once is enough.
func TestClaimsOfEarlierPlansAreGathered(t *testing.T) {
	const (
		web   = `{"group":"web","key":"zone"}`
		opens = `{"group":"web","key":"zone","opens":true}`
		db    = `{"group":"db","key":"zone"}`
	)
	tests := map[string]struct {
		said       string
		registered bool
		want       string
		written    bool
	}{
		"nothing was said of it":       {"", false, "[" + opens + "]", true},
		"its node is open":             {"", true, "", false},
		"another group is kept":        {"[" + db + "]", false, "[" + db + "," + opens + "]", true},
		"its domain lost its nodes":    {"[" + web + "]", false, "[" + opens + "]", true},
		"all was said before":          {"[" + opens + "]", false, "[" + opens + "]", false},
		"what was said makes no sense": {"[{", false, "[" + opens + "]", true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := runtime.NewScheme()
			if err := karpv1.AddToScheme(s); err != nil {
				t.Fatal(err)
			}
			c := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c", Annotations: map[string]string{"note": "kept"}}}
			if tt.said != "" {
				c.Annotations[api.AnnotationJoins] = tt.said
			}
			if tt.registered {
				condition.SetTrue(c, karpv1.ClaimRegistered, start)
			}
			store := fake.NewClientBuilder().WithScheme(s).WithObjects(c).Build()
			before := &karpv1.NodeClaim{}
			if err := store.Get(t.Context(), client.ObjectKeyFromObject(c), before); err != nil {
				t.Fatal(err)
			}
			join := []plan.Join{{Group: "web", Key: "zone", Opens: true}}
			p := plan.Plan{Joining: []plan.Joining{{Claim: "gone", Joins: join}, {Claim: "c", Joins: join}}}
			if err := (&Applier{Store: blind{store}, Live: store}).Gather(t.Context(), p); err != nil {
				t.Fatal(err)
			}
			after := &karpv1.NodeClaim{}
			if err := store.Get(t.Context(), client.ObjectKeyFromObject(c), after); err != nil {
				t.Fatal(err)
			}
			if got := after.Annotations[api.AnnotationJoins]; got != tt.want || after.Annotations["note"] != "kept" {
				t.Errorf("the claim says %q, want %q, and the user's note: %v", got, tt.want, after.Annotations)
			}
			if written := before.ResourceVersion != after.ResourceVersion; written != tt.written {
				t.Errorf("written: %t, want %t", written, tt.written)
			}
		})
	}
}
