package fence

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

// Shadow mode has no right to write and needs none: what it would write does not leave the process.
func TestAReadOnlyConnectionSendsNoWrite(t *testing.T) {
	const maps = "/api/v1/namespaces/daemok/configmaps"
	own := types.NamespacedName{Namespace: "daemok", Name: "daemok-shadow"}
	tests := map[string]struct {
		method, path, body string
		reads, keeps       bool // whether each kind of connection sends it
	}{
		"a list":                          {http.MethodGet, "/api/v1/nodes", "", true, true},
		"an eviction":                     {http.MethodPost, "/api/v1/namespaces/shop/pods/web/eviction", "{}", false, false},
		"a NodeClaim":                     {http.MethodPost, "/apis/karpenter.sh/v1/nodeclaims", `{"metadata":{"name":"daemok-shadow"}}`, false, false},
		"a deletion of a node":            {http.MethodDelete, "/api/v1/nodes/a", "", false, false},
		"a lease":                         {http.MethodPut, "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/karpenter-leader-election", "{}", false, false},
		"the history":                     {http.MethodPatch, maps + "/daemok-shadow", "{}", false, true},
		"a new history":                   {http.MethodPost, maps, `{"metadata":{"name":"daemok-shadow"}}`, false, true},
		"the deletion of the history":     {http.MethodDelete, maps + "/daemok-shadow", "", false, false},
		"another ConfigMap":               {http.MethodPatch, maps + "/daemok-freeze", "{}", false, false},
		"another new ConfigMap":           {http.MethodPost, maps, `{"metadata":{"name":"daemok-freeze"}}`, false, false},
		"one of that name elsewhere":      {http.MethodPatch, "/api/v1/namespaces/shop/configmaps/daemok-shadow", "{}", false, false},
		"a new ConfigMap that is no text": {http.MethodPost, maps, "k8s\x00", false, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			for what, c := range map[string]struct {
				wrap func(http.RoundTripper) http.RoundTripper
				may  bool
			}{"ReadOnly": {ReadOnly, tt.reads}, "OneConfigMap": {OneConfigMap(own, ""), tt.keeps}} {
				sent := false
				inner := roundTripper(func(*http.Request) (*http.Response, error) { sent = true; return &http.Response{}, nil })
				r, err := http.NewRequestWithContext(t.Context(), tt.method, "https://api"+tt.path, strings.NewReader(tt.body))
				if err != nil {
					t.Fatal(err)
				}
				_, err = c.wrap(inner).RoundTrip(r)
				if sent != c.may || errors.Is(err, ErrReadOnly) == c.may {
					t.Errorf("%s sent %s %s: %v, %v; want %v", what, tt.method, tt.path, sent, err, c.may)
				}
			}
		})
	}
}

// Where the URL of the API server has a path, as behind a proxy, the history may be written below it, and nothing else.
func TestTheHistoryIsWrittenBelowThePathOfTheServer(t *testing.T) {
	const maps = "/api/v1/namespaces/daemok/configmaps"
	own := types.NamespacedName{Namespace: "daemok", Name: "daemok-shadow"}
	tests := map[string]struct {
		method, path string
		sends        bool
	}{
		"a list":                    {http.MethodGet, "/k8s/clusters/c-1/api/v1/nodes", true},
		"the history":               {http.MethodPatch, "/k8s/clusters/c-1" + maps + "/daemok-shadow", true},
		"a new history":             {http.MethodPost, "/k8s/clusters/c-1" + maps, true},
		"another ConfigMap":         {http.MethodPatch, "/k8s/clusters/c-1" + maps + "/daemok-freeze", false},
		"a NodeClaim":               {http.MethodPost, "/k8s/clusters/c-1/apis/karpenter.sh/v1/nodeclaims", false},
		"that of another cluster":   {http.MethodPatch, "/k8s/clusters/c-2" + maps + "/daemok-shadow", false},
		"that of the proxy's own":   {http.MethodPatch, maps + "/daemok-shadow", false},
		"below a longer path":       {http.MethodPatch, "/more/k8s/clusters/c-1" + maps + "/daemok-shadow", false},
		"the deletion of a history": {http.MethodDelete, "/k8s/clusters/c-1" + maps + "/daemok-shadow", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			for _, base := range []string{"/k8s/clusters/c-1", "/k8s/clusters/c-1/"} {
				sent := false
				inner := roundTripper(func(*http.Request) (*http.Response, error) { sent = true; return &http.Response{}, nil })
				r, err := http.NewRequestWithContext(t.Context(), tt.method, "https://api"+tt.path,
					strings.NewReader(`{"metadata":{"name":"daemok-shadow"}}`))
				if err != nil {
					t.Fatal(err)
				}
				_, err = OneConfigMap(own, base)(inner).RoundTrip(r)
				if sent != tt.sends || errors.Is(err, ErrReadOnly) == tt.sends {
					t.Errorf("behind %s it sent %s %s: %v, %v; want %v", base, tt.method, tt.path, sent, err, tt.sends)
				}
			}
		})
	}
}
