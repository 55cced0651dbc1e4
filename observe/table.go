package observe

import (
	"slices"

	"github.com/daemok/daemok/kube/api"
)

// The table of all metrics. A name that Karpenter has keeps its meaning, its
// type and its labels; docs/reference/metrics.md is checked against what stands here.

var scheduling = []Definition{
	{Name: "karpenter_build_info", Kind: Gauge, Unit: "1", Labels: []string{"version", "goversion", "goarch", "commit"},
		Help: "Always 1; the labels name the build."},
	{Name: "karpenter_scheduler_scheduling_duration_seconds", Kind: Histogram, Unit: "seconds", Labels: []string{"controller"},
		Help: "How long one plan took; controller is provisioner."},
	{Name: "karpenter_scheduler_queue_depth", Kind: Gauge, Unit: "1", Labels: []string{"controller", "scheduling_id"},
		Help: "Pods pending in the last scheduling run. scheduling_id is always empty."},
	{Name: "karpenter_scheduler_unfinished_work_seconds", Kind: Gauge, Unit: "seconds", Labels: []string{"controller", "scheduling_id"},
		Help: "How long the current scheduling run has taken so far; 0 if none is running. scheduling_id is always empty."},
	{Name: "karpenter_scheduler_unschedulable_pods_count", Kind: Gauge, Unit: "1", Labels: []string{"controller"},
		Help: "Pods that the last scheduling run found no place for, without ignored pods."},
	{Name: "karpenter_scheduler_ignored_pods_count", Kind: Gauge, Unit: "1",
		Help: "Pods that the last scheduling run ignored: no instance can be launched for them, or they request nodes outside every NodePool."},
	{Name: "karpenter_scheduler_pending_pods_by_effective_zone_count", Kind: Gauge, Unit: "1", Labels: []string{"controller", "zone"},
		Help: "Pods pending in the last scheduling run, by the single zone they are restricted to; zone is empty if several are possible."},
	{Name: "daemok_pods_waiting", Kind: Gauge, Unit: "1", Labels: []string{"reason"},
		Help: "Pods waiting for a node, by reason, according to the last plan that included them."},
	{Name: "daemok_pods_waiting_longest_seconds", Kind: Gauge, Unit: "seconds", Labels: []string{"reason"},
		Help: "Time since the first plan that included the pod that has been waiting longest for this reason."},
	{Name: "daemok_plan_cost", Kind: Gauge, Unit: "US dollars an hour",
		Help: "Cost of the launches of the last plan with launches, if the chosen offerings are launched."},
	{Name: "daemok_plan_cost_bound", Kind: Gauge, Unit: "US dollars an hour",
		Help: "Lower bound on the hourly cost of instances for the pods of these launches; 0 if it is not known."},
	{Name: "daemok_plan_cost_gap", Kind: Gauge, Unit: "1",
		Help: "Share by which the launches cost more than that bound; NaN if it is not known."},
	{Name: "daemok_plan_margin", Kind: Gauge, Unit: "US dollars an hour", Labels: []string{"resource_type", "zone"},
		Help: "Marginal cost of one more core, GiB or unit of a resource in the last plan with launches; with a zone, for pods that must run there."},
	{Name: "daemok_plan_preferences_dropped_pods_total", Kind: Counter, Unit: "1",
		Help: "Pods for which plans launched instances without some of their preferences, which would have cost more than they are worth."},
	{Name: "karpenter_pods_scheduling_decision_duration_seconds", Kind: Histogram, Unit: "seconds",
		Help: "Time from when a pod was first seen until the first plan that included it. Pods from before this process led are not counted, because another process may have planned for them."},
	{Name: "karpenter_cluster_state_node_count", Kind: Gauge, Unit: "1",
		Help: "Nodes known when the last plan was made, including those that Daemok does not manage."},
	{Name: "karpenter_cluster_state_synced", Kind: Gauge, Unit: "1",
		Help: "1 once all objects of the API have been read, and plans are made."},
	{Name: "karpenter_cluster_state_unsynced_time_seconds", Kind: Gauge, Unit: "seconds",
		Help: "How long the state has not been complete; 0 once it is."},
}

