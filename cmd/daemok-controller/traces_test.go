package main

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/observe"
	"github.com/daemok/daemok/observe/alias"
	"github.com/daemok/daemok/observe/trace"
)

// When the controller ends, what is under way is ended and sent too, with what it says of itself.
func TestTracesAreSentUntilTheEnd(t *testing.T) {
	var got tracepb.TracesData
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err := errors.Join(err, proto.UnmarshalOptions{Merge: true}.Unmarshal(body, &got)); err != nil {
			t.Error(err)
		}
	}))
	defer server.Close()
	env := map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": server.URL}
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "k8s.cluster.name=blue,team=platform")
	tracer, end, err := options{enableTracing: true, clusterName: "green"}.traces(t.Context(), func(name string) string { return env[name] }, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	tracer.Round(trace.Round{OpenedAt: now, BeganAt: now, PlanAt: now})
	tracer.Planned(&cluster.Snapshot{}, plan.Plan{}, 0)
	end()
	if len(got.GetResourceSpans()) != 1 {
		t.Fatalf("the collector got %v", &got)
	}
	sent := got.GetResourceSpans()[0]
	said := map[string]string{}
	for _, a := range sent.GetResource().GetAttributes() {
		said[a.GetKey()] = a.GetValue().GetStringValue()
	}
	if said["service.name"] != "daemok" || said["k8s.cluster.name"] != "blue" || said["team"] != "platform" {
		t.Errorf("the controller says of itself %v", said)
	}
	names := ""
	for _, s := range sent.GetScopeSpans()[0].GetSpans() {
		names += s.GetName() + ", "
	}
	if names != "batch window, scheduling, plan, provisioning, " {
		t.Errorf("sent are %s", names)
	}
}

// Without the option there is nothing to run; with it, wrong variables end the start.
func TestTracesAreAskedFor(t *testing.T) {
	env := func(name string) string { return map[string]string{"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}[name] }
	tracer, end, err := (options{}).traces(t.Context(), env, nil)
	if tracer != nil || err != nil {
		t.Fatalf("without the option there are %v, %v", tracer, err)
	}
	end()
	_, _, err = options{enableTracing: true}.traces(t.Context(), env, nil)
	if err == nil || !strings.HasPrefix(err.Error(), "--enable-tracing (ENABLE_TRACING) is true: OTEL_EXPORTER_OTLP_PROTOCOL is \"grpc\"") {
		t.Errorf("got %v", err)
	}
}

// A collector that is away is reported once in a while.
func TestLostTracesAreReportedOnceInAWhile(t *testing.T) {
	var lines bytes.Buffer
	now := time.Now()
	u := &unsent{log: slog.New(slog.NewTextHandler(&lines, nil)), to: "http://collector", now: func() time.Time { return now }}
	for range 3 {
		u.Handle(errors.New("nobody answers"))
		now = now.Add(unsentSaidFor / 2)
	}
	if got := strings.Count(lines.String(), "traces were not sent"); got != 2 || !strings.Contains(lines.String(), "nobody answers") {
		t.Errorf("it is said %d times:\n%s", got, &lines)
	}
}

// Exemplars are in OpenMetrics alone, which is served where there are traces: in it the bounds of
// histograms read otherwise.
func TestExemplarsAreServedOnRequest(t *testing.T) {
	registry := prometheus.NewRegistry()
	observe.InTrace(observe.NewMetrics(registry, "", "", "", "").PlanSeconds, 0.01, "0123456789abcdef0123456789abcdef")
	for _, exemplars := range []bool{true, false} {
		filter, err := scrapedFrom(&alias.Gatherer{From: registry, Rules: alias.Legacy()}, exemplars)(nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		handler, err := filter(logr.Discard(), nil)
		if err != nil {
			t.Fatal(err)
		}
		request, answer := httptest.NewRequestWithContext(t.Context(), http.MethodGet, metricsPath, nil), httptest.NewRecorder()
		request.Header.Set("Accept", "application/openmetrics-text;version=1.0.0,text/plain;q=0.5")
		handler.ServeHTTP(answer, request)
		if got := strings.Contains(answer.Body.String(), `# {trace_id="0123456789abcdef0123456789abcdef"} 0.01`); got != exemplars {
			t.Errorf("exemplars are served: %t, want %t", got, exemplars)
		}
		if got := strings.HasPrefix(answer.Header().Get("Content-Type"), "application/openmetrics-text"); got != exemplars {
			t.Errorf("it is served as %s", answer.Header().Get("Content-Type"))
		}
	}
}
