package alias_test

import (
	"slices"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/daemok/daemok/observe/alias"
	"github.com/daemok/daemok/test/scraped"
)

// counted are three pools' nodes, what of two of them is used, and how long things took.
func counted() *prometheus.Registry {
	registry := prometheus.NewPedanticRegistry()
	nodes := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "nodes_total", Help: "Nodes."}, []string{"pool", "zone", "reason"})
	limit := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "limit", Help: "Limit."}, []string{"pool"})
	usage := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "usage", Help: "Usage."}, []string{"pool"})
	took := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "took_seconds", Help: "Time.", Buckets: []float64{1, 2}}, []string{"pool"})
	waited := prometheus.NewSummaryVec(prometheus.SummaryOpts{Name: "waited_seconds", Help: "Time.", Objectives: map[float64]float64{.5: .01}}, []string{"pool"})
	registry.MustRegister(nodes, limit, usage, took, waited)
	nodes.WithLabelValues("old/a", "z1", "drifted").Add(1)
	nodes.WithLabelValues("old/a", "z2", "drifted").Add(2)
	nodes.WithLabelValues("old/b", "z1", "empty").Add(4)
	nodes.WithLabelValues("new", "z1", "empty").Add(8)
	limit.WithLabelValues("old/a").Set(10)
	usage.WithLabelValues("old/a").Set(4)
	usage.WithLabelValues("old/b").Set(4)
	for _, pool := range []string{"old/a", "new"} {
		took.WithLabelValues(pool).Observe(1.5)
		waited.WithLabelValues(pool).Observe(3)
	}
	return registry
}

func TestMetricsAreServedUnderFurtherNames(t *testing.T) {
	tests := map[string]struct {
		rule alias.Rule
		want []string
	}{
		"as they are": {alias.Rule{From: "limit", To: "other"}, []string{"other pool=old/a 10"}},
		"with labels and values called otherwise": {
			alias.Rule{From: "limit", To: "other", Rename: map[string]string{"pool": "owner"}, Values: map[string]map[string]string{"pool": {"old/a": "b"}}}, []string{"other owner=b 10"}},
		"of some series, added up where a label is left out": {
			alias.Rule{From: "nodes_total", To: "other", Trim: map[string]string{"pool": "old/"}, Drop: []string{"zone"}},
			[]string{"other pool=a reason=drifted 3", "other pool=b reason=empty 4"}},
		"of certain values": {
			alias.Rule{From: "nodes_total", To: "other", Only: map[string][]string{"reason": {"empty"}}, Drop: []string{"pool", "zone", "reason"}, Add: map[string]string{"action": "none"}},
			[]string{"other action=none 12"}},
		"as a part of another": {alias.Rule{From: "usage", To: "other", Percent: "limit"}, []string{"other pool=old/a 40"}},
		"histograms":           {alias.Rule{From: "took_seconds", To: "other", Drop: []string{"pool"}}, []string{"other 2 in 3s"}},
		"summaries":            {alias.Rule{From: "waited_seconds", To: "other", Drop: []string{"pool"}}, []string{"other 2 in 6s"}},
		"of what is not there": {alias.Rule{From: "nothing", To: "other"}, []string{}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			from := counted()
			before, err := scraped.Lines(from)
			if err != nil {
				t.Fatal(err)
			}
			g := &alias.Gatherer{From: from, Rules: []alias.Rule{tt.rule}}
			got, err := scraped.Lines(g, "other")
			if err != nil || !slices.Equal(got, tt.want) {
				t.Errorf("got %q, %v; want %q", got, err, tt.want)
			}
			if after, err := scraped.Lines(from); err != nil || !slices.Equal(after, before) {
				t.Errorf("what was counted changed from %q to %q, %v", before, after, err)
			}
		})
	}
}

// Buckets of histograms are added up one by one, so that quantiles stay right.
func TestBucketsAreAddedUp(t *testing.T) {
	g := &alias.Gatherer{From: counted(), Rules: []alias.Rule{{From: "took_seconds", To: "other", Drop: []string{"pool"}}}}
	families, err := g.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != "other" {
			continue
		}
		var got []uint64
		for _, b := range f.GetMetric()[0].GetHistogram().GetBucket() {
			got = append(got, b.GetCumulativeCount())
		}
		if want := []uint64{0, 2}; !slices.Equal(got, want) {
			t.Errorf("buckets %v, want %v", got, want)
		}
	}
}

// Several rules may give one name to parts of a metric.
func TestTwoRulesMayHaveOneName(t *testing.T) {
	g := &alias.Gatherer{From: counted(), Rules: []alias.Rule{
		{From: "nodes_total", To: "other", Only: map[string][]string{"reason": {"empty"}}, Drop: []string{"pool", "zone", "reason"}, Add: map[string]string{"kind": "a"}},
		{From: "nodes_total", To: "other", Only: map[string][]string{"reason": {"drifted"}}, Drop: []string{"pool", "zone", "reason"}, Add: map[string]string{"kind": "b"}},
	}}
	got, err := scraped.Lines(g, "other")
	if want := []string{"other kind=a 12", "other kind=b 3"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
	families, err := g.Gather()
	if err != nil {
		t.Fatal(err)
	}
	called := 0
	for _, f := range families {
		if f.GetName() == "other" {
			called++
		}
	}
	if called != 1 {
		t.Errorf("a scrape tells %d metrics of that name, want 1", called)
	}
}

// A label may be there under another name too, on the metric as it is.
func TestLabelsAreCopied(t *testing.T) {
	from := counted()
	g := &alias.Gatherer{From: from, Copies: []alias.Copy{{Metric: "took_seconds", From: "pool", To: "owner", Trim: "old/"}, {Metric: "nothing", From: "pool", To: "owner"}}}
	got, err := scraped.Lines(g, "took_seconds")
	if want := []string{"took_seconds owner=a pool=old/a 1 in 1.5s", "took_seconds pool=new 1 in 1.5s"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
	got, err = scraped.Lines(from, "took_seconds")
	if want := []string{"took_seconds pool=new 1 in 1.5s", "took_seconds pool=old/a 1 in 1.5s"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("what was counted is %q now, %v; want %q", got, err, want)
	}
}
