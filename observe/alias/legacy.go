package alias

import "slices"

// ofProvisioner is how the names of Provisioners begin in the label nodepool.
const ofProvisioner = "provisioner/"

// deprovisioners are the words of Karpenter 0.27 for reasons of disruption.
var deprovisioners = map[string]string{"empty": "emptiness", "underutilized": "consolidation", "drifted": "drift", "expired": "expiration"}

// messages are the words of Karpenter 0.27 for kinds of interruption messages.
var messages = map[string]string{
	"spot_interrupted": "SpotInterruptionKind", "rebalance_recommendation": "RebalanceRecommendationKind", "scheduled_change": "ScheduledChangeKind",
	"instance_stopped": "StateChangeKind", "instance_terminated": "StateChangeKind", "no_op": "NoOpKind",
}

// Legacy are the names of Karpenter 0.27 for what is measured under newer ones. Where they are
// about Provisioners, series of NodePools are left out.
func Legacy() []Rule {
	return slices.Concat(legacyPools(), legacyNodes(), legacyDeprovisioning(), legacyInterruption())
}

// provisioners has series of Provisioners served, with their names in the label provisioner.
func provisioners(r Rule) Rule {
	r.Trim = map[string]string{"nodepool": ofProvisioner}
	r.Rename = map[string]string{"nodepool": "provisioner"}
	return r
}

func legacyPools() []Rule {
	const took = "karpenter_scheduler_scheduling_duration_seconds"
	return []Rule{
		provisioners(Rule{From: "karpenter_nodepools_limit", To: "karpenter_provisioner_limit", Help: "Limit of a Provisioner."}),
		provisioners(Rule{From: "karpenter_nodepools_usage", To: "karpenter_provisioner_usage", Help: "Capacity of the nodes of a Provisioner."}),
		provisioners(Rule{From: "karpenter_nodepools_usage", To: "karpenter_provisioner_usage_pct", Percent: "karpenter_nodepools_limit", Help: "Usage of a Provisioner as a percentage of its limit."}),
		{From: took, To: "karpenter_provisioner_scheduling_duration_seconds", Drop: []string{"controller"}, Help: "Duration of a scheduling run."},
		{From: took, To: "karpenter_provisioner_scheduling_simulation_duration_seconds", Drop: []string{"controller"}, Help: "Duration of a scheduling run."},
		{From: took, To: "karpenter_allocation_controller_scheduling_duration_seconds", Drop: []string{"controller"}, Help: "Duration of a scheduling run."},
		{From: "karpenter_cloudprovider_instance_type_offering_price_estimate", To: "karpenter_cloudprovider_instance_type_price_estimate"},
	}
}

func legacyNodes() []Rule {
	reasons := map[string]string{"provisioned": "provisioning"}
	for now, then := range deprovisioners {
		reasons[now] = then
	}
	return []Rule{
		provisioners(Rule{From: "karpenter_nodeclaims_created_total", To: "karpenter_nodes_created", Drop: []string{"min_values_relaxed"},
			Values: map[string]map[string]string{"reason": reasons}, Help: "Nodes that were launched."}),
		provisioners(Rule{From: "karpenter_nodeclaims_disrupted_total", To: "karpenter_nodes_terminated", Drop: []string{"capacity_type", "consolidation_policy", "termination_mode"},
			Values: map[string]map[string]string{"reason": deprovisioners}, Help: "Nodes that were terminated, by reason."}),
		provisioners(Rule{From: "karpenter_nodes_termination_duration_seconds", To: "karpenter_nodes_termination_time_seconds"}),
		{From: "karpenter_pods_startup_duration_seconds", To: "karpenter_pods_startup_time_seconds"},
	}
}

func legacyDeprovisioning() []Rule {
	reasons := map[string]map[string]string{"reason": deprovisioners}
	called := map[string]string{"reason": "deprovisioner", "decision": "action"}
	return []Rule{
		{From: "karpenter_voluntary_disruption_decisions_total", To: "karpenter_deprovisioning_actions_performed", Drop: []string{"consolidation_type"}, Rename: called, Values: reasons},
		{From: "karpenter_voluntary_disruption_eligible_nodes", To: "karpenter_deprovisioning_eligible_machines", Rename: called, Values: reasons},
		{From: "karpenter_voluntary_disruption_decision_evaluation_duration_seconds", To: "karpenter_deprovisioning_evaluation_duration_seconds",
			Drop: []string{"reason", "consolidation_type"}, Help: "How long it took to search for nodes to deprovision, for all reasons together."},
		{From: "karpenter_voluntary_disruption_consolidation_timeouts_total", To: "karpenter_deprovisioning_consolidation_timeouts", Drop: []string{"consolidation_type"}},
		{From: "karpenter_voluntary_disruption_queue_failures_total", To: "karpenter_deprovisioning_replacement_machine_launch_failure_counter",
			Only: map[string][]string{"decision": {"replace"}}, Drop: []string{"decision", "consolidation_type"}, Rename: called, Values: reasons, Help: "Replacements that could not be carried out."},
	}
}

func legacyInterruption() []Rule {
	kinds, ends := map[string]map[string]string{"message_type": messages}, []string{"spot_interrupted", "scheduled_change", "instance_stopped", "instance_terminated", "capacity_reservation_interrupted"}
	received := func(actionable string, kind ...string) Rule {
		return Rule{From: "karpenter_interruption_received_messages_total", To: "karpenter_interruption_received_messages",
			Only: map[string][]string{"message_type": kind}, Values: kinds, Add: map[string]string{"actionable": actionable}}
	}
	return []Rule{
		received("true", ends...),
		received("false", "rebalance_recommendation", "no_op", "not_understood"),
		{From: "karpenter_interruption_deleted_messages_total", To: "karpenter_interruption_deleted_messages"},
		{From: "karpenter_interruption_message_queue_duration_seconds", To: "karpenter_interruption_message_latency_time_seconds"},
		{From: "karpenter_nodeclaims_disrupted_total", To: "karpenter_interruption_actions_performed", Only: map[string][]string{"reason": ends},
			Drop: []string{"reason", "nodepool", "capacity_type", "consolidation_policy", "termination_mode"}, Add: map[string]string{"action": "CordonAndDrain"},
			Help: "Nodes that were drained because of interruption messages."},
	}
}

// LegacyLabels are the labels of Karpenter 0.27 on metrics whose names have stayed.
func LegacyLabels() []Copy {
	out := []Copy{{Metric: "karpenter_pods_state", From: "nodepool", To: "provisioner", Trim: ofProvisioner}}
	for _, name := range []string{"allocatable", "system_overhead", "total_daemon_limits", "total_daemon_requests", "total_pod_limits", "total_pod_requests"} {
		out = append(out, Copy{Metric: "karpenter_nodes_" + name, From: "provisioner_name", To: "provisioner"})
	}
	return out
}
