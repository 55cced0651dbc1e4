package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/daemok/daemok/observe/record"
)

// Whatever is served beside the metrics reports all namespaces: other pods, which reach the metrics
// port, get none of it.
func TestDebugPathsAreServedToLocalhostOnly(t *testing.T) {
	for path, handler := range debugging(options{enableProfiling: true, service: "karpenter"}, map[string]http.Handler{record.Path: record.Handler(&record.Record{}, time.Now)}) {
		for from, want := range map[string]int{
			"10.0.3.7:40112": http.StatusForbidden, "[fd00::7]:40112": http.StatusForbidden, "[::ffff:10.0.3.7]:40112": http.StatusForbidden, "": http.StatusForbidden,
			"127.0.0.1:40112": http.StatusOK, "[::1]:40112": http.StatusOK, "[::ffff:127.0.0.1]:40112": http.StatusOK,
		} {
			if path == "/debug/pprof/profile" || path == "/debug/pprof/trace" || path == record.Path {
				if want == http.StatusOK {
					continue // they take seconds, or need an object
				}
			}
			request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
			request.RemoteAddr = from
			answer := httptest.NewRecorder()
			handler.ServeHTTP(answer, request)
			if answer.Code != want {
				t.Errorf("%s from %q: %d, want %d", path, from, answer.Code, want)
			}
			if want == http.StatusForbidden && !strings.Contains(answer.Body.String(), "port-forward service/karpenter 8080:METRICS-PORT") {
				t.Errorf("%s from %q says %q, want the way out", path, from, answer.Body)
			}
		}
	}
}
