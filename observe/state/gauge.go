package state

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/daemok/daemok/observe"
)

// metric is one of the table.
type metric struct {
	desc   *prometheus.Desc
	labels []label // sorted by name, as series have them
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
		m := metric{desc: is.Desc()}
		for i, name := range is.LabelNames() {
			m.labels = append(m.labels, label{name, i})
		}
		slices.SortFunc(m.labels, func(a, b label) int { return cmp.Compare(a.name, b.name) })
		out[name] = m
	}
	return out
}()

// gauge is one series. There are tens of thousands at each scrape, and they share their labels:
// a node has thirty, in each of its series.
type gauge struct {
	desc   *prometheus.Desc
	value  float64
	labels []*dto.LabelPair // not to be written
}

// Desc implements prometheus.Metric.
func (g *gauge) Desc() *prometheus.Desc { return g.desc }

// Write implements prometheus.Metric.
func (g *gauge) Write(to *dto.Metric) error {
	to.Label, to.Gauge = g.labels, &dto.Gauge{Value: &g.value}
	return nil
}

// labels are those of one scrape, each once.
type labels map[[2]string]*dto.LabelPair

// of are the labels with values, which come in the order of the table.
func (l labels) of(names []label, values []string) []*dto.LabelPair {
	if len(names) != len(values) {
		panic(fmt.Sprintf("%d labels have %d values: %v, %v", len(names), len(values), names, values))
	}
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