var disruption = []Definition{
	{Name: "karpenter_voluntary_disruption_decisions_total", Kind: Counter, Unit: "1", Labels: []string{"decision", "reason", "consolidation_type"},
		Help: "Decisions to disrupt nodes that were carried out."},
	{Name: "karpenter_voluntary_disruption_decisions_by_nodepool_total", Kind: Counter, Unit: "1",
		Labels: []string{"nodepool", "decision", "reason", "consolidation_type"}, Help: "The same, by pool."},
	{Name: "karpenter_voluntary_disruption_failed_validations_total", Kind: Counter, Unit: "1", Labels: []string{"consolidation_type"},
		Help: "Decisions dropped because the cluster had changed when they were about to be carried out."},
	{Name: "karpenter_voluntary_disruption_consolidation_timeouts_total", Kind: Counter, Unit: "1", Labels: []string{"consolidation_type"},
		Help: "Always 0: consolidation is limited by the number of candidates it checks, not by time."},
	{Name: "karpenter_consolidation_moves_total", Kind: Counter, Unit: "1", Labels: []string{"decision", "nodepool", "policy"},
		Help: "Consolidation decisions that were carried out, by the NodePool's consolidation policy."},
	{Name: "karpenter_consolidation_score", Kind: Histogram, Unit: "1", Labels: []string{"decision", "nodepool", "policy"},
		Help: "Never has observations, because moves are compared with each other and have no scores.", Buckets: []float64{.1, .25, .33, .5, 1, 2, 5, 10}},
	{Name: "daemok_disruption_blocked_nodes", Kind: Gauge, Unit: "1", Labels: []string{"nodepool", "reason", "by"},
		Help: "Nodes with a reason to be disrupted that cannot be disrupted now, by what blocks them, after the last check of all nodes."},
	{Name: "karpenter_voluntary_disruption_queue_failures_total", Kind: Counter, Unit: "1", Labels: []string{"decision", "reason", "consolidation_type"},
		Help: "Decisions that could not be carried out."},
	{Name: "karpenter_voluntary_disruption_eligible_nodes", Kind: Gauge, Unit: "1", Labels: []string{"reason"},
		Help: "Nodes eligible for disruption, by the first reason."},
	{Name: "karpenter_voluntary_disruption_decision_evaluation_duration_seconds", Kind: Histogram, Unit: "seconds", Labels: []string{"reason", "consolidation_type"},
		Help: "How long it took to search for nodes to disrupt. One search is for all reasons: the labels are empty."},
	{Name: "karpenter_nodepools_allowed_disruptions", Kind: Gauge, Unit: "1", Labels: []string{"nodepool", "reason"},
		Help: "Nodes of the NodePool that its budgets allow to be disrupted at once."},
	{Name: "karpenter_nodepools_nodes_consuming_budgets", Kind: Gauge, Unit: "1", Labels: []string{"nodepool", "reason"},
		Help: "Nodes of the NodePool that count against its budgets: they are being disrupted, or are not ready."},
	{Name: "daemok_disruption_breaker_tripped", Kind: Gauge, Unit: "1", Labels: []string{"policy"},
		Help: "1 while the breaker of the DisruptionPolicy has tripped, and no node of its NodePools is disrupted voluntarily; 0 while it is closed."},
	{Name: "daemok_nodes_emptying", Kind: Gauge, Unit: "1", Labels: []string{"nodepool"},
		Help: "Nodes that are to empty without evictions: they have the taint daemok.sh/emptying."},
	{Name: "daemok_pods_emptying", Kind: Gauge, Unit: "1",
		Help: "Pods to which Daemok gave a low deletion cost because their nodes are to empty, after the last pass."},
	{Name: "daemok_emptying_writes_total", Kind: Counter, Unit: "1", Labels: []string{"kind", "result"},
		Help: "Attempts to change the taint of nodes that are to empty, and the deletion cost of their pods; kind is node or pod, result is written, conflict, forbidden or failed."},
	{Name: "daemok_leader", Kind: Gauge, Unit: "1",
		Help: "1 while this process is the leader or leader election is disabled; 0 while it is on standby."},
	{Name: "daemok_orphans_held", Kind: Gauge, Unit: "1",
		Help: "Instances without a NodeClaim, so many at once that they stay until a user adopts them or allows their termination."},
	{Name: "daemok_clock_ahead_seconds", Kind: Gauge, Unit: "seconds",
		Help: "How far the controller's clock is ahead of the API server's, negative behind; beyond two minutes nothing is disrupted or given up."},
	{Name: "daemok_record_writes_total", Kind: Counter, Unit: "1", Labels: []string{"result"},
		Help: "Attempts to write the record of decisions to its ConfigMaps; result is written, conflict, forbidden or failed."},
}

