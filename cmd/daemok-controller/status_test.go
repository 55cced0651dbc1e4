package main

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/observe/record"
)

// kubectl shows what daemok status does. The ConfigMap is written where something has changed, and now and then.
func TestTheStatusIsWrittenForKubectl(t *testing.T) {
	now := time.Date(2026, 11, 21, 4, 0, 0, 0, time.UTC)
	shape := &cluster.Shape{Requests: quantity.Resources{CPU: 500_000, Pods: 1}}
	s := &cluster.Snapshot{Revision: 1, Now: now,
		Waiting: []cluster.Pod{{Namespace: "shop", Name: "web-1", Owner: "Deployment/web", Shape: shape}}}
	store := fake.NewClientBuilder().Build()
	decisions := &record.Record{}
	w := &statusWriter{store: store, namespace: "kube-system", screen: screen{
		snapshot: func() *cluster.Snapshot { return s }, record: decisions, pod: "karpenter-1", now: func() time.Time { return now },
	}}
	read := func() corev1.ConfigMap {
		t.Helper()
		if _, err := w.Round(context.Background()); err != nil {
			t.Fatal(err)
		}
		c := corev1.ConfigMap{}
		if err := store.Get(t.Context(), client.ObjectKey{Namespace: "kube-system", Name: api.ConfigMapStatus},
			&c); err != nil {
			t.Fatal(err)
		}
		return c
	}
	first := read()
	if got := first.Data["status"]; !strings.Contains(got,
		"pod karpenter-1, at 2026-11-21 04:00:00 UTC") || !strings.Contains(got, "1 pod waits for a node") {
		t.Errorf("the status is\n%s", got)
	}
	now = now.Add(statusEvery)
	if again := read(); again.ResourceVersion != first.ResourceVersion {
		t.Error("it was written again though nothing has changed")
	}
	decisions.Hold(record.Statement{About: record.Object{Kind: record.Pod, Name: "shop/web-1"},
		Topic: record.TopicPlace, Said: "has no place", Why: "limit cpu is 2 short", From: now}, nil)
	second := read()
	if got := second.Data["status"]; !strings.Contains(got,
		"shop/Deployment/web  1 pod without a place: limit cpu is 2 short") {
		t.Errorf("after a decision it is\n%s", got)
	}
	now = now.Add(statusLasts)
	if third := read(); third.ResourceVersion == second.ResourceVersion || third.Data["time"] != "2026-11-21T04:01:10Z" {
		t.Errorf("a minute later it is of %s, and does not say that the controller is alive", third.Data["time"])
	}
}
