package observe

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/daemok/daemok/kube/api"
)

// Kind is the type of a metric, in Prometheus' words.
type Kind string

// The kinds of metrics.
const (
	Counter   Kind = "counter"
	Gauge     Kind = "gauge"
	Histogram Kind = "histogram"
	Summary   Kind = "summary"
)

// Definition is what users may rely on of one metric.
type Definition struct {
	Name   string
	Kind   Kind
	Unit   string // "seconds"; "1" for counts and states
	Labels []string
	Help   string // one sentence

	PerObject  bool // a series for each node, pod or object; --disable-cluster-state-observability drops it
	NodeLabels bool // has a label for each of NodeLabels too

	Buckets []float64 // of a histogram; nil: those of durations
}

// Definitions returns every metric, sorted by name. The caller owns the slice.
func Definitions() []Definition {
	all := slices.Concat(scheduling, disruption, lives, pods, state, cloudCalls, interruption, costs, shadow, conditions())
	slices.SortFunc(all, func(a, b Definition) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// Define returns the metric of that name. It panics when there is none, which
// is a mistake of the program: every metric stands in the table.
func Define(name string) Definition {
	all := Definitions()
	i, found := slices.BinarySearchFunc(all, name, func(d Definition, name string) int { return cmp.Compare(d.Name, name) })
	if !found {
		panic(fmt.Sprintf("metric %s is not in the table", name))
	}
	return all[i]
}

// Desc is the metric as collectors describe it.
func (d Definition) Desc() *prometheus.Desc {
	return prometheus.NewDesc(d.Name, d.Help, d.LabelNames(), nil)
}

// LabelNames are all labels, in order: those of nodes come last.
func (d Definition) LabelNames() []string {
	labels := slices.Clone(d.Labels)
	if !d.NodeLabels {
		return labels
	}
	for _, key := range NodeLabelKeys() {
		labels = append(labels, LabelName(key))
	}
	return labels
}

// NodeLabelKeys are the labels of nodes that metrics of nodes show, sorted.
func NodeLabelKeys() []string { return api.WellKnownLabels() }

// LabelName is the name of a Kubernetes label in metrics: the part after the
// slash, with an underscore for whatever Prometheus does not take.
func LabelName(key string) string {
	name := key[strings.LastIndex(key, "/")+1:]
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, name)
}
