package main

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/daemok/daemok/internal/version"
	"github.com/daemok/daemok/observe/otlp"
	"github.com/daemok/daemok/observe/trace"
)

// How long spans that are left may take to be sent when the controller ends, and how often it
// is said that they cannot be sent.
const (
	lastSpansFor  = 5 * time.Second
	unsentSaidFor = time.Minute
)

// traces has traces sent until end is called, which is once nothing leads any more. The tracer is nil, and nothing
// is made, where they are not asked for.
func (o options) traces(ctx context.Context, env func(string) string, log *slog.Logger) (tracer *trace.Tracer, end func(), err error) {
	if !o.enableTracing {
		return nil, func() {}, nil
	}
	client, err := otlp.New(env)
	if err != nil {
		return nil, nil, fmt.Errorf("--enable-tracing (ENABLE_TRACING) is true: %w", err)
	}
	exporter, err := otlptrace.New(ctx, client)
	if err != nil {
		return nil, nil, fmt.Errorf("send traces: %w", err)
	}
	about, err := o.traced(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("--enable-tracing (ENABLE_TRACING) is true: read OTEL_RESOURCE_ATTRIBUTES and OTEL_SERVICE_NAME: %w", err)
	}
	otel.SetErrorHandler(&unsent{log: log, to: client.Endpoint(), now: time.Now})
	otel.SetLogger(logr.FromSlogHandler(calm{log.Handler(), ctx}))
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(about))
	tracer = &trace.Tracer{Spans: provider.Tracer("github.com/daemok/daemok"), Now: time.Now}
	log.Info("sends traces", "to", client.Endpoint())
	return tracer, func() {
		tracer.End()
		last, enough := context.WithTimeout(context.WithoutCancel(ctx), lastSpansFor)
		defer enough()
		if err := provider.Shutdown(last); err != nil {
			log.Warn("the last traces were not sent", "to", client.Endpoint(), "error", err.Error())
		}
	}, nil
}

// traced is what traces say of the process that sends them. OpenTelemetry's own variables go
// before the rest.
func (o options) traced(ctx context.Context) (*resource.Resource, error) {
	return resource.New(ctx, resource.WithTelemetrySDK(), resource.WithAttributes(
		attribute.String("service.name", "daemok"), attribute.String("service.version", version.Get().Version),
		attribute.String("service.instance.id", ownPod()), attribute.String("k8s.cluster.name", o.clusterName)), resource.WithFromEnv())
}

// unsent says that spans could not be sent, and not again for a while.
type unsent struct {
	log *slog.Logger
	to  string
	now func() time.Time

	mu   sync.Mutex
	last time.Time
}

// Handle implements otel.ErrorHandler.
func (u *unsent) Handle(err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if now := u.now(); now.Sub(u.last) >= unsentSaidFor {
		u.last = now
		u.log.Warn("traces were not sent, and are lost; nothing else depends on them", "to", u.to, "error", err.Error())
	}
}
