package observe

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/daemok/daemok/observe/alias"
)

// Libraries returns the metrics of the libraries that dashboards, alerts and further names
// stand on, sorted by name; there are more. The caller owns the slice.
func Libraries() []Definition {
	queue := []string{"name", "controller"}
	loop := []string{"controller"}
	return []Definition{
		{Name: "controller_runtime_active_workers", Kind: Gauge, Unit: "1", Labels: loop, Help: "Objects being reconciled now."},
		{Name: "controller_runtime_reconcile_errors_total", Kind: Counter, Unit: "1", Labels: loop, Help: "Reconciliations that failed."},
		{Name: "controller_runtime_reconcile_time_seconds", Kind: Histogram, Unit: "seconds", Labels: loop, Help: "Duration of reconciliations."},
		{Name: "controller_runtime_reconcile_total", Kind: Counter, Unit: "1", Labels: []string{"controller", "result"}, Help: "Reconciliations, by result."},
		{Name: "go_goroutines", Kind: Gauge, Unit: "1", Help: "Number of goroutines."},
		{Name: "leader_election_master_status", Kind: Gauge, Unit: "1", Labels: []string{"name"}, Help: "1 while this process holds the lease; 0 while it is on standby."},
		{Name: "process_cpu_seconds_total", Kind: Counter, Unit: "seconds", Help: "CPU time used."},
		{Name: "process_resident_memory_bytes", Kind: Gauge, Unit: "bytes", Help: "Resident memory."},
		{Name: "process_start_time_seconds", Kind: Gauge, Unit: "seconds", Help: "Start time of the process, as a Unix timestamp."},
		{Name: "rest_client_requests_total", Kind: Counter, Unit: "1", Labels: []string{"code", "method", "host"}, Help: "Requests to the API server."},
		{Name: "workqueue_adds_total", Kind: Counter, Unit: "1", Labels: queue, Help: "Objects added to the work queue."},
		{Name: "workqueue_depth", Kind: Gauge, Unit: "1", Labels: append(slices.Clone(queue), "priority"), Help: "Objects in the work queue."},
		{Name: "workqueue_longest_running_processor_seconds", Kind: Gauge, Unit: "seconds", Labels: queue, Help: "Duration of the longest reconciliation in progress."},
		{Name: "workqueue_queue_duration_seconds", Kind: Histogram, Unit: "seconds", Labels: queue, Help: "Time that objects spent in the work queue."},
		{Name: "workqueue_retries_total", Kind: Counter, Unit: "1", Labels: queue, Help: "Objects added to the work queue with a delay."},
		{Name: "workqueue_unfinished_work_seconds", Kind: Gauge, Unit: "seconds", Labels: queue, Help: "Duration of all reconciliations in progress."},
		{Name: "workqueue_work_duration_seconds", Kind: Histogram, Unit: "seconds", Labels: queue, Help: "Duration of reconciliations, as the work queue measures it."},
	}
}

// Renamed returns what rules have served under further names, sorted by name. It panics
// where the metric that a rule begins with does not exist, which is a mistake of the
// program.
func Renamed(rules []alias.Rule) []Definition {
	known := map[string]Definition{}
	for _, d := range slices.Concat(Definitions(), Libraries()) {
		known[d.Name] = d
	}
	out := make([]Definition, 0, len(rules))
	for i := range rules {
		r := &rules[i]
		d, there := known[r.From]
		if !there {
			panic(fmt.Sprintf("%s is to be another name of %s, which does not exist", r.To, r.From))
		}
		d.Name, d.Labels, d.NodeLabels, d.Help = r.To, r.Labels(d.LabelNames()), false, cmp.Or(r.Help, d.Help)
		out = append(out, d)
	}
	slices.SortStableFunc(out, func(a, b Definition) int { return cmp.Compare(a.Name, b.Name) })
	return slices.CompactFunc(out, func(a, b Definition) bool { return a.Name == b.Name })
}