// lifetimes are from a quarter of an hour to 30 days, in seconds.
var lifetimes = []float64{
	900, 1800, 2700, 3600, 7200, 10800, 14400, 18000, 21600, 28800, 36000, 43200, 54000, 64800, 75600, 86400,
	129600, 172800, 259200, 345600, 432000, 518400, 604800, 864000, 1209600, 1814400, 2592000,
}

// powers are 1 to 1024.
var powers = []float64{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024}

var lives = []Definition{
	{Name: "karpenter_nodeclaims_created_total", Kind: Counter, Unit: "1", Labels: []string{"reason", "nodepool", "min_values_relaxed"},
		Help: "NodeClaims created."},
	{Name: "karpenter_nodeclaims_disrupted_total", Kind: Counter, Unit: "1",
		Labels: []string{"reason", "nodepool", "capacity_type", "consolidation_policy", "termination_mode"}, Help: "NodeClaims disrupted, by reason."},
	{Name: "karpenter_pods_disruption_initiated_total", Kind: Counter, Unit: "1",
		Labels: []string{"reason", "nodepool", "capacity_type", "consolidation_policy", "termination_mode"},
		Help:   "Pods on nodes whose disruption started, without DaemonSet and static pods."},
	{Name: "karpenter_nodeclaims_unhealthy_disrupted_total", Kind: Counter, Unit: "1", Labels: []string{"condition", "nodepool", "capacity_type", "image_id"},
		Help: "NodeClaims disrupted by node repair, by the condition of the node."},
	{Name: "karpenter_nodeclaims_terminated_total", Kind: Counter, Unit: "1", Labels: []string{"nodepool", "capacity_type", "zone"},
		Help: "NodeClaims whose instances were terminated."},
	{Name: "karpenter_nodeclaims_termination_duration_seconds", Kind: Histogram, Unit: "seconds", Labels: []string{"nodepool"},
		Help: "Time from the deletion of a NodeClaim until it was gone."},
	{Name: "karpenter_nodeclaims_instance_termination_duration_seconds", Kind: Histogram, Unit: "seconds", Labels: []string{"nodepool"},
		Help: "Time from the call that terminates an instance until it was gone.", Buckets: powers},
	{Name: "karpenter_nodes_created_total", Kind: Counter, Unit: "1", Labels: []string{"nodepool", "zone"}, Help: "Nodes registered."},
	{Name: "daemok_nodes_adopted_total", Kind: Counter, Unit: "1", Labels: []string{"nodepool", "zone"},
		Help: "Nodes adopted, which existed before their NodeClaim."},
	{Name: "karpenter_nodes_terminated_total", Kind: Counter, Unit: "1", Labels: []string{"nodepool", "zone"}, Help: "Nodes deleted after their drain."},
	{Name: "karpenter_nodes_termination_duration_seconds", Kind: Summary, Unit: "seconds", Labels: []string{"nodepool"},
		Help: "Time from the deletion of a node until it was gone."},
	{Name: "karpenter_nodes_lifetime_duration_seconds", Kind: Histogram, Unit: "seconds", Labels: []string{"nodepool"},
		Help: "Age of nodes when they were deleted.", Buckets: lifetimes},
	{Name: "karpenter_nodes_drained_total", Kind: Counter, Unit: "1", Labels: []string{"nodepool"}, Help: "Nodes drained."},
}

