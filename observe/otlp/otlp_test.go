package otlp_test

import (
	"compress/gzip"
	"context"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/daemok/daemok/observe/otlp"
)

func environment(of map[string]string) func(string) string {
	return func(name string) string { return of[name] }
}

// collector keeps what it is sent; it answers with these codes first, one after another.
type collector struct {
	t       *testing.T
	answers []int
	got     []*tracepb.TracesData
	heads   []http.Header
	paths   []string
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		plain, err := gzip.NewReader(r.Body)
		if err != nil {
			c.t.Error(err)
			return
		}
		body = plain
	}
	data, err := io.ReadAll(body)
	sent := &tracepb.TracesData{}
	if err != nil || proto.Unmarshal(data, sent) != nil {
		c.t.Errorf("%q is sent, %v", data, err)
	}
	c.got, c.heads, c.paths = append(c.got, sent), append(c.heads, r.Header), append(c.paths, r.URL.Path)
	if len(c.answers) > 0 {
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(c.answers[0])
		c.answers = c.answers[1:]
	}
}

// send sends one span by the SDK, as the controller does.
func send(t *testing.T, env map[string]string) error {
	t.Helper()
	client, err := otlp.New(environment(env))
	if err != nil {
		t.Fatal(err)
	}
	exporter, err := otlptrace.New(t.Context(), client)
	if err != nil {
		t.Fatal(err)
	}
	var failed error
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(keeping{exporter, &failed}))
	_, span := provider.Tracer("test").Start(t.Context(), "plan")
	span.End()
	if err := provider.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	return failed
}

// keeping keeps why spans were not sent.
type keeping struct {
	*otlptrace.Exporter
	failed *error
}

func (k keeping) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	*k.failed = k.Exporter.ExportSpans(ctx, spans)
	return nil
}

func TestACollectorGetsSpans(t *testing.T) {
	for says, story := range map[string]struct {
		env  map[string]string // %s: the collector
		path string
		head map[string]string
	}{
		"of all signals":    {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "%s"}, "/v1/traces", nil},
		"below a path":      {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "%s/tenant/"}, "/tenant/v1/traces", nil},
		"of traces":         {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://other", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "%s/spans"}, "/spans", nil},
		"compressed":        {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "%s", "OTEL_EXPORTER_OTLP_COMPRESSION": "gzip"}, "/v1/traces", map[string]string{"Content-Encoding": "gzip"}},
		"with headers":      {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "%s", "OTEL_EXPORTER_OTLP_HEADERS": "api-key=a%20b, x=y=z"}, "/v1/traces", map[string]string{"Api-Key": "a b", "X": "y=z"}},
		"by protobuf alone": {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "%s", "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf"}, "/v1/traces", map[string]string{"Content-Type": "application/x-protobuf"}},
	} {
		t.Run(says, func(t *testing.T) {
			c := &collector{t: t}
			server := httptest.NewServer(c)
			defer server.Close()
			env := map[string]string{}
			for name, value := range story.env {
				env[name] = strings.Replace(value, "%s", server.URL, 1)
			}
			if err := send(t, env); err != nil {
				t.Fatal(err)
			}
			if len(c.got) != 1 || c.got[0].GetResourceSpans()[0].GetScopeSpans()[0].GetSpans()[0].GetName() != "plan" {
				t.Fatalf("the collector got %v", c.got)
			}
			if c.paths[0] != story.path {
				t.Errorf("it is sent to %s, want %s", c.paths[0], story.path)
			}
			for name, want := range story.head {
				if got := c.heads[0].Get(name); got != want {
					t.Errorf("header %s is %q, want %q", name, got, want)
				}
			}
		})
	}
}

func TestATrustedCollector(t *testing.T) {
	c := &collector{t: t}
	server := httptest.NewTLSServer(c)
	defer server.Close()
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := send(t, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": server.URL, "OTEL_EXPORTER_OTLP_CERTIFICATE": file}); err != nil || len(c.got) != 1 {
		t.Errorf("got %v and %d", err, len(c.got))
	}
}

