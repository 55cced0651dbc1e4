package monitoring

func costs() Board {
	return Board{
		File: "daemok-cost", Title: "Daemok / Capacity and cost", About: "What the nodes of NodePools cost and hold, and how far the last launches were from the lower bound on their cost.", Pools: true,
		Rows: []Row{
			{"Cost", []Panel{
				one("Cost per hour", dollars, `sum(karpenter_nodepools_cost_total{nodepool=~"$nodepool"})`, "all pools",
					"Current price of all instances of the NodePools, with volumes and declared machine costs.").now(),
				one("Cost per month", dollars, `730 * sum(karpenter_nodepools_cost_total{nodepool=~"$nodepool"})`, "all pools", "The same for 730 hours.").now(),
				one("Cost by NodePool", dollars, `sum by (nodepool) (karpenter_nodepools_cost_total{nodepool=~"$nodepool"})`, "{{nodepool}}", "Per hour.").stacked(),
				{Title: "Last launches and lower bound", Unit: dollars, About: "Cost per hour of the last plan with launches, and the lower bound for the same pods.",
					Queries: []Query{{"max(daemok_plan_cost)", "launches"}, {"max(daemok_plan_cost_bound)", "bound"}}},
				one("Gap to the lower bound", ratio, "max(daemok_plan_cost_gap)", "gap",
					"How much more the launches cost than the lower bound, which ignores topology spread and pod affinity."),
				one("Marginal cost of resources", dollars, "max by (resource_type, zone) (daemok_plan_margin)", "{{resource_type}} {{zone}}",
					"Cost per hour of one more core, GiB or piece, by the last plan with launches; with a zone, for pods restricted to it."),
			}},
			{"Capacity", []Panel{
				one("Nodes by NodePool and capacity type", number, `count by (nodepool, capacity_type) (karpenter_nodes_current_lifetime_seconds{nodepool=~"$nodepool"})`, "{{nodepool}} {{capacity_type}}", "").stacked(),
				one("Nodes by instance type", number, `count by (instance_type) (karpenter_nodes_current_lifetime_seconds{nodepool=~"$nodepool"})`, "{{instance_type}}", "").stacked(),
				one("Cluster utilization", percent, "karpenter_cluster_utilization_percent", "{{resource_type}}", "Requests of all pods as a share of allocatable."),
				one("CPU requested", ratio, used("cpu"), "{{nodepool}}", "Requests as a share of allocatable, with DaemonSets."),
				one("Memory requested", ratio, used("memory"), "{{nodepool}}", "Requests as a share of allocatable, with DaemonSets."),
				one("Idle reserved instances", number, "max by (capacity_reservation_id, instance_type, zone) (daemok_capacity_reservations_idle_instances)",
					"{{capacity_reservation_id}} {{instance_type}} {{zone}}", "They are paid for and not used."),
			}},
		},
	}
}

// used is what share of a resource pods ask for, by pool.
func used(resource string) string {
	of := func(metric string) string {
		return `sum by (nodepool) (` + metric + `{resource_type="` + resource + `",nodepool=~"$nodepool"})`
	}
	return "(" + of("karpenter_nodes_total_pod_requests") + " + " + of("karpenter_nodes_total_daemon_requests") + ") / " + of("karpenter_nodes_allocatable")
}

