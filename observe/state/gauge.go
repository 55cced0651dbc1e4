package state

import (
	"cmp"
	"fmt"
	"slices"

	dto "github.com/prometheus/client_model/go"

	"github.com/daemok/daemok/observe"
)

// metric is one of the table, a gauge.
type metric struct {
	name, help string
	labels     []label // sorted by name, as series have them
}

type label struct {
	name string
	at   int // in the order of the table
}

// metrics are those of the table, by name. It is never written.
var metrics = func() map[string]metric {
	out := map[string]metric{}
	for _, name := range Names() {
		is := observe.Define(name)
		m := metric{name: name, help: is.Help}
		for i, name := range is.LabelNames() {
			m.labels = append(m.labels, label{name, i})
		}
		slices.SortFunc(m.labels, func(a, b label) int { return cmp.Compare(a.name, b.name) })
		out[name] = m
	}
	return out
}()

// families are what one scrape shows, by name.
type families struct {
	all    map[string]*dto.MetricFamily
	labels labels
}

// gauge is one series with what it points at: there are tens of thousands at each scrape.
type gauge struct {
	series dto.Metric
	gauge  dto.Gauge
	value  float64
}

func (f families) wants(string) bool { return true }

// add adds a series with these labels.
func (f families) add(name string, value float64, values []string) {
	family := f.all[name]
	if family == nil {
		m := metrics[name]
		family = &dto.MetricFamily{Name: &m.name, Help: &m.help, Type: dto.MetricType_GAUGE.Enum()}
		f.all[name] = family
	}
	g := &gauge{value: value}
	g.gauge.Value, g.series.Gauge, g.series.Label = &g.value, &g.gauge, f.labels.of(name, values)
	family.Metric = append(family.Metric, &g.series)
}

// labels are those of one scrape, each once: a node has thirty, in each of its series.
type labels map[[2]string]*dto.LabelPair

// labelsOf are the labels of a metric, to which values come in the order of the table.
func labelsOf(name string, values []string) []label {
	names := metrics[name].labels
	if len(names) != len(values) {
		panic(fmt.Sprintf("%d labels of %s have %d values: %v, %v", len(names), name, len(values), names, values))
	}
	return names
}

// of are the labels of a metric with values.
func (l labels) of(name string, values []string) []*dto.LabelPair {
	names := labelsOf(name, values)
	out := make([]*dto.LabelPair, len(names))
	for i, n := range names {
		key := [2]string{n.name, values[n.at]}
		if out[i] = l[key]; out[i] == nil {
			out[i] = &dto.LabelPair{Name: &key[0], Value: &key[1]}
			l[key] = out[i]
		}
	}
	return out
}
