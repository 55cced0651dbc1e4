package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// A controller that starts while no API server answers says so at every check, less and less often, and goes on when
// it is there again.
func TestTheStartWaitsFiveMinutesForTheAPIServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said bytes.Buffer
		w := waiter{log: newLogger(&said, "info", encodingConsole)}
		back := time.Now().Add(5 * time.Minute)
		ask := func(context.Context) error {
			if time.Now().Before(back) {
				return &url.Error{Op: "Get", URL: "https://api", Err: errors.New("connection refused")}
			}
			return nil
		}
		if err := w.until(t.Context(), "the start waits for the API server at https://api", ask, unanswered); err != nil {
			t.Fatal(err)
		}
		if late := time.Since(back); late > waitMost {
			t.Errorf("it went on %v after the API server was back", late)
		}
		lines := strings.Count(said.String(), "the start waits for the API server at https://api")
		if lines < 5 || lines > 20 || !strings.Contains(said.String(), "connection refused") || !strings.Contains(said.String(), "the start goes on") {
			t.Errorf("in five minutes it says %d times that it waits:\n%s", lines, &said)
		}
	})
}

// What does not pass ends the wait, and so does the end of the process.
func TestTheStartWaitsForNothingThatDoesNotPass(t *testing.T) {
	w := waiter{log: newLogger(io.Discard, "info", encodingJSON)}
	refused := errors.New("refused")
	if err := w.until(t.Context(), "it", func(context.Context) error { return refused }, unanswered); !errors.Is(err, refused) {
		t.Errorf("until = %v, want the refusal", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ask := func(context.Context) error { stop(); return &url.Error{Err: errors.New("timeout")} }
	if err := w.until(ctx, "it", ask, unanswered); !errors.Is(err, context.Canceled) {
		t.Errorf("until = %v after the process was told to end", err)
	}
}

func TestWhichErrorsPass(t *testing.T) {
	things := schema.GroupResource{Resource: "things"}
	tests := map[string]struct {
		err  error
		want bool
	}{
		"nobody listens":             {&url.Error{Op: "Get", URL: "u", Err: errors.New("connection refused")}, true},
		"wrapped":                    {fmt.Errorf("read: %w", &url.Error{Op: "Get", URL: "u", Err: errors.New("EOF")}), true},
		"its store is gone":          {apierrors.NewInternalError(errors.New("etcdserver: no leader")), true},
		"it is busy":                 {apierrors.NewTooManyRequests("later", 1), true},
		"it forbids":                 {apierrors.NewForbidden(things, "one", nil), false},
		"it does not know the token": {apierrors.NewUnauthorized("no"), false},
		"nobody signed for it":       {&url.Error{Err: &tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}}, false},
		"something else":             {errors.New("no namespace"), false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := unanswered(tt.err); got != tt.want {
				t.Errorf("unanswered(%v) = %v", tt.err, got)
			}
		})
	}
}

// A real connection: a server that is not trusted is not waited for, and one that is gone is.
func TestAServerThatIsGonePasses(t *testing.T) {
	server := httptest.NewTLSServer(http.NotFoundHandler())
	config := &rest.Config{Host: server.URL}
	if _, err := clusterUID(t.Context(), config); err == nil || unanswered(err) {
		t.Errorf("the certificate of nobody: %v is waited for", err)
	}
	server.Close()
	if _, err := clusterUID(t.Context(), config); err == nil || !unanswered(err) {
		t.Errorf("nobody there: %v is not waited for", err)
	}
}

// The kubelet lets a process live that waits, and sends it no traffic; after that the port is free for the manager.
func TestAProcessThatWaitsLivesAndIsNotReady(t *testing.T) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := free.Addr().(*net.TCPAddr).Port
	_ = free.Close()
	w := waiter{log: newLogger(io.Discard, "info", encodingJSON), healthPort: port}
	looks, codes := 0, map[string]int{}
	ask := func(context.Context) error {
		if looks++; looks == 1 {
			return &url.Error{Err: errors.New("connection refused")}
		}
		for _, path := range []string{"/healthz", "/readyz"} {
			answer, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d%s", port, path))
			if err != nil {
				t.Fatal(err)
			}
			_ = answer.Body.Close()
			codes[path] = answer.StatusCode
		}
		return nil
	}
	if err := w.until(t.Context(), "it", ask, unanswered); err != nil {
		t.Fatal(err)
	}
	if codes["/healthz"] != http.StatusOK || codes["/readyz"] != http.StatusServiceUnavailable {
		t.Errorf("while it waits it answers %v", codes)
	}
	again, err := net.Listen("tcp", fmt.Sprintf(":%d", port))
	if err != nil {
		t.Fatalf("the port is not free for the manager: %v", err)
	}
	_ = again.Close()
}