func provisioning() Board {
	return Board{
		File: "daemok-provisioning", Title: "Daemok / Provisioning", About: "What pods wait for, and how long it takes until they are bound and running.",
		Rows: []Row{
			{"Pending pods", []Panel{
				one("Pending pods by reason", number, "max by (reason) (daemok_pods_waiting) > 0", "{{reason}}", "docs/reference/metrics.md explains the reasons.").stacked(),
				one("Longest wait by reason", seconds, "max by (reason) (daemok_pods_waiting_longest_seconds) > 0", "{{reason}}", "Since the first plan that included the pod."),
				{Title: "Pods in the last scheduling run", Unit: number, About: "Pods that were pending, found no place, or were ignored.", Queries: []Query{
					{"max(karpenter_scheduler_queue_depth)", "pending"}, {"max(karpenter_scheduler_unschedulable_pods_count)", "unschedulable"}, {"max(karpenter_scheduler_ignored_pods_count)", "ignored"}}},
				one("Pending pods by zone", number, "max by (zone) (karpenter_scheduler_pending_pods_by_effective_zone_count)", "{{zone}}", "The single zone that they are restricted to; empty if several are possible.").stacked(),
			}},
			{"Latency", []Panel{
				quantiles("Pod creation to binding", "karpenter_pods_bound_duration_seconds_bucket", "", "", "All pods, with those bound to existing nodes."),
				quantiles("Plan to binding", "karpenter_pods_provisioning_bound_duration_seconds_bucket", "", "", "Pods in a plan: launch, boot and join."),
				one("Pod creation to ready", seconds, "max by (quantile) (karpenter_pods_startup_duration_seconds)", "{{quantile}}", ""),
				quantiles("Time to first decision", "karpenter_pods_scheduling_decision_duration_seconds_bucket", "", "", "With the batch window."),
				quantiles("Scheduling run", "karpenter_scheduler_scheduling_duration_seconds_bucket", "", "", ""),
				quantiles("Launch call", `karpenter_cloudprovider_duration_seconds_bucket{method="Create"}`, "", "", "CreateFleet."),
			}},
			{"Launches", []Panel{
				one("NodeClaims created", perSec, "sum by (nodepool, reason) (rate(karpenter_nodeclaims_created_total[$__rate_interval]))", "{{nodepool}} {{reason}}", "").stacked(),
				one("Launch failures", perSec, "sum by (reason, capacity_type, zone) (rate(karpenter_cloudprovider_instance_launch_failures_total[$__rate_interval]))", "{{reason}} {{capacity_type}} {{zone}}",
					"After InsufficientCapacity another offering is tried; other reasons need attention."),
				one("Pods bound as planned", ratio,
					`sum by (on) (rate(daemok_pods_landed_total{as_planned="true"}[$__rate_interval])) / sum by (on) (rate(daemok_pods_landed_total[$__rate_interval]))`, "{{on}}",
					"By the kind of place in the plan. kube-scheduler decides where pods are bound."),
				one("Pods with dropped preferences", perSec, "sum(rate(daemok_plan_preferences_dropped_pods_total[$__rate_interval]))", "pods", "Preferences that would have cost more than they are worth."),
			}},
		},
	}
}