var pods = []Definition{
	{Name: "karpenter_pods_eviction_requests_total", Kind: Counter, Unit: "1", Labels: []string{"code"}, Help: "Eviction calls, by HTTP status."},
	{Name: "karpenter_pods_drained_total", Kind: Counter, Unit: "1", Labels: []string{"reason"},
		Help: "Pods evicted or deleted by a drain, by disruption reason; empty if no plan chose the node."},
	{Name: "karpenter_pods_bound_duration_seconds", Kind: Histogram, Unit: "seconds",
		Help: "Time from the creation of a pod until it was bound to a node."},
	{Name: "karpenter_pods_startup_duration_seconds", Kind: Summary, Unit: "seconds",
		Help: "Time from the creation of a pod until it was running and ready."},
	{Name: "daemok_pods_landed_total", Kind: Counter, Unit: "1", Labels: []string{"on", "as_planned"},
		Help: "Pods that were bound after a plan had a place for them, by that place (a node, an instance being launched, or a launch of the plan) and whether they were bound there."},
	{Name: "karpenter_pods_provisioning_bound_duration_seconds", Kind: Histogram, Unit: "seconds",
		Help: "Time from the first plan that placed a pod until it was bound to a node."},
	{Name: "karpenter_pods_provisioning_startup_duration_seconds", Kind: Histogram, Unit: "seconds",
		Help: "Time from the first plan that placed a pod until it was running and ready."},
	{Name: "karpenter_pods_unbound_time_seconds", Kind: Gauge, Unit: "seconds", Labels: []string{"name", "namespace"}, PerObject: true,
		Help: "Age of a pod that is not bound to a node yet."},
	{Name: "karpenter_pods_unstarted_time_seconds", Kind: Gauge, Unit: "seconds", Labels: []string{"name", "namespace"}, PerObject: true,
		Help: "Age of a pod that is not running and ready yet."},
	{Name: "karpenter_pods_provisioning_unbound_time_seconds", Kind: Gauge, Unit: "seconds", Labels: []string{"name", "namespace"}, PerObject: true,
		Help: "Time since the first plan that placed a pod which is not bound yet."},
	{Name: "karpenter_pods_provisioning_unstarted_time_seconds", Kind: Gauge, Unit: "seconds", Labels: []string{"name", "namespace"}, PerObject: true,
		Help: "Time since the first plan that placed a pod which is not running and ready yet."},
	{Name: "karpenter_pods_provisioning_scheduling_undecided_time_seconds", Kind: Gauge, Unit: "seconds", Labels: []string{"name", "namespace"}, PerObject: true,
		Help: "Time since an unbound pod that no plan has included yet was first seen."},
	{Name: "karpenter_pods_state", Kind: Gauge, Unit: "1", PerObject: true,
		Labels: []string{"name", "namespace", "owner", "node", "scheduled", "nodepool", "zone", "arch", "capacity_type", "instance_type", "phase", "ready", "managed"},
		Help:   "Always 1; the labels have the node, owner and state of a pod."},
}

// ofNode are the labels of metrics of one node.
var ofNode = []string{"node_name", "phase", "managed"}

// nodeAmount is a metric of a node that has a series for each resource.
func nodeAmount(name, help string) Definition {
	return Definition{Name: "karpenter_nodes_" + name, Kind: Gauge, Unit: "cores, bytes or pieces", PerObject: true, NodeLabels: true,
		Labels: slices.Concat([]string{"resource_type"}, ofNode), Help: help}
}

