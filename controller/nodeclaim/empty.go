package nodeclaim

import (
	"context"
	"errors"
	"fmt"
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

// RecordEmpty writes on nodes of pools that let empty ones go to the second since when
// they are empty, and takes it away where pods came or the pool does not ask for it any
// more. Nodes that leave are let alone. It returns when to look again.
func (r *Reconciler) RecordEmpty(ctx context.Context, known shown) (time.Duration, error) {
	s := known.Snapshot()
	var errs []error
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if n.Pool.Kind != translate.KindProvisioner || n.Deleting {
			continue
		}
		since := time.Time{}
		if pool, found := known.Pool(n.Pool); found && pool.Punctual && n.Initialized && disruption.IsEmpty(n) {
			if since = n.QuietSince; since.IsZero() {
				since = r.Now()
			}
		}
		if err := r.recordEmpty(ctx, n.Name, since); err != nil {
			errs = append(errs, err)
		}
	}
	return emptyEvery, errors.Join(errs...)
}

// recordEmpty has a node say since when it is empty; zero: it is not.
func (r *Reconciler) recordEmpty(ctx context.Context, name string, since time.Time) error {
	node, says := &corev1.Node{}, ""
	if !since.IsZero() {
		says = since.UTC().Format(time.RFC3339)
	}
	err := r.Store.Get(ctx, client.ObjectKey{Name: name}, node)
	if has, noted := node.Annotations[api.AnnotationEmptinessTimestamp]; err == nil && (has != says || noted != (says != "")) {
		after := node.DeepCopy()
		delete(after.Annotations, api.AnnotationEmptinessTimestamp)
		if says != "" {
			if after.Annotations == nil {
				after.Annotations = map[string]string{}
			}
			after.Annotations[api.AnnotationEmptinessTimestamp] = says
		}
		err = r.Store.Patch(ctx, after, client.MergeFrom(node))
		if err == nil && !noted && says != "" {
			r.Log.Info("Added TTL to empty node", "node", name) // in the words of its time
		}
	}
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("note on node %s since when it is empty: %w", name, err)
	}
	return nil
}
