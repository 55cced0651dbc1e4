package observe_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/daemok/daemok/observe"
	"github.com/daemok/daemok/observe/alias"
	"github.com/daemok/daemok/observe/comparison"
	"github.com/daemok/daemok/observe/follow"
	"github.com/daemok/daemok/observe/spend"
	"github.com/daemok/daemok/observe/state"
	"github.com/daemok/daemok/test/scraped"
)

var update = flag.Bool("update", false, "rewrite the table in docs/reference/metrics.md")

const document = "../docs/reference/metrics.md"

// described collects what a registry is given.
type described struct {
	prometheus.Registerer
	descs []string
}

func (d *described) MustRegister(list ...prometheus.Collector) {
	for _, c := range list {
		ch := make(chan *prometheus.Desc, 100)
		c.Describe(ch)
		close(ch)
		for desc := range ch {
			d.descs = append(d.descs, desc.String())
		}
	}
}

// Every metric of the table is exported under its name, with its labels, and
// no other is.
func TestTheTableIsWhatIsExported(t *testing.T) {
	d := &described{}
	m := observe.NewMetrics(d, "v1", "abc", "go1", "amd64")
	d.MustRegister(&follow.Follower{Metrics: m}, &spend.Nodes{}, spend.NewSavings(nil, nil, nil))
	form := regexp.MustCompile(`fqName: "([^"]*)".*variableLabels: \{([^}]*)\}`)
	exported := map[string]string{}
	for _, name := range slices.Concat(state.Names(), comparison.Names()) {
		exported[name] = strings.Join(observe.Define(name).LabelNames(), ",")
	}
	for _, text := range d.descs {
		found := form.FindStringSubmatch(text)
		if found == nil {
			t.Fatalf("cannot read the description %s", text)
		}
		if _, twice := exported[found[1]]; twice {
			t.Errorf("%s is exported twice", found[1])
		}
		exported[found[1]] = found[2]
	}
	for _, def := range observe.Definitions() {
		labels, there := exported[def.Name]
		if !there || labels != strings.Join(def.LabelNames(), ",") {
			t.Errorf("%s: exported %v with labels {%s}, want {%s}", def.Name, there, labels, strings.Join(def.LabelNames(), ","))
		}
		delete(exported, def.Name)
	}
	for name := range exported {
		t.Errorf("%s is exported and not in the table", name)
	}
}

// rate() and increase() miss the first increment of a series that was not there before
// it: counters whose label values are known show them from the start.
func TestCountersOfKnownLabelValuesStartAtZero(t *testing.T) {
	m := observe.NewMetrics(prometheus.NewPedanticRegistry(), "v1", "abc", "go1", "amd64")
	for name, c := range map[string]struct {
		counter *prometheus.CounterVec
		series  int
	}{
		"decisions": {m.Decisions, 10}, "failed removals": {m.FailedRemovals, 10}, "failed validations": {m.FailedValidations, 4}, "evictions": {m.Evictions, 3},
		"drained pods": {m.PodsDrained, 6}, "errors of launches": {m.CloudErrors, 5}, "writes of the record": {m.RecordWrites, 4}, "writes that have nodes empty": {m.SteeringWrites, 8}, "interruption messages": {m.MessagesReceived, 8}, "status checks": {m.StatusUnhealthy, 3},
		"claims, whose pools nobody knows at the start": {m.ClaimsCreated, 0},
	} {
		series := make(chan prometheus.Metric, 100)
		c.counter.Collect(series)
		if got := len(series); got != c.series {
			t.Errorf("%s: %d series at the start, want %d", name, got, c.series)
		}
	}
}

// Without a queue it is not reported that it cannot be read, and a process on standby does not
// report it either.
func TestAQueueThatIsNotSetHasNoSeries(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	m := observe.NewMetrics(registry, "", "", "", "")
	if lines, err := scraped.Lines(registry, "daemok_interruption_queue_readable"); err != nil || len(lines) > 0 {
		t.Errorf("before anybody reads it: %q, %v", lines, err)
	}
	m.QueueReadable.WithLabelValues().Set(0)
	if lines, err := scraped.Lines(registry, "daemok_interruption_queue_readable"); err != nil || len(lines) != 1 {
		t.Errorf("once somebody has tried: %q, %v", lines, err)
	}
}

