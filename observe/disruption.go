package observe

// Disruption is a NodeClaim that is disrupted, with what metrics report about it. Policy is empty
// where it does not go to save money.
type Disruption struct {
	Reason, Pool, Option, Policy, Mode string
	Node                               string // of the claim; empty: it has none yet
}

// Disrupted counts a claim that is let go, and the pods that have to leave its node.
func (m *Metrics) Disrupted(d Disruption) {
	labels := []string{d.Reason, d.Pool, d.Option, d.Policy, d.Mode}
	m.claimsDisrupted.WithLabelValues(labels...).Inc()
	pods := m.podsDisrupted.WithLabelValues(labels...)
	if m.PodsOn != nil && d.Node != "" {
		pods.Add(float64(m.PodsOn(d.Node)))
	}
}
