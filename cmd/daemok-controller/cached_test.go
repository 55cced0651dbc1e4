package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
)

// TestOneConfigMapIsWatched: the rights allow to list and watch ConfigMaps by
// one name in one namespace, so that is all that may be asked for.
func TestOneConfigMapIsWatched(t *testing.T) {
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
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{corev1.SchemeGroupVersion})
	mapper.Add(corev1.SchemeGroupVersion.WithKind("ConfigMap"), meta.RESTScopeNamespace)
	o.Scheme, o.Mapper, o.HTTPClient = s, mapper, server.Client()
	c, err := cache.New(&rest.Config{Host: server.URL}, o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.GetInformer(t.Context(), &corev1.ConfigMap{}, cache.BlockUntilSynced(false)); err != nil {
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
	if got.Path != "/api/v1/namespaces/kube-system/configmaps" || got.Query().Get("fieldSelector") != "metadata.name=daemok-freeze" {
		t.Errorf("asked for %s", got)
	}
}
