// Package spend exports what nodes cost and what for, and what disruption was to save and saved.
//
// It promises that costs by namespace and idle costs add up to what nodes cost, at every scrape; and that a saving
// counts once its nodes have gone. It reads snapshots and plans, calls no server, and exports no costs while another
// process leads.
package spend

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/cost"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/observe"
)

// The metrics.
const (
	nodesCost     = "daemok_nodes_cost"
	nodesUnpriced = "daemok_nodes_unpriced"
	namespaceCost = "daemok_namespace_cost"
	idleCost      = "daemok_idle_cost"
)

// namespacesMax is how many namespaces have a series of their own; the others share one, without a name.
const namespacesMax = 200

// daemons stands among the causes of idle cost for what DaemonSets and static pods request.
const daemons = "daemons"

// Nodes reports at a scrape what nodes cost. It is safe for concurrent use.
type Nodes struct {
	Snapshot func() *cluster.Snapshot
	Leading  func() bool // false: another process exports the state
	Objects  bool        // namespaces have series too

	mu   sync.Mutex
	of   *cluster.Snapshot // that was asked for last
	last []prometheus.Metric
}

// Describe implements prometheus.Collector.
func (n *Nodes) Describe(to chan<- *prometheus.Desc) {
	for _, name := range []string{nodesCost, nodesUnpriced, namespaceCost, idleCost} {
		to <- observe.Define(name).Desc()
	}
}

// Collect implements prometheus.Collector. A snapshot that was reported before is not computed again.
func (n *Nodes) Collect(to chan<- prometheus.Metric) {
	if !n.Leading() {
		return
	}
	for _, m := range n.metrics(n.Snapshot()) {
		to <- m
	}
}

func (n *Nodes) metrics(s *cluster.Snapshot) []prometheus.Metric {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.of != s {
		n.of, n.last = s, series(s, n.Objects)
	}
	return n.last
}

// series are those of a snapshot.
func series(s *cluster.Snapshot, objects bool) (out []prometheus.Metric) {
	a := cost.Allocate(cost.Input{Snapshot: s})
	set := func(name string, value float64, labels ...string) {
		desc := observe.Define(name).Desc()
		out = append(out, prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...))
	}
	set(nodesUnpriced, float64(len(a.Unpriced)))
	for _, r := range a.By([]cost.Key{{Dimension: cost.Pool}, {Dimension: cost.CapacityType}}, nil) {
		set(nodesCost, r.Total().Dollars(), r.Values...)
	}
	for _, r := range a.By([]cost.Key{{Dimension: cost.Pool}}, nil) {
		set(idleCost, r.Daemons.Dollars(), r.Values[0], daemons)
		for _, cause := range cost.Causes() {
			set(idleCost, r.Unused[cause].Dollars(), r.Values[0], string(cause))
		}
	}
	if objects {
		for namespace, costs := range byNamespace(a) {
			set(namespaceCost, costs.Dollars(), namespace)
		}
	}
	return out
}

// byNamespace is what pods of each namespace cost, without daemons; of many namespaces the most expensive.
func byNamespace(a *cost.Allocation) map[string]quantity.MicroUSDPerHour {
	out := map[string]quantity.MicroUSDPerHour{}
	for _, r := range a.By([]cost.Key{{Dimension: cost.Namespace}}, nil) {
		switch {
		case r.Pods == 0:
		case len(out) < namespacesMax:
			out[r.Values[0]] = r.Pods
		default:
			out[""] += r.Pods
		}
	}
	return out
}
