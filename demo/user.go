package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"
)

const (
	namespace    = "default"
	deployment   = "inflate"
	fieldManager = "daemok-demo"
)

// watched is what the story follows.
var watched = []struct {
	resource schema.GroupVersionResource
	selector string
}{
	{schema.GroupVersionResource{Version: "v1", Resource: "pods"}, "app=" + deployment},
	{schema.GroupVersionResource{Version: "v1", Resource: "nodes"}, ""},
	{schema.GroupVersionResource{Group: "karpenter.sh", Version: "v1", Resource: "nodeclaims"}, poolLabel},
	{schema.GroupVersionResource{Group: "karpenter.sh", Version: "v1", Resource: "nodepools"}, ""},
	{schema.GroupVersionResource{Group: "karpenter.k8s.aws", Version: "v1", Resource: "ec2nodeclasses"}, ""},
}

// user does what a person with kubectl would do.
type user struct{ client dynamic.Interface }

func newUser(kubeconfig string) (*user, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("read the lab's kubeconfig: %w", err)
	}
	config.QPS = -1
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("connect to the lab: %w", err)
	}
	return &user{client}, nil
}

// apply is kubectl apply of one manifest.
func (u *user) apply(ctx context.Context, manifest []byte) error {
	var object unstructured.Unstructured
	if err := yaml.Unmarshal(manifest, &object.Object); err != nil {
		return fmt.Errorf("read manifest: %w", err)
	}
	resource, _ := meta.UnsafeGuessKindToResource(object.GroupVersionKind())
	client := dynamic.ResourceInterface(u.client.Resource(resource))
	if object.GetKind() == "Deployment" {
		client = u.client.Resource(resource).Namespace(namespace)
	}
	_, err := client.Apply(ctx, object.GetName(), &object, metav1.ApplyOptions{FieldManager: fieldManager, Force: true})
	if err != nil {
		return fmt.Errorf("apply %s %s: %w", object.GetKind(), object.GetName(), err)
	}
	return nil
}

// scale is kubectl scale; it returns when the request is acknowledged.
func (u *user) scale(ctx context.Context, replicas int) error {
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"replicas": replicas}})
	if err != nil {
		return fmt.Errorf("write the scale request: %w", err)
	}
	deployments := u.client.Resource(schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"})
	_, err = deployments.Namespace(namespace).Patch(ctx, deployment, types.MergePatchType, patch,
		metav1.PatchOptions{FieldManager: fieldManager}, "scale")
	if err != nil {
		return fmt.Errorf("scale %s to %d: %w", deployment, replicas, err)
	}
	return nil
}

// warnings returns the newest warning events about what the story is about,
// newest last, as lines.
func (u *user) warnings(ctx context.Context, most int) []string {
	events := u.client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "events"})
	list, err := events.Namespace(namespace).List(ctx, metav1.ListOptions{FieldSelector: "type=" + corev1.EventTypeWarning})
	if err != nil {
		return []string{fmt.Sprintf("events cannot be read: %v", err)}
	}
	slices.SortStableFunc(list.Items, func(a, b unstructured.Unstructured) int { return lastSeen(a).Compare(lastSeen(b)) })
	var lines []string
	for _, e := range list.Items {
		text := func(fields ...string) string {
			s, _, _ := unstructured.NestedString(e.Object, fields...)
			return s
		}
		lines = append(lines, fmt.Sprintf("%s %s: %s: %s", text("involvedObject", "kind"), text("involvedObject", "name"), text("reason"), text("message")))
	}
	return lines[max(0, len(lines)-most):]
}

// lastSeen is when an event was reported last; recorders write it in one of
// two fields, or leave both out for the first time.
func lastSeen(event unstructured.Unstructured) time.Time {
	for _, field := range []string{"lastTimestamp", "eventTime"} {
		text, _, _ := unstructured.NestedString(event.Object, field)
		if at, err := time.Parse(time.RFC3339, text); err == nil {
			return at
		}
	}
	return event.GetCreationTimestamp().Time
}

// watch follows what the story is about until ctx ends, and stamps each
// sighting with the time it arrived. Call wait after ctx has ended.
func (u *user) watch(ctx context.Context, now func() time.Time) (sightings <-chan sighting, wait func()) {
	out := make(chan sighting)
	send := func(object any, gone bool) {
		if tombstone, ok := object.(cache.DeletedFinalStateUnknown); ok {
			object = tombstone.Obj
		}
		seen, ok := object.(*unstructured.Unstructured)
		if !ok {
			return
		}
		select {
		case out <- sighting{seen, gone, now()}:
		case <-ctx.Done():
		}
	}
	var running sync.WaitGroup
	for _, w := range watched {
		informer := dynamicinformer.NewFilteredDynamicInformer(u.client, w.resource, metav1.NamespaceAll, 0, cache.Indexers{},
			func(o *metav1.ListOptions) { o.LabelSelector = w.selector }).Informer()
		// The error is for informers that were stopped; this one was not started.
		_, _ = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    func(o any) { send(o, false) },
			UpdateFunc: func(_, o any) { send(o, false) },
			DeleteFunc: func(o any) { send(o, true) },
		})
		running.Go(func() { informer.RunWithContext(ctx) })
	}
	return out, running.Wait
}
