package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/controller"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/floor"
	"github.com/daemok/daemok/internal/version"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/observe/record"
	"github.com/daemok/daemok/ui/status"
	"github.com/daemok/daemok/ui/text"
	"github.com/daemok/daemok/ui/view"
)

const (
	// statusEvery is how often the status is written where something has changed.
	statusEvery = 10 * time.Second
	// statusLasts is how old it may get where nothing has: who reads it sees that the controller is alive.
	statusLasts = time.Minute
	// boundEvery is how often the lower bound is computed for it, which takes longer than all the rest.
	boundEvery = time.Minute
)

// screen is what this process knows, as screens show it.
type screen struct {
	snapshot func() *cluster.Snapshot
	record   *record.Record
	pod      string
	now      func() time.Time

	bounded time.Time
	bound   float64
}

// view is the view of this moment. It is not safe for concurrent use.
func (s *screen) view() view.Cluster {
	snapshot, now := s.snapshot(), s.now()
	if now.Sub(s.bounded) >= boundEvery {
		s.bounded, s.bound = now, floor.Cluster(snapshot)
	}
	said, _ := s.record.Statements(time.Time{})
	return view.Of(view.Input{
		Snapshot: snapshot, Offers: true, Statements: said, Bound: s.bound,
		Controller: &view.Controller{Standing: view.Acting, Leader: s.pod, Renewed: now, Version: version.Get().Version, Record: now},
	})
}

// statusWriter writes the screen of daemok status into a ConfigMap, for kubectl.
type statusWriter struct {
	screen
	store     client.Client
	namespace string

	revision, changes uint64 // what was written last
	written           time.Time
}

// Round writes once, if something has changed.
func (w *statusWriter) Round(ctx context.Context) (time.Duration, error) {
	revision, changes, now := w.snapshot().Revision, w.record.Changes(), w.now()
	if revision == w.revision && changes == w.changes && now.Sub(w.written) < statusLasts {
		return statusEvery, nil
	}
	seen := w.view()
	var screen bytes.Buffer
	if err := status.Write(text.New(&screen), &seen, false); err != nil {
		return statusEvery, err
	}
	if err := w.write(ctx, map[string]string{"status": screen.String(), "time": now.UTC().Format(time.RFC3339)}); err != nil {
		return statusLasts, fmt.Errorf("write ConfigMap %s/%s: %w", w.namespace, api.ConfigMapStatus, err)
	}
	w.revision, w.changes, w.written = revision, changes, now
	return statusEvery, nil
}

func (w *statusWriter) write(ctx context.Context, data map[string]string) error {
	c := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: api.ConfigMapStatus}}
	patch, err := json.Marshal(map[string]any{"data": data})
	if err != nil {
		return err
	}
	err = w.store.Patch(ctx, c, client.RawPatch(types.MergePatchType, patch))
	if apierrors.IsNotFound(err) {
		c.Data = data
		err = w.store.Create(ctx, c)
	}
	return err
}

// writeStatus is the round that writes the status.
func (p *parts) writeStatus() controller.Round {
	w := &statusWriter{store: p.manager.GetClient(), namespace: ownNamespace(), screen: screen{
		snapshot: p.clusterState.Snapshot, record: p.record, pod: ownPod(), now: p.clock.Now,
	}}
	return controller.Round{What: "write the status for kubectl", Do: w.Round}
}
