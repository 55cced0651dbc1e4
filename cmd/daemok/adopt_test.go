package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cmd/daemok/inspect"
	"github.com/daemok/daemok/kube/access/output"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha5"
	"github.com/daemok/daemok/test/store"
)

// orphaned is a cluster with nodes of a Provisioner, of one that is gone, and of none, and one that
// has its claim.
func orphaned(t *testing.T) client.Client {
	t.Helper()
	s, err := inspect.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	hand := store.New(s, time.Now).Connect(nil)
	node := func(name string, labels map[string]string) *corev1.Node {
		return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}, Spec: corev1.NodeSpec{ProviderID: "aws:///a/i-" + name}}
	}
	claim := &karpv1.NodeClaim{Spec: store.ClaimSpec(), ObjectMeta: metav1.ObjectMeta{Name: "c", Labels: map[string]string{api.LabelProvisioner: "default"}}}
	claim.Status.ProviderID = "aws:///a/i-claimed"
	for _, o := range []client.Object{
		&v1alpha5.Provisioner{ObjectMeta: metav1.ObjectMeta{Name: "default"}},
		node("one", map[string]string{api.LabelProvisioner: "default"}), node("two", map[string]string{api.LabelProvisioner: "default"}),
		node("claimed", map[string]string{api.LabelProvisioner: "default"}), node("lost", map[string]string{api.LabelProvisioner: "gone"}), node("other", nil), claim,
	} {
		if err := hand.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	return hand
}

func claimsOf(t *testing.T, store client.Client) (out []karpv1.NodeClaim) {
	t.Helper()
	var list karpv1.NodeClaimList
	if err := store.List(t.Context(), &list); err != nil {
		t.Fatal(err)
	}
	for _, c := range list.Items {
		if c.Annotations[api.AnnotationAdopt] != "" {
			out = append(out, c)
		}
	}
	return out
}

func TestNodesWithoutClaimsAreListed(t *testing.T) {
	store := orphaned(t)
	var out strings.Builder
	if err := runAdopt(t.Context(), store, &out, nil, false, output.New()); err != nil {
		t.Fatal(err)
	}
	want := `node lost stays as it is: there is no Provisioner gone; make it, with the settings that the node has
node one can be taken over by Provisioner/default
node two can be taken over by Provisioner/default
3 nodes have a pool and no NodeClaim; nothing was changed
`
	if out.String() != want || len(claimsOf(t, store)) != 0 {
		t.Errorf("it says\n%s, want\n%s, and claims are %v", &out, want, claimsOf(t, store))
	}
}

// What the controller says of each node is reported, and one that cannot be taken over fails the
// command.
func TestNodesAreTakenOverOnRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := orphaned(t)
		go func() { // a controller that may have one of the instances
			time.Sleep(10 * time.Second)
			for _, c := range claimsOf(t, store) {
				before := c.DeepCopy()
				if strings.HasSuffix(c.Annotations[api.AnnotationAdopt], "i-one") {
					c.Status.ProviderID = c.Annotations[api.AnnotationAdopt]
					condition.SetTrue(&c, karpv1.ClaimRegistered, time.Now())
				} else {
					condition.SetUnknown(&c, karpv1.ClaimLaunched, karpv1.ReasonNotAdopted, "machine i-two is stopped", time.Now())
				}
				if err := store.Status().Patch(context.Background(), &c, client.MergeFrom(before)); err != nil {
					t.Error(err)
				}
			}
		}()
		var out strings.Builder
		err := runAdopt(t.Context(), store, &out, nil, true, output.New())
		if err == nil || !strings.Contains(err.Error(), "1 node could not be taken over") {
			t.Errorf("the command ends with %v", err)
		}
		for _, says := range []string{"node lost stays as it is: there is no Provisioner gone", "node one is that of NodeClaim default-", "node two stays as it is: machine i-two is stopped"} {
			if !strings.Contains(out.String(), says) {
				t.Errorf("it says %q, want %q in it", out.String(), says)
			}
		}
		out.Reset()
		if err := runAdopt(t.Context(), store, &out, nil, false, output.New()); err != nil || !strings.Contains(out.String(), "already: machine i-two is stopped") || strings.Contains(out.String(), "node one") {
			t.Errorf("listed after that (%v) they are\n%s", err, &out)
		}
		out.Reset()
		if err := runAdopt(t.Context(), store, &out, nil, true, output.New()); err == nil || !strings.Contains(out.String(), "node two stays as it is: machine i-two is stopped") {
			t.Errorf("given again the command ends with %v, and says\n%s", err, &out)
		}
		if claims := claimsOf(t, store); len(claims) != 2 || claims[0].OwnerReferences[0].Kind != "Provisioner" {
			t.Errorf("claims are %v", claims)
		}
	})
}

func TestAControllerThatDoesNotAnswerIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		err := runAdopt(t.Context(), orphaned(t), &strings.Builder{}, []string{"one"}, true, output.New())
		if err == nil || !strings.Contains(err.Error(), "reported nothing about 1 node in 2m0s") {
			t.Errorf("the command ends with %v", err)
		}
		if err := runAdopt(t.Context(), orphaned(t), &strings.Builder{}, []string{"claimed"}, true, output.New()); err == nil || !strings.Contains(err.Error(), "node claimed cannot be taken over") {
			t.Errorf("of a node that has its claim it says %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := runAdopt(ctx, orphaned(t), &strings.Builder{}, []string{"one"}, true, output.New()); err == nil || !strings.Contains(err.Error(), "the controller goes on") || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("stopped it ends with %v", err)
		}
	})
}
