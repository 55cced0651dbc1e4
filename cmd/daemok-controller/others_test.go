package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/daemok/daemok/kube/installation"
	"github.com/daemok/daemok/observe/observetest"
)

// Daemok is installed a second time, in another namespace: both lead. One line names the other, the
// metric counts it, and both go by when it is uninstalled.
func TestASecondReleaseIsSaidOnce(t *testing.T) {
	second := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "nodes", Name: "nodes-1", Labels: map[string]string{"app.kubernetes.io/name": "daemok", "app.kubernetes.io/instance": "nodes"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Image: "daemok-controller", Env: []corev1.EnvVar{{Name: "CLUSTER_NAME", Value: "prod"}}}}},
		Status:     corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}},
	}
	next := second.DeepCopy()
	next.Name, next.Spec.Containers[0].Image = "nodes-2", "daemok-controller:v2"
	cluster := fake.NewClientBuilder().WithObjects(second).Build()
	var said bytes.Buffer
	metric := prometheus.NewGauge(prometheus.GaugeOpts{Name: "others"})
	scraped := prometheus.NewRegistry()
	scraped.MustRegister(metric)
	o := &others{from: cluster, lease: installation.Lease{Namespace: "kube-system", Name: installation.UsualLease}, log: newLogger(&said, "info", encodingConsole), count: metric}
	counts := func(want string) {
		t.Helper()
		if again, err := o.Round(t.Context()); err != nil || again != othersEvery {
			t.Fatalf("Round = %v, %v", again, err)
		}
		if lines, err := observetest.Lines(scraped); err != nil || !slices.Equal(lines, []string{want}) {
			t.Errorf("the metric is %v, %v; want %s", lines, err, want)
		}
	}
	counts("others 1")
	counts("others 1")
	if lines := strings.Count(said.String(), "\n"); lines != 1 || !strings.Contains(said.String(), "release=nodes/nodes") || !strings.Contains(said.String(), "lease=nodes/karpenter-leader-election") {
		t.Errorf("it says in %d lines\n%s", lines, &said)
	}
	for _, change := range []func(client.Object) error{ // it rolls out another image: that is the same release
		func(p client.Object) error { return cluster.Create(t.Context(), p) }, func(client.Object) error { return cluster.Delete(t.Context(), second) },
	} {
		if err := change(next); err != nil {
			t.Fatal(err)
		}
		counts("others 1")
	}
	if lines := strings.Count(said.String(), "\n"); lines != 1 {
		t.Errorf("while the other rolls out it says in %d lines\n%s", lines, &said)
	}
	if err := cluster.Delete(t.Context(), next); err != nil {
		t.Fatal(err)
	}
	counts("others 0")
}
