// Package garbagecollection removes instances without a NodeClaim, and NodeClaims without an instance.
//
// It promises never to touch an instance that is so young that its NodeClaim may not be written yet,
// nor one of another cluster, because the port lists only ours. It deletes no NodeClaim because one
// list lacks its instance, since a cloud's lists may be out of date. It has a node drained before its
// instance terminates. If so many instances lost their NodeClaims at once that it must be a mistake,
// it holds all of them.
package garbagecollection

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/apiclock"
	"github.com/daemok/daemok/kube/pages"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/observe"
)

const (
	youngFor = 30 * time.Second // a launch may still be on its way to its claim
	// visibleAfter is when the cloud certainly lists an instance that it offered; it takes
	// seconds.
	visibleAfter = time.Minute
	EveryNew     = 10 * time.Second // right after the start, when a crash may have left something
	EveryUsed    = 2 * time.Minute
	newFor       = 3 * time.Minute // how long that is
	callsMax     = 256             // instances terminated at once
)

// Collector is the loop. It acts by claims read past every cache, and before the instances,
// so that a claim made in between cannot look orphaned.
type Collector struct {
	Store     client.Client
	Live      client.Reader
	Instances cloud.Instances
	Log       *slog.Logger
	Metrics   *observe.Metrics
	Now       func() time.Time
	Doubt     apiclock.Doubt           // of that time: nothing is collected meanwhile
	Shifted   func(zoneID string) bool // reports zones that work is shifted away from; nil: of none

	Events    publisher
	Namespace string // where this process runs, and ConfigMap daemok-orphans is heard; empty: nowhere
	Again     func() // called when the breaker begins to hold, or holds no more; may be nil
	Going     func(ctx context.Context) (bool,
		error) // whether the definition of NodeClaims is being deleted; nil: it is not
	Wake chan struct{} // has the next round come at once; nil: it comes in its time

	mu       sync.Mutex
	untagged map[string]bool // instances that were warned of, by ID

	held breaker

	began   time.Time          // of the first check
	missing map[types.UID]bool // claims whose instances the last check did not find
}

// Round checks once and returns how long to wait before the next check.
func (c *Collector) Round(ctx context.Context) (time.Duration, error) {
	if c.Doubt.Why() != "" {
		return EveryNew, nil // by this clock everything is too old
	}
	if c.began.IsZero() {
		c.began = c.Now()
	}
	if err := c.collect(ctx); err != nil {
		return EveryNew, err
	}
	if c.Now().Sub(c.began) < newFor || len(c.missing) > 0 {
		return EveryNew, nil
	}
	return EveryUsed, nil
}

// collect checks by the cache first, where nearly always nothing has lost its other half, and acts by what the
// API server has.
func (c *Collector) collect(ctx context.Context) error {
	seen, err := c.look(ctx, c.cached)
	if err == nil && len(seen.orphans)+len(seen.unfound) > 0 {
		seen, err = c.look(ctx, c.live)
	}
	if err != nil {
		return err
	}
	return errors.Join(c.endAll(ctx, seen.orphans, seen.instances), c.letGo(ctx, seen))
}

// sight is what one check finds.
type sight struct {
	instances int // all that there are
	orphans   []orphan
	unfound   []*karpv1.NodeClaim // whose instances are ending or not listed; only read
	ending    map[types.UID]bool  // of those: the ones whose instances are
}

func (c *Collector) look(ctx context.Context, read func(context.Context) ([]karpv1.NodeClaim, error)) (sight, error) {
	asked := c.Now() // reading may take long: what is launched meanwhile is not in the answer
	claims, err := read(ctx)
	if err != nil {
		return sight{}, fmt.Errorf("list claims to collect orphans: %w", err)
	}
	instances, err := c.Instances.List(ctx, cloud.Filter{})
	if err != nil {
		return sight{}, fmt.Errorf("list instances to collect orphans: %w", err)
	}
	var nodes corev1.NodeList
	if err := c.Store.List(ctx, &nodes, client.UnsafeDisableDeepCopy); err != nil { // only read
		return sight{}, fmt.Errorf("list nodes to collect orphans: %w", err)
	}
	byProvider := map[string]*corev1.Node{}
	for i := range nodes.Items {
		byProvider[nodes.Items[i].Spec.ProviderID] = &nodes.Items[i]
	}
	out := sight{instances: len(instances), orphans: instancesWithoutClaim(asked, instances, claims, byProvider)}
	out.unfound, out.ending = c.claimsWithoutInstance(claims, instances, byProvider)
	return out, nil
}

// cached are all NodeClaims as this process knows them, only to be read.
func (c *Collector) cached(ctx context.Context) ([]karpv1.NodeClaim, error) {
	var list karpv1.NodeClaimList
	err := c.Store.List(ctx, &list, client.UnsafeDisableDeepCopy)
	return list.Items, err
}

