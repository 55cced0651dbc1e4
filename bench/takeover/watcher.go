package takeover

import (
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/daemok/daemok/examples"
	"github.com/daemok/daemok/kube/access"
)

// Resources that are made or watched.
var (
	leases  = schema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}
	pods    = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	claims  = schema.GroupVersionResource{Group: "karpenter.sh", Version: "v1", Resource: "nodeclaims"}
	pools   = schema.GroupVersionResource{Group: "karpenter.sh", Version: "v1", Resource: "nodepools"}
	classes = schema.GroupVersionResource{Group: "karpenter.k8s.aws", Version: "v1", Resource: "ec2nodeclasses"}
)

// watcher is a user of the lab's cluster.
type watcher struct{ client dynamic.Interface }

// newWatcher connects, and makes a pool and its class.
func newWatcher(ctx context.Context, variables map[string]string) (*watcher, error) {
	config, err := access.Config(variables["KUBECONFIG"])
	if err != nil {
		return nil, fmt.Errorf("connect to the lab: %w", err)
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("connect to the lab: %w", err)
	}
	w := &watcher{client}
	for _, m := range []struct {
		file     string
		resource schema.GroupVersionResource
	}{{"v1/ec2nodeclass.yaml", classes}, {"v1/nodepool.yaml", pools}} {
		text, err := examples.Manifest(m.file, variables["CLUSTER_NAME"])
		if err != nil {
			return nil, err
		}
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(text, &o.Object); err != nil {
			return nil, fmt.Errorf("read example %s: %w", m.file, err)
		}
		if _, err := client.Resource(m.resource).Create(ctx, o, metav1.CreateOptions{}); err != nil {
			return nil, fmt.Errorf("create %s %s: %w", o.GetKind(), o.GetName(), err)
		}
	}
	return w, nil
}

// createPod makes a pod that keeps away from those of the rounds before, and so needs a node of its own.
func (w *watcher) createPod(ctx context.Context, name string) error {
	alone := map[string]any{"podAntiAffinity": map[string]any{"requiredDuringSchedulingIgnoredDuringExecution": []any{map[string]any{
		"topologyKey": "kubernetes.io/hostname", "labelSelector": map[string]any{"matchLabels": map[string]any{"app": "takeover"}},
	}}}}
	pod := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Pod",
		"metadata": map[string]any{"name": name, "labels": map[string]any{"app": "takeover"}},
		"spec": map[string]any{
			"affinity":     alone,
			"nodeSelector": map[string]any{"karpenter.sh/nodepool": "default"},
			"containers":   []any{map[string]any{"name": "c", "image": "pause", "resources": map[string]any{"requests": map[string]any{"cpu": "1"}}}},
		},
	}}
	if _, err := w.client.Resource(pods).Namespace(metav1.NamespaceDefault).Create(ctx, pod, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("create pod %s: %w", name, err)
	}
	return nil
}

// awaitLeader waits until the process holds the lease.
func (w *watcher) awaitLeader(ctx context.Context, pid int) error {
	mark := fmt.Sprintf("_%d_", pid)
	return await(ctx, "a lease of the other controller", w.client.Resource(leases).Namespace(metav1.NamespaceSystem), func(seen map[string]*unstructured.Unstructured) bool {
		for _, lease := range seen {
			holder, _, _ := unstructured.NestedString(lease.Object, "spec", "holderIdentity")
			if strings.Contains(holder, mark) {
				return true
			}
		}
		return false
	})
}

// awaitPool waits until the pool may be launched from.
func (w *watcher) awaitPool(ctx context.Context) error {
	return await(ctx, "the NodePool to be ready", w.client.Resource(pools), func(seen map[string]*unstructured.Unstructured) bool {
		for _, pool := range seen {
			conditions, _, _ := unstructured.NestedSlice(pool.Object, "status", "conditions")
			for _, c := range conditions {
				if c, ok := c.(map[string]any); ok && c["type"] == "Ready" && c["status"] == "True" {
					return true
				}
			}
		}
		return false
	})
}

// awaitClaims waits for as many NodeClaims.
func (w *watcher) awaitClaims(ctx context.Context, n int) error {
	return await(ctx, fmt.Sprintf("%d NodeClaims", n), w.client.Resource(claims), func(seen map[string]*unstructured.Unstructured) bool { return len(seen) >= n })
}

// await watches until what was seen so far, by name, is enough.
func await(ctx context.Context, what string, of dynamic.ResourceInterface, enough func(map[string]*unstructured.Unstructured) bool) error {
	list, err := of.List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("wait for %s: %w", what, err)
	}
	seen := map[string]*unstructured.Unstructured{}
	for i := range list.Items {
		seen[list.Items[i].GetName()] = &list.Items[i]
	}
	if enough(seen) {
		return nil
	}
	events, err := of.Watch(ctx, metav1.ListOptions{ResourceVersion: list.GetResourceVersion()})
	if err != nil {
		return fmt.Errorf("wait for %s: %w", what, err)
	}
	defer events.Stop()
	for {
		select {
		case e, open := <-events.ResultChan():
			o, ok := e.Object.(*unstructured.Unstructured)
			if !open || !ok {
				return fmt.Errorf("wait for %s: the watch ended: %v", what, e.Object)
			}
			seen[o.GetName()] = o
			if e.Type == watch.Deleted {
				delete(seen, o.GetName())
			}
			if enough(seen) {
				return nil
			}
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w", what, ctx.Err())
		}
	}
}
