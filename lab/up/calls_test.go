package up

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

const signature = "AWS4-HMAC-SHA256 Credential=LAB/20260301/us-east-1/%/aws4_request, SignedHeaders=host, Signature=0"

// Each protocol of AWS names the action in its own place, and the call itself
// passes unchanged.
func TestCallsAreLogged(t *testing.T) {
	tests := map[string]struct {
		method, path, service, target, body string
		code                                int
		want                                string
	}{
		"a query":     {"POST", "/", "ec2", "", "Action=CreateFleet&Version=2016-11-15", 200, "service=ec2 action=CreateFleet status=200"},
		"a refusal":   {"POST", "/", "ec2", "", "Action=RunInstances", 503, "service=ec2 action=RunInstances status=503"},
		"JSON":        {"POST", "/", "sqs", "AmazonSQS.ReceiveMessage", "{}", 200, "service=sqs action=ReceiveMessage status=200"},
		"REST":        {"GET", "/clusters/lab", "eks", "", "", 200, `service=eks action="GET /clusters/lab" status=200`},
		"no identity": {"POST", "/", "", "", "Action=AssumeRoleWithWebIdentity", 200, "service=unsigned action=AssumeRoleWithWebIdentity"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			handler := logged(slog.New(slog.NewTextHandler(&log, nil)), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if body, err := io.ReadAll(r.Body); err != nil || string(body) != tt.body {
					t.Errorf("body passed on = %q, %v; want %q", body, err, tt.body)
				}
				w.WriteHeader(tt.code)
			}))
			r := httptest.NewRequest(tt.method, tt.path, strings.NewReader(tt.body))
			if tt.service != "" {
				r.Header.Set("Authorization", strings.ReplaceAll(signature, "%", tt.service))
			}
			if tt.target != "" {
				r.Header.Set("X-Amz-Target", tt.target)
			}
			handler.ServeHTTP(httptest.NewRecorder(), r)
			if !strings.Contains(log.String(), tt.want) {
				t.Errorf("log = %q, want %q in it", log.String(), tt.want)
			}
		})
	}
}
