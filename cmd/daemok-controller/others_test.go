package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/daemok/daemok/kube/installation"
	"github.com/daemok/daemok/test/scraped"
)

// Daemok is installed a second time, in another namespace: both lead. One line names the other, the
// metric counts it, and both go by when it is uninstalled.
func TestASecondReleaseIsSaidOnce(t *testing.T) {
	second := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "nodes", Name: "nodes"}, Status: appsv1.DeploymentStatus{ReadyReplicas: 1}}
	second.Spec.Template.Spec.Containers = []corev1.Container{{Image: "daemok-controller", Env: []corev1.EnvVar{{Name: "CLUSTER_NAME", Value: "prod"}}}}
	cluster := fake.NewClientBuilder().WithObjects(second).Build()
	var said bytes.Buffer
	metric := prometheus.NewGauge(prometheus.GaugeOpts{Name: "others"})
	registry := prometheus.NewRegistry()
	registry.MustRegister(metric)
	o := &others{from: cluster, lease: installation.Lease{Namespace: "kube-system", Name: installation.UsualLease}, log: newLogger(&said, "info", encodingConsole), count: metric}
	counts := func(want string) {
		t.Helper()
		if again, err := o.Round(t.Context()); err != nil || again != othersEvery {
			t.Fatalf("Round = %v, %v", again, err)
		}
		if lines, err := scraped.Lines(registry); err != nil || !slices.Equal(lines, []string{want}) {
			t.Errorf("the metric is %v, %v; want %s", lines, err, want)
		}
	}
	counts("others 1")
	counts("others 1")
	if lines := strings.Count(said.String(), "\n"); lines != 1 || !strings.Contains(said.String(), "release=nodes/nodes") || !strings.Contains(said.String(), "lease=nodes/karpenter-leader-election") {
		t.Errorf("it says in %d lines\n%s", lines, &said)
	}
	second.Spec.Template.Spec.Containers[0].Image = "daemok-controller:v2" // another image is the same release
	if err := cluster.Update(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	counts("others 1")
	if lines := strings.Count(said.String(), "\n"); lines != 1 {
		t.Errorf("while the other rolls out it says in %d lines\n%s", lines, &said)
	}
	if err := cluster.Delete(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	counts("others 0")
}