var state = []Definition{
	nodeAmount("allocatable", "What pods can request on a node."),
	nodeAmount("total_pod_requests", "Requests of the pods of a node, without DaemonSet pods."),
	nodeAmount("total_pod_limits", "Limits of the pods of a node, without DaemonSet pods."),
	nodeAmount("total_daemon_requests", "Requests of the DaemonSet pods of a node."),
	nodeAmount("total_daemon_limits", "Limits of the DaemonSet pods of a node."),
	nodeAmount("system_overhead", "What a node reserves for its system: capacity minus allocatable."),
	{Name: "karpenter_nodes_current_lifetime_seconds", Kind: Gauge, Unit: "seconds", Labels: ofNode, NodeLabels: true, PerObject: true,
		Help: "Age of a node."},
	{Name: "karpenter_cluster_utilization_percent", Kind: Gauge, Unit: "percent", Labels: []string{"resource_type"},
		Help: "Requests of all pods on nodes, as a share of what the nodes can allocate."},
	{Name: "karpenter_nodepools_limit", Kind: Gauge, Unit: "cores, bytes or pieces", Labels: []string{"resource_type", "nodepool"},
		Help: "Limit of a NodePool."},
	{Name: "karpenter_nodepools_usage", Kind: Gauge, Unit: "cores, bytes or pieces", Labels: []string{"resource_type", "nodepool"},
		Help: "Capacity of the nodes of a NodePool."},
	{Name: "daemok_capacityquotas_limit", Kind: Gauge, Unit: "cores, bytes, pieces or US dollars an hour", Labels: []string{"resource_type", "capacityquota"},
		Help: "Limit of a CapacityQuota; resource_type is nodes for the number of nodes, and cost for what they may cost an hour."},
	{Name: "daemok_capacityquotas_usage", Kind: Gauge, Unit: "cores, bytes, pieces or US dollars an hour", Labels: []string{"resource_type", "capacityquota"},
		Help: "What counts against a limit of a CapacityQuota: nodes, also those that are draining, and instances that are being launched."},
	{Name: "daemok_commitments_pay", Kind: Gauge, Unit: "US dollars an hour",
		Help: "What Reserved Instances and Savings Plans pay of the price of nodes and instances being launched."},
	{Name: "daemok_commitments_unused_percent", Kind: Gauge, Unit: "percent", Labels: []string{"commitment"},
		Help: "Share of Reserved Instances or of a Savings Plan that no instance uses, without what is used elsewhere."},
	{Name: "karpenter_nodepools_cost_total", Kind: Gauge, Unit: "US dollars an hour", Labels: []string{"nodepool"},
		Help: "Current price of the instances of a pool, as NodeOverlays have it, including volumes and declared costs; " +
			"instances whose price was never known are left out."},
	{Name: "karpenter_nodepools_cost_tracker_errors_total", Kind: Counter, Unit: "1", Labels: []string{"nodepool"},
		Help: "Always 0, because the cost of a NodePool is computed at each scrape and cannot fail."},
	{Name: "karpenter_cloudprovider_instance_type_offering_available", Kind: Gauge, Unit: "1", Labels: []string{"instance_type", "capacity_type", "zone"},
		Help: "1 if an instance type can be launched for a class in use, as far as is known; 0 while it is unavailable."},
	{Name: "karpenter_cloudprovider_instance_type_offering_price_estimate", Kind: Gauge, Unit: "US dollars an hour",
		Labels: []string{"instance_type", "capacity_type", "zone"},
		Help:   "Price of an instance type as AWS has it, if it is known."},
	{Name: "daemok_capacity_reservations_idle_instances", Kind: Gauge, Unit: "1", Labels: []string{"capacity_reservation_id", "instance_type", "zone"},
		Help: "Instances for which a capacity reservation of a class in use, or a capacity block, has free capacity, which AWS bills."},
	{Name: "karpenter_cloudprovider_instance_type_cpu_cores", Kind: Gauge, Unit: "cores", Labels: []string{"instance_type"},
		Help: "Cores of an instance type."},
	{Name: "karpenter_cloudprovider_instance_type_memory_bytes", Kind: Gauge, Unit: "bytes", Labels: []string{"instance_type"},
		Help: "Memory of an instance type, without the share that hypervisor and kernel use."},
}

var cloudCalls = []Definition{
	{Name: "karpenter_cloudprovider_duration_seconds", Kind: Histogram, Unit: "seconds", Labels: []string{"controller", "method", "provider"},
		Help: "How long an operation of the cloud provider took."},
	{Name: "karpenter_cloudprovider_errors_total", Kind: Counter, Unit: "1", Labels: []string{"controller", "method", "provider", "error"},
		Help: "Operations of the cloud provider that failed."},
	{Name: "karpenter_cloudprovider_instance_launch_failures_total", Kind: Counter, Unit: "1", Labels: []string{"zone", "zone_id", "capacity_type", "reason"},
		Help: "Launches that were refused, or met insufficient capacity; counted once for each zone without capacity."},
	{Name: "karpenter_cloudprovider_instance_termination_failures_total", Kind: Counter, Unit: "1", Labels: []string{"zone", "zone_id"},
		Help: "Attempts to terminate an instance that failed."},
	{Name: "karpenter_cloudprovider_batcher_batch_size", Kind: Histogram, Unit: "1", Labels: []string{"batcher"},
		Help: "Instances in one batched call.", Buckets: powers},
	{Name: "karpenter_cloudprovider_batcher_batch_time_seconds", Kind: Histogram, Unit: "seconds", Labels: []string{"batcher"},
		Help: "How long NodeClaims were collected before one batched call; batcher is create_fleet."},
	{Name: "karpenter_ec2nodeclasses_userdata_bytes", Kind: Gauge, Unit: "bytes", Labels: []string{"nodeclass"},
		Help: "Size of the merged user data of the class's instances, without the labels and taints that pools add; EC2 accepts 16384."},
	{Name: "daemok_nodeclass_changed_launch_template_nodes", Kind: Gauge, Unit: "1", Labels: []string{"nodeclass"},
		Help: "NodeClaims of the class whose instances another build of the controller launched, with another launch template or user data than this build generates from the same class. `nodeclass` is the name of an EC2NodeClass, or kind and name, such as AWSNodeTemplate/default."},
	{Name: "daemok_definition_unknown_fields", Kind: Gauge, Unit: "1", Labels: []string{"definition"},
		Help: "Fields of this build that a CustomResourceDefinition of the cluster lacks, so that the API server drops them; the log names them."},
	{Name: "daemok_other_controllers", Kind: Gauge, Unit: "1",
		Help: "Other releases of Daemok or Karpenter in this cluster that also lead, with another lease or without one: each launches nodes for the same pods; the log names them."},
	{Name: "aws_sdk_go_request_total", Kind: Counter, Unit: "1", Labels: []string{"service", "action", "status_code"},
		Help: "Requests to AWS, without retries; status_code is 200 or AWS's error code."},
	{Name: "aws_sdk_go_request_duration_seconds", Kind: Histogram, Unit: "seconds", Labels: []string{"service", "action", "status_code"},
		Help: "How long a request to AWS took, retries included."},
	{Name: "aws_sdk_go_request_retry_count", Kind: Histogram, Unit: "1", Labels: []string{"service", "action"},
		Help: "How often a request to AWS was repeated.", Buckets: []float64{0, 1, 2, 3, 4, 5, 8}},
	{Name: "aws_sdk_go_request_attempt_total", Kind: Counter, Unit: "1", Labels: []string{"service", "action", "status_code"},
		Help: "Tries of requests to AWS, retries counted; status_code is 200 or AWS's error code."},
	{Name: "aws_sdk_go_request_attempt_duration_seconds", Kind: Histogram, Unit: "seconds", Labels: []string{"service", "action", "status_code"},
		Help: "How long one try of a request to AWS took, without waiting for its turn."},
}

