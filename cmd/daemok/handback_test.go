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

	"github.com/daemok/daemok/kube/access/output"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/handback"
	"github.com/daemok/daemok/kube/storetest"
)

// resting is a cluster with one NodeClaim, which changes as asked.
func resting(t *testing.T, change func(*karpv1.NodeClaim)) (handback.Handback, client.Client) {
	t.Helper()
	s, err := kinds()
	if err != nil {
		t.Fatal(err)
	}
	hand := storetest.New(s, time.Now).Connect(nil)
	c := &karpv1.NodeClaim{Spec: storetest.ClaimSpec(), ObjectMeta: metav1.ObjectMeta{
		Name: "web-1", Labels: map[string]string{api.LabelNodePool: "web"}, Annotations: map[string]string{api.MarkDecision: "{}"},
	}}
	for _, kind := range []string{karpv1.ClaimLaunched, karpv1.ClaimRegistered, karpv1.ClaimInitialized} {
		condition.SetTrue(c, kind, time.Now())
	}
	change(c)
	if err := hand.Create(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	return handback.Handback{Store: hand, Namespace: systemNamespace()}, hand
}

func TestACheckOfAHandBackChangesNothing(t *testing.T) {
	h, hand := resting(t, func(c *karpv1.NodeClaim) {
		condition.SetUnknown(c, karpv1.ClaimInitialized, karpv1.ReasonNodeNotReady, "the kubelet does not report Ready", time.Now())
	})
	var out strings.Builder
	if err := checkHandback(t.Context(), h, &out, output.New()); err != nil {
		t.Fatal(err)
	}
	want := "waits: NodeClaim web-1 is not initialized yet: the kubelet does not report Ready\n1 NodeClaims can be handed back, 1 things are to be over first\n"
	if out.String() != want {
		t.Errorf("it says %q, want %q", out.String(), want)
	}
	freeze := client.ObjectKey{Namespace: systemNamespace(), Name: api.ConfigMapFreeze}
	if err := hand.Get(t.Context(), freeze, &corev1.ConfigMap{}); client.IgnoreNotFound(err) != nil || err == nil {
		t.Errorf("after a check the freeze is there: %v", err)
	}
}

func TestNodesOfProvisionersAreNotHandedBack(t *testing.T) {
	h, _ := resting(t, func(c *karpv1.NodeClaim) { c.Labels = map[string]string{api.LabelProvisioner: "default"} })
	for name, err := range map[string]error{"check": checkHandback(t.Context(), h, &strings.Builder{}, output.New()), "command": awaitRest(t.Context(), h, &strings.Builder{})} {
		if err == nil || !strings.Contains(err.Error(), "move it to a NodePool first") {
			t.Errorf("the %s says %v", name, err)
		}
	}
}

// A hand-back waits for what is on its way, and goes on once it is there; what begins
// before the controller has stopped is not cleaned away.
func TestAHandBackWaitsUntilNodesRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, hand := resting(t, func(c *karpv1.NodeClaim) {
			condition.SetUnknown(c, karpv1.ClaimInitialized, karpv1.ReasonNodeNotReady, "", time.Now())
		})
		var out strings.Builder
		if err := cleanCluster(t.Context(), h, &out); err == nil || !strings.Contains(err.Error(), "NodeClaim web-1 is not initialized yet") {
			t.Errorf("with a node on its way it says %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		if err := awaitRest(ctx, h, &out); err == nil || !strings.Contains(err.Error(), "delete ConfigMap daemok-freeze") {
			t.Errorf("stopped it says %v", err)
		}
		cancel()
		go func() {
			time.Sleep(12 * time.Second)
			c := &karpv1.NodeClaim{}
			err := hand.Get(t.Context(), client.ObjectKey{Name: "web-1"}, c)
			before := c.DeepCopy()
			condition.SetTrue(c, karpv1.ClaimInitialized, time.Now())
			if err := errors.Join(err, hand.Status().Patch(t.Context(), c, client.MergeFrom(before))); err != nil {
				t.Error(err)
			}
		}()
		began := time.Now()
		if err := awaitRest(t.Context(), h, &out); err != nil || time.Since(began) > 20*time.Second {
			t.Errorf("awaitRest = %v after %v", err, time.Since(began))
		}
		if err := cleanCluster(t.Context(), h, &out); err != nil {
			t.Error(err)
		}
		for _, says := range []string{"no node goes by choice any more\n", "NodeClaim web-1 is not initialized yet\n", "all 1 NodeClaims are ready\n",
			"cleared marks from 1 NodeClaims, 0 nodes, 0 NodePools and 0 EC2NodeClasses, and deleted 1 ConfigMaps\n"} {
			if !strings.Contains(out.String(), says) {
				t.Errorf("it says %q, want %q in it", out.String(), says)
			}
		}
	})
}
