// Package idle reports objects that are accepted but have no effect yet.
//
// It promises one warning event on each such object, repeated once a day. It watches nothing, so that
// kinds whose definition is not installed do no harm.
package idle

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	autoscalingv1beta1 "github.com/daemok/daemok/kube/api/autoscaling/v1beta1"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha1"
	"github.com/daemok/daemok/observe"
)

const (
	checkEvery  = 30 * time.Second
	repeatEvery = 24 * time.Hour
)

// Reason is that of the events.
const Reason = "NotInEffect"

type publisher interface{ Publish(observe.Event) }

// Recorder looks for such objects.
type Recorder struct {
	Live   client.Reader // reads past every cache
	Events publisher
}

// kinds are the kinds that do nothing yet, and what their spec does not do.
func kinds() []kind {
	return []kind{
		{"NodeOverlay", &v1alpha1.NodeOverlayList{}, "prices and capacities of instance types stay as they are"},
		{"CapacityBuffer", &autoscalingv1beta1.CapacityBufferList{}, "no room is kept free"},
	}
}

type kind struct {
	name  string
	list  client.ObjectList
	lacks string
}

// Round looks once, and returns when to look again.
func (t *Recorder) Round(ctx context.Context) (time.Duration, error) {
	var errs []error
	for _, k := range kinds() {
		errs = append(errs, t.report(ctx, k))
	}
	return checkEvery, errors.Join(errs...)
}

func (t *Recorder) report(ctx context.Context, k kind) error {
	err := t.Live.List(ctx, k.list)
	if meta.IsNoMatchError(err) || runtime.IsNotRegisteredError(err) {
		return nil // not installed
	}
	if err != nil {
		return fmt.Errorf("list objects of kind %s: %w", k.name, err)
	}
	return meta.EachListItem(k.list, func(o runtime.Object) error {
		named, err := meta.Accessor(o)
		if err != nil {
			return fmt.Errorf("name an object of kind %s: %w", k.name, err)
		}
		t.Events.Publish(observe.Event{
			About: o, Key: k.name + "/" + named.GetNamespace() + "/" + named.GetName(), Warning: true, Reason: Reason,
			Message:   fmt.Sprintf("spec: a %s is accepted and does nothing yet: %s; docs/status.md says what works", k.name, k.lacks),
			DedupeFor: repeatEvery,
		})
		return nil
	})
}
