package observe_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"

	"github.com/daemok/daemok/observe"
	"github.com/daemok/daemok/observe/alias"
)

// served are all metrics that stand in a table.
func served() []observe.Definition {
	return slices.Concat(observe.Definitions(), observe.Renamed(alias.WorkQueues()))
}

// Dashboards and alerts that were made for Karpenter find each of its metrics, with its
// type and its labels.
func TestKarpentersMetricsAreServed(t *testing.T) {
	text, err := os.ReadFile("testdata/karpenter.txt")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]observe.Definition{}
	for _, d := range served() {
		known[d.Name] = d
	}
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if words[0] == "#" {
			continue
		}
		d, there := known[words[0]]
		if !there || string(d.Kind) != words[1] {
			t.Errorf("%s is %q here, want a %s", words[0], d.Kind, words[1])
			continue
		}
		var want []string
		if len(words) > 2 {
			want = strings.Split(words[2], ",")
		}
		if d.NodeLabels != slices.Contains(want, "+node") {
			t.Errorf("%s has labels of nodes: %v", d.Name, d.NodeLabels)
		}
		want = slices.DeleteFunc(want, func(l string) bool { return l == "+node" })
		got := slices.Clone(d.Labels)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s has labels %v, want %v", d.Name, got, want)
		}
	}
}

// asKarpenterHasThem are names that promlint would have otherwise: they are kept since
// users know them.
var asKarpenterHasThem = []string{
	"karpenter_cluster_state_node_count",
	"karpenter_nodepools_cost_total",
	"karpenter_scheduler_ignored_pods_count",
	"karpenter_scheduler_pending_pods_by_effective_zone_count",
	"karpenter_scheduler_unschedulable_pods_count",
	"operator_awsnodetemplate_status_condition_count", // as those of the other kinds
	"operator_capacitybuffer_status_condition_count",
	"operator_ec2nodeclass_status_condition_count",
	"operator_node_status_condition_count",
	"operator_nodeclaim_status_condition_count",
	"operator_nodeoverlay_status_condition_count",
	"operator_provisioningrequest_status_condition_count",
	"operator_nodepool_status_condition_count",
	"operator_provisioner_status_condition_count",
	"operator_status_condition_count",
}

// Names, units and types are as Prometheus' own rules want them.
func TestMetricsAreCleanToPromlint(t *testing.T) {
	var families []*dto.MetricFamily
	for _, d := range served() {
		families = append(families, familyOf(d))
	}
	problems, err := promlint.NewWithMetricFamilies(families).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		if !slices.Contains(asKarpenterHasThem, p.Metric) {
			t.Errorf("%s: %s", p.Metric, p.Text)
		}
	}
	for _, name := range asKarpenterHasThem {
		if !slices.ContainsFunc(problems, func(p promlint.Problem) bool { return p.Metric == name }) {
			t.Errorf("%s is an exception, and nothing is wrong with it", name)
		}
	}
}

// familyOf is one series of the metric, as a scrape shows it.
func familyOf(d observe.Definition) *dto.MetricFamily {
	types := map[observe.Kind]dto.MetricType{
		observe.Counter: dto.MetricType_COUNTER, observe.Gauge: dto.MetricType_GAUGE, observe.Histogram: dto.MetricType_HISTOGRAM, observe.Summary: dto.MetricType_SUMMARY,
	}
	kind, m := types[d.Kind], &dto.Metric{}
	for _, l := range d.LabelNames() {
		value := "x"
		m.Label = append(m.Label, &dto.LabelPair{Name: &l, Value: &value})
	}
	return &dto.MetricFamily{Name: &d.Name, Help: &d.Help, Type: &kind, Metric: []*dto.Metric{m}}
}
