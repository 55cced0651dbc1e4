package evaluate

import (
	"os"
	"slices"
	"testing"

	"github.com/daemok/daemok/deploy/monitoring/recording"
)

const older = "the recording is older than its metric: make record"

// silent are the panels that show nothing in the recording, and why a lab does not show it.
var silent = map[string]string{
	"Daemok / Disruption: Nodes to empty":                       older,
	"Daemok / Capacity and cost: Cost by namespace":             older,
	"Daemok / Capacity and cost: Idle cost by cause":            older,
	"Daemok / Capacity and cost: Savings promised and realised": older,
	"Daemok / Controller: Outdated definitions":                 "a lab has the definitions of its own build",
}

// lab is the recording of a quarter of an hour in a lab.
func lab(t *testing.T) *recording.Recording {
	t.Helper()
	file, err := os.Open("../testdata/lab.txt.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	r, err := recording.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Each panel of each dashboard shows something in the life of a cluster.
func TestEveryPanelShowsSomething(t *testing.T) {
	r := lab(t)
	all, err := Dashboards("../dashboards")
	if err != nil || len(all) == 0 {
		t.Fatalf("%d dashboards: %v", len(all), err)
	}
	found := map[string]bool{}
	for _, d := range all {
		for _, p := range d.Panels {
			if p.Kind == Row {
				continue
			}
			name := d.Title + ": " + p.Title
			found[name] = true
			shown, err := p.Evaluate(t.Context(), r)
			switch {
			case err != nil:
				t.Errorf("%s: %v", name, err)
			case len(shown) == 0 && silent[name] == "":
				t.Errorf("%s shows nothing in the recording: mend its query, or name the reason in the list of silent panels", name)
			case len(shown) > 0 && silent[name] != "":
				t.Errorf("%s shows %d series: remove it from the list of silent panels", name, len(shown))
			}
		}
	}
	for name := range silent {
		if !found[name] {
			t.Errorf("there is no panel %s: remove it from the list of silent panels", name)
		}
	}
}

// Each query of a panel of several queries counts, and a panel that asks without effect is
// noticed.
func TestWhatAPanelShows(t *testing.T) {
	r := lab(t)
	tests := map[string]struct {
		targets []Target
		want    []string
	}{
		"a series by its labels":         {[]Target{{Expr: `max by (kind) (label_replace(daemok_leader, "kind", "leader", "", "")) `, Legend: "the {{ kind }}"}}, []string{"the leader"}},
		"one without the label":          {[]Target{{Expr: "max(daemok_leader)", Legend: "{{kind}} is there"}}, []string{" is there"}},
		"a variable at its default":      {[]Target{{Expr: `max(karpenter_nodepools_usage{nodepool=~"$nodepool",resource_type="cpu"})`, Legend: "cpu"}}, []string{"cpu"}},
		"a rate":                         {[]Target{{Expr: "sum(rate(process_cpu_seconds_total[$__rate_interval]))", Legend: "cpu"}}, []string{"cpu"}},
		"several queries in their order": {[]Target{{Expr: "sum(daemok_leader)", Legend: "b"}, {Expr: "max(daemok_leader)", Legend: "a"}}, []string{"b", "a"}},
		"what is nowhere":                {[]Target{{Expr: "sum(daemok_leaders)", Legend: "a"}}, nil},
		"what is no number":              {[]Target{{Expr: "max(daemok_leader) / 0 * 0", Legend: "a"}}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			shown, err := Panel{Targets: tt.targets, variables: []variable{{Name: "nodepool", AllValue: ".+"}}}.Evaluate(t.Context(), r)
			var got []string
			for _, s := range shown {
				got = append(got, s.Name)
			}
			if err != nil || !slices.Equal(got, tt.want) {
				t.Errorf("shows %q, %v, want %q", got, err, tt.want)
			}
		})
	}
}
