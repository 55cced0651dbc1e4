package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/daemok/daemok/kube/api/crds"
	"github.com/daemok/daemok/kube/definitions"
	"github.com/daemok/daemok/test/scraped"
)

// A cluster whose NodePools are of an older release: one line and the metric name what the API server drops, and
// nothing more is said until that changes.
func TestAnOlderDefinitionIsSaidOnce(t *testing.T) {
	all, err := crds.All()
	if err != nil {
		t.Fatal(err)
	}
	s, err := scheme()
	if err != nil {
		t.Fatal(err)
	}
	store := fake.NewClientBuilder().WithScheme(s)
	for _, d := range all {
		if d.Name == "nodepools.karpenter.sh" {
			spec := d.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
			delete(spec.Properties, "weight")
			delete(spec.Properties, "replicas")
		}
		store = store.WithObjects(d)
	}
	var said bytes.Buffer
	metric := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "lacking"}, []string{"definition"})
	registry := prometheus.NewRegistry()
	registry.MustRegister(metric)
	lacks := func(line string) bool {
		t.Helper()
		lines, err := scraped.Lines(registry)
		if err != nil || len(lines) != len(all) {
			t.Errorf("the metric has the series %v, %v, want one for each of %d definitions", lines, err, len(all))
		}
		return slices.Contains(lines, line)
	}
	cluster := store.Build()
	c := &comparer{from: cluster, log: newLogger(&said, "info", encodingConsole), lacking: metric}
	for range 2 {
		again, err := c.Round(t.Context())
		if err != nil || again != definitionsSoon {
			t.Fatalf("Round = %v, %v", again, err)
		}
	}
	if lines := strings.Count(said.String(), "\n"); lines != 1 || !strings.Contains(said.String(), "v1: spec.replicas, v1: spec.weight") || !strings.Contains(said.String(), "nodepools.karpenter.sh") || !strings.Contains(said.String(), "helm upgrade") {
		t.Errorf("it says in %d lines\n%s", lines, &said)
	}
	if !lacks("lacking definition=nodepools.karpenter.sh 2") {
		t.Error("the metric does not say that two fields of NodePools are lacking")
	}

	newest, err := crds.All()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range newest {
		there := &apiextensionsv1.CustomResourceDefinition{}
		if err := cluster.Get(t.Context(), client.ObjectKeyFromObject(d), there); err != nil {
			t.Fatal(err)
		}
		there.Spec = d.Spec
		if err := cluster.Update(t.Context(), there); err != nil {
			t.Fatal(err)
		}
	}
	if again, err := c.Round(t.Context()); err != nil || again != definitionsEvery || !lacks("lacking definition=nodepools.karpenter.sh 0") {
		t.Errorf("after the update Round = %v, %v, or the metric still counts", again, err)
	}
}

// After a rollback of the controller alone its definitions are of a later release: that is no warning, and nothing is to be done.
func TestALaterDefinitionIsNoWarning(t *testing.T) {
	var said bytes.Buffer
	c := &comparer{log: newLogger(&said, "info", encodingConsole)}
	c.say(definitions.Difference{Name: "nodepools.karpenter.sh", Release: "daemok-crd", Later: []string{"v1: spec.tomorrow"}, Other: []string{"v1"}})
	if text := said.String(); strings.Contains(text, "WARN") || strings.Contains(text, "helm") || !strings.Contains(text, "spec.tomorrow") {
		t.Errorf("it says %s", text)
	}
}
