package observe

import (
	"strings"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/core/plan"
)

// fromZero are the label values, in the order of the table, of the series that a counter
// shows before anything was counted: rate() and increase() miss the first increment of a
// series that is not there before it. Counters whose label values depend on the cluster
// are not among them.
func fromZero() map[string][][]string {
	moves := [][]string{
		{"delete", lower(plan.Empty), "empty"},
		{"delete", lower(plan.Underutilized), "single"}, {"delete", lower(plan.Underutilized), "multi"},
		{"replace", lower(plan.Underutilized), "single"}, {"replace", lower(plan.Underutilized), "multi"},
		{"delete", lower(plan.Drifted), ""}, {"replace", lower(plan.Drifted), ""},
		{"delete", lower(plan.Expired), ""}, {"replace", lower(plan.Expired), ""}, {"delete", lower(plan.Overprovisioned), ""},
	}
	return map[string][][]string{
		"karpenter_voluntary_disruption_decisions_total":              moves,
		"karpenter_voluntary_disruption_queue_failures_total":         moves,
		"karpenter_voluntary_disruption_failed_validations_total":     {{"empty"}, {"single"}, {"multi"}, {""}},
		"karpenter_voluntary_disruption_consolidation_timeouts_total": {{"single"}, {"multi"}},
		"karpenter_cloudprovider_errors_total":                        launchErrors(),
		"karpenter_pods_drained_total":                                {{""}, {lower(plan.Empty)}, {lower(plan.Underutilized)}, {lower(plan.Drifted)}, {lower(plan.Expired)}, {lower(plan.Overprovisioned)}},
		"karpenter_pods_eviction_requests_total":                      {{"200"}, {"429"}, {"500"}},
		"daemok_emptying_writes_total":                                steeringWrites(),
		"daemok_record_writes_total":                                  {{"written"}, {"conflict"}, {"forbidden"}, {"failed"}},
		"karpenter_interruption_received_messages_total": {
			{string(cloud.Interrupted)}, {string(cloud.Rebalance)}, {string(cloud.Maintenance)}, {string(cloud.HasStopped)}, {string(cloud.Terminated)},
			{string(cloud.ReservationInterrupted)}, {string(cloud.NoOp)}, {string(cloud.NotUnderstood)},
		},
		"karpenter_interruption_instance_status_unhealthy_total": {{string(cloud.InstanceFails)}, {string(cloud.SystemFails)}, {string(cloud.Scheduled)}},
	}
}

// steeringWrites are the kinds of objects that are changed to have nodes empty, with the results.
func steeringWrites() (out [][]string) {
	for _, kind := range []string{"node", "pod"} {
		for _, result := range []string{"written", "conflict", "forbidden", "failed"} {
			out = append(out, []string{kind, result})
		}
	}
	return out
}

// launchErrors are the kinds of errors that launches may end with.
func launchErrors() (out [][]string) {
	for _, err := range []error{&cloud.NoCapacityError{}, &cloud.RefusedError{}, &cloud.ThrottledError{}, &cloud.TokenMismatchError{}, nil} {
		out = append(out, []string{"nodeclaim.lifecycle", "Create", "aws", CloudError(err)})
	}
	return out
}

func lower(r plan.RemovalReason) string { return strings.ToLower(string(r)) }
