// Package observe tells operators what the product does: metrics and events.
// It listens to plans and outcomes and is never called by the core.
//
// It promises that every metric's name, type and labels stand in this one
// file, and that names which Karpenter's users rely on keep their meaning.
package observe

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// durationBuckets are Karpenter's, in seconds, so that dashboards carry over.
var durationBuckets = []float64{
	.005, .01, .025, .05, .1, .15, .2, .25, .3, .35, .4, .45, .5, .6, .7, .8, .9, 1, 1.25, 1.5, 1.75, 2, 2.5, 3,
	3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60, 120, 150, 300, 450, 600,
}

// Metrics is every metric the controller exports. Build it with NewMetrics.
type Metrics struct {
	ClaimsCreated    *prometheus.CounterVec // reason, nodepool, min_values_relaxed
	ClaimsDisrupted  *prometheus.CounterVec // reason, nodepool, capacity_type, consolidation_policy, termination_mode
	ClaimsTerminated *prometheus.CounterVec // nodepool, capacity_type, zone
	NodesCreated     *prometheus.CounterVec // nodepool, zone
	NodesTerminated  *prometheus.CounterVec // nodepool, zone
	Evictions        *prometheus.CounterVec // code
	PlanSeconds      prometheus.Histogram
	QueueDepth       prometheus.Gauge
	Unschedulable    prometheus.Gauge
	StateNodes       prometheus.Gauge
	StateSynced      prometheus.Gauge
	PoolLimit        *prometheus.GaugeVec // resource_type, nodepool
	PoolUsage        *prometheus.GaugeVec // resource_type, nodepool
	CloudSeconds     *prometheus.HistogramVec
	CloudErrors      *prometheus.CounterVec
	AWSRequests      *prometheus.CounterVec // service, action, status_code
	AWSSeconds       *prometheus.HistogramVec
}

// NewMetrics registers every metric with r. It panics when a name is taken,
// which is a mistake of the program that calls it twice.
func NewMetrics(r prometheus.Registerer, version, commit, goVersion, arch string) *Metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
		r.MustRegister(c)
		return c
	}
	gauges := func(name, help string, labels ...string) *prometheus.GaugeVec {
		g := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
		r.MustRegister(g)
		return g
	}
	histogram := func(name, help string, labels ...string) *prometheus.HistogramVec {
		h := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: durationBuckets}, labels)
		r.MustRegister(h)
		return h
	}
	gauges("karpenter_build_info", "Always 1; the labels tell the build.", "version", "goversion", "goarch", "commit").
		WithLabelValues(version, goVersion, arch, commit).Set(1)
	scheduling := histogram("karpenter_scheduler_scheduling_duration_seconds", "Seconds one plan took.", "controller")
	depth := gauges("karpenter_scheduler_queue_depth", "Pods waiting for a place when the last plan was made.", "controller")
	unschedulable := gauges("karpenter_scheduler_unschedulable_pods_count", "Pods the last plan found no place for.", "controller")
	return &Metrics{
		ClaimsCreated:    counter("karpenter_nodeclaims_created_total", "NodeClaims created.", "reason", "nodepool", "min_values_relaxed"),
		ClaimsDisrupted:  counter("karpenter_nodeclaims_disrupted_total", "NodeClaims let go, by reason.", "reason", "nodepool", "capacity_type", "consolidation_policy", "termination_mode"),
		ClaimsTerminated: counter("karpenter_nodeclaims_terminated_total", "NodeClaims whose machine is gone.", "nodepool", "capacity_type", "zone"),
		NodesCreated:     counter("karpenter_nodes_created_total", "Nodes registered.", "nodepool", "zone"),
		NodesTerminated:  counter("karpenter_nodes_terminated_total", "Nodes gone after their drain.", "nodepool", "zone"),
		Evictions:        counter("karpenter_pods_eviction_requests_total", "Eviction calls, by HTTP status.", "code"),
		PlanSeconds:      scheduling.WithLabelValues("provisioner").(prometheus.Histogram),
		QueueDepth:       depth.WithLabelValues("provisioner"),
		Unschedulable:    unschedulable.WithLabelValues("provisioner"),
		StateNodes:       gauges("karpenter_cluster_state_node_count", "Nodes known, others' included.").WithLabelValues(),
		StateSynced:      gauges("karpenter_cluster_state_synced", "1 once every object of the API was seen.").WithLabelValues(),
		PoolLimit:        gauges("karpenter_nodepools_limit", "Limit of a pool, in cores, bytes or pieces.", "resource_type", "nodepool"),
		PoolUsage:        gauges("karpenter_nodepools_usage", "Capacity a pool owns, in cores, bytes or pieces.", "resource_type", "nodepool"),
		CloudSeconds:     histogram("karpenter_cloudprovider_duration_seconds", "Seconds a call of the cloud port took.", "controller", "method", "provider"),
		CloudErrors:      counter("karpenter_cloudprovider_errors_total", "Calls of the cloud port that failed.", "controller", "method", "provider", "error"),
		AWSRequests:      counter("aws_sdk_go_request_total", "Requests to AWS, retries not counted.", "service", "action", "status_code"),
		AWSSeconds:       histogram("aws_sdk_go_request_duration_seconds", "Seconds a request to AWS took, retries included.", "service", "action", "status_code"),
	}
}

// ObserveAWS counts one finished request to AWS. It has the form that the
// adapter's observer asks for.
func (m *Metrics) ObserveAWS(service, action, status string, took time.Duration) {
	m.AWSRequests.WithLabelValues(service, action, status).Inc()
	m.AWSSeconds.WithLabelValues(service, action, status).Observe(took.Seconds())
}
