package collect

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/observe"
)

const (
	// bootsFor is how long an instance may be on its way without a node; a launch that
	// nobody waits for any more is no older.
	bootsFor = 20 * time.Minute
	// silentFor is after how long without a word from its kubelet a node is not drained
	// any more: its pods could hold the instance for ever.
	silentFor = 10 * time.Minute
	// orphansMax and orphansShare are how many instances, and one in how many, may have
	// lost their claims at once: more have lost them by mistake.
	orphansMax   = 5
	orphansShare = 5
	// sayAgain is how long what the breaker holds is not said again.
	sayAgain = 10 * time.Minute
)

type publisher interface{ Publish(observe.Event) }

// orphan is an instance that no claim has, with its node; nil: it has none.
type orphan struct {
	cloud.Machine
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

// leaves reports whether the node is being deleted, which cannot be taken back: its
// drain goes on, and ends the instance.
func (o orphan) leaves() bool { return o.node != nil && o.node.DeletionTimestamp != nil }

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

// endAll lets orphans go, unless so many stand at once that their claims were lost by
// mistake: then these stay until somebody has said what is to become of them.
func (c *Collector) endAll(ctx context.Context, orphans []orphan, of int) error {
	now := c.Now()
	var standing []orphan
	for _, o := range orphans {
		if o.standing(now) {
			standing = append(standing, o)
		}
	}
	held, err := c.holds(ctx, len(standing), of)
	count := 0
	if held {
		count = c.sayHeld(standing, of)
		orphans = slices.DeleteFunc(orphans, func(o orphan) bool { return o.standing(now) })
	}
	c.Metrics.OrphansHeld.Set(float64(count))
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

// holds reports whether the breaker holds so many orphans, of so many instances. It does
// where it cannot be read whether they may go.
func (c *Collector) holds(ctx context.Context, orphans, of int) (bool, error) {
	if orphans <= orphansMax && (orphans < 2 || orphans*orphansShare <= of) {
		return false, nil
	}
	if c.Namespace == "" {
		return true, nil
	}
	confirmed := &corev1.ConfigMap{}
	err := c.Live.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: api.ConfigMapOrphans}, confirmed)
	if apierrors.IsNotFound(err) {
		return true, nil
	}
	if err != nil {
		return true, fmt.Errorf("read ConfigMap %s, which says how many instances without NodeClaim may go: %w", api.ConfigMapOrphans, err)
	}
	text := strings.TrimSpace(confirmed.Data[api.OrphansTerminate])
	n, err := strconv.Atoi(text)
	if err != nil {
		return true, fmt.Errorf("ConfigMap %s/%s: data.%s is %q; write how many instances without NodeClaim may go, such as %d", c.Namespace, api.ConfigMapOrphans, api.OrphansTerminate, text, orphans)
	}
	return orphans > n, nil
}

// sayHeld says what the breaker holds, and the ways out. It returns how many these are.
func (c *Collector) sayHeld(standing []orphan, of int) int {
	stay := slices.DeleteFunc(slices.Clone(standing), orphan.leaves)
	if len(stay) == 0 {
		return 0
	}
	way := fmt.Sprintf("to keep their nodes run daemok adopt --yes; to have them drained and terminated: "+
		"kubectl -n %s create configmap %s --from-literal=%s=%d --dry-run=client -o yaml | kubectl apply -f -",
		c.Namespace, api.ConfigMapOrphans, api.OrphansTerminate, len(standing))
	text := fmt.Sprintf("%d of %d instances have no NodeClaim all at once, and %d whose nodes are not being deleted are not terminated: "+
		"were NodeClaims deleted by mistake, or is this a restored etcd? %s", len(standing), of, len(stay), way)
	for _, o := range stay {
		if o.node != nil {
			c.Events.Publish(observe.Event{About: o.node, Key: "Node/" + o.node.Name, Warning: true, Reason: "OrphanHeld", Message: text, Topic: "orphans", DedupeFor: sayAgain})
		}
	}
	if now := c.Now(); now.Sub(c.saidHeldAt) >= sayAgain {
		c.saidHeldAt = now
		ids := make([]string, 0, orphansMax)
		for _, o := range stay[:min(len(stay), orphansMax)] {
			ids = append(ids, o.ID)
		}
		c.Log.Error("instances without NodeClaim are held", "orphans", len(stay), "instances", of, "first", ids, "message", way)
	}
	return len(stay)
}

// end lets an orphan go: by way of deleting its node, whose drain heeds PDBs and
// do-not-disrupt and then terminates the instance, or at once where there is nothing to
// drain.
func (c *Collector) end(ctx context.Context, o orphan) error {
	if o.node != nil && !o.isSilent(c.Now()) {
		return c.drain(ctx, o)
	}
	c.warnOfUntagged(o)
	c.Log.Info("giving back a machine that no claim asks for", "machine", o.ID, "type", o.Kind, "zone", o.Zone)
	if _, err := c.Machines.Terminate(ctx, o.ID); cloud.IsNotVisible(err) {
		return nil // the next look finds it again
	} else if err != nil {
		c.Metrics.EndFailures.WithLabelValues(o.Zone, o.ZoneID).Inc()
		return fmt.Errorf("give back orphan %s: %w", o.ID, err)
	}
	if o.node == nil || o.node.DeletionTimestamp != nil {
		return nil
	}
	return c.deleteNode(ctx, o.node, o.ID)
}

// warnOfUntagged warns, once of each, of an orphan that another cluster of the same name
// may have launched: before there was the tag that tells them apart.
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
		"machine", o.ID, "tag", api.TagClusterUID)
}

// drain has the drain loop see to an orphan's node. One that is being deleted has it do so
// already, or is held by somebody else's finalizer.
func (c *Collector) drain(ctx context.Context, o orphan) error {
	if o.node.DeletionTimestamp != nil {
		return nil
	}
	c.warnOfUntagged(o)
	node := o.node.DeepCopy()
	if controllerutil.AddFinalizer(node, api.FinalizerTermination) {
		if err := c.Store.Patch(ctx, node, client.MergeFromWithOptions(o.node, client.MergeFromWithOptimisticLock{})); err != nil {
			return fmt.Errorf("have node %s of orphan %s drained: %w", node.Name, o.ID, err)
		}
	}
	c.Log.Info("draining a node that no claim has", "node", node.Name, "machine", o.ID, "type", o.Kind, "zone", o.Zone, "ready", translate.IsReady(node))
	return c.deleteNode(ctx, node, o.ID)
}

// deleteNode deletes the node that was seen, not one that has its name by now.
func (c *Collector) deleteNode(ctx context.Context, node *corev1.Node, id string) error {
	if err := c.Store.Delete(ctx, node, client.Preconditions{UID: &node.UID, ResourceVersion: &node.ResourceVersion}); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete node %s of orphan %s: %w", node.Name, id, err)
	}
	return nil
}
