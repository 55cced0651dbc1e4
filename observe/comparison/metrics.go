package comparison

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/daemok/daemok/observe"
)

// Names of the two sides in the label of metrics.
const (
	sideActual = "actual"
	sideShadow = "shadow"
)

// Names are the metrics that a Collector serves.
func Names() []string {
	return []string{
		"daemok_shadow_cost", "daemok_shadow_nodes", "daemok_shadow_dollars_total",
		"daemok_shadow_nodes_launched_total", "daemok_shadow_nodes_terminated_total",
		"daemok_shadow_pods_evicted_total",
	}
}

// Collector serves the book's sums as metrics.
type Collector struct{ Book *Book }

// Describe implements prometheus.Collector.
func (c Collector) Describe(out chan<- *prometheus.Desc) { prometheus.DescribeByCollect(c, out) }

// Collect implements prometheus.Collector.
func (c Collector) Collect(out chan<- prometheus.Metric) {
	h, _ := c.Book.History()
	actual, shadow := c.Book.levels()
	a, b := h.Actual, h.Shadow
	send := func(name string, kind prometheus.ValueType, values ...float64) {
		desc := observe.Define(name).Desc()
		for i, side := range []string{sideActual, sideShadow} {
			out <- prometheus.MustNewConstMetric(desc, kind, values[i], side)
		}
	}
	send("daemok_shadow_cost", prometheus.GaugeValue, actual.Cost.Dollars(), shadow.Cost.Dollars())
	send("daemok_shadow_nodes", prometheus.GaugeValue, float64(actual.Nodes), float64(shadow.Nodes))
	send("daemok_shadow_dollars_total", prometheus.CounterValue, a.Dollars, b.Dollars)
	send("daemok_shadow_nodes_launched_total", prometheus.CounterValue, float64(a.Launched), float64(b.Launched))
	send("daemok_shadow_nodes_terminated_total", prometheus.CounterValue, float64(a.Terminated), float64(b.Terminated))
	send("daemok_shadow_pods_evicted_total", prometheus.CounterValue, float64(a.Evicted), float64(b.Evicted))
}

func (b *Book) levels() (actual, shadow Level) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.actual, b.shadow
}
