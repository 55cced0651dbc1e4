package monitoring

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/daemok/daemok/observe"
	"github.com/daemok/daemok/observe/alias"
)

// asked is one expression, and who asks.
type asked struct{ by, expr string }

// expressions are all that dashboards and rules ask, with Grafana's variables filled in.
func expressions() []asked {
	var out []asked
	variables := strings.NewReplacer("$__rate_interval", "5m", "$__range", "6h", "$nodepool", ".+")
	for _, b := range Boards() {
		for _, row := range b.Rows {
			for _, p := range row.Panels {
				for _, q := range p.Queries {
					out = append(out, asked{b.Title + ": " + p.Title, variables.Replace(q.Expr)})
				}
			}
		}
	}
	for _, g := range Groups() {
		for _, r := range g.Rules {
			out = append(out, asked{r.Alert, r.Expr})
		}
	}
	return out
}

// ofScrape are labels that Prometheus adds to every series of a target.
var ofScrape = []string{"job", "instance", "namespace", "pod", "container", "service", "endpoint"}

// served are the labels of each series that the controller serves.
func served() map[string][]string {
	out := map[string][]string{}
	for _, d := range slices.Concat(observe.Definitions(), observe.Renamed(alias.WorkQueues()), observe.Libraries()) {
		labels := append(d.LabelNames(), ofScrape...)
		switch d.Kind {
		case observe.Histogram:
			out[d.Name+"_bucket"] = append(slices.Clone(labels), "le")
			out[d.Name+"_sum"], out[d.Name+"_count"] = labels, labels
		case observe.Summary:
			out[d.Name] = append(slices.Clone(labels), "quantile")
			out[d.Name+"_sum"], out[d.Name+"_count"] = labels, labels
		default:
			out[d.Name] = labels
		}
	}
	return out
}

// missing lists what an expression asks for that is not served: series, labels that choose
// them, and labels by which they are grouped or matched.
func missing(expr parser.Expr, served map[string][]string) []string {
	out := map[string]bool{}
	has := func(e parser.Expr) []string { // labels that some series below has
		var labels []string
		parser.Inspect(e, func(n parser.Node, _ []parser.Node) error {
			if v, ok := n.(*parser.VectorSelector); ok {
				labels = append(labels, served[v.Name]...)
			}
			return nil
		})
		return labels
	}
	parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error {
		switch n := n.(type) {
		case *parser.VectorSelector:
			labels, there := served[n.Name]
			if !there {
				out["series "+n.Name] = true
				return nil
			}
			for _, m := range n.LabelMatchers {
				if m.Name != "__name__" && !slices.Contains(labels, m.Name) {
					out[fmt.Sprintf("label %s of %s", m.Name, n.Name)] = true
				}
			}
		case *parser.AggregateExpr:
			labels := has(n.Expr)
			for _, l := range n.Grouping {
				if !slices.Contains(labels, l) {
					out[fmt.Sprintf("label %s in %s", l, n)] = true
				}
			}
		case *parser.BinaryExpr:
			if n.VectorMatching == nil {
				return nil
			}
			for _, side := range []parser.Expr{n.LHS, n.RHS} {
				labels := has(side)
				for _, l := range n.VectorMatching.MatchingLabels {
					if !slices.Contains(labels, l) {
						out[fmt.Sprintf("label %s in %s", l, side)] = true
					}
				}
			}
		}
		return nil
	})
	return slices.Sorted(maps.Keys(out))
}

// Whatever dashboards and rules ask for is in the product's table of metrics.
func TestEverySeriesAndLabelIsServed(t *testing.T) {
	all, parse := served(), parser.NewParser(parser.Options{})
	for _, a := range expressions() {
		expr, err := parse.ParseExpr(a.expr)
		if err != nil {
			t.Errorf("%s: %s: %v", a.by, a.expr, err)
			continue
		}
		for _, what := range missing(expr, all) {
			t.Errorf("%s: nothing serves %s", a.by, what)
		}
	}
}

// The check itself finds metrics that no component serves.
func TestUnservedMetricsAreFound(t *testing.T) {
	parse := parser.NewParser(parser.Options{})
	tests := map[string]struct{ expr, want string }{
		"a series":                       {`sum(daemok_nothing)`, "series daemok_nothing"},
		"a label that chooses":           {`daemok_pods_waiting{zone="a"}`, "label zone of daemok_pods_waiting"},
		"a label that groups":            {`sum by (zone) (daemok_pods_waiting)`, "label zone in sum by (zone) (daemok_pods_waiting)"},
		"a label that matches":           {`daemok_pods_waiting and on (reason) daemok_leader`, "label reason in daemok_leader"},
		"a bucket of what is no such":    {`daemok_leader_bucket`, "series daemok_leader_bucket"},
		"nothing that is missing":        {`histogram_quantile(0.5, sum by (le) (rate(karpenter_pods_bound_duration_seconds_bucket[5m])))`, ""},
		"nothing of a label of a target": {`sum by (instance) (daemok_leader)`, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			expr, err := parse.ParseExpr(tt.expr)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(missing(expr, served()), ", "); got != tt.want {
				t.Errorf("misses %q, want %q", got, tt.want)
			}
		})
	}
}