func disruptions() Board {
	return Board{
		File: "daemok-disruption", Title: "Daemok / Disruption", About: "Which nodes are disrupted and why, what blocks others, and how their pods are drained.", Pools: true,
		Rows: []Row{
			{"Candidates", []Panel{
				one("Nodes eligible for disruption", number, "max by (reason) (karpenter_voluntary_disruption_eligible_nodes)", "{{reason}}", "By the first reason that applies.").stacked(),
				one("Nodes blocked from disruption", number, `sum by (nodepool, reason, by) (daemok_disruption_blocked_nodes{nodepool=~"$nodepool"})`, "{{nodepool}} {{reason}}: {{by}}",
					"By what blocks them: a rule (do-not-disrupt, a PodDisruptionBudget, a freeze), a budget of the NodePool, or a finding: their pods fit nowhere else.").stacked(),
				{Title: "Disruption budgets", Unit: number, About: "Nodes that may be disrupted at once, and nodes that are terminating or not ready.", Queries: []Query{
					{`min by (nodepool, reason) (karpenter_nodepools_allowed_disruptions{nodepool=~"$nodepool"})`, "{{nodepool}} {{reason}} allowed"},
					{`max by (nodepool) (karpenter_nodepools_nodes_consuming_budgets{nodepool=~"$nodepool"})`, "{{nodepool}} used"}}},
				one("Tripped breakers", yesNo, "max by (policy) (daemok_disruption_breaker_tripped)", "{{policy}}", "While a breaker is tripped, no node of its NodePools is disrupted voluntarily.").now(),
			}},
			{"Disruption", []Panel{
				one("NodeClaims disrupted", perSec, `sum by (nodepool, reason) (rate(karpenter_nodeclaims_disrupted_total{nodepool=~"$nodepool"}[$__rate_interval]))`, "{{nodepool}} {{reason}}", "").stacked(),
				one("Pods on disrupted nodes", perSec, `sum by (nodepool, reason) (rate(karpenter_pods_disruption_initiated_total{nodepool=~"$nodepool"}[$__rate_interval]))`, "{{nodepool}} {{reason}}",
					"Without DaemonSet pods.").stacked(),
				one("Disruption decisions", perSec, "sum by (decision, reason, consolidation_type) (rate(karpenter_voluntary_disruption_decisions_total[$__rate_interval]))", "{{decision}} {{reason}} {{consolidation_type}}", "").stacked(),
				{Title: "Dropped and failed decisions", Unit: perSec, About: "The cluster had changed, or the decision could not be carried out.", Queries: []Query{
					{"sum by (consolidation_type) (rate(karpenter_voluntary_disruption_failed_validations_total[$__rate_interval]))", "changed {{consolidation_type}}"},
					{"sum by (decision, reason) (rate(karpenter_voluntary_disruption_queue_failures_total[$__rate_interval]))", "failed: {{decision}} {{reason}}"}}},
				quantiles("Search for candidates", "karpenter_voluntary_disruption_decision_evaluation_duration_seconds_bucket", "", "", "It runs beside scheduling: no pod waits for it."),
				one("Nodes repaired", perSec, `sum by (nodepool, condition) (rate(karpenter_nodeclaims_unhealthy_disrupted_total{nodepool=~"$nodepool"}[$__rate_interval]))`, "{{nodepool}} {{condition}}", "").stacked(),
			}},
			{"Drains", []Panel{
				one("Evictions", perSec, "sum by (code) (rate(karpenter_pods_eviction_requests_total[$__rate_interval]))", "{{code}}", "429: a PodDisruptionBudget allows none now; it is retried.").stacked(),
				one("Pods drained", perSec, "sum by (reason) (rate(karpenter_pods_drained_total[$__rate_interval]))", "{{reason}}", "").stacked(),
				one("Node termination", seconds, `max by (nodepool, quantile) (karpenter_nodes_termination_duration_seconds{nodepool=~"$nodepool",quantile=~"0.5|0.99"})`, "{{nodepool}} {{quantile}}", ""),
				quantiles("Instance termination", "karpenter_nodeclaims_instance_termination_duration_seconds_bucket", "", "", "From TerminateInstances until the instance is gone."),
				one("Longest node terminations in progress", seconds, "topk(10, max by (name) (operator_node_termination_current_time_seconds))", "{{name}}", ""),
				quantiles("Node lifetime", "karpenter_nodes_lifetime_duration_seconds_bucket", "nodepool", "{{nodepool}} ", ""),
			}},
		},
	}
}

