// Package state exports what the cluster is like at the moment of a scrape:
// nodes, pods, pools, conditions and what can be bought.
//
// It promises that a series ends with what it is about, and that nothing has
// to be written when something changes. It answers from the caches, asks no
// server, and exports nothing where another process leads.
package state

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/cluster"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/observe"
)

// Collector reads the state at every scrape. It is safe for concurrent use.
type Collector struct {
	Store    client.Reader // answers from memory
	Serves   translate.Generations
	Snapshot func() *cluster.Snapshot
	Kinds    func(ref karpv1.NodeClassReference) (*cluster.Catalogue, string)
	Leading  func() bool // false: another process exports the state
	Objects  bool        // series for each node, pod and object too
	Offers   Offers      // which instance types and offerings have series
	Now      func() time.Time
}

// world is what one scrape reads. It belongs to the caches: nobody writes it.
type world struct {
	now    time.Time
	nodes  []corev1.Node
	pods   []corev1.Pod
	claims []karpv1.NodeClaim
	pools  []translate.PoolObject
	ours   map[string]bool // by provider ID: machines that claims have
	labels labels
	send   chan<- prometheus.Metric
}

// Describe tells of every metric that a scrape may show.
func (c *Collector) Describe(to chan<- *prometheus.Desc) {
	for _, name := range Names() {
		to <- metrics[name].desc
	}
}

// Collect reads the state. What cannot be read makes the scrape say so.
func (c *Collector) Collect(to chan<- prometheus.Metric) {
	if !c.Leading() {
		return
	}
	w := &world{now: c.Now(), send: to, ours: map[string]bool{}, labels: labels{}}
	if err := c.read(w); err != nil {
		to <- prometheus.NewInvalidMetric(metrics["karpenter_cluster_utilization_percent"].desc, err)
		return
	}
	s := c.Snapshot()
	w.poolBudgets(s)
	w.utilization(s)
	w.offers(s, c.Kinds, c.Offers)
	if !c.Objects {
		return
	}
	w.eachNode()
	w.eachPod()
	if err := c.eachObject(w); err != nil {
		to <- prometheus.NewInvalidMetric(metrics["operator_nodeclaim_status_condition_count"].desc, err)
	}
}

func (c *Collector) read(w *world) error {
	ctx := context.Background() // answered from memory
	var nodes corev1.NodeList
	var claims karpv1.NodeClaimList
	var pods corev1.PodList
	lists := []client.ObjectList{&nodes, &claims}
	if c.Objects {
		lists = append(lists, &pods)
	}
	for _, list := range lists {
		if err := c.Store.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
			return fmt.Errorf("read %T for a scrape: %w", list, err)
		}
	}
	pools, err := c.Serves.List(ctx, c.Store, client.UnsafeDisableDeepCopy)
	if err != nil {
		return fmt.Errorf("for a scrape: %w", err)
	}
	w.nodes, w.claims, w.pools, w.pods = nodes.Items, claims.Items, pools, pods.Items
	for i := range w.claims {
		if id := w.claims[i].Status.ProviderID; id != "" {
			w.ours[id] = true
		}
	}
	return nil
}

// set sends one gauge; labels come in the order of the table.
func (w *world) set(name string, value float64, labels ...string) {
	m := metrics[name]
	w.send <- &gauge{m.desc, value, w.labels.of(m.labels, labels)}
}

// Names lists the metrics of this package.
func Names() []string {
	out := []string{
		"daemok_capacity_reservations_idle_instances",
		"karpenter_cloudprovider_instance_type_cpu_cores",
		"karpenter_cloudprovider_instance_type_memory_bytes",
		"karpenter_cloudprovider_instance_type_offering_available",
		"karpenter_cloudprovider_instance_type_offering_price_estimate",
		"karpenter_cluster_utilization_percent",
		"karpenter_nodepools_allowed_disruptions",
		"karpenter_nodepools_cost_total",
		"karpenter_nodepools_nodes_consuming_budgets",
		"karpenter_nodes_allocatable",
		"karpenter_nodes_current_lifetime_seconds",
		"karpenter_nodes_system_overhead",
		"karpenter_nodes_total_daemon_limits",
		"karpenter_nodes_total_daemon_requests",
		"karpenter_nodes_total_pod_limits",
		"karpenter_nodes_total_pod_requests",
		"karpenter_pods_state",
		"karpenter_voluntary_disruption_eligible_nodes",
	}
	out = append(out, conditionNames("operator")...)
	for _, kind := range observe.ConditionKinds() {
		out = append(out, conditionNames("operator_"+kind)...)
	}
	return out
}

func conditionNames(prefix string) []string {
	return []string{prefix + "_status_condition_count", prefix + "_status_condition_current_status_seconds", prefix + "_termination_current_time_seconds"}
}

func yes(b bool) string {
	if b {
		return "true"
	}
	return "false"
}
