package observe

import "github.com/daemok/daemok/core/fit"

// What pods wait for that no rule of core/fit tells of.
const (
	WaitsForMachine   = "machine"   // there is a machine on order for them
	WaitsForScheduler = "scheduler" // there is a node for them, and kube-scheduler is to bind them
	WaitsForTime      = "time"      // it is too early to buy for them
	WaitsOutside      = "outside"   // they ask for nodes outside every pool
	WaitsForOther     = "other"     // no single rule is in the way
)

// WaitReasons are the values of the label reason of metrics of pods that wait.
func WaitReasons() []string {
	out := []string{WaitsForMachine, WaitsForScheduler, WaitsForTime, WaitsOutside, WaitsForOther}
	for _, rule := range []fit.Rule{
		fit.Unable, fit.NotReady, fit.Deleting, fit.Resource, fit.Label, fit.Taint, fit.NoType, fit.Unavailable, fit.Limit, fit.MinValues, fit.Topology, fit.Effort,
	} {
		out = append(out, string(rule))
	}
	return out
}