func spot() Board {
	return Board{
		File: "daemok-spot", Title: "Daemok / Spot and interruptions", About: "Nodes by capacity type, interruptions by AWS, and unavailable offerings.",
		Rows: []Row{
			{"Interruptions", []Panel{
				one("Interruption queue readable", yesNo, "max(daemok_interruption_queue_readable)", "readable", "No value: no queue is configured.").now(),
				one("Interruption messages", perSec, "sum by (message_type) (rate(karpenter_interruption_received_messages_total[$__rate_interval]))", "{{message_type}}", "").stacked(),
				quantiles("Message delay", "karpenter_interruption_message_queue_duration_seconds_bucket", "", "", "From AWS to the controller. A spot instance is terminated two minutes after its warning."),
				one("NodeClaims interrupted", perSec,
					`sum by (nodepool, reason) (rate(karpenter_nodeclaims_disrupted_total{reason=~"spot_interrupted|scheduled_change|instance_stopped|instance_terminated|capacity_reservation_interrupted"}[$__rate_interval]))`,
					"{{nodepool}} {{reason}}", "").stacked(),
				one("Failed status checks", perSec, "sum by (category) (rate(karpenter_interruption_instance_status_unhealthy_total[$__rate_interval]))", "{{category}}", "").stacked(),
			}},
			{"Capacity", []Panel{
				one("Nodes by capacity type", number, `count by (capacity_type) (karpenter_nodes_current_lifetime_seconds{capacity_type!=""})`, "{{capacity_type}}", "").stacked(),
				one("Median spot price", dollars, `quantile by (zone) (0.5, karpenter_cloudprovider_instance_type_offering_price_estimate{capacity_type="spot"})`, "{{zone}}", "Per hour, of the offerings that NodePools allow."),
				one("Available offerings", ratio, "avg by (capacity_type, zone) (karpenter_cloudprovider_instance_type_offering_available)", "{{capacity_type}} {{zone}}", "Share of the offerings that NodePools allow."),
				one("Insufficient capacity", perSec, `sum by (capacity_type, zone) (rate(karpenter_cloudprovider_instance_launch_failures_total{reason="InsufficientCapacity"}[$__rate_interval]))`, "{{capacity_type}} {{zone}}", "Launches that EC2 had no capacity for.").stacked(),
				one("Idle reserved instances", number, "max by (capacity_reservation_id, instance_type, zone) (daemok_capacity_reservations_idle_instances)",
					"{{capacity_reservation_id}} {{instance_type}} {{zone}}", "They are paid for and not used."),
			}},
		},
	}
}

func limits() Board {
	share := `max by (nodepool, resource_type) (karpenter_nodepools_usage{nodepool=~"$nodepool"}) / max by (nodepool, resource_type) (karpenter_nodepools_limit{nodepool=~"$nodepool"})`
	return Board{
		File: "daemok-limits", Title: "Daemok / Limits", About: "Usage and limits of NodePools, and pods that wait for a limit.", Pools: true,
		Rows: []Row{{"Limits", []Panel{
			one("Limit usage", ratio, share, "{{nodepool}} {{resource_type}}", "At 100 % nothing more is launched.").now(),
			one("Limit usage over time", ratio, share, "{{nodepool}} {{resource_type}}", ""),
			one("CPU by NodePool", number, `max by (nodepool) (karpenter_nodepools_usage{resource_type="cpu",nodepool=~"$nodepool"})`, "{{nodepool}}", "").stacked(),
			one("Memory by NodePool", inBytes, `max by (nodepool) (karpenter_nodepools_usage{resource_type="memory",nodepool=~"$nodepool"})`, "{{nodepool}}", "").stacked(),
			one("Nodes by NodePool", number, `max by (nodepool) (karpenter_nodepools_usage{resource_type="nodes",nodepool=~"$nodepool"})`, "{{nodepool}}", "").stacked(),
			{Title: "Pods waiting for a limit", Unit: number, Queries: []Query{{`max(daemok_pods_waiting{reason="limit"})`, "pods"}}},
			one("Longest wait for a limit", seconds, `max(daemok_pods_waiting_longest_seconds{reason="limit"})`, "wait", ""),
			one("User data size", inBytes, "max by (nodeclass) (karpenter_ec2nodeclasses_userdata_bytes)", "{{nodeclass}}", "EC2 accepts 16384 bytes."),
		}}},
	}
}

