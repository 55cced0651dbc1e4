package bootstrap

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/daemok/daemok/lab/await"
)

var (
	serviceAccounts = schema.GroupVersionResource{Version: "v1", Resource: "serviceaccounts"}
	nodes           = schema.GroupVersionResource{Version: "v1", Resource: "nodes"}
	apiServices     = schema.GroupVersionResource{
		Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices",
	}
)

// AwaitUsable returns when the cluster can be worked with: pods can be created
// in the default namespace because its service account is there, metrics.k8s.io
// is served, and so many nodes are registered.
func AwaitUsable(ctx context.Context, admin *rest.Config, nodesMin int) error {
	c, err := dynamic.NewForConfig(admin)
	if err != nil {
		return fmt.Errorf("make client: %w", err)
	}
	for _, w := range []struct {
		what  string
		where dynamic.ResourceInterface
		match string
		holds func([]*unstructured.Unstructured) bool
	}{
		{"the default service account", c.Resource(serviceAccounts).Namespace("default"), "metadata.name=default", atLeast(1)},
		{"system nodes to register", c.Resource(nodes), "", atLeast(nodesMin)},
		{"metrics.k8s.io", c.Resource(apiServices), "metadata.name=" + metricsAPI, available},
	} {
		err := await.Until(ctx, w.where, metav1.ListOptions{FieldSelector: w.match},
			func(seen []*unstructured.Unstructured) (bool, error) { return w.holds(seen), nil })
		if err != nil {
			return fmt.Errorf("wait for %s: %w", w.what, err)
		}
	}
	return nil
}

func atLeast(n int) func([]*unstructured.Unstructured) bool {
	return func(seen []*unstructured.Unstructured) bool { return len(seen) >= n }
}

func available(seen []*unstructured.Unstructured) bool {
	return len(seen) == 1 && hasCondition(seen[0], "Available")
}
