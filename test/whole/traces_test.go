package whole_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/daemok/daemok/observe/trace"
	"github.com/daemok/daemok/test/fakecloud"
)

// A batch of pods is one trace, from the first pod to the last node: planner, launcher and the
// loop over NodeClaims each have their part in it, and each part begins where the one before ends.
func TestABatchOfPodsIsOneTrace(t *testing.T) {
	report(t, fakecloud.Options{Seed: 1}, func(t *testing.T, w *world) {
		spans := tracetest.NewInMemoryExporter()
		provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))
		defer func() { _ = provider.Shutdown(context.Background()) }()
		w.pool("default", nil)
		w.start(setup{traces: &trace.Tracer{Spans: provider.Tracer("daemok"), Now: time.Now}})
		w.scale("web", 3)
		w.until(5*time.Minute, "three pods running", func() bool { return w.run(3) })
		all := spans.GetSpans()
		at := slices.IndexFunc(all, func(s tracetest.SpanStub) bool {
			return s.Name == "provisioning" && slices.Contains(s.Attributes, attribute.Int("daemok.nodeclaims", 3))
		})
		if at < 0 {
			t.Fatalf("no trace of the batch has ended: %v", all.Snapshots())
		}
		instance := ", nodeclaim (create, launch (CreateFleet), registration, initialization)"
		if got, want := outline(all, all[at]), "provisioning (batch window, plan (scheduling)"+strings.Repeat(instance, 3)+")"; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		for _, c := range w.claims() {
			if !slices.ContainsFunc(all, func(s tracetest.SpanStub) bool {
				return s.Name == "nodeclaim" && slices.Contains(s.Attributes, attribute.String("daemok.nodeclaim", c.Name)) &&
					slices.Contains(s.Attributes, attribute.String("k8s.node.name", c.Status.NodeName))
			}) {
				t.Errorf("no span of NodeClaim %s with its node %s", c.Name, c.Status.NodeName)
			}
		}
	})
}

// outline is a span with what is below it, in order of time.
func outline(all tracetest.SpanStubs, of tracetest.SpanStub) string {
	var parts []string
	below := slices.DeleteFunc(slices.Clone(all), func(s tracetest.SpanStub) bool {
		return s.Parent.SpanID() != of.SpanContext.SpanID() || s.Name == "search"
	})
	slices.SortStableFunc(below, func(a, b tracetest.SpanStub) int {
		return cmp.Or(a.StartTime.Compare(b.StartTime), a.EndTime.Compare(b.EndTime))
	})
	for _, s := range below {
		parts = append(parts, outline(all, s))
	}
	if len(parts) == 0 {
		return of.Name
	}
	return fmt.Sprintf("%s (%s)", of.Name, strings.Join(parts, ", "))
}
