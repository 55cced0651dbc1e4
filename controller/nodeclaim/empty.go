package nodeclaim

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/disruption"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/translate"
)

// emptyEvery is how soon nodes say that they are empty, or no longer. While the process
// runs the time is known exactly.
const emptyEvery = 2 * time.Second

// shown is what is known of nodes with their pods.
type shown interface {
	Snapshot() *cluster.Snapshot
	Pool(id cluster.PoolID) (translate.PoolObject, bool)
}

// Empty notes since when nodes are empty.
type Empty struct {
	Store client.Client
	Known shown
	Log   *slog.Logger
	Now   func() time.Time
}

// Round writes on nodes of pools that let empty ones go to the second since when
// they are empty, and takes it away where pods came or the pool does not ask for it any
// more. Nodes that leave are let alone. It returns when to look again.
func (e *Empty) Round(ctx context.Context) (time.Duration, error) {
	s := e.Known.Snapshot()
	var errs []error
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if n.Pool.Kind != translate.KindProvisioner || n.Deleting {
			continue
		}
		since := time.Time{}
		if pool, found := e.Known.Pool(n.Pool); found && pool.Punctual && n.Initialized && disruption.IsEmpty(n) {
			if since = n.QuietSince; since.IsZero() {
				since = e.Now()
			}
		}
		if err := e.note(ctx, n.Name, since); err != nil {
			errs = append(errs, err)
		}
	}
	return emptyEvery, errors.Join(errs...)
}

// note has a node say since when it is empty; zero: it is not.
func (e *Empty) note(ctx context.Context, name string, since time.Time) error {
	node, says := &corev1.Node{}, ""
	if !since.IsZero() {
		says = since.UTC().Format(time.RFC3339)
	}
	err := e.Store.Get(ctx, client.ObjectKey{Name: name}, node)
	if has, noted := node.Annotations[api.AnnotationEmptinessTimestamp]; err == nil && (has != says || noted != (says != "")) {
		after := node.DeepCopy()
		delete(after.Annotations, api.AnnotationEmptinessTimestamp)
		if says != "" {
			if after.Annotations == nil {
				after.Annotations = map[string]string{}
			}
			after.Annotations[api.AnnotationEmptinessTimestamp] = says
		}
		err = e.Store.Patch(ctx, after, client.MergeFrom(node))
		if err == nil && !noted && says != "" {
			e.Log.Info("Added TTL to empty node", "node", name) // in the words of its time
		}
	}
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("record on node %s since when it is empty: %w", name, err)
	}
	return nil
}