func TestACollectorThatDoesNotTakeSpans(t *testing.T) {
	for says, story := range map[string]struct {
		answers []int
		sent    int
		want    string
	}{
		"for a moment": {[]int{http.StatusServiceUnavailable}, 2, ""},
		"at all":       {[]int{http.StatusUnauthorized}, 1, "the collector answers 401 Unauthorized"},
	} {
		t.Run(says, func(t *testing.T) {
			c := &collector{t: t, answers: story.answers}
			server := httptest.NewServer(c)
			defer server.Close()
			err := send(t, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": server.URL})
			if (err == nil) != (story.want == "") || err != nil && !strings.Contains(err.Error(), story.want) {
				t.Errorf("got %v, want %q", err, story.want)
			}
			if len(c.got) != story.sent {
				t.Errorf("it was sent %d times, want %d", len(c.got), story.sent)
			}
		})
	}
}

func TestVariablesThatCannotBeUsed(t *testing.T) {
	none := filepath.Join(t.TempDir(), "none")
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for want, env := range map[string]map[string]string{
		`OTEL_EXPORTER_OTLP_PROTOCOL is "grpc": spans are sent by http/protobuf alone, which collectors take on port 4318`:   {"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"},
		`OTEL_EXPORTER_OTLP_ENDPOINT is "collector:4317": want a URL such as http://collector.monitoring:4318`:               {"OTEL_EXPORTER_OTLP_ENDPOINT": "collector:4317"},
		`OTEL_EXPORTER_OTLP_TRACES_ENDPOINT is "ftp://x": want a URL`:                                                        {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "ftp://x"},
		`OTEL_EXPORTER_OTLP_HEADERS: want name=value`:                                                                        {"OTEL_EXPORTER_OTLP_HEADERS": "secret"},
		`OTEL_EXPORTER_OTLP_TIMEOUT is "10s": want milliseconds, such as 10000`:                                              {"OTEL_EXPORTER_OTLP_TIMEOUT": "10s"},
		`OTEL_EXPORTER_OTLP_COMPRESSION is "zstd": want gzip or none`:                                                        {"OTEL_EXPORTER_OTLP_COMPRESSION": "zstd"},
		`OTEL_EXPORTER_OTLP_CERTIFICATE: open ` + none:                                                                       {"OTEL_EXPORTER_OTLP_CERTIFICATE": none},
		`OTEL_EXPORTER_OTLP_CERTIFICATE: ` + empty + ` has no certificate in PEM`:                                            {"OTEL_EXPORTER_OTLP_CERTIFICATE": empty},
		`OTEL_EXPORTER_OTLP_CLIENT_KEY: OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE and OTEL_EXPORTER_OTLP_CLIENT_KEY go together`: {"OTEL_EXPORTER_OTLP_CLIENT_KEY": none},
		`OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE and OTEL_EXPORTER_OTLP_CLIENT_KEY: open ` + none:                              {"OTEL_EXPORTER_OTLP_CLIENT_KEY": none, "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE": none},
	} {
		_, err := otlp.New(environment(env))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%v has the value of a header", err)
		}
	}
	if c, err := otlp.New(environment(nil)); err != nil || c.Endpoint() != "http://localhost:4318/v1/traces" {
		t.Errorf("by default it is %v, %v", c, err)
	}
}

// A password in the URL, and headers, which may be secrets, go to the collector alone.
func TestSecretsStayWithTheCollector(t *testing.T) {
	other := &collector{t: t}
	elsewhere := httptest.NewServer(other)
	defer elsewhere.Close()
	server := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	defer server.Close()
	at := strings.Replace(server.URL, "://", "://user:secret@", 1) + "?key=secret"
	env := map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": at, "OTEL_EXPORTER_OTLP_HEADERS": "api-key=secret"}
	if err := send(t, env); err == nil || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), "307") {
		t.Errorf("a collector that redirects: %v", err)
	}
	if len(other.got) > 0 {
		t.Errorf("what is redirected went to another: %v", other.heads)
	}
	for _, at := range []string{at, "http://user:secret@127.0.0.1:1?key=secret"} {
		client, err := otlp.New(environment(map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": at}))
		if err != nil {
			t.Fatal(err)
		}
		gone, end := context.WithCancel(t.Context())
		end()
		if err := client.UploadTraces(gone, nil); err == nil || strings.Contains(err.Error()+client.Endpoint(), "secret") {
			t.Errorf("%s says %v", client.Endpoint(), err)
		}
	}
	if _, err := otlp.New(environment(map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "user:secret@collector"})); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("a URL without scheme: %v", err)
	}
}