var shadow = []Definition{
	{Name: "daemok_shadow_cost", Kind: Gauge, Unit: "US dollars an hour", Labels: []string{"side"},
		Help: "In shadow mode: what the cluster costs now; side is actual, or shadow for the cluster as Daemok's plans would have made it."},
	{Name: "daemok_shadow_nodes", Kind: Gauge, Unit: "1", Labels: []string{"side"}, Help: "In shadow mode: nodes of both clusters."},
	{Name: "daemok_shadow_dollars_total", Kind: Counter, Unit: "US dollars", Labels: []string{"side"},
		Help: "In shadow mode: what both clusters have cost since the history began."},
	{Name: "daemok_shadow_nodes_launched_total", Kind: Counter, Unit: "1", Labels: []string{"side"}, Help: "In shadow mode: nodes that were launched, or would have been."},
	{Name: "daemok_shadow_nodes_terminated_total", Kind: Counter, Unit: "1", Labels: []string{"side"}, Help: "In shadow mode: nodes that were removed, or would have been."},
	{Name: "daemok_shadow_pods_evicted_total", Kind: Counter, Unit: "1", Labels: []string{"side"},
		Help: "In shadow mode: pods that had to leave such nodes, or would have had to."},
}

var interruption = []Definition{
	{Name: "karpenter_interruption_received_messages_total", Kind: Counter, Unit: "1", Labels: []string{"message_type"},
		Help: "Interruption messages received from the queue, each once; one message may be about several instances."},
	{Name: "karpenter_interruption_deleted_messages_total", Kind: Counter, Unit: "1",
		Help: "Interruption messages that were handled and deleted from the queue."},
	{Name: "karpenter_interruption_message_queue_duration_seconds", Kind: Histogram, Unit: "seconds",
		Help: "Time from the creation of an interruption message until the controller received it."},
	{Name: "karpenter_interruption_instance_status_unhealthy_total", Kind: Counter, Unit: "1", Labels: []string{"category"},
		Help: "Instances that fail a status check, or for which a change is scheduled; each counts once until that is over."},
	{Name: "daemok_interruption_queue_readable", Kind: Gauge, Unit: "1",
		Help: "1 while the interruption queue can be read, 0 while it cannot; no series without a queue or on standby replicas."},
}

