// Package alias serves metrics under additional names.
//
// It promises that what is served under two names is counted once, and read when it is scraped. It
// measures nothing itself, and changes no series that has a name of its own.
package alias

import (
	"errors"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// Rule has a metric served under another name too. Series that are equal but for labels
// that are left out are added up; of summaries added up the quantiles are lost.
type Rule struct {
	From, To string
	Help     string                       // empty: as it is
	Only     map[string][]string          // by label, the values of series that count; none: any
	Trim     map[string]string            // by label, what values of series that count begin with, and that is taken off them
	Rename   map[string]string            // labels that are called otherwise
	Drop     []string                     // labels that are left out
	Values   map[string]map[string]string // by label, as From has it: values that are called otherwise
	Add      map[string]string            // labels that every series gets
	Percent  string                       // a metric with the same labels of which this one is a part in a hundred; empty: it is none
}

// Copy has series of a metric get one more label, with the value of a label that they have.
// Series whose value does not begin with Trim do not get it; of others that is taken off.
type Copy struct{ Metric, From, To, Trim string }

// Gatherer gathers what From and Beside do, and the same under other names. What there are of rules
// and copies may change until it is used first. Several rules may have one other name.
type Gatherer struct {
	From   prometheus.Gatherer
	Beside prometheus.Gatherer // of other metrics; nil: there are none
	Rules  []Rule
	Copies []Copy
}

// Gather implements prometheus.Gatherer.
func (g *Gatherer) Gather() ([]*dto.MetricFamily, error) {
	families, err := g.From.Gather()
	if g.Beside != nil {
		more, failed := g.Beside.Gather()
		families, err = append(families, more...), errors.Join(err, failed)
	}
	byName := make(map[string]*dto.MetricFamily, len(families))
	for _, f := range families {
		byName[f.GetName()] = f
	}
	made := map[string]*dto.MetricFamily{}
	for i := range g.Rules {
		r := &g.Rules[i]
		if from := byName[r.From]; from != nil {
			f := r.apply(from, byName[r.Percent])
			switch there := made[r.To]; {
			case len(f.GetMetric()) == 0:
			case there != nil:
				there.Metric = append(there.Metric, f.GetMetric()...)
			default:
				made[r.To] = f
				families = append(families, f)
			}
		}
	}
	for _, c := range g.Copies {
		c.apply(byName[c.Metric])
	}
	slices.SortFunc(families, func(a, b *dto.MetricFamily) int { return strings.Compare(a.GetName(), b.GetName()) })
	return families, err
}

// apply makes the family of the other name.
func (r *Rule) apply(from, whole *dto.MetricFamily) *dto.MetricFamily {
	out := &dto.MetricFamily{Name: &r.To, Help: from.Help, Type: from.Type, Unit: from.Unit}
	if r.Help != "" {
		out.Help = &r.Help
	}
	wholes := map[string]float64{}
	for _, m := range whole.GetMetric() {
		wholes[key(m.GetLabel())] = m.GetGauge().GetValue()
	}
	at := map[string]int{}
	for _, m := range from.GetMetric() {
		if !r.counts(m) {
			continue
		}
		next := &dto.Metric{Label: r.labels(m.GetLabel()), Gauge: m.Gauge, Counter: m.Counter, Summary: m.Summary, Untyped: m.Untyped, Histogram: m.Histogram}
		if r.Percent != "" {
			of, there := wholes[key(m.GetLabel())]
			if !there || of <= 0 {
				continue
			}
			share := 100 * m.GetGauge().GetValue() / of
			next.Gauge = &dto.Gauge{Value: &share}
		}
		k := key(next.GetLabel())
		if i, there := at[k]; there {
			out.Metric[i] = sum(out.Metric[i], next)
			continue
		}
		at[k] = len(out.Metric)
		out.Metric = append(out.Metric, next)
	}
	return out
}

// apply adds the label. What is there belongs to its counter and is not changed.
func (c Copy) apply(f *dto.MetricFamily) {
	for i, m := range f.GetMetric() {
		for _, l := range m.GetLabel() {
			value, ok := strings.CutPrefix(l.GetValue(), c.Trim)
			if l.GetName() != c.From || !ok || value == "" {
				continue
			}
			labels := append(slices.Clone(m.GetLabel()), &dto.LabelPair{Name: &c.To, Value: &value})
			slices.SortFunc(labels, func(a, b *dto.LabelPair) int { return strings.Compare(a.GetName(), b.GetName()) })
			f.Metric[i] = &dto.Metric{Label: labels, Gauge: m.Gauge, Counter: m.Counter, Summary: m.Summary, Untyped: m.Untyped, Histogram: m.Histogram}
			break
		}
	}
}

func (r *Rule) counts(m *dto.Metric) bool {
	values := map[string]string{}
	for _, l := range m.GetLabel() {
		values[l.GetName()] = l.GetValue()
	}
	for label, allowed := range r.Only {
		if !slices.Contains(allowed, values[label]) {
			return false
		}
	}
	for label, prefix := range r.Trim {
		if !strings.HasPrefix(values[label], prefix) {
			return false
		}
	}
	return true
}

// labels are those of the other name, sorted.
func (r *Rule) labels(list []*dto.LabelPair) []*dto.LabelPair {
	var out []*dto.LabelPair
	for _, l := range list {
		name, value := l.GetName(), l.GetValue()
		if slices.Contains(r.Drop, name) {
			continue
		}
		value = strings.TrimPrefix(value, r.Trim[name])
		if other, there := r.Values[name][value]; there {
			value = other
		}
		if other, there := r.Rename[name]; there {
			name = other
		}
		out = append(out, &dto.LabelPair{Name: &name, Value: &value})
	}
	for name, value := range r.Add {
		out = append(out, &dto.LabelPair{Name: &name, Value: &value})
	}
	slices.SortFunc(out, func(a, b *dto.LabelPair) int { return strings.Compare(a.GetName(), b.GetName()) })
	return out
}

// Labels are the labels of the other name where From has these, sorted.
func (r *Rule) Labels(from []string) []string {
	var list []*dto.LabelPair
	for i := range from {
		list = append(list, &dto.LabelPair{Name: &from[i]})
	}
	var out []string
	for _, l := range r.labels(list) {
		out = append(out, l.GetName())
	}
	return out
}

func key(labels []*dto.LabelPair) string {
	words := make([]string, 0, 2*len(labels))
	for _, l := range labels {
		words = append(words, l.GetName(), l.GetValue())
	}
	return strings.Join(words, "\xff")
}
