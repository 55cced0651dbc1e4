package record_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/daemok/daemok/observe/record"
)

// The debug endpoint reports what the command does.
func TestTheEndpointReports(t *testing.T) {
	began := time.Date(2026, 11, 21, 4, 0, 0, 0, time.UTC)
	r := &record.Record{}
	r.Note(record.Statement{About: record.Object{Kind: record.Pod, Name: "shop/web-1"}, Said: "was evicted", From: began})
	handler := record.Handler(r, func() time.Time { return began.Add(time.Minute) })
	tests := map[string]struct {
		path   string
		status int
		want   string
	}{
		"of a pod":                 {"pod/shop/web-1", http.StatusOK, "2026-11-21 04:00:00 UTC (1m0s ago)\n  pod/shop/web-1 was evicted\n"},
		"of what is not on record": {"pod/shop/web-2", http.StatusNotFound, "nothing is on record about pod shop/web-2 since 2026-11-21 04:00:00 UTC; on record are shop/web-1\n"},
		"nothing without a name":   {"nodes/", http.StatusBadRequest, "name the node\n/debug/explain/KIND/NAME reports on an object, /debug/explain/pod/NAMESPACE/NAME on a pod\n"},
		"no kind but its own":      {"service/web", http.StatusBadRequest, "nothing is on record about a \"service\": ask about a node, pod, nodepool, provisioner, nodeclaim, capacitybuffer, provisioningrequest, capacityquota or nodeoverlay\n/debug/explain/KIND/NAME reports on an object, /debug/explain/pod/NAMESPACE/NAME on a pod\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := httptest.NewRecorder()
			handler.ServeHTTP(got, httptest.NewRequest(http.MethodGet, record.Path+tt.path, nil))
			if got.Code != tt.status || got.Body.String() != tt.want {
				t.Errorf("got %d:\n%s\nwant %d:\n%s", got.Code, got.Body, tt.status, tt.want)
			}
		})
	}
	got := httptest.NewRecorder()
	handler.ServeHTTP(got, httptest.NewRequest(http.MethodGet, record.Path+"pod/shop/web-1?output=json", nil))
	var list []record.Statement
	if err := json.Unmarshal(got.Body.Bytes(), &list); err != nil || len(list) != 1 || strings.Contains(got.Body.String(), "null") {
		t.Errorf("as JSON: %v\n%s", err, got.Body)
	}
}
