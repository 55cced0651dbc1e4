package main

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/daemok/daemok/observe/alias"
)

// A scrape shows the work queues of loops under Karpenter's names too, with the labels that
// the table has; what else the metrics port serves is as it was.
func TestAScrapeShowsWorkQueuesUnderBothNames(t *testing.T) {
	queue := workqueue.NewTypedRateLimitingQueueWithConfig(workqueue.DefaultTypedControllerRateLimiter[string](), workqueue.TypedRateLimitingQueueConfig[string]{Name: "pools"})
	defer queue.ShutDown()
	queue.Add("web")
	filter, err := scrapedFrom(&alias.Gatherer{From: metrics.Registry, Rules: alias.WorkQueues()}, false)(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	handler, err := filter(logr.Discard(), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("another path")) }))
	if err != nil {
		t.Fatal(err)
	}
	ask := func(path string) string {
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
		return answer.Body.String()
	}
	all := ask(metricsPath)
	for _, want := range []string{`workqueue_adds_total{controller="pools",name="pools"} 1`, `workqueue_depth{controller="pools",name="pools",priority=""} 1`} {
		for _, line := range []string{"\n" + want, "\nkarpenter_" + want, "\nkarpenter_workqueue_work_duration_seconds_count{"} {
			if !strings.Contains(all, line) {
				t.Errorf("a scrape lacks %s", line)
			}
		}
	}
	if got := ask("/debug"); got != "another path" {
		t.Errorf("another path answers %q", got)
	}
}

// twoWays is the state of a large cluster, gathered or written.
type twoWays struct{}

func (twoWays) Gather() ([]*dto.MetricFamily, error) {
	name, value := "gathered", 1.0
	return []*dto.MetricFamily{{Name: &name, Type: dto.MetricType_GAUGE.Enum(), Metric: []*dto.Metric{{Gauge: &dto.Gauge{Value: &value}}}}}, nil
}

func (twoWays) Text() (func(io.Writer) error, error) {
	return func(w io.Writer) error { _, err := io.WriteString(w, "written 1\n"); return err }, nil
}

// The state is written as it is read where the scrape asks for text, compressed or not, and gathered for a scrape
// that asks for another format, for some metrics alone, or for labels of older dashboards.
func TestScrapesInTextGatherNoState(t *testing.T) {
	for name, tt := range map[string]struct {
		query  string
		header http.Header
		copies []alias.Copy
		want   string
	}{
		"Prometheus, text": {header: http.Header{"Accept": {"application/openmetrics-text;version=1.0.0;q=0.6,text/plain;version=0.0.4;q=0.5"}}, want: "written 1"},
		"compressed":       {header: http.Header{"Accept-Encoding": {"gzip"}}, want: "written 1"},
		"curl":             {want: "written 1"},
		"protobuf":         {header: http.Header{"Accept": {"application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=text"}}, want: `"gathered"`},
		"some metrics":     {query: "?name[]=gathered", want: "gathered 1"},
		"older labels":     {copies: []alias.Copy{{Metric: "gathered", From: "a", To: "b"}}, want: "gathered 1"},
	} {
		t.Run(name, func(t *testing.T) {
			filter, err := scrapedFrom(&alias.Gatherer{From: prometheus.NewRegistry(), Beside: twoWays{}, Copies: tt.copies}, false)(nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			handler, err := filter(logr.Discard(), http.NotFoundHandler())
			if err != nil {
				t.Fatal(err)
			}
			ask := httptest.NewRequestWithContext(t.Context(), http.MethodGet, metricsPath+tt.query, nil)
			ask.Header = tt.header
			answer := httptest.NewRecorder()
			handler.ServeHTTP(answer, ask)
			var body io.Reader = answer.Body
			if answer.Header().Get("Content-Encoding") == "gzip" {
				if body, err = gzip.NewReader(body); err != nil {
					t.Fatal(err)
				}
			} else if name == "compressed" {
				t.Error("the answer is not compressed")
			}
			text, err := io.ReadAll(body)
			if err != nil || !strings.Contains(string(text), tt.want) {
				t.Errorf("got %q, %v, want %s", text, err, tt.want)
			}
		})
	}
}
