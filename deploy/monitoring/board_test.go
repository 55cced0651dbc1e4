package monitoring

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/promql/promqltest"
)

// Events are counted in whole numbers, the first of a series too. Every story is recorded series,
// from a minute to the next, and what there is at one of them.
func TestEventsAreCounted(t *testing.T) {
	const scraped = "karpenter_build_info{instance=\"a\"} 1x20\n"
	tests := map[string]struct {
		series string
		minute int
		want   string
	}{
		"the first of its kind":                   {scraped + `events{instance="a",reason="empty"} stale _x9 1x10`, 10, "{} => 1"},
		"one more":                                {scraped + `events{instance="a",reason="empty"} 4x9 5x10`, 10, "{} => 1"},
		"one more, of two kinds":                  {scraped + "events{instance=\"a\",reason=\"empty\"} 4x9 5x10\n" + `events{instance="a",reason="drifted"} stale _x9 2x10`, 10, "{} => 3"},
		"none":                                    {scraped + `events{instance="a",reason="empty"} 4x20`, 10, "{} => 0"},
		"none, and the process has begun again":   {scraped + `events{instance="a",reason="empty"} 4x9 0x10`, 10, "{} => 0"},
		"what was before Prometheus came":         {`karpenter_build_info{instance="a"} stale _x9 1x10` + "\n" + `events{instance="a",reason="empty"} stale _x9 7x10`, 10, ""},
		"the same name in a program of others":    {scraped + `events{instance="b",reason="empty"} 4x9 5x10`, 10, ""},
		"two controllers, of which one has led":   {scraped + "karpenter_build_info{instance=\"b\"} 1x20\nevents{instance=\"a\"} 4x20\n" + `events{instance="b"} stale _x9 1x10`, 10, "{} => 1"},
		"scrapes come again after twenty minutes": {"karpenter_build_info{instance=\"a\"} 1 _x19 1x10\n" + `events{instance="a"} 4 _x19 9x10`, 20, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			expr := strings.ReplaceAll(counted("events", ""), "$__rate_interval", "1m")
			if got := evaluated(t, tt.series, expr, tt.minute); got != tt.want {
				t.Errorf("%s = %q, want %q", expr, got, tt.want)
			}
		})
	}
}

// evaluated is what an expression is at a minute of recorded series.
func evaluated(t *testing.T, series, expr string, minute int) string {
	t.Helper()
	storage := promqltest.LoadedStorage(t, "load 1m\n  "+strings.ReplaceAll(series, "\n", "\n  "))
	t.Cleanup(func() { _ = storage.Close() })
	at := time.Unix(0, 0).Add(time.Duration(minute) * time.Minute)
	query, err := promqltest.NewTestEngine(t, false, 5*time.Minute, 1_000).NewInstantQuery(t.Context(), storage, nil, expr, at)
	if err != nil {
		t.Fatal(err)
	}
	result := query.Exec(t.Context())
	if result.Err != nil {
		t.Fatal(result.Err)
	}
	got, _, _ := strings.Cut(result.String(), " @[")
	return got
}

// first is the first query of a panel, with its variables filled in.
func first(t *testing.T, title string) string {
	t.Helper()
	for _, b := range Boards() {
		for _, r := range b.Rows {
			for _, p := range r.Panels {
				if p.Title == title {
					return strings.NewReplacer("$nodepool", ".+", "$__range", "6h").Replace(p.Queries[0].Expr)
				}
			}
		}
	}
	t.Fatalf("there is no panel %q", title)
	return ""
}

// Panels show what is so where not every series is there that they are about.
func TestPanelsShowWhatIsSo(t *testing.T) {
	const both = "daemok_leader{instance=\"a\"} 1x9\ndaemok_leader{instance=\"b\"} 0x9\n"
	tests := map[string]struct{ panel, series, want string }{
		"pods are requests where there is no DaemonSet": {"CPU requested by NodePool",
			"karpenter_nodes_allocatable{resource_type=\"cpu\",nodepool=\"web\"} 4x9\nkarpenter_nodes_total_pod_requests{resource_type=\"cpu\",nodepool=\"web\"} 2x9", `{nodepool="web"} => 0.5`},
		"requests of DaemonSets count": {"CPU requested by NodePool",
			"karpenter_nodes_allocatable{resource_type=\"cpu\",nodepool=\"web\"} 4x9\nkarpenter_nodes_total_pod_requests{resource_type=\"cpu\",nodepool=\"web\"} 2x9\n" +
				"karpenter_nodes_total_daemon_requests{resource_type=\"cpu\",nodepool=\"web\"} 1x9", `{nodepool="web"} => 0.75`},
		"a leader whose clock is behind": {"Clock difference",
			both + "daemok_clock_ahead_seconds{instance=\"a\"} -180x9\ndaemok_clock_ahead_seconds{instance=\"b\"} 0x9", "{} => -180"},
		"no gap where no bound is known": {"Gap to the lower bound",
			both + "daemok_plan_cost_gap{instance=\"a\"} NaN NaN NaN NaN\ndaemok_plan_cost_gap{instance=\"b\"} 0x9\ndaemok_plan_cost_bound 0x9", ""},
		"costs are of the pods' namespace, not of the scraped pod's": {"Cost by namespace",
			"daemok_namespace_cost{namespace=\"kube-system\",exported_namespace=\"shop\"} 0.5x9", `{namespace="shop"} => 0.5`},
		"a cause that costs nothing is not shown": {"Idle cost by cause",
			"daemok_idle_cost{nodepool=\"web\",cause=\"pdb\"} 0x9\ndaemok_idle_cost{nodepool=\"web\",cause=\"fragmentation\"} 0.25x9", `{cause="fragmentation"} => 0.25`},
		"nodes of no NodePool are not its": {"Nodes by NodePool and capacity type", `karpenter_nodes_current_lifetime_seconds{node_name="system"} 60x9`, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := evaluated(t, tt.series, first(t, tt.panel), 3); got != tt.want {
				t.Errorf("%s shows %q, want %q", tt.panel, got, tt.want)
			}
		})
	}
}

// Every line of a row is as wide as the dashboard, whatever is in it.
func TestLinesOfPanelsAreFull(t *testing.T) {
	chart, number, bars := Panel{}, Panel{Now: true}, Panel{Now: true, Bars: true}
	tests := map[string]struct {
		panels []Panel
		want   []size
	}{
		"one":                     {[]Panel{chart}, []size{{8, 24}}},
		"four are two lines":      {[]Panel{chart, chart, chart, chart}, []size{{8, 12}, {8, 12}, {8, 12}, {8, 12}}},
		"five":                    {[]Panel{chart, chart, chart, chart, bars}, []size{{8, 8}, {8, 8}, {8, 8}, {8, 12}, {8, 12}}},
		"numbers need less":       {[]Panel{number, number, chart}, []size{{4, 12}, {4, 12}, {8, 24}}},
		"but not one among lines": {[]Panel{chart, number, chart}, []size{{8, 8}, {8, 8}, {8, 8}}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := (Row{Panels: tt.panels}).sizes(); !slices.Equal(got, tt.want) {
				t.Errorf("sizes = %v, want %v", got, tt.want)
			}
		})
	}
}
