package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-logr/logr"
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
