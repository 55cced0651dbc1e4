// Package observe holds the metrics of the product, and records its events. It receives plans and
// outcomes, and the core never calls it.
//
// It promises that one table has every metric's name, type, unit and labels, and that names which
// Karpenter's users rely on keep their meaning. observe/state reads gauges at the scrape;
// observe/follow counts from the watches what happens to objects. It decides nothing.
package observe

import (
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// durationBuckets are Karpenter's, in seconds, so that dashboards carry over.
var durationBuckets = []float64{
	.005, .01, .025, .05, .1, .15, .2, .25, .3, .35, .4, .45, .5, .6, .7, .8, .9, 1, 1.25, 1.5, 1.75, 2, 2.5, 3,
	3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60, 120, 150, 300, 450, 600,
}

// provisioner is the controller that plans, in the words of Karpenter's labels.
const provisioner = "provisioner"

// Metrics is every metric that is written when something happens. Build it
// with NewMetrics.
type Metrics struct {
	PlanSeconds     prometheus.Histogram
	QueueDepth      prometheus.Gauge
	Unschedulable   prometheus.Gauge
	Ignored         prometheus.Gauge
	PendingByZone   *prometheus.GaugeVec // controller, zone
	DecisionSeconds prometheus.Histogram
	StateNodes      prometheus.Gauge
	PlanCost        prometheus.Gauge
	PlanBound       prometheus.Gauge
	PlanGap         prometheus.Gauge
	PlanMargin      *prometheus.GaugeVec // resource_type, zone
	BreakerTripped  *prometheus.GaugeVec // policy
	Dropped         prometheus.Counter

	SearchSeconds     prometheus.Histogram
	Decisions         *prometheus.CounterVec   // decision, reason, consolidation_type
	DecisionsByPool   *prometheus.CounterVec   // nodepool, decision, reason, consolidation_type
	FailedValidations *prometheus.CounterVec   // consolidation_type
	FailedRemovals    *prometheus.CounterVec   // decision, reason, consolidation_type
	SavingMoves       *prometheus.CounterVec   // decision, nodepool, policy
	MoveScores        *prometheus.HistogramVec // decision, nodepool, policy; nothing is observed
	BlockedNodes      *prometheus.GaugeVec     // nodepool, reason, by

	ClaimsCreated      *prometheus.CounterVec   // reason, nodepool, min_values_relaxed
	ClaimsUnhealthy    *prometheus.CounterVec   // condition, nodepool, capacity_type, image_id
	ClaimsTerminated   *prometheus.CounterVec   // nodepool, capacity_type, zone
	ClaimEndSeconds    *prometheus.HistogramVec // nodepool
	InstanceEndSeconds *prometheus.HistogramVec // nodepool
	NodesCreated       *prometheus.CounterVec   // nodepool, zone
	NodesAdopted       *prometheus.CounterVec   // nodepool, zone
	NodesTerminated    *prometheus.CounterVec   // nodepool, zone
	NodesDrained       *prometheus.CounterVec   // nodepool
	NodeEndSeconds     *prometheus.SummaryVec   // nodepool
	NodeLifeSeconds    *prometheus.HistogramVec // nodepool
	PoolLimit          *prometheus.GaugeVec     // resource_type, nodepool
	PoolUsage          *prometheus.GaugeVec     // resource_type, nodepool
	CostErrors         *prometheus.CounterVec   // nodepool; always 0
	Evictions          *prometheus.CounterVec   // code
	PodsDrained        *prometheus.CounterVec   // reason
	PodBoundSeconds    prometheus.Histogram
	PodStartSeconds    prometheus.Summary
	PlannedBoundSecs   prometheus.Histogram
	PodsLanded         *prometheus.CounterVec // on, as_planned
	PlannedStartSecs   prometheus.Histogram

	CloudSeconds   *prometheus.HistogramVec // controller, method, provider
	CloudErrors    *prometheus.CounterVec   // controller, method, provider, error
	LaunchFailures *prometheus.CounterVec   // zone, zone_id, capacity_type, reason
	BatchSize      *prometheus.HistogramVec // batcher
	BatchSeconds   *prometheus.HistogramVec // batcher
	EndFailures    *prometheus.CounterVec   // zone, zone_id
	AWSRequests    *prometheus.CounterVec   // service, action, status_code
	AWSSeconds     *prometheus.HistogramVec // service, action, status_code
	AWSRetries     *prometheus.HistogramVec // service, action
	AWSAttempts    *prometheus.CounterVec   // service, action, status_code
	AWSTrySeconds  *prometheus.HistogramVec // service, action, status_code

	MessagesReceived *prometheus.CounterVec // message_type
	MessagesDone     prometheus.Counter
	MessageSeconds   prometheus.Histogram
	StatusUnhealthy  *prometheus.CounterVec // category
	QueueReadable    *prometheus.GaugeVec   // no labels: without a queue there is no series
	UserDataBytes    *prometheus.GaugeVec   // nodeclass

	DefinitionFields *prometheus.GaugeVec // definition
	OtherForms       *prometheus.GaugeVec // nodeclass
	OtherControllers prometheus.Gauge

	RecordWrites *prometheus.CounterVec // result

	NodesEmptying  *prometheus.GaugeVec // nodepool
	PodsEmptying   prometheus.Gauge
	SteeringWrites *prometheus.CounterVec // kind, result

	OrphansHeld prometheus.Gauge
	ClockAhead  prometheus.Gauge

	// PodsOn counts the pods on a node that have to leave it when it goes; nil: it is not known,
	// and pods are not counted when claims are disrupted. It is set before the first is.
	PodsOn func(node string) int

	claimsDisrupted *prometheus.CounterVec // see Disrupted
	podsDisrupted   *prometheus.CounterVec
	conditions      map[string]conditionMetrics // by kind; of all kinds under no name
	plans           unfinished
	leads           atomic.Pointer[func() bool]
	synced          atomic.Bool
}

// NewMetrics registers every metric that it holds with r. It panics when a
// name is taken, which is a mistake of the program that calls it twice.
func NewMetrics(r prometheus.Registerer, version, commit, goVersion, arch string) *Metrics {
	b := builder{r, fromZero()}
	b.gauges("karpenter_build_info").WithLabelValues(version, goVersion, arch, commit).Set(1)
	m := &Metrics{
		PlanSeconds:     b.histograms("karpenter_scheduler_scheduling_duration_seconds").WithLabelValues(provisioner).(prometheus.Histogram),
		QueueDepth:      b.gauges("karpenter_scheduler_queue_depth").WithLabelValues(provisioner, ""),
		Unschedulable:   b.gauges("karpenter_scheduler_unschedulable_pods_count").WithLabelValues(provisioner),
		Ignored:         b.gauges("karpenter_scheduler_ignored_pods_count").WithLabelValues(),
		PendingByZone:   b.gauges("karpenter_scheduler_pending_pods_by_effective_zone_count"),
		DecisionSeconds: b.histogram("karpenter_pods_scheduling_decision_duration_seconds"),
		StateNodes:      b.gauges("karpenter_cluster_state_node_count").WithLabelValues(),
		PlanCost:        b.gauges("daemok_plan_cost").WithLabelValues(),
		PlanBound:       b.gauges("daemok_plan_cost_bound").WithLabelValues(),
		PlanGap:         b.gauges("daemok_plan_cost_gap").WithLabelValues(),
		PlanMargin:      b.gauges("daemok_plan_margin"),
		BreakerTripped:  b.gauges("daemok_disruption_breaker_tripped"),
		Dropped:         b.counters("daemok_plan_preferences_dropped_pods_total").WithLabelValues(),

		SearchSeconds:     b.histograms("karpenter_voluntary_disruption_decision_evaluation_duration_seconds").WithLabelValues("", "").(prometheus.Histogram),
		Decisions:         b.counters("karpenter_voluntary_disruption_decisions_total"),
		DecisionsByPool:   b.counters("karpenter_voluntary_disruption_decisions_by_nodepool_total"),
		FailedValidations: b.counters("karpenter_voluntary_disruption_failed_validations_total"),
		FailedRemovals:    b.counters("karpenter_voluntary_disruption_queue_failures_total"),
		SavingMoves:       b.counters("karpenter_consolidation_moves_total"),
		MoveScores:        b.histograms("karpenter_consolidation_score"),
		BlockedNodes:      b.gauges("daemok_disruption_blocked_nodes"),

		ClaimsCreated:      b.counters("karpenter_nodeclaims_created_total"),
		ClaimsUnhealthy:    b.counters("karpenter_nodeclaims_unhealthy_disrupted_total"),
		ClaimsTerminated:   b.counters("karpenter_nodeclaims_terminated_total"),
		ClaimEndSeconds:    b.histograms("karpenter_nodeclaims_termination_duration_seconds"),
		InstanceEndSeconds: b.histograms("karpenter_nodeclaims_instance_termination_duration_seconds"),
		NodesCreated:       b.counters("karpenter_nodes_created_total"),
		NodesAdopted:       b.counters("daemok_nodes_adopted_total"),
		NodesTerminated:    b.counters("karpenter_nodes_terminated_total"),
		NodesDrained:       b.counters("karpenter_nodes_drained_total"),
		NodeEndSeconds:     b.summaries("karpenter_nodes_termination_duration_seconds"),
		NodeLifeSeconds:    b.histograms("karpenter_nodes_lifetime_duration_seconds"),
		PoolLimit:          b.gauges("karpenter_nodepools_limit"),
		PoolUsage:          b.gauges("karpenter_nodepools_usage"),
		CostErrors:         b.counters("karpenter_nodepools_cost_tracker_errors_total"),

		Evictions:        b.counters("karpenter_pods_eviction_requests_total"),
		PodsDrained:      b.counters("karpenter_pods_drained_total"),
		PodBoundSeconds:  b.histogram("karpenter_pods_bound_duration_seconds"),
		PodStartSeconds:  b.summaries("karpenter_pods_startup_duration_seconds").WithLabelValues().(prometheus.Summary),
		PodsLanded:       b.counters("daemok_pods_landed_total"),
		PlannedBoundSecs: b.histogram("karpenter_pods_provisioning_bound_duration_seconds"),
		PlannedStartSecs: b.histogram("karpenter_pods_provisioning_startup_duration_seconds"),

		CloudSeconds:   b.histograms("karpenter_cloudprovider_duration_seconds"),
		CloudErrors:    b.counters("karpenter_cloudprovider_errors_total"),
		LaunchFailures: b.counters("karpenter_cloudprovider_instance_launch_failures_total"),
		BatchSize:      b.histograms("karpenter_cloudprovider_batcher_batch_size"),
		BatchSeconds:   b.histograms("karpenter_cloudprovider_batcher_batch_time_seconds"),
		OrphansHeld:    b.gauges("daemok_orphans_held").WithLabelValues(),
		ClockAhead:     b.gauges("daemok_clock_ahead_seconds").WithLabelValues(),
		EndFailures:    b.counters("karpenter_cloudprovider_instance_termination_failures_total"),
		AWSRequests:    b.counters("aws_sdk_go_request_total"),
		AWSSeconds:     b.histograms("aws_sdk_go_request_duration_seconds"),
		AWSRetries:     b.histograms("aws_sdk_go_request_retry_count"),
		AWSAttempts:    b.counters("aws_sdk_go_request_attempt_total"),
		AWSTrySeconds:  b.histograms("aws_sdk_go_request_attempt_duration_seconds"),

		MessagesReceived: b.counters("karpenter_interruption_received_messages_total"),
		MessagesDone:     b.counters("karpenter_interruption_deleted_messages_total").WithLabelValues(),
		StatusUnhealthy:  b.counters("karpenter_interruption_instance_status_unhealthy_total"),
		MessageSeconds:   b.histogram("karpenter_interruption_message_queue_duration_seconds"),
		QueueReadable:    b.gauges("daemok_interruption_queue_readable"),

		UserDataBytes: b.gauges("karpenter_ec2nodeclasses_userdata_bytes"), DefinitionFields: b.gauges("daemok_definition_unknown_fields"), OtherForms: b.gauges("daemok_nodeclass_changed_launch_template_nodes"),
		OtherControllers: b.gauges("daemok_other_controllers").WithLabelValues(),

		RecordWrites: b.counters("daemok_record_writes_total"),

		NodesEmptying:  b.gauges("daemok_nodes_emptying"),
		PodsEmptying:   b.gauges("daemok_pods_emptying").WithLabelValues(),
		SteeringWrites: b.counters("daemok_emptying_writes_total"),

		claimsDisrupted: b.counters("karpenter_nodeclaims_disrupted_total"),
		podsDisrupted:   b.counters("karpenter_pods_disruption_initiated_total"),
		conditions:      conditionsBy(b),
	}
	b.idle()
	m.addSynced(b, time.Now)
	m.addLeader(b)
	m.plans.add(b, time.Now)
	return m
}

// addSynced reports at the scrape whether the state is complete, and for how long it has not been.
func (m *Metrics) addSynced(b builder, now func() time.Time) {
	since := now()
	b.computed("karpenter_cluster_state_synced", func() float64 {
		if m.synced.Load() {
			return 1
		}
		return 0
	})
	b.computed("karpenter_cluster_state_unsynced_time_seconds", func() float64 {
		if m.synced.Load() {
			return 0
		}
		return now().Sub(since).Seconds()
	})
}

// addLeader reports at the scrape whether this process leads.
func (m *Metrics) addLeader(b builder) {
	b.computed("daemok_leader", func() float64 {
		if leads := m.leads.Load(); leads != nil && (*leads)() {
			return 1
		}
		return 0
	})
}

// LeadsBy has scrapes ask whether this process leads; before, it does not.
func (m *Metrics) LeadsBy(leads func() bool) { m.leads.Store(&leads) }

// Synced notes that every object of the API was seen.
func (m *Metrics) Synced() { m.synced.Store(true) }

// IsSynced reports whether Synced was called.
func (m *Metrics) IsSynced() bool { return m.synced.Load() }

// ObserveAWS counts one finished request to AWS that took so many exchanges.
func (m *Metrics) ObserveAWS(service, action, status string, took time.Duration, attempts int) {
	m.AWSRequests.WithLabelValues(service, action, status).Inc()
	m.AWSSeconds.WithLabelValues(service, action, status).Observe(took.Seconds())
	m.AWSRetries.WithLabelValues(service, action).Observe(float64(max(attempts-1, 0)))
}

// ObserveAttempt counts one exchange of such a request.
func (m *Metrics) ObserveAttempt(service, action, status string, took time.Duration) {
	m.AWSAttempts.WithLabelValues(service, action, status).Inc()
	m.AWSTrySeconds.WithLabelValues(service, action, status).Observe(took.Seconds())
}

// builder makes metrics by their definitions.
type builder struct {
	r        prometheus.Registerer
	fromZero map[string][][]string
}

func (b builder) counters(name string) *prometheus.CounterVec {
	d := Define(name)
	v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: d.Name, Help: d.Help}, d.Labels)
	b.r.MustRegister(v)
	for _, values := range b.fromZero[name] {
		v.WithLabelValues(values...)
	}
	return v
}

