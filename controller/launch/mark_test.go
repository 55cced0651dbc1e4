package launch

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

// TestAnAttemptOfAnotherProcessIsNotWrittenOver: while the batch is marked,
// another process writes its own attempt on claim a and launches. The claim leaves
// the batch, and gets that instance when it comes back.
func TestAnAttemptOfAnotherProcessIsNotWrittenOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, s := storeWith("a", "b"), newEmulated()
		var once sync.Once
		between := interceptor.NewClient(store.(client.WithWatch), interceptor.Funcs{
			Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
				if o.GetName() == "a" {
					once.Do(func() { markedElsewhere(t, store, "y/1"); s.offered("y") })
				}
				return c.Patch(ctx, o, p, opts...)
			},
		})
		launch(t, between, s, nil, time.Minute)
		if got := owners(t, store); got != "a= b=i-001" {
			t.Errorf("claims have %q; want a to have left the batch", got)
		}
		launch(t, between, s, nil, time.Minute)
		if got := owners(t, store); got != "a=i-000 b=i-001" || len(s.instances) != 2 {
			t.Errorf("claims have %q, of %d machines; want a to have what the other process bought", got, len(s.instances))
		}
		c := &karpv1.NodeClaim{}
		if err := store.Get(t.Context(), client.ObjectKey{Name: "a"}, c); err != nil || !strings.HasPrefix(c.Annotations[api.AnnotationLaunchAttempt], "y/") {
			t.Errorf("claim a carries attempt %q (%v), want that of the other process", c.Annotations[api.AnnotationLaunchAttempt], err)
		}
	})
}

func markedElsewhere(t *testing.T, store client.Client, attempt string) {
	t.Helper()
	c := &karpv1.NodeClaim{}
	if err := store.Get(t.Context(), client.ObjectKey{Name: "a"}, c); err != nil {
		t.Fatal(err)
	}
	c.Annotations = map[string]string{api.AnnotationLaunchAttempt: attempt}
	if err := store.Update(t.Context(), c); err != nil {
		t.Fatal(err)
	}
}
