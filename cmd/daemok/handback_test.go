package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/daemok/daemok/cmd/daemok/commandtest"
	"github.com/daemok/daemok/cmd/daemok/inspect"
	"github.com/daemok/daemok/kube/access/output"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/migrate/handback"
	"github.com/daemok/daemok/test/store"
)

// resting is a cluster with one NodeClaim, which changes as asked.
func resting(t *testing.T, change func(*karpv1.NodeClaim)) (handback.Handback, client.Client) {
	t.Helper()
	s, err := inspect.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	hand := store.New(s, time.Now).Connect(nil)
	c := &karpv1.NodeClaim{Spec: store.ClaimSpec(), ObjectMeta: metav1.ObjectMeta{
		Name: "web-1", Labels: map[string]string{api.LabelNodePool: "web"}, Annotations: map[string]string{api.AnnotationDecision: "{}"},
	}}
	for _, kind := range []string{karpv1.ClaimLaunched, karpv1.ClaimRegistered, karpv1.ClaimInitialized} {
		condition.SetTrue(c, kind, time.Now())
	}
	change(c)
	if err := hand.Create(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	return handback.Handback{Store: hand, Namespace: inspect.NewTarget().SystemNamespace()}, hand
}

func TestACheckOfAHandBackChangesNothing(t *testing.T) {
	h, hand := resting(t, func(c *karpv1.NodeClaim) {
		condition.SetUnknown(c, karpv1.ClaimInitialized, karpv1.ReasonNodeNotReady, "the kubelet does not report Ready", time.Now())
	})
	var out strings.Builder
	if err := checkHandback(t.Context(), h, &out, output.New()); err != nil {
		t.Fatal(err)
	}
	want := "waits: NodeClaim web-1 is not initialized yet: the kubelet does not report Ready\n1 NodeClaim can be handed back, 1 thing to wait for first\n"
	if out.String() != want {
		t.Errorf("it says %q, want %q", out.String(), want)
	}
	freeze := client.ObjectKey{Namespace: inspect.NewTarget().SystemNamespace(), Name: api.ConfigMapFreeze}
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
		for _, says := range []string{"no node is disrupted voluntarily any more\n", "NodeClaim web-1 is not initialized yet\n", "all 1 NodeClaims are ready\n",
			"removed labels, annotations and taints from 1 NodeClaims, 0 nodes, 0 pods, 0 NodePools and 0 EC2NodeClasses, and deleted 1 ConfigMaps\n"} {
			if !strings.Contains(out.String(), says) {
				t.Errorf("it says %q, want %q in it", out.String(), says)
			}
		}
	})
}

// A hand-back holds the lease that the installed controller leads by, whatever that is called. Where that is not known nothing is
// guessed: under another lease the controller would go on.
func TestAHandBackHoldsTheLeaseOfTheController(t *testing.T) {
	elsewhere := commandtest.Installed()
	elsewhere.Namespace = "nodes"
	hidden := commandtest.Installed()
	hidden.Spec.Template.Spec.Containers[0].EnvFrom = []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "settings"}}}}
	for name, tt := range map[string]struct {
		controller *appsv1.Deployment // nil: none is left
		env, given string
		system     string
		want       string // the lease, or words of the error
	}{
		"that of its settings":             {controller: commandtest.Installed("LEADER_ELECTION_NAME=daemok", "LEADER_ELECTION_NAMESPACE=leases"), want: "leases/daemok"},
		"the usual one":                    {controller: commandtest.Installed(), want: "kube-system/karpenter-leader-election"},
		"the environment's before that":    {controller: commandtest.Installed("LEADER_ELECTION_NAME=daemok"), env: "mine", want: "kube-system/mine"},
		"the flag's before both":           {controller: commandtest.Installed("LEADER_ELECTION_NAME=daemok"), env: "mine", given: "a/b", want: "a/b"},
		"the usual one after an uninstall": {want: "kube-system/karpenter-leader-election"},
		"of another namespace":             {controller: elsewhere, system: "nodes", want: "nodes/karpenter-leader-election"},
		"none where it is not looked for":  {controller: elsewhere, want: "namespace kube-system has no controller, and namespace nodes has: give --system-namespace nodes"},
		"none without leader election":     {controller: commandtest.Installed("DISABLE_LEADER_ELECTION=true"), want: "set DISABLE_LEADER_ELECTION to false in its Deployment"},
		"none that a Secret may name":      {controller: hidden, want: "the controller may have LEADER_ELECTION_NAME from Secret kube-system/settings, which is not read: name the lease"},
		"none without a namespace":         {given: "karpenter", want: `--lease is "karpenter": want NAMESPACE/NAME, such as kube-system/karpenter-leader-election`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("LEADER_ELECTION_NAME", tt.env)
			build := fake.NewClientBuilder()
			if tt.controller != nil {
				build = build.WithObjects(tt.controller.DeepCopy())
			}
			at := inspect.NewTarget()
			at.System = tt.system
			key, err := leaseToHold(t.Context(), at, build.Build(), tt.given)
			got := key.String()
			if err != nil {
				got = err.Error()
			}
			if !strings.Contains(got, tt.want) {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// A check of the wrong namespace does not say that all is well.
func TestACheckOfAHandBackFindsTheController(t *testing.T) {
	scheme, err := inspect.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	store := fake.NewClientBuilder().WithScheme(scheme).WithObjects(commandtest.Installed()).Build()
	cmd := handbackCommand(func(*inspect.Target) (client.Client, error) { return store, nil })
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs([]string{"--check", "--system-namespace", "nodes"})
	if err := cmd.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), "namespace nodes has no controller, and namespace kube-system has: give --system-namespace kube-system") {
		t.Errorf("it says %v", err)
	}
}