// live are all NodeClaims as the API server has them, without what takes most memory and is not checked.
func (c *Collector) live(ctx context.Context) (all []karpv1.NodeClaim, err error) {
	err = pages.Each(ctx, c.Live, &karpv1.NodeClaimList{}, func(l *karpv1.NodeClaimList) {
		for i := range l.Items {
			claim := l.Items[i]
			claim.ManagedFields = nil
			claim.Spec = karpv1.NodeClaimSpec{TerminationGracePeriod: claim.Spec.TerminationGracePeriod}
			claim.Status.Capacity, claim.Status.Allocatable = nil, nil
			all = append(all, claim)
		}
	})
	return all, err
}

// instancesWithoutClaim are those that no claim has nor waits for, as
// the claims were at some moment after they were asked for.
func instancesWithoutClaim(asked time.Time, instances []cloud.Instance, claims []karpv1.NodeClaim,
	nodes map[string]*corev1.Node) (orphans []orphan) {
	claimed, batches := map[string]bool{}, map[string]bool{}
	for i := range claims {
		claimed[claims[i].Status.ProviderID], claimed[claims[i].Annotations[api.AnnotationAdopt]] = true, true
		if claims[i].Status.ProviderID == "" && claims[i].DeletionTimestamp == nil {
			batches[batchOf(&claims[i])] = true
		}
	}
	for _, m := range instances {
		awaited := m.Batch != "" && batches[m.Batch]
		if claimed[m.ProviderID] || awaited || m.State == cloud.ShuttingDown || asked.Sub(m.LaunchedAt) < youngFor {
			continue
		}
		orphans = append(orphans, orphan{m, nodes[m.ProviderID]})
	}
	return orphans
}

// claimsWithoutInstance are those whose instance is ending, or not listed, where their node does not say
// otherwise.
func (c *Collector) claimsWithoutInstance(claims []karpv1.NodeClaim, instances []cloud.Instance,
	nodes map[string]*corev1.Node) (unfound []*karpv1.NodeClaim, ending map[types.UID]bool) {
	state := map[string]cloud.State{}
	for _, m := range instances {
		state[m.ProviderID] = m.State
	}
	ending = map[types.UID]bool{}
	for i := range claims {
		claim := &claims[i]
		is, found := state[claim.Status.ProviderID]
		if found && is != cloud.ShuttingDown || !c.mayLose(claim, nodes[claim.Status.ProviderID]) {
			continue
		}
		unfound = append(unfound, claim)
		if found {
			ending[claim.UID] = true
		}
	}
	return unfound, ending
}

// letGo deletes claims whose instance is ending, or which two checks in a row did not find.
func (c *Collector) letGo(ctx context.Context, seen sight) error {
	before := c.missing
	c.missing = map[types.UID]bool{}
	var errs []error
	for _, claim := range seen.unfound {
		found := seen.ending[claim.UID]
		if !found && !before[claim.UID] {
			c.missing[claim.UID] = true
			continue
		}
		c.Log.Info("deleting a nodeclaim whose instance is gone", "claim", claim.Name, "providerID",
			claim.Status.ProviderID)
		if err := c.Store.Delete(ctx, claim, client.Preconditions{UID: &claim.UID}); client.IgnoreNotFound(err) != nil {
			if !found {
				c.missing[claim.UID] = true
			}
			errs = append(errs, fmt.Errorf("delete claim %s, whose instance is gone: %w", claim.Name, err))
			continue
		}
		c.Metrics.Disrupted(observe.Disruption{
			Reason: "garbage_collected", Pool: translate.PoolCalled(claim.Labels), Option: claim.Labels[api.LabelCapacityType],
			Mode: translate.TerminationMode(claim), Node: claim.Status.NodeName,
		})
	}
	return errors.Join(errs...)
}

// mayLose reports whether the claim has an instance that would be listed, and whose node
// does not prove that it is there.
func (c *Collector) mayLose(claim *karpv1.NodeClaim, node *corev1.Node) bool {
	return claim.DeletionTimestamp == nil && claim.Status.ProviderID != "" && translate.IsListed(claim) && c.mustBeVisible(claim) && !c.inShiftedZone(claim) && (node == nil || !translate.IsReady(node))
}

// inShiftedZone reports whether the cloud may not list the claim's instance, since work is
// shifted away from its zone.
func (c *Collector) inShiftedZone(claim *karpv1.NodeClaim) bool {
	return c.Shifted != nil && c.Shifted(claim.Labels[api.LabelZoneID])
}

// mustBeVisible reports whether a claim has had its instance for so long that the cloud
// would list it if it were still there. An instance that was taken back while it booted is
// noticed so, long before its node is overdue.
func (c *Collector) mustBeVisible(claim *karpv1.NodeClaim) bool {
	if condition.IsTrue(claim, karpv1.ClaimRegistered) {
		return true
	}
	launched := condition.Get(claim, karpv1.ClaimLaunched)
	return launched != nil && launched.Status == metav1.ConditionTrue && c.Now().Sub(launched.LastTransitionTime.Time) >= visibleAfter
}

// batchOf is the launch that a claim takes part in.
func batchOf(c *karpv1.NodeClaim) string {
	batch, _, _ := strings.Cut(c.Annotations[api.AnnotationLaunchAttempt], "/")
	return batch
}
