package observe

import "github.com/prometheus/client_golang/prometheus"

// traceLabel is what exemplars call the ID of a trace, as Grafana and others expect it.
const traceLabel = "trace_id"

// InTrace observes a value of a histogram, with the trace that it is part of as an example of
// such values. Without an ID it is part of none.
func InTrace(h prometheus.Observer, value float64, traceID string) {
	if examples, ok := h.(prometheus.ExemplarObserver); ok && traceID != "" {
		examples.ObserveWithExemplar(value, prometheus.Labels{traceLabel: traceID})
		return
	}
	h.Observe(value)
}
