package garbagecollection

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/translate"
)

const (
	// bootsFor is how long an instance may be on its way without a node; a launch that is
	// not waited for any more is no older.
	bootsFor = 20 * time.Minute
	// silentFor is after how long without a word from its kubelet a node is not drained
	// any more: its pods could hold the instance for ever.
	silentFor = 10 * time.Minute
)

// orphan is an instance that no claim has, with its node; nil: it has none.
type orphan struct {
	cloud.Instance
	node *corev1.Node
}

// standing reports whether pods may run on the instance, so that a mistake would cost
// more than money.
func (o orphan) standing(now time.Time) bool {
	if o.node != nil {
		return !translate.HasTaint(o.node, api.TaintUnregistered) // which keeps pods off until it has registered
	}
	return now.Sub(o.LaunchedAt) >= bootsFor
}

// isSilent reports whether the node has not been heard of for long.
func (o orphan) isSilent(now time.Time) bool {
	since := o.node.CreationTimestamp.Time
	for _, c := range o.node.Status.Conditions {
		if c.Type == corev1.NodeReady && c.LastTransitionTime.After(since) {
			since = c.LastTransitionTime.Time
		}
	}
	return !translate.IsReady(o.node) && now.Sub(since) >= silentFor
}

// endAll terminates orphans, unless so many stand at once that their claims were lost by
// mistake: then these stay until a user has said what is to become of them.
func (c *Collector) endAll(ctx context.Context, orphans []orphan, of int) error {
	now := c.Now()
	var standing []orphan
	for _, o := range orphans {
		if o.standing(now) {
			standing = append(standing, o)
		}
	}
	held, err := c.holds(ctx, len(standing), of)
	if held {
		orphans = slices.DeleteFunc(orphans, func(o orphan) bool { return o.standing(now) })
	} else {
		standing = nil
	}
	c.recordHeld(standing, of)
	errs := make([]error, len(orphans))
	var calls errgroup.Group
	calls.SetLimit(callsMax)
	for i, o := range orphans {
		calls.Go(func() error {
			errs[i] = c.end(ctx, o)
			return nil
		})
	}
	calls.Wait() //nolint:errcheck // all of them are joined below
	return errors.Join(append(errs, err)...)
}

// end terminates an orphan: by way of deleting its node, whose drain respects PDBs and
// do-not-disrupt and then terminates the instance, or at once where there is nothing to
// drain.
func (c *Collector) end(ctx context.Context, o orphan) error {
	if o.node != nil && !o.isSilent(c.Now()) {
		return c.drain(ctx, o)
	}
	c.warnOfUntagged(o)
	c.Log.Info("terminating an instance without nodeclaim", "instance", o.ID, "type", o.Kind, "zone", o.Zone)
	if _, err := c.Instances.Terminate(ctx, o.ID); cloud.IsNotVisible(err) {
		return nil // the next check finds it again
	} else if err != nil {
		c.Metrics.EndFailures.WithLabelValues(o.Zone, o.ZoneID).Inc()
		return fmt.Errorf("terminate orphan %s: %w", o.ID, err)
	}
	if o.node == nil || o.node.DeletionTimestamp != nil {
		return nil
	}
	return c.deleteNode(ctx, o.node, o.ID)
}

// warnOfUntagged warns, once of each, of an orphan that another cluster of the same name
// may have launched: before there was the tag that distinguishes them.
func (c *Collector) warnOfUntagged(o orphan) {
	if o.Tags[api.TagClusterUID] != "" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.untagged[o.ID] {
		return
	}
	if c.untagged == nil {
		c.untagged = map[string]bool{}
	}
	c.untagged[o.ID] = true
	c.Log.Warn("an instance that no claim has carries no tag of this cluster's UID, and goes by the cluster's name alone: give clusters of an account names of their own",
		"instance", o.ID, "tag", api.TagClusterUID)
}

// drain has the drain loop see to an orphan's node. One that is being deleted has it do so
// already, or is held by another writer's finalizer.
func (c *Collector) drain(ctx context.Context, o orphan) error {
	if o.node.DeletionTimestamp != nil {
		return nil
	}
	c.warnOfUntagged(o)
	node := o.node.DeepCopy()
	if controllerutil.AddFinalizer(node, api.FinalizerTermination) {
		if err := c.Store.Patch(ctx, node,
			client.MergeFromWithOptions(o.node, client.MergeFromWithOptimisticLock{})); err != nil {
			return fmt.Errorf("have node %s of orphan %s drained: %w", node.Name, o.ID, err)
		}
	}
	c.Log.Info("draining a node without nodeclaim", "node", node.Name, "instance", o.ID, "type", o.Kind, "zone",
		o.Zone, "ready", translate.IsReady(node))
	return c.deleteNode(ctx, node, o.ID)
}

// deleteNode deletes the node that was seen, not one that has its name by now.
func (c *Collector) deleteNode(ctx context.Context, node *corev1.Node, id string) error {
	if err := c.Store.Delete(ctx, node,
		client.Preconditions{UID: &node.UID,
			ResourceVersion: &node.ResourceVersion}); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete node %s of orphan %s: %w", node.Name, id, err)
	}
	return nil
}