func health() Board {
	return Board{
		File: "daemok-health", Title: "Daemok / Controller", About: "Leader, cluster state, work queues, and calls to AWS and the API server.",
		Rows: []Row{
			{"Controller", []Panel{
				one("Leaders", number, "sum(daemok_leader)", "leaders", "1, unless the leader is changing.").now(),
				one("Other controllers", number, "max(daemok_other_controllers)", "others", "Leading by another lease: both launch nodes for the same pods.").now(),
				one("Versions", number, "count by (version, commit) (karpenter_build_info)", "{{version}} {{commit}}", "").now(),
				one("Nodes with another launch template", number, "max by (nodeclass) (daemok_nodeclass_changed_launch_template_nodes)", "{{nodeclass}}", "Launched by another build, which renders the class otherwise; they stay.").now(),
				one("Fields that definitions lack", number, "max by (definition) (daemok_definition_unknown_fields)", "{{definition}}", "Upgrade chart daemok-crd.").now(),
				one("State synced", yesNo, "max(karpenter_cluster_state_synced)", "synced", "").now(),
				one("Orphans held", number, "max(daemok_orphans_held)", "instances", "Instances without a NodeClaim, too many at once to terminate them.").now(),
				one("Clock difference", seconds, "max(daemok_clock_ahead_seconds)", "ahead", "To the API server; above two minutes nothing is disrupted."),
				one("Current scheduling run", seconds, "max(karpenter_scheduler_unfinished_work_seconds)", "plan", "Time since it started."),
				one("CPU", number, `sum by (instance) (rate(process_cpu_seconds_total[$__rate_interval]) and on (instance) karpenter_build_info)`, "{{instance}}", "Cores."),
				one("Memory", inBytes, `sum by (instance) (process_resident_memory_bytes and on (instance) karpenter_build_info)`, "{{instance}}", ""),
				one("Goroutines", number, `sum by (instance) (go_goroutines and on (instance) karpenter_build_info)`, "{{instance}}", ""),
				one("Restarts", number, `sum by (instance) (changes(process_start_time_seconds[1h]) and on (instance) karpenter_build_info)`, "{{instance}}", "In the last hour."),
			}},
			{"Reconcilers", []Panel{
				one("Work queue depth", number, "sum by (name) (karpenter_workqueue_depth)", "{{name}}", ""),
				quantiles("Time in the work queue", "karpenter_workqueue_queue_duration_seconds_bucket", "name", "{{name}} ", ""),
				quantiles("Reconcile duration", "karpenter_workqueue_work_duration_seconds_bucket", "name", "{{name}} ", ""),
				one("Reconcile errors", perSec, `sum by (controller) (rate(controller_runtime_reconcile_errors_total[$__rate_interval]) and on (instance) karpenter_build_info)`, "{{controller}}", "They are retried with back-off."),
				one("Objects not ready", number, `sum by (kind, name) (operator_status_condition_count{type="Ready",status!="True",kind=~"NodePool|Provisioner|EC2NodeClass|AWSNodeTemplate"})`, "{{kind}} {{name}}", "").now(),
				one("Decision record writes", perSec, "sum by (result) (rate(daemok_record_writes_total[$__rate_interval]))", "{{result}}", "To ConfigMaps, for daemok explain."),
			}},
			{"AWS and the API server", []Panel{
				one("AWS API calls", perSec, "sum by (service, action) (rate(aws_sdk_go_request_attempt_total[$__rate_interval]))", "{{service}} {{action}}", "With retries.").stacked(),
				one("AWS API errors", perSec, `sum by (service, action, status_code) (rate(aws_sdk_go_request_attempt_total{status_code!="200"}[$__rate_interval]))`, "{{service}} {{action}} {{status_code}}", "").stacked(),
				quantiles("AWS API latency", "aws_sdk_go_request_duration_seconds_bucket", "service, action", "{{service}} {{action}} ", "With retries."),
				one("Cloud provider errors", perSec, "sum by (controller, method, error) (rate(karpenter_cloudprovider_errors_total[$__rate_interval]))", "{{controller}} {{method}} {{error}}", "").stacked(),
				one("API server requests", perSec, `sum by (code, method) (rate(rest_client_requests_total[$__rate_interval]) and on (instance) karpenter_build_info)`, "{{code}} {{method}}", "").stacked(),
			}},
		},
	}
}
