package monitoring

import "strings"

// Rule is one alert.
type Rule struct {
	Alert       string            `json:"alert"`
	Expr        string            `json:"expr"`
	For         string            `json:"for,omitempty"`
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// Group is rules that are evaluated together.
type Group struct {
	Name  string `json:"name"`
	Rules []Rule `json:"rules"`
}

// runbooks is where the page of each alert is.
const runbooks = "https://github.com/daemok/daemok/blob/main/docs/runbooks/"

// How soon an operator should react.
const (
	info     = "info"     // when there is time
	warning  = "warning"  // within the day
	critical = "critical" // now
)

// alert is a rule with its page. The summary is one line; the text says what it means for
// the cluster.
func alert(name, lasting, severity, summary, text, expr string) Rule {
	return Rule{
		Alert: name, Expr: strings.TrimSpace(expr), For: lasting, Labels: map[string]string{"severity": severity},
		Annotations: map[string]string{"summary": summary, "description": text, "runbook_url": runbooks + name + ".md"},
	}
}

// Groups are all rules.
func Groups() []Group {
	return []Group{{Name: "daemok", Rules: []Rule{
		alert("DaemokNobodyLeads", "2m", critical, "Daemok has no leader",
			"No instance is launched for pending pods, and no interruption message is handled.",
			`(sum(daemok_leader) or vector(0)) == 0`),
		alert("DaemokSecondController", "15m", critical, "{{ $value }} other controllers lead, by a lease of their own or by none",
			"Each launches nodes for the same pods, and removes nodes of the same NodePools.",
			`max(daemok_other_controllers) > 0`),
		alert("DaemokStateIncomplete", "", critical, "Daemok has not seen the whole cluster for {{ $value | humanizeDuration }}",
			"The leader makes no plan until it has, so no instance is launched for pending pods.",
			`karpenter_cluster_state_unsynced_time_seconds > 600 and on (instance) daemok_leader == 1`),
		alert("DaemokDefinitionsOutdated", "15m", warning, "{{ $value }} fields of {{ $labels.definition }} are unknown to the cluster",
			"The CustomResourceDefinition is older than the controller. The API server drops these fields, so what they ask for does not happen.",
			`max by (definition) (daemok_definition_unknown_fields) > 0`),
		alert("DaemokPodsWaiting", "1m", warning, "A pod has waited for {{ $value | humanizeDuration }}: {{ $labels.reason }}",
			"The reason is the constraint that is hardest to satisfy in the nearest NodePool. Pods outside every NodePool, and those that it is too early to launch for, do not count.",
			`daemok_pods_waiting_longest_seconds{reason!~"outside|time"} > 300`),
		alert("DaemokPoolNotReady", "10m", warning, "{{ $labels.kind }} {{ $labels.name }} is not ready",
			"No instance is launched from it. The reason of its condition Ready is {{ $labels.reason }}.",
			`operator_status_condition_count{kind=~"NodePool|Provisioner",type="Ready",status!="True"} == 1`),
		alert("DaemokClassNotReady", "10m", warning, "{{ $labels.kind }} {{ $labels.name }} is not ready",
			"No instance is launched from NodePools that use it. The reason of its condition Ready is {{ $labels.reason }}.",
			`operator_status_condition_count{kind=~"EC2NodeClass|AWSNodeTemplate",type="Ready",status!="True"} == 1`),
		alert("DaemokLaunchTemplateChanged", "1h", info, "This version launches nodes of {{ $labels.nodeclass }} with another launch template or user data",
			"{{ $value }} nodes were launched by another version of the controller. None is replaced because of this.",
			`daemok_nodeclass_changed_launch_template_nodes > 0`),
		alert("DaemokLaunchesFail", "10m", warning, "Launches fail: {{ or $labels.error \"an error without a name\" }}",
			"AWS refuses to launch instances, or cannot be reached. Insufficient capacity does not count: Daemok tries another offering.",
			`sum by (error) (increase(karpenter_cloudprovider_errors_total{method="Create",error!="InsufficientCapacityError"}[15m])) > 0`),
		alert("DaemokInterruptionQueueUnreadable", "5m", critical, "The interruption queue cannot be read",
			"Spot instances are terminated two minutes after a message that is not read, with their pods on them.",
			`daemok_interruption_queue_readable == 0`),
		alert("DaemokBreakerTripped", "", warning, "The breaker of DisruptionPolicy {{ $labels.policy }} has tripped",
			"No node of its NodePools is disrupted voluntarily until the breaker is acknowledged.",
			`daemok_disruption_breaker_tripped == 1`),
		alert("DaemokDisruptionBlocked", "15m", warning, "No {{ $labels.reason }} node of {{ $labels.nodepool }} has been disrupted for a day",
			"At least {{ $value }} of them have been blocked all day: by do-not-disrupt, a PodDisruptionBudget, a budget of the NodePool, a freeze, or because their pods fit nowhere else.",
			`
min_over_time(sum by (nodepool, reason) (daemok_disruption_blocked_nodes)[1d:5m]) > 0
  and sum by (nodepool, reason) (daemok_disruption_blocked_nodes offset 1d) > 0
  unless sum by (nodepool, reason) (increase(karpenter_voluntary_disruption_decisions_by_nodepool_total[1d])) > 0`),
		alert("DaemokReservationIdle", "6h", warning, "Capacity reservation {{ $labels.capacity_reservation_id }} has {{ $value }} idle instances",
			"They have been paid for and unused for six hours: {{ $labels.instance_type }} in {{ $labels.zone }}.",
			`max by (capacity_reservation_id, instance_type, zone) (daemok_capacity_reservations_idle_instances) > 0`),
		alert("DaemokOrphansHeld", "5m", critical, "{{ $value }} instances without a NodeClaim are held",
			"Daemok does not terminate so many at once until a user confirms it. Until then, nodes of the NodePools concerned are not disrupted.",
			`daemok_orphans_held > 0`),
		alert("DaemokClockDiffers", "5m", warning, "The controller's clock and the API server's differ by {{ $value | humanizeDuration }}",
			"No node is disrupted, and no launch is given up, until they agree within two minutes.",
			`abs(daemok_clock_ahead_seconds) > 120`),
	}}}
}
