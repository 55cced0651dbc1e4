package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestWhatIsWatched: the rights allow to list and watch ConfigMaps by one name in
// one namespace, so that is all that may be asked for. Of other kinds it is all:
// the API server selects ReplicaSets by no field but their names.
func TestWhatIsWatched(t *testing.T) {
	tests := map[string]struct {
		kind      client.Object
		path      string
		selection string
	}{
		"of ConfigMaps one":           {&corev1.ConfigMap{}, "/api/v1/namespaces/kube-system/configmaps", "metadata.name=daemok-freeze"},
		"of ReplicaSets all of them":  {&appsv1.ReplicaSet{}, "/apis/apps/v1/replicasets", ""},
		"of StatefulSets all of them": {&appsv1.StatefulSet{}, "/apis/apps/v1/statefulsets", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := firstAsked(t, tt.kind)
			if got.Path != tt.path || got.Query().Get("fieldSelector") != tt.selection {
				t.Errorf("asked for %s, want %s with %q", got, tt.path, tt.selection)
			}
		})
	}
}

// firstAsked is what a cache asks the API server for, which knows of a kind.
func firstAsked(t *testing.T, kind client.Object) *url.URL {
	t.Helper()
	asked := make(chan *url.URL, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case asked <- r.URL:
		default:
		}
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer server.Close()
	s, err := scheme()
	if err != nil {
		t.Fatal(err)
	}
	o := cached("kube-system")
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("ConfigMap"), meta.RESTScopeNamespace)
	mapper.Add(appsv1.SchemeGroupVersion.WithKind("ReplicaSet"), meta.RESTScopeNamespace)
	mapper.Add(appsv1.SchemeGroupVersion.WithKind("StatefulSet"), meta.RESTScopeNamespace)
	o.Scheme, o.Mapper, o.HTTPClient = s, mapper, server.Client()
	c, err := cache.New(&rest.Config{Host: server.URL}, o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.GetInformer(t.Context(), kind, cache.BlockUntilSynced(false)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- c.Start(ctx) }()
	got := <-asked
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	return got
}
