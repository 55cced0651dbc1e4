// Package status reports what the controller knows, to users and operators: in status, conditions, labels
// and events of objects, and in the log.
//
// It promises to launch, disrupt and delete nothing, and to report what stays as it is once a day at
// most. Each report is a round of its own. It lists and does not watch, so that kinds whose definition
// is not installed, or is installed later, do no harm.
package status

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/observe"
)

// Reporter is what reports are made with.
type Reporter struct {
	Store  client.Client // reads what the watches have shown
	Live   client.Reader // reads past every cache
	Events interface{ Publish(observe.Event) }
	Log    *slog.Logger
	Now    func() time.Time
}

// warn publishes a warning about an object, once a day while it stays the same.
func (r *Reporter) warn(about runtime.Object, key, reason, text string) {
	r.Events.Publish(observe.Event{About: about, Key: key, Warning: true, Reason: reason, Message: text, DedupeFor: 24 * time.Hour})
}

// warnOnPod publishes a warning about a pod, that of this process; one that is not known here has none.
func (r *Reporter) warnOnPod(ctx context.Context, name types.NamespacedName, e observe.Event) {
	pod := &corev1.Pod{}
	if name.Name == "" || r.Store.Get(ctx, name, pod) != nil {
		return
	}
	e.About, e.Key, e.Warning = pod, "Pod/"+name.String(), true
	r.Events.Publish(e)
}

// write writes the status of an object that was as before. A conflict says that the cache is a moment behind: the next
// round writes it.
func (r *Reporter) write(ctx context.Context, next, before client.Object) error {
	err := r.Store.Status().Patch(ctx, next, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	if err == nil || apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return nil
	}
	return fmt.Errorf("write status of %s: %w", next.GetName(), err)
}

// becomes takes what holds now over what was seen last, and reports whether that is a change.
func becomes[T comparable](last *T, now T) bool {
	changed := *last != now
	*last = now
	return changed
}
