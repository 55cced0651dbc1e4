// Package state exports gauges of the cluster state, read at a scrape.
//
// It promises that a series ends with its object, and that no change has to write anything. It answers
// from the caches, calls no server, and exports nothing while another process leads. Series come in no
// order.
package state

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	dto "github.com/prometheus/client_model/go"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api/autoscaling/v1beta1"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	awsv1alpha1 "github.com/daemok/daemok/kube/api/aws/v1alpha1"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/snapshot/pools"
	"github.com/daemok/daemok/kube/snapshot/requests"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/observe"
)

// Collector reads the state at every scrape. It is safe for concurrent use. It gathers for itself: a registry
// would compare and sort tens of thousands of series each time.
type Collector struct {
	Store     client.Reader         // answers from memory
	Pods      iter.Seq[*corev1.Pod] // all of them, each until the next one, to be read only; needed for Objects
	Serves    translate.Generations
	Snapshot  func() *cluster.Snapshot
	Kinds     func(ref karpv1.NodeClassReference) (*cluster.Catalogue, string)
	Overlays  func() []pools.Overlay
	Leading   func() bool // false: another process exports the state
	Objects   bool        // series for each node, pod and object too
	Offerings Offerings   // which instance types and offerings have series
	Now       func() time.Time
	Buffers   func() []*v1beta1.CapacityBuffer // which must not be written; nil: there are none
	Requests  func() []requests.State          // ProvisioningRequests; nil: there are none

	priced priced
}

// world is what one scrape reads and shows. What is read belongs to the caches: it is not written.
type world struct {
	now    time.Time
	nodes  []corev1.Node
	pods   iter.Seq[*corev1.Pod]
	claims []karpv1.NodeClaim
	pools  []translate.PoolObject
	ours   map[string]bool // by provider ID: instances that claims have
	priced *priced
	shown  shown

	objects   bool // they have series
	classes   []awsv1.EC2NodeClass
	templates []awsv1alpha1.AWSNodeTemplate
	buffers   []*v1beta1.CapacityBuffer
	requests  []requests.State
	overlays  []pools.Overlay
	loads     map[string]*loads // by node, once they are needed
}

// shown takes the series of the metrics that it wants; values of labels come in the order of the table.
type shown interface {
	wants(name string) bool
	add(name string, value float64, values []string)
}

// Gather implements prometheus.Gatherer. What cannot be read fails the scrape.
func (c *Collector) Gather() ([]*dto.MetricFamily, error) {
	if !c.Leading() {
		return nil, nil
	}
	w, err := c.read()
	if err != nil {
		return nil, err
	}
	out := families{all: map[string]*dto.MetricFamily{}, labels: labels{}}
	w.shown = out
	c.few(w, c.Snapshot())
	w.each()
	return slices.Collect(maps.Values(out.all)), nil
}

// few shows what has a series for each pool or offering.
func (c *Collector) few(w *world, s *cluster.Snapshot) {
	w.poolBudgets(s)
	w.utilization(s)
	w.quotas(s)
	w.commitments(s)
	w.offerings(s, c.Kinds, c.Offerings)
}

// each shows what has a series for each node, pod or object, where that is wanted.
func (w *world) each() {
	if w.objects {
		w.eachNode()
		w.eachPod()
		w.eachObject()
	}
}

func (c *Collector) read() (*world, error) {
	w := &world{now: c.Now(), ours: map[string]bool{}, priced: &c.priced, objects: c.Objects, pods: c.Pods}
	ctx := context.Background() // answered from memory
	var nodes corev1.NodeList
	var claims karpv1.NodeClaimList
	var classes awsv1.EC2NodeClassList
	var templates awsv1alpha1.AWSNodeTemplateList
	lists := []client.ObjectList{&nodes, &claims}
	if c.Objects {
		lists = append(lists, &classes)
		if _, older := c.Serves.Of(translate.KindProvisioner); older {
			lists = append(lists, &templates)
		}
	}
	for _, list := range lists {
		if err := c.Store.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
			return nil, fmt.Errorf("read %T for a scrape: %w", list, err)
		}
	}
	list, err := c.Serves.List(ctx, c.Store, client.UnsafeDisableDeepCopy)
	if err != nil {
		return nil, fmt.Errorf("for a scrape: %w", err)
	}
	w.nodes, w.claims, w.pools, w.classes, w.templates = nodes.Items, claims.Items, list, classes.Items, templates.Items
	if c.Buffers != nil {
		w.buffers = c.Buffers()
	}
	if c.Objects && c.Requests != nil {
		w.requests = c.Requests()
	}
	if c.Objects && c.Overlays != nil {
		w.overlays = c.Overlays()
	}
	for i := range w.claims {
		if id := w.claims[i].Status.ProviderID; id != "" {
			w.ours[id] = true
		}
	}
	return w, nil
}

// set shows one gauge; labels come in the order of the table.
func (w *world) set(name string, value float64, labels ...string) {
	w.shown.add(name, value, labels)
}

// Names lists the metrics of this package.
func Names() []string {
	return append(namesOfEach(),
		"daemok_capacity_reservations_idle_instances",
		"daemok_capacityquotas_limit",
		"daemok_capacityquotas_usage",
		"daemok_commitments_pay",
		"daemok_commitments_unused_percent",
		"karpenter_cloudprovider_instance_type_cpu_cores",
		"karpenter_cloudprovider_instance_type_memory_bytes",
		"karpenter_cloudprovider_instance_type_offering_available",
		"karpenter_cloudprovider_instance_type_offering_price_estimate",
		"karpenter_cluster_utilization_percent",
		"karpenter_nodepools_allowed_disruptions",
		"karpenter_nodepools_cost_total",
		"karpenter_nodepools_nodes_consuming_budgets",
		"karpenter_voluntary_disruption_eligible_nodes",
	)
}

// namesOfEach lists those that have a series for each node, pod or object.
func namesOfEach() []string {
	out := append([]string{podsState}, namesOfNodes()...)
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