var costs = []Definition{
	{Name: "daemok_nodes_cost", Kind: Gauge, Unit: "US dollars an hour",
		Labels: []string{"nodepool", "capacity_type"},
		Help: "Cost of nodes and of launched instances that have not joined, with volumes and declared costs; " +
			"those in capacity reservations at on-demand prices."},
	{Name: "daemok_nodes_unpriced", Kind: Gauge, Unit: "1",
		Help: "Nodes and launched instances without a known price, which no cost includes."},
	{Name: "daemok_namespace_cost", Kind: Gauge, Unit: "US dollars an hour",
		Labels: []string{"namespace"}, PerObject: true,
		Help: "Cost of what pods of a namespace request, without DaemonSets. " +
			"Beyond 200 namespaces the less expensive share the series with an empty name."},
	{Name: "daemok_idle_cost", Kind: Gauge, Unit: "US dollars an hour",
		Labels: []string{"nodepool", "cause"},
		Help: "Cost of what no workload requests, by cause: daemons, headroom, leaving, unmanaged, " +
			"do-not-disrupt, pdb, work, policy or fragmentation."},
	{Name: "daemok_savings_promised_total", Kind: Counter, Unit: "US dollars an hour",
		Labels: []string{"nodepool", "reason"},
		Help:   "What decisions to save money were to save, summed when their nodes have gone."},
	{Name: "daemok_savings_realised_total", Kind: Counter, Unit: "US dollars an hour",
		Labels: []string{"nodepool", "reason"},
		Help:   "What these decisions saved: the cost of the nodes that went, less that of their replacements."},
	{Name: "daemok_savings_overruns_total", Kind: Counter, Unit: "US dollars an hour",
		Labels: []string{"nodepool", "reason"},
		Help:   "What decisions cost whose replacements cost more than the nodes that went."},
}

// ConditionKinds are the kinds of objects whose conditions are counted, as
// they stand in names of metrics.
func ConditionKinds() []string {
	return []string{"nodeclaim", "nodepool", "provisioner", "node", "ec2nodeclass", "awsnodetemplate", "nodeoverlay",
		"capacitybuffer", "provisioningrequest"}
}

// GroupKind is the API group and kind that such a name stands for, as metrics of all
// kinds have them as labels.
func GroupKind(name string) (group, kind string) {
	switch name {
	case "nodeclaim":
		return api.GroupKarpenter, "NodeClaim"
	case "nodepool":
		return api.GroupKarpenter, "NodePool"
	case "provisioner":
		return api.GroupKarpenter, "Provisioner"
	case "ec2nodeclass":
		return api.GroupAWS, "EC2NodeClass"
	case "awsnodetemplate":
		return api.GroupAWS, "AWSNodeTemplate"
	case "nodeoverlay":
		return api.GroupKarpenter, "NodeOverlay"
	case "capacitybuffer":
		return api.GroupAutoscaling, "CapacityBuffer"
	case "provisioningrequest":
		return api.GroupAutoscaling, "ProvisioningRequest"
	}
	return "", "Node"
}

// conditions are the same metrics for each kind of object, and for all together: those
// have labels of their own for the kind.
func conditions() []Definition {
	out := conditionsOf("operator", []string{"group", "kind"})
	for _, kind := range ConditionKinds() {
		out = append(out, conditionsOf("operator_"+kind, nil)...)
	}
	return out
}

func conditionsOf(prefix string, kind []string) []Definition {
	with := func(labels ...string) []string { return slices.Concat(kind, labels) }
	return []Definition{
		{Name: prefix + "_status_condition_count", Kind: Gauge, Unit: "1", PerObject: true,
			Labels: with("namespace", "name", "type", "status", "reason"), Help: "Always 1; the labels name a condition of an object."},
		{Name: prefix + "_status_condition_current_status_seconds", Kind: Gauge, Unit: "seconds", PerObject: true,
			Labels: with("namespace", "name", "type", "status", "reason"), Help: "How long a condition of an object has had its status."},
		{Name: prefix + "_status_condition_transitions_total", Kind: Counter, Unit: "1",
			Labels: with("type", "status", "reason"), Help: "Conditions that changed their status."},
		{Name: prefix + "_status_condition_transition_seconds", Kind: Histogram, Unit: "seconds",
			Labels: with("type", "status"), Help: "How long conditions had their previous status when they changed; status is the new one."},
		{Name: prefix + "_termination_current_time_seconds", Kind: Gauge, Unit: "seconds", PerObject: true,
			Labels: with("namespace", "name"), Help: "Time since the deletion of an object that is not gone yet."},
		{Name: prefix + "_termination_duration_seconds", Kind: Histogram, Unit: "seconds",
			Labels: with(), Help: "Time from the deletion of an object until it was gone."},
	}
}
