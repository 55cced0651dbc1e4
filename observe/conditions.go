package observe

import "github.com/prometheus/client_golang/prometheus"

// conditionMetrics is what is counted of the conditions and the ends of objects, of one
// kind or of all: those have labels for group and kind before the others.
type conditionMetrics struct {
	changes *prometheus.CounterVec   // type, status, reason
	seconds *prometheus.HistogramVec // type, status
	endings *prometheus.HistogramVec // no more
}

// allKinds is the name under which all kinds are counted together, which is the older
// form of these metrics.
const allKinds = ""

func conditionsBy(b builder) map[string]conditionMetrics {
	out := map[string]conditionMetrics{}
	for _, kind := range append(ConditionKinds(), allKinds) {
		prefix := "operator_" + kind
		if kind == allKinds {
			prefix = "operator"
		}
		out[kind] = conditionMetrics{
			changes: b.counters(prefix + "_status_condition_transitions_total"),
			seconds: b.histograms(prefix + "_status_condition_transition_seconds"),
			endings: b.histograms(prefix + "_termination_duration_seconds"),
		}
	}
	return out
}

// ConditionChanged counts a condition of an object of the kind, as ConditionKinds has it,
// that has another status now, or is new.
func (m *Metrics) ConditionChanged(kind, condition, status, reason string) {
	group, called := GroupKind(kind)
	m.conditions[kind].changes.WithLabelValues(condition, status, reason).Inc()
	m.conditions[allKinds].changes.WithLabelValues(group, called, condition, status, reason).Inc()
}

// ConditionLasted measures for how many seconds a condition had the status before this one,
// in a trace; without an ID in none.
func (m *Metrics) ConditionLasted(kind, condition, status string, seconds float64, traceID string) {
	group, called := GroupKind(kind)
	InTrace(m.conditions[kind].seconds.WithLabelValues(condition, status), seconds, traceID)
	InTrace(m.conditions[allKinds].seconds.WithLabelValues(group, called, condition, status), seconds, traceID)
}

// Ended measures how many seconds an object of the kind took to go.
func (m *Metrics) Ended(kind string, seconds float64) {
	group, called := GroupKind(kind)
	m.conditions[kind].endings.WithLabelValues().Observe(seconds)
	m.conditions[allKinds].endings.WithLabelValues(group, called).Observe(seconds)
}
