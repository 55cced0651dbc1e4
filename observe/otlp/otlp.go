// Package otlp sends spans to a collector by OTLP, as protobuf over HTTP.
//
// It promises to follow OpenTelemetry's own environment variables, and to report as an error what it
// does not support of them, with the variable and what to do. OpenTelemetry's own exporter would
// double the size of the controller (ADR 9): it links gRPC, and templates that keep the linker from
// removing unused code. The package does not decide which spans exist, and drops a batch that a
// collector has not accepted in time.
package otlp

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/daemok/daemok/internal/pause"
)

// How long to wait before a batch is sent again that a collector did not take, if it does not
// say itself: longer each time.
const (
	againFirst = time.Second
	againMost  = 30 * time.Second
)

// Client sends batches of spans. New makes one.
type Client struct {
	settings
	http *http.Client
	to   string // the endpoint, as messages have it
}

var _ otlptrace.Client = &Client{}

// New reads the variables of OpenTelemetry that say where spans go, by env, which returns ""
// for those that are not set. It connects to nothing.
func New(env func(string) string) (*Client, error) {
	s, err := read(env)
	if err != nil {
		return nil, err
	}
	transport, is := http.DefaultTransport.(*http.Transport)
	if !is {
		panic("otlp: the usual transport of HTTP is another")
	}
	transport = transport.Clone()
	transport.TLSClientConfig = s.tls
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse } // headers may be secrets
	return &Client{s, &http.Client{Transport: transport, Timeout: s.timeout, CheckRedirect: stay}, shown(s.endpoint)}, nil
}

// Endpoint is where spans are sent, without password and query.
func (c *Client) Endpoint() string { return c.to }

func shown(endpoint string) string {
	at, err := url.Parse(endpoint)
	if err != nil {
		return "the collector"
	}
	at.RawQuery = ""
	return at.Redacted()
}

// Start implements otlptrace.Client.
func (c *Client) Start(context.Context) error { return nil }

// Stop implements otlptrace.Client.
func (c *Client) Stop(context.Context) error {
	c.http.CloseIdleConnections()
	return nil
}

// UploadTraces implements otlptrace.Client. What a collector does not take for now is sent
// again until ctx ends.
func (c *Client) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	// A request to a collector has the same bytes as TracesData, whose package does without gRPC.
	body, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: spans})
	if err != nil {
		return fmt.Errorf("encode spans: %w", err)
	}
	if c.compressed {
		if body, err = zipped(body); err != nil {
			return fmt.Errorf("compress spans: %w", err)
		}
	}
	for again := againFirst; ; again = min(2*again, againMost) {
		wait, passes, err := c.send(ctx, body)
		if err == nil || !passes {
			return err
		}
		if pause.For(ctx, max(wait, again)) != nil {
			return err
		}
	}
}

// send sends once. passes: the error may pass, at the earliest after wait.
func (c *Client) send(ctx context.Context, body []byte) (wait time.Duration, passes bool, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.endpoint, bytes.NewReader(body))
	if err != nil {
		return 0, false, fmt.Errorf("send spans to %s: %w", c.to, hidden(err))
	}
	request.Header = c.headers.Clone()
	request.Header.Set("Content-Type", "application/x-protobuf")
	if c.compressed {
		request.Header.Set("Content-Encoding", "gzip")
	}
	response, err := c.http.Do(request)
	if err != nil {
		return 0, ctx.Err() == nil, fmt.Errorf("send spans to %s: %w", c.to, hidden(err))
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 1<<16)) // so that the connection can be used again
	switch response.StatusCode {
	case http.StatusOK, http.StatusAccepted, http.StatusNoContent:
		return 0, false, nil
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		passes = true
		if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil {
			wait = time.Duration(seconds) * time.Second
		}
	}
	return wait, passes, fmt.Errorf("send spans to %s: the collector answers %s", c.to, response.Status)
}

// hidden is an error of net/http without the URL that it names.
func hidden(err error) error {
	if of, is := errors.AsType[*url.Error](err); is {
		return of.Err
	}
	return err
}

func zipped(data []byte) ([]byte, error) {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	err := w.Close()
	return out.Bytes(), err
}
