package monitoring

func costs() Board {
	return Board{
		File: "daemok-cost", Title: "Daemok / Capacity and cost", About: "What the nodes of NodePools cost, for what, and hold, and how far the last launches were from the lower bound on their cost.", Pools: true,
		Rows: []Row{
			{"Cost", []Panel{
				one("Cost per hour", dollars, `sum(karpenter_nodepools_cost_total{nodepool=~"$nodepool"})`, "all pools",
					"Current price of all instances of the NodePools, with volumes and declared instance costs.").now(),
				one("Cost per month", dollars, `730 * sum(karpenter_nodepools_cost_total{nodepool=~"$nodepool"})`, "all pools", "The same for 730 hours.").now(),
				one("Cost by NodePool", dollars, `sum by (nodepool) (karpenter_nodepools_cost_total{nodepool=~"$nodepool"})`, "{{nodepool}}", "Per hour.").stacked(),
				{Title: "Last launches and lower bound", Unit: dollars, About: "Cost per hour of the last plan with launches, and the lower bound for the same pods where it is known.",
					Queries: []Query{{"max(daemok_plan_cost) > 0", "launches"}, {"max(daemok_plan_cost_bound) > 0", "bound"}}},
				one("Gap to the lower bound", ratio, "max(daemok_plan_cost_gap and on (instance) daemok_plan_cost_bound > 0)", "gap",
					"How much more the launches cost than the lower bound, which ignores topology spread and pod affinity. No value: no bound is known, for example because pods may use reserved offerings."),
				one("Marginal cost of resources", dollars, "max by (resource_type, zone) (daemok_plan_margin)", "{{resource_type}} {{zone}}",
					"Cost per hour of one more core, GiB or piece, by the last plan with launches; with a zone, for pods restricted to it."),
			}},
			{"What it is paid for", []Panel{
				one("Cost by namespace", dollars, `topk(15, max by (namespace) (label_replace(daemok_namespace_cost, "namespace", "$1", "exported_namespace", "(.+)")))`, "{{namespace}}",
					"Per hour, what pods request, without DaemonSets: of all nodes, those outside the chosen NodePools too. The 15 most expensive; daemok cost lists all.").stacked(),
				one("Idle cost by cause", dollars, `sum by (cause) (daemok_idle_cost{nodepool=~"$nodepool"}) > 0`, "{{cause}}", "Per hour, what no workload requests. docs/tasks/cost.md says what to do about each cause.").stacked(),
				{Title: "Savings promised and realised", Unit: dollars, About: "Per hour, of the decisions to save money whose nodes have gone in the rate interval. Realised: less what replacements cost more than the nodes that went.",
					Queries: []Query{
						{counted(`daemok_savings_promised_total{nodepool=~"$nodepool"}`, ""), "promised"},
						{counted(`daemok_savings_realised_total{nodepool=~"$nodepool"}`, "") + " - (" + counted(`daemok_savings_overruns_total{nodepool=~"$nodepool"}`, "") + " or vector(0))", "realised"}}},
			}},
			{"Capacity", []Panel{
				one("Nodes by NodePool and capacity type", number, `count by (nodepool, capacity_type) (karpenter_nodes_current_lifetime_seconds{nodepool=~"$nodepool",capacity_type!=""})`, "{{nodepool}} {{capacity_type}}", "").stacked(),
				one("Nodes by instance type", number, `count by (instance_type) (karpenter_nodes_current_lifetime_seconds{nodepool=~"$nodepool",instance_type!=""})`, "{{instance_type}}", "").stacked(),
				one("Cluster utilization", percent, "max by (resource_type) (karpenter_cluster_utilization_percent)", "{{resource_type}}", "Requests of all pods as a share of allocatable."),
				one("CPU requested by NodePool", ratio, used("cpu"), "{{nodepool}}", "Requests as a share of allocatable, with DaemonSets."),
				one("Memory requested by NodePool", ratio, used("memory"), "{{nodepool}}", "Requests as a share of allocatable, with DaemonSets."),
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
	pods, daemons := of("karpenter_nodes_total_pod_requests"), of("karpenter_nodes_total_daemon_requests")
	return "(" + pods + " + (" + daemons + " or 0 * " + pods + ")) / " + of("karpenter_nodes_allocatable")
}

func provisioning() Board {
	return Board{
		File: "daemok-provisioning", Title: "Daemok / Provisioning", About: "What pods wait for, and how long it takes until they are bound and running.",
		Rows: []Row{
			{"Pending pods", []Panel{
				one("Pending pods by reason", number, "max by (reason) ("+everAbove0("daemok_pods_waiting")+")", "{{reason}}", "docs/reference/metrics.md explains the reasons.").stacked(),
				one("Longest wait by reason", seconds, "max by (reason) ("+everAbove0("daemok_pods_waiting_longest_seconds")+")", "{{reason}}", "Since the first plan that included the pod."),
				{Title: "Pods in the last scheduling run", Unit: number, About: "Pods that were pending, found no place, or were ignored.", Queries: []Query{
					{"max(karpenter_scheduler_queue_depth)", "pending"}, {"max(karpenter_scheduler_unschedulable_pods_count)", "unschedulable"}, {"max(karpenter_scheduler_ignored_pods_count)", "ignored"}}},
				one("Pending pods by zone", number, `label_replace(max by (zone) (karpenter_scheduler_pending_pods_by_effective_zone_count), "zone", "several", "zone", "")`, "{{zone}}", "The single zone that they are restricted to.").stacked(),
			}},
			{"Latency", []Panel{
				quantiles("Pod creation to binding", "karpenter_pods_bound_duration_seconds_bucket", "", "", "All pods, with those bound to existing nodes."),
				quantiles("Plan to binding", "karpenter_pods_provisioning_bound_duration_seconds_bucket", "", "", "Pods in a plan: launch, boot and join."),
				{Title: "Pod creation to ready", Unit: seconds, About: "All pods, within the last ten minutes.", Queries: []Query{
					{`max(karpenter_pods_startup_duration_seconds{quantile="0.5"})`, "median"}, {`max(karpenter_pods_startup_duration_seconds{quantile="0.99"})`, "99 %"}}},
				quantiles("Time to first decision", "karpenter_pods_scheduling_decision_duration_seconds_bucket", "", "", "With the batch window."),
				quantiles("Scheduling run", "karpenter_scheduler_scheduling_duration_seconds_bucket", "", "", ""),
				quantiles("Launch call", `karpenter_cloudprovider_duration_seconds_bucket{method="Create"}`, "", "", "CreateFleet."),
			}},
			{"Launches", []Panel{
				one("NodeClaims created", events, counted("karpenter_nodeclaims_created_total", "nodepool, reason"), "{{nodepool}} {{reason}}", "").stacked(),
				one("Launch failures", events, counted("karpenter_cloudprovider_instance_launch_failures_total", "reason, capacity_type, zone"), "{{reason}} {{capacity_type}} {{zone}}",
					"After InsufficientCapacity another offering is tried; other reasons need attention."),
				{Title: "Pods bound", Unit: events, Stacked: true, About: "Pods that had a place in a plan, by where they were bound. kube-scheduler decides that.", Queries: []Query{
					{counted(`daemok_pods_landed_total{as_planned="true"}`, ""), "as planned"}, {counted(`daemok_pods_landed_total{as_planned="false"}`, ""), "elsewhere"}}},
				one("Pods with dropped preferences", events, counted("daemok_plan_preferences_dropped_pods_total", ""), "pods", "Preferences that would have cost more than they are worth."),
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
				one("Nodes to empty", number, `max by (nodepool) (daemok_nodes_emptying{nodepool=~"$nodepool"})`, "{{nodepool}}", "Without evictions: new pods go elsewhere while there is room, and scale-downs begin with their pods.").stacked(),
				one("Tripped breakers", number, "max by (policy) (daemok_disruption_breaker_tripped) > 0", "{{policy}}", "DisruptionPolicies. While a breaker is tripped, no node of its NodePools is disrupted voluntarily.").names().red(1),
			}},
			{"Disruption", []Panel{
				one("NodeClaims disrupted", events, counted(`karpenter_nodeclaims_disrupted_total{nodepool=~"$nodepool"}`, "nodepool, reason"), "{{nodepool}} {{reason}}", "").stacked(),
				one("Pods on disrupted nodes", events, counted(`karpenter_pods_disruption_initiated_total{nodepool=~"$nodepool"}`, "nodepool, reason"), "{{nodepool}} {{reason}}",
					"Without DaemonSet pods.").stacked(),
				one("Disruption decisions", events, counted("karpenter_voluntary_disruption_decisions_total", "decision, reason"), "{{decision}} {{reason}}", "Voluntary disruption: nodes are deleted, or replaced first.").stacked(),
				{Title: "Dropped and failed decisions", Unit: events, About: "Dropped: the cluster had changed. Failed: they could not be carried out.", Queries: []Query{
					{counted("karpenter_voluntary_disruption_failed_validations_total", ""), "dropped"},
					{counted("karpenter_voluntary_disruption_queue_failures_total", "decision"), "failed: {{decision}}"}}},
				quantiles("Search for candidates", "karpenter_voluntary_disruption_decision_evaluation_duration_seconds_bucket", "", "", "It runs beside scheduling: no pod waits for it."),
				one("Nodes repaired", events, counted(`karpenter_nodeclaims_unhealthy_disrupted_total{nodepool=~"$nodepool"}`, "nodepool, condition"), "{{nodepool}} {{condition}}", "").stacked(),
			}},
			{"Drains", []Panel{
				one("Evictions", events, counted("karpenter_pods_eviction_requests_total", "code"), "{{code}}", "Calls by HTTP status. 429: a PodDisruptionBudget allows none now; it is retried.").stacked(),
				one("Pods drained", events, `label_replace(`+counted("karpenter_pods_drained_total", "reason")+`, "reason", "not by a plan", "reason", "")`, "{{reason}}", "By the reason of the disruption. Not by a plan: interrupted, unhealthy, or deleted by a user.").stacked(),
				{Title: "Node termination", Unit: seconds, About: "From the deletion of a node until it is gone, drain included.", Queries: []Query{
					{`max by (nodepool) (karpenter_nodes_termination_duration_seconds{nodepool=~"$nodepool",quantile="0.5"})`, "{{nodepool}} median"},
					{`max by (nodepool) (karpenter_nodes_termination_duration_seconds{nodepool=~"$nodepool",quantile="0.99"})`, "{{nodepool}} 99 %"}}},
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
				one("Interruption queue readable", yesNo, "max(daemok_interruption_queue_readable)", "readable", "No value: no queue is configured.").now().green(1),
				one("Interruption messages", events, counted(`karpenter_interruption_received_messages_total{message_type!="no_op"}`, "message_type"), "{{message_type}}", "Without no_op: messages that ask for nothing.").stacked(),
				quantiles("Message delay", "karpenter_interruption_message_queue_duration_seconds_bucket", "", "", "From AWS to the controller. A spot instance is terminated two minutes after its warning."),
				one("NodeClaims interrupted", events,
					counted(`karpenter_nodeclaims_disrupted_total{reason=~"spot_interrupted|scheduled_change|instance_stopped|instance_terminated|capacity_reservation_interrupted"}`, "nodepool, reason"),
					"{{nodepool}} {{reason}}", "").stacked(),
				one("Failed status checks", events, counted("karpenter_interruption_instance_status_unhealthy_total", "category"), "{{category}}", "Instances, with those that a change is scheduled for.").stacked(),
			}},
			{"Capacity", []Panel{
				one("Nodes by capacity type", number, `count by (capacity_type) (karpenter_nodes_current_lifetime_seconds{capacity_type!=""})`, "{{capacity_type}}", "").stacked(),
				one("Median spot price", dollars, `quantile by (zone) (0.5, karpenter_cloudprovider_instance_type_offering_price_estimate{capacity_type="spot"})`, "{{zone}}", "Per hour, of the offerings that NodePools allow."),
				one("Available offerings", ratio, "avg by (capacity_type, zone) (karpenter_cloudprovider_instance_type_offering_available)", "{{capacity_type}} {{zone}}", "Share of the offerings that NodePools allow."),
				one("Insufficient capacity", events, counted(`karpenter_cloudprovider_instance_launch_failures_total{reason="InsufficientCapacity"}`, "capacity_type, zone"), "{{capacity_type}} {{zone}}", "Launches that EC2 had no capacity for.").stacked(),
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
			one("Limit usage", ratio, share, "{{nodepool}} {{resource_type}}", "At 100 % nothing more is launched.").bars().red(0.9),
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
				one("Leaders", number, "sum(daemok_leader)", "leaders", "1, unless the leader is changing.").now().green(1),
				one("Other controllers", number, "max(daemok_other_controllers)", "others", "Leading by another lease: both launch nodes for the same pods.").now().red(1),
				one("Versions", number, "count by (version, commit) (karpenter_build_info)", "{{version}} {{commit}}", "More than one while an upgrade is under way.").names(),
				one("Nodes with another launch template", number, "sum(max by (nodeclass) (daemok_nodeclass_changed_launch_template_nodes))", "nodes", "Launched by another build, which renders the class otherwise; they stay.").now(),
				one("Outdated definitions", number, "max by (definition) (daemok_definition_unknown_fields) > 0", "{{definition}}", "CustomResourceDefinitions that lack fields of the running version. Upgrade chart daemok-crd.").names().red(1),
				one("State synced", yesNo, "max(karpenter_cluster_state_synced)", "synced", "The leader has read the whole cluster.").now().green(1),
				one("Orphans held", number, "max(daemok_orphans_held)", "instances", "Instances without a NodeClaim, too many at once to terminate them.").now().red(1),
				one("Objects not ready", number, `max by (kind, name) (operator_status_condition_count{type="Ready",status!="True",kind=~"NodePool|Provisioner|EC2NodeClass|AWSNodeTemplate"}) > 0`, "{{kind}} {{name}}", "Nothing is launched from them.").names().red(1),
				one("Clock difference", seconds, "max("+leads("daemok_clock_ahead_seconds")+")", "ahead", "To the API server, negative if behind; beyond two minutes nothing is disrupted."),
				one("Current scheduling run", seconds, "max(karpenter_scheduler_unfinished_work_seconds)", "plan", "Time since it started."),
				one("CPU cores", number, `sum by (instance) (rate(process_cpu_seconds_total[$__rate_interval]) and on (instance) karpenter_build_info)`, "{{instance}}", ""),
				one("Memory", inBytes, `sum by (instance) (process_resident_memory_bytes and on (instance) karpenter_build_info)`, "{{instance}}", ""),
				one("Goroutines", number, `sum by (instance) (go_goroutines and on (instance) karpenter_build_info)`, "{{instance}}", ""),
				one("Restarts in the last hour", number, `sum by (instance) (changes(process_start_time_seconds[1h]) and on (instance) karpenter_build_info)`, "{{instance}}", "Of the container, within the same pod."),
			}},
			{"Reconcilers", []Panel{
				one("Work queue depth", number, "sum by (name) (karpenter_workqueue_depth)", "{{name}}", ""),
				slowest("Time in the work queue, 99 %", "karpenter_workqueue_queue_duration_seconds_bucket", "name", "{{name}}", ""),
				slowest("Reconcile duration, 99 %", "karpenter_workqueue_work_duration_seconds_bucket", "name", "{{name}}", ""),
				one("Reconcile errors", events, counted("controller_runtime_reconcile_errors_total", "controller"), "{{controller}}", "They are retried with back-off."),
				one("Decision record writes", perSec, "sum by (result) (rate(daemok_record_writes_total[$__rate_interval]))", "{{result}}", "To ConfigMaps, for daemok explain."),
			}},
			{"AWS and the API server", []Panel{
				one("AWS API calls", perSec, "sum by (service) (rate(aws_sdk_go_request_attempt_total[$__rate_interval]))", "{{service}}", "With retries.").stacked(),
				one("AWS API errors", events, counted(`aws_sdk_go_request_attempt_total{status_code!~"200|DryRunOperation"}`, "service, action, status_code"), "{{service}} {{action}} {{status_code}}",
					"Without DryRunOperation, which says that a dry run is permitted.").stacked(),
				slowest("AWS API latency, 99 %", `aws_sdk_go_request_duration_seconds_bucket{action!="ReceiveMessage"}`, "service, action", "{{service}} {{action}}", "With retries. Without ReceiveMessage, which waits for messages."),
				one("Cloud provider errors", events, counted("karpenter_cloudprovider_errors_total", "method, error"), "{{method}} {{error}}", "").stacked(),
				one("API server requests", perSec, `sum by (code, method) (rate(rest_client_requests_total[$__rate_interval]) and on (instance) karpenter_build_info)`, "{{code}} {{method}}", "").stacked(),
			}},
		},
	}
}
