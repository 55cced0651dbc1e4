// Package await waits until objects of a cluster are as the caller wants them.
//
// It watches, so that it returns as soon as it can, and lists again whenever a watch ends, so that it
// survives a restart of the API server. The context limits the wait; there is no other limit.
package await

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"

	"github.com/daemok/daemok/internal/pause"
)

// retryEvery is the pause before an API server that does not answer is asked
// again.
const retryEvery = 100 * time.Millisecond

// Condition says whether objects are as wanted. It gets all that match, in the
// order of namespace and name; an error ends the wait.
type Condition func(objects []*unstructured.Unstructured) (bool, error)

// Until returns nil once the condition holds for the objects that match, or an
// error that says how many there were when the context ended.
func Until(ctx context.Context, resource dynamic.ResourceInterface, match metav1.ListOptions, holds Condition) error {
	var last error
	for {
		seen, done, err := once(ctx, resource, match, holds)
		if done {
			return err
		}
		if err != nil {
			last = err
		}
		err = pause.For(ctx, retryEvery)
		switch {
		case err != nil && last != nil:
			return fmt.Errorf("%d objects seen, last trouble %w: %w", seen, last, err)
		case err != nil:
			return fmt.Errorf("%d objects seen: %w", seen, err)
		}
	}
}

// once lists and watches until the condition decides (done), or the watch ends.
func once(ctx context.Context, resource dynamic.ResourceInterface, match metav1.ListOptions, holds Condition) (seen int, done bool, err error) {
	list, err := resource.List(ctx, match)
	if err != nil {
		return 0, false, err
	}
	objects := map[string]*unstructured.Unstructured{}
	for i := range list.Items {
		objects[key(&list.Items[i])] = &list.Items[i]
	}
	match.ResourceVersion = list.GetResourceVersion()
	events, err := resource.Watch(ctx, match)
	if err != nil {
		return len(objects), false, err
	}
	defer events.Stop()
	for {
		ok, err := holds(sorted(objects))
		if ok || err != nil {
			return len(objects), true, err
		}
		event, open := <-events.ResultChan()
		if !open || !apply(objects, event) {
			return len(objects), false, nil
		}
	}
}

// apply brings the objects up to date. It returns false for an event that says
// nothing about an object: the watch is to begin again.
func apply(objects map[string]*unstructured.Unstructured, event watch.Event) bool {
	object, ok := event.Object.(*unstructured.Unstructured)
	if !ok {
		return false
	}
	switch event.Type {
	case watch.Added, watch.Modified:
		objects[key(object)] = object
	case watch.Deleted:
		delete(objects, key(object))
	default:
		return false
	}
	return true
}

func key(o *unstructured.Unstructured) string { return o.GetNamespace() + "/" + o.GetName() }

func sorted(objects map[string]*unstructured.Unstructured) []*unstructured.Unstructured {
	all := make([]*unstructured.Unstructured, 0, len(objects))
	for _, k := range slices.Sorted(maps.Keys(objects)) {
		all = append(all, objects[k])
	}
	return all
}