func (b builder) gauges(name string) *prometheus.GaugeVec {
	d := Define(name)
	v := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: d.Name, Help: d.Help}, d.Labels)
	b.r.MustRegister(v)
	return v
}

// idle registers what Karpenter counts and nothing here does, so that what asks for it finds a
// metric; docs/reference/metrics.md reports why.
func (b builder) idle() {
	b.counters("karpenter_voluntary_disruption_consolidation_timeouts_total")
}

// computed registers a gauge whose value is worked out at the scrape; labels are the
// values of its labels.
func (b builder) computed(name string, value func() float64, labels ...string) {
	b.r.MustRegister(computed{Define(name).Desc(), value, labels})
}

// computed is such a gauge.
type computed struct {
	desc   *prometheus.Desc
	value  func() float64
	labels []string
}

// Describe implements prometheus.Collector.
func (c computed) Describe(to chan<- *prometheus.Desc) { to <- c.desc }

// Collect implements prometheus.Collector.
func (c computed) Collect(to chan<- prometheus.Metric) {
	to <- prometheus.MustNewConstMetric(c.desc, prometheus.GaugeValue, c.value(), c.labels...)
}

func (b builder) histograms(name string) *prometheus.HistogramVec {
	d := Define(name)
	buckets := d.Buckets
	if buckets == nil {
		buckets = durationBuckets
	}
	v := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: d.Name, Help: d.Help, Buckets: buckets}, d.Labels)
	b.r.MustRegister(v)
	return v
}

func (b builder) histogram(name string) prometheus.Histogram {
	return b.histograms(name).WithLabelValues().(prometheus.Histogram)
}

func (b builder) summaries(name string) *prometheus.SummaryVec {
	d := Define(name)
	objectives := map[float64]float64{0: .01, .5: .01, .9: .01, .99: .01, 1: .01}
	v := prometheus.NewSummaryVec(prometheus.SummaryOpts{Name: d.Name, Help: d.Help, Objectives: objectives}, d.Labels)
	b.r.MustRegister(v)
	return v
}