// objects are labels whose values grow with the cluster.
var objects = []string{"name", "namespace", "node_name", "node", "owner", "pod", "claim"}

// Only gauges that end with their object have labels whose values grow with the cluster.
func TestLabelsAreBounded(t *testing.T) {
	for _, d := range observe.Definitions() {
		grows := d.NodeLabels || slices.ContainsFunc(d.Labels, func(l string) bool { return slices.Contains(objects, l) })
		if grows != d.PerObject || grows && d.Kind != observe.Gauge {
			t.Errorf("%s is a %s with labels %v, and is about single objects: %v", d.Name, d.Kind, d.Labels, d.PerObject)
		}
	}
}

func TestDefinitionsAreComplete(t *testing.T) {
	label := regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	for _, d := range observe.Definitions() {
		if d.Name == "" || d.Kind == "" || d.Unit == "" || !strings.HasSuffix(d.Help, ".") {
			t.Errorf("%+v lacks its name, kind, unit or sentence", d)
		}
		if d.Kind == observe.Counter != (strings.HasSuffix(d.Name, "_total") && d.Kind != observe.Gauge) {
			t.Errorf("%s is a %s", d.Name, d.Kind)
		}
		names := d.LabelNames()
		for _, l := range names {
			if !label.MatchString(l) {
				t.Errorf("%s has a label %q", d.Name, l)
			}
		}
		slices.Sort(names)
		if len(slices.Compact(names)) != len(d.LabelNames()) {
			t.Errorf("%s has a label twice: %v", d.Name, names)
		}
	}
}

// The document and the table name the same metrics, types, units and labels.
func TestTheDocumentIsTheTable(t *testing.T) {
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	got, err := between(text, "metrics", table(observe.Definitions()))
	if err == nil {
		got, err = between(got, "further names", table(observe.Renamed(alias.WorkQueues())))
	}
	if err == nil {
		got, err = between(got, "legacy names", table(observe.Renamed(alias.Legacy())))
	}
	if err == nil {
		got, err = between(got, "libraries", table(observe.Libraries()))
	}
	if err == nil {
		got, err = between(got, "node labels", nodeLabels())
	}
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(document, got, 0o644); err != nil { // a document
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(got, text) {
		t.Errorf("%s differs from the table of metrics: run go test ./observe -update and review the difference", document)
	}
}

// between replaces what stands between the marks of a section.
func between(text []byte, section, content string) ([]byte, error) {
	begin, end := fmt.Sprintf("<!-- %s -->\n", section), fmt.Sprintf("<!-- end of %s -->\n", section)
	head, rest, found := strings.Cut(string(text), begin)
	_, tail, ends := strings.Cut(rest, end)
	if !found || !ends {
		return nil, fmt.Errorf("the document has no section %s", section)
	}
	return []byte(head + begin + content + end + tail), nil
}

func table(list []observe.Definition) string {
	var b strings.Builder
	b.WriteString("\n| Metric | Type | Unit | Labels | Meaning |\n|---|---|---|---|---|\n")
	for _, d := range list {
		var labels []string
		for _, l := range d.Labels {
			labels = append(labels, "`"+l+"`")
		}
		if d.NodeLabels {
			labels = append(labels, "[those of nodes](#labels-of-nodes)")
		}
		help := d.Help
		if d.PerObject {
			help += " *Per object.*"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", d.Name, d.Kind, d.Unit, strings.Join(labels, ", "), help)
	}
	b.WriteString("\n")
	return b.String()
}

func nodeLabels() string {
	var b strings.Builder
	b.WriteString("\n| Label of the metric | Label of the node |\n|---|---|\n")
	for _, key := range observe.NodeLabelKeys() {
		fmt.Fprintf(&b, "| `%s` | `%s` |\n", observe.LabelName(key), key)
	}
	b.WriteString("\n")
	return b.String()
}
