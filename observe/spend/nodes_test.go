package spend_test

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/observe/spend"
	"github.com/daemok/daemok/test/scraped"
)

// node is one of the pool default, for $0.104 an hour: a vCPU of it is $0.036.
func node(name string, pods ...cluster.Pod) cluster.Node {
	return cluster.Node{Name: name, Claim: "claim-" + name, Pool: cluster.PoolID{Kind: "NodePool", Name: "default"}, Price: 104_000,
		Initialized: true, Pods: pods, Labels: constraint.NewLabels(map[string]string{cluster.LabelCapacityType: "spot"}),
		Allocatable: quantity.Resources{CPU: 2000, Memory: 8 * quantity.GiB, Pods: 29}}
}

func pod(namespace, name string, daemon bool) cluster.Pod {
	return cluster.Pod{Namespace: namespace, Name: name, Returns: !daemon, Daemon: daemon,
		Shape: &cluster.Shape{Namespace: namespace, Requests: quantity.Resources{CPU: 500, Pods: 1}}}
}

func scrape(t *testing.T, c prometheus.Collector) []string {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(c)
	lines, err := scraped.Lines(registry)
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

// What namespaces cost and what is idle adds up to what nodes cost.
func TestWhatNodesCostIsScraped(t *testing.T) {
	s := &cluster.Snapshot{Nodes: []cluster.Node{
		node("a", pod("kube-system", "agent", true), pod("shop", "web", false)), {Name: "other", Allocatable: quantity.Resources{CPU: 1000}},
	}}
	leads := true
	nodes := &spend.Nodes{Snapshot: func() *cluster.Snapshot { return s }, Leading: func() bool { return leads }, Objects: true}
	got := scrape(t, nodes)
	want := []string{
		"daemok_idle_cost cause=daemons 0",
		"daemok_idle_cost cause=daemons nodepool=default 0.018",
		"daemok_idle_cost cause=do-not-disrupt 0", "daemok_idle_cost cause=do-not-disrupt nodepool=default 0",
		"daemok_idle_cost cause=fragmentation 0", "daemok_idle_cost cause=fragmentation nodepool=default 0.068",
		"daemok_idle_cost cause=headroom 0", "daemok_idle_cost cause=headroom nodepool=default 0",
		"daemok_idle_cost cause=leaving 0", "daemok_idle_cost cause=leaving nodepool=default 0",
		"daemok_idle_cost cause=pdb 0", "daemok_idle_cost cause=pdb nodepool=default 0",
		"daemok_idle_cost cause=policy 0", "daemok_idle_cost cause=policy nodepool=default 0",
		"daemok_idle_cost cause=unmanaged 0", "daemok_idle_cost cause=unmanaged nodepool=default 0",
		"daemok_idle_cost cause=work 0", "daemok_idle_cost cause=work nodepool=default 0",
		"daemok_namespace_cost namespace=shop 0.018",
		"daemok_nodes_cost 0", "daemok_nodes_cost capacity_type=spot nodepool=default 0.104",
		"daemok_nodes_unpriced 1",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	if leads = false; len(scrape(t, nodes)) > 0 {
		t.Error("a process on standby exports costs")
	}
}

// However many namespaces there are, 200 of them have a series, and one is for the others.
func TestNamespacesHaveBoundedSeries(t *testing.T) {
	n := node("a")
	n.Allocatable.CPU = 1_000_000
	for i := range 300 {
		n.Pods = append(n.Pods, pod(fmt.Sprintf("ns%03d", i), "web", false))
	}
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(&spend.Nodes{Snapshot: func() *cluster.Snapshot { return &cluster.Snapshot{Nodes: []cluster.Node{n}} },
		Leading: func() bool { return true }, Objects: true})
	lines, err := scraped.Lines(registry, "daemok_namespace_cost")
	if err != nil || len(lines) != 201 {
		t.Errorf("%d series, %v; want 201", len(lines), err)
	}
}
