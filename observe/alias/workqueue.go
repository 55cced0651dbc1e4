package alias

// WorkQueues are Karpenter's names of the metrics of controller-runtime's work queues.
func WorkQueues() []Rule {
	var out []Rule
	for _, name := range []string{
		"adds_total", "depth", "longest_running_processor_seconds", "queue_duration_seconds", "retries_total", "unfinished_work_seconds", "work_duration_seconds",
	} {
		out = append(out, Rule{From: "workqueue_" + name, To: "karpenter_workqueue_" + name})
	}
	return out
}
