// Package scraped reads what a scrape would return, for tests.
//
// It promises lines that compare well: labels sorted and without empty ones, durations as their count
// and sum. It judges nothing.
package scraped

import (
	"fmt"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
)

// Lines scrapes the metrics of these names, all without a name, and returns
// their series sorted: "name label=value 3", with "2 in 5s" for histograms and
// summaries. Those that counted or measured nothing yet are left out.
func Lines(from prometheus.Gatherer, names ...string) ([]string, error) {
	families, err := from.Gather()
	if err != nil {
		return nil, err
	}
	lines := []string{}
	for _, f := range families {
		if len(names) > 0 && !slices.Contains(names, f.GetName()) {
			continue
		}
		for _, m := range f.GetMetric() {
			words := []string{f.GetName()}
			for _, l := range m.GetLabel() {
				if l.GetValue() != "" {
					words = append(words, l.GetName()+"="+l.GetValue())
				}
			}
			value, measured := fmt.Sprintf("%.10g", m.GetGauge().GetValue()+m.GetCounter().GetValue()), true
			if c := m.GetCounter(); c != nil {
				measured = c.GetValue() > 0
			}
			if h := m.GetHistogram(); h != nil {
				value, measured = fmt.Sprintf("%d in %gs", h.GetSampleCount(), h.GetSampleSum()), h.GetSampleCount() > 0
			}
			if s := m.GetSummary(); s != nil {
				value, measured = fmt.Sprintf("%d in %gs", s.GetSampleCount(), s.GetSampleSum()), s.GetSampleCount() > 0
			}
			if measured {
				lines = append(lines, strings.Join(append(words, value), " "))
			}
		}
	}
	slices.Sort(lines)
	return lines, nil
}
