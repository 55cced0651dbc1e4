package observe

import "github.com/daemok/daemok/core/feasibility"

// What pods wait for that no rule of core/feasibility reports.
const (
	WaitsForInstance  = "machine"   // there is an instance being launched for them
	WaitsForScheduler = "scheduler" // there is a node for them, and kube-scheduler is to bind them
	WaitsForTime      = "time"      // it is too early to launch for them
	WaitsOutside      = "outside"   // they ask for nodes outside every pool
	WaitsForOther     = "other"     // no single rule is in the way
)

// WaitReasons are the values of the label reason of metrics of pods that wait.
func WaitReasons() []string {
	out := []string{WaitsForInstance, WaitsForScheduler, WaitsForTime, WaitsOutside, WaitsForOther}
	for _, rule := range []feasibility.Rule{
		feasibility.Unable, feasibility.NotReady, feasibility.Deleting, feasibility.Resource, feasibility.Label, feasibility.Taint, feasibility.NoType, feasibility.Unavailable, feasibility.Limit, feasibility.MinValues, feasibility.Topology, feasibility.Effort,
	} {
		out = append(out, string(rule))
	}
	return out
}
