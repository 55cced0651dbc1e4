package fence

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// ErrReadOnly says that a request was not sent, since it could change something.
var ErrReadOnly = errors.New("this process only reads: requests that change something are refused")

// ReadOnly refuses every request that could change something before it leaves the process.
func ReadOnly(inner http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		if !reads(r) {
			return nil, fmt.Errorf("%w: %s %s", ErrReadOnly, r.Method, r.URL.Path)
		}
		return inner.RoundTrip(r)
	})
}

// OneConfigMap refuses what ReadOnly refuses, but for writes of the one ConfigMap of that name. Its client must
// send JSON. Base is the path of the API server's URL: empty, or such as /k8s/clusters/c-1 behind a proxy.
func OneConfigMap(own types.NamespacedName, base string) func(http.RoundTripper) http.RoundTripper {
	list := strings.TrimSuffix(base, "/") + "/api/v1/namespaces/" + own.Namespace + "/configmaps"
	return func(inner http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			switch {
			case reads(r):
			case r.URL.Path == list+"/"+own.Name && (r.Method == http.MethodPut || r.Method == http.MethodPatch):
			case r.URL.Path == list && r.Method == http.MethodPost && names(r, own.Name):
			default:
				return nil, fmt.Errorf("%w, but for ConfigMap %s: %s %s", ErrReadOnly, own, r.Method, r.URL.Path)
			}
			return inner.RoundTrip(r)
		})
	}
}

func reads(r *http.Request) bool {
	return r.Method == http.MethodGet || r.Method == http.MethodHead || r.Method == http.MethodOptions
}

// names reports whether the object in the body of a request has that name. The body can be read again.
func names(r *http.Request, name string) bool {
	if r.Body == nil {
		return false
	}
	body, err := io.ReadAll(r.Body)
	_ = r.Body.Close() // it was read
	if err != nil {
		return false
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	var object struct{ Metadata struct{ Name string } }
	return json.Unmarshal(body, &object) == nil && object.Metadata.Name == name
}
