package garbagecollection

import (
	"context"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/observe"
)

const (
	// orphansMax and orphansShare are how many instances, and one in how many, may have
	// lost their claims at once: more have lost them by mistake.
	orphansMax   = 5
	orphansShare = 5
	// sayAgain is how long what the breaker holds is not said again.
	sayAgain = 10 * time.Minute
	// countFor is how long a count of nodes without claims is not made again: each of
	// many nodes asks.
	countFor = time.Second
)

type publisher interface{ Publish(observe.Event) }

// breaker is what the breaker holds, by the last round and by the last node that asked.
type breaker struct {
	mu     sync.Mutex
	pools  map[cluster.PoolID]string // what is said of nodes of theirs, by the last round
	any    bool                      // the last round held some
	holds  bool                      // by the round or the node that asked last
	saidAt time.Time                 // when that was logged

	countedAt time.Time
	lost, of  int
}

// holds reports whether the breaker holds so many orphans, of so many instances. It does
// where it cannot be read whether they may go.
func (c *Collector) holds(ctx context.Context, orphans, of int) (bool, error) {
	if orphans <= orphansMax && (orphans < 2 || orphans*orphansShare <= of) {
		return false, nil
	}
	return c.unconfirmed(ctx, orphans)
}

// unconfirmed reports whether no user has confirmed that so many instances may be terminated, or
// the confirmation cannot be read.
func (c *Collector) unconfirmed(ctx context.Context, instances int) (bool, error) {
	if c.Namespace == "" {
		return true, nil
	}
	confirmed := &corev1.ConfigMap{}
	err := c.Live.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: api.ConfigMapOrphans}, confirmed)
	if apierrors.IsNotFound(err) {
		return true, nil
	}
	if err != nil {
		return true, fmt.Errorf("read ConfigMap %s, which says how many instances without NodeClaim may go: %w",
			api.ConfigMapOrphans, err)
	}
	text := strings.TrimSpace(confirmed.Data[api.OrphansTerminate])
	n, err := strconv.Atoi(text)
	if err != nil {
		return true, fmt.Errorf("ConfigMap %s/%s: data.%s is %q; write how many instances without NodeClaim may go, such as %d", c.Namespace, api.ConfigMapOrphans, api.OrphansTerminate, text, instances)
	}
	return instances > n, nil
}

// HoldsDrain reports whether a node that no claim has, and that is being deleted, is not to be
// drained: Kubernetes' garbage collector deletes the nodes of claims that were lost, and
// then it is the drain that ends their instances. It counts as the round does, by nodes.
func (c *Collector) HoldsDrain(ctx context.Context, node *corev1.Node) (bool, error) {
	lost, of, err := c.count(ctx)
	if err != nil {
		return true, err
	}
	holds, err := c.holds(ctx, lost, of)
	c.recordHolds(holds)
	if !holds {
		return false, err
	}
	c.sayOf(node, heldText(c.Namespace, lost, of))
	c.held.mu.Lock()
	known := c.held.any
	c.held.mu.Unlock()
	if !known && c.Wake != nil {
		select {
		case c.Wake <- struct{}{}: // the next round says it of all
		default:
		}
	}
	return true, err
}

// Holds reports whether the breaker holds, as was found last.
func (c *Collector) Holds() bool {
	c.held.mu.Lock()
	defer c.held.mu.Unlock()
	return c.held.holds
}

func (c *Collector) recordHolds(holds bool) {
	c.held.mu.Lock()
	changed := c.held.holds != holds
	c.held.holds = holds
	c.held.mu.Unlock()
	if changed && c.Again != nil {
		c.Again()
	}
}

// count counts the nodes that pods may run on and that no claim has, and all nodes of ours.
func (c *Collector) count(ctx context.Context) (lost, of int, err error) {
	now := c.Now()
	c.held.mu.Lock()
	lost, of = c.held.lost, c.held.of
	fresh := !c.held.countedAt.IsZero() && now.Sub(c.held.countedAt).Abs() < countFor
	c.held.mu.Unlock()
	if fresh {
		return lost, of, nil
	}
	var nodes corev1.NodeList
	var claims karpv1.NodeClaimList
	for _, list := range []client.ObjectList{&nodes, &claims} {
		if err := c.Store.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil { // only read
			return 0, 0, fmt.Errorf("count nodes without NodeClaim: %w", err)
		}
	}
	claimed := map[string]bool{}
	for i := range claims.Items {
		claimed[claims.Items[i].Status.ProviderID], claimed[claims.Items[i].Annotations[api.AnnotationAdopt]] = true, true
	}
	lost, of = 0, 0
	for i := range nodes.Items {
		n := &nodes.Items[i]
		if n.Spec.ProviderID == "" || !controllerutil.ContainsFinalizer(n, api.FinalizerTermination) {
			continue
		}
		of++
		if !claimed[n.Spec.ProviderID] && !translate.HasTaint(n, api.TaintUnregistered) {
			lost++
		}
	}
	c.held.mu.Lock()
	defer c.held.mu.Unlock()
	c.held.lost, c.held.of, c.held.countedAt = lost, of, now
	return lost, of, nil
}

// Held is what is said of pools of which the breaker holds nodes.
func (c *Collector) Held() map[cluster.PoolID]string {
	c.held.mu.Lock()
	defer c.held.mu.Unlock()
	return maps.Clone(c.held.pools)
}

// recordHeld notes what the breaker holds, of so many instances, and says it, with the ways
// out; none: nothing is held.
func (c *Collector) recordHeld(standing []orphan, of int) {
	c.recordHolds(len(standing) > 0)
	c.Metrics.OrphansHeld.Set(float64(len(standing)))
	pools, text := map[cluster.PoolID]string{}, heldText(c.Namespace, len(standing), of)
	ids := make([]string, 0, orphansMax)
	for _, o := range standing {
		if len(ids) < orphansMax {
			ids = append(ids, o.ID)
		}
		if o.node != nil {
			pools[translate.PoolOfNode(o.node)] = text
			c.sayOf(o.node, text)
		}
	}
	now := c.Now()
	c.held.mu.Lock()
	c.held.pools, c.held.any = pools, len(standing) > 0
	c.held.mu.Unlock()
	if len(standing) > 0 && c.timeToSay(now) {
		c.Log.Error("instances without NodeClaim are held", "orphans", len(standing), "instances", of, "first", ids,
			"message", text)
	}
}

// sayOf says on a node that it is held.
func (c *Collector) sayOf(node *corev1.Node, text string) {
	c.Events.Publish(observe.Event{About: node, Key: "Node/" + node.Name, Warning: true, Reason: "OrphanHeld",
		Message: text, Topic: "orphans", DedupeFor: sayAgain})
}

// heldText says what is held, and the ways out.
func heldText(namespace string, orphans, of int) string {
	return fmt.Sprintf("%d of %d instances have no NodeClaim all at once, and are neither drained nor terminated: "+
		"were NodeClaims deleted by mistake, or is this a restored etcd? To keep nodes that are not being deleted run daemok adopt --yes; to have all drained and terminated: "+
		"kubectl -n %s create configmap %s --from-literal=%s=%d --dry-run=client -o yaml | kubectl apply -f -",
		orphans, of, namespace, api.ConfigMapOrphans, api.OrphansTerminate, orphans)
}
