// Package collect finds what lost its other half: machines without a claim
// and claims without a machine, and lets them go.
//
// It promises never to touch a machine younger than a claim may need to be
// written, nor one of another cluster: the port lists only ours; to let no
// claim go because one list lacks its machine, since a cloud's lists may be
// behind; to have a node drained before its machine goes; and to hold everything
// where so many lost their claims at once that it was a mistake.
package collect

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
	youngFor = 30 * time.Second // a purchase may still be on its way to its claim
	// visibleAfter is when the cloud certainly lists a machine that it sold;
	// it takes seconds.
	visibleAfter = time.Minute
	EveryNew     = 10 * time.Second // right after the start, when a crash may have left something
	EveryUsed    = 2 * time.Minute
	newFor       = 3 * time.Minute // how long that is
	callsMax     = 256             // machines given back at once
)

// Collector is the loop. It reads claims past every cache, and before the
// machines, so that a claim made in between cannot look orphaned.
type Collector struct {
	Store    client.Client
	Live     client.Reader
	Machines cloud.Machines
	Log      *slog.Logger
	Metrics  *observe.Metrics
	Now      func() time.Time
	Doubt    apiclock.Doubt           // of that time: nothing is collected meanwhile
	Shifted  func(zoneID string) bool // tells of zones that work is shifted away from; nil: of none

	Events    publisher
	Namespace string                                  // where this process runs, and ConfigMap daemok-orphans is heard; empty: nowhere
	Again     func()                                  // told when the breaker begins to hold, or holds no more; nil: nobody is
	Going     func(ctx context.Context) (bool, error) // whether the definition of NodeClaims is being deleted; nil: it is not
	Wake      chan struct{}                           // has the next round come at once; nil: it comes in its time

	mu       sync.Mutex
	untagged map[string]bool // machines that were warned of, by ID

	held breaker

	began   time.Time          // of the first look
	missing map[types.UID]bool // claims whose machines the last look did not find
}

// Round looks once and returns how long to wait before the next look.
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

func (c *Collector) collect(ctx context.Context) error {
	asked := c.Now() // reading may take long: what is bought meanwhile is not in the answer
	claims, err := c.claims(ctx)
	if err != nil {
		return fmt.Errorf("list claims to collect orphans: %w", err)
	}
	machines, err := c.Machines.List(ctx, cloud.Filter{})
	if err != nil {
		return fmt.Errorf("list machines to collect orphans: %w", err)
	}
	var nodes corev1.NodeList
	if err := c.Store.List(ctx, &nodes, client.UnsafeDisableDeepCopy); err != nil { // only read
		return fmt.Errorf("list nodes to collect orphans: %w", err)
	}
	byProvider := map[string]*corev1.Node{}
	for i := range nodes.Items {
		byProvider[nodes.Items[i].Spec.ProviderID] = &nodes.Items[i]
	}
	return errors.Join(
		c.machinesWithoutClaim(ctx, asked, machines, claims, byProvider),
		c.claimsWithoutMachine(ctx, claims, machines, byProvider))
}

// claims are all NodeClaims, without what takes most memory and is not looked at.
func (c *Collector) claims(ctx context.Context) (all []karpv1.NodeClaim, err error) {
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

// machinesWithoutClaim gives back machines that no claim has nor waits for, as
// the claims were at some moment after they were asked for.
func (c *Collector) machinesWithoutClaim(ctx context.Context, asked time.Time, machines []cloud.Machine, claims []karpv1.NodeClaim, nodes map[string]*corev1.Node) error {
	claimed, batches := map[string]bool{}, map[string]bool{}
	for i := range claims {
		claimed[claims[i].Status.ProviderID], claimed[claims[i].Annotations[api.MarkAdopt]] = true, true
		if claims[i].Status.ProviderID == "" && claims[i].DeletionTimestamp == nil {
			batches[batchOf(&claims[i])] = true
		}
	}
	var orphans []orphan
	for _, m := range machines {
		awaited := m.Batch != "" && batches[m.Batch]
		if claimed[m.ProviderID] || awaited || m.State == cloud.ShuttingDown || asked.Sub(m.LaunchedAt) < youngFor {
			continue
		}
		orphans = append(orphans, orphan{m, nodes[m.ProviderID]})
	}
	return c.endAll(ctx, orphans, len(machines))
}

// claimsWithoutMachine lets claims go whose machine is ending, or which two looks in a
// row did not find, where their node does not say otherwise.
func (c *Collector) claimsWithoutMachine(ctx context.Context, claims []karpv1.NodeClaim, machines []cloud.Machine, nodes map[string]*corev1.Node) error {
	state := map[string]cloud.State{}
	for _, m := range machines {
		state[m.ProviderID] = m.State
	}
	before := c.missing
	c.missing = map[types.UID]bool{}
	var errs []error
	for i := range claims {
		claim := &claims[i]
		is, found := state[claim.Status.ProviderID]
		if found && is != cloud.ShuttingDown || !c.mayLose(claim, nodes[claim.Status.ProviderID]) {
			continue
		}
		if !found && !before[claim.UID] {
			c.missing[claim.UID] = true
			continue
		}
		c.Log.Info("letting a claim go whose machine has vanished", "claim", claim.Name, "providerID", claim.Status.ProviderID)
		if err := c.Store.Delete(ctx, claim, client.Preconditions{UID: &claim.UID}); client.IgnoreNotFound(err) != nil {
			if !found {
				c.missing[claim.UID] = true
			}
			errs = append(errs, fmt.Errorf("delete claim %s, whose machine has vanished: %w", claim.Name, err))
			continue
		}
		c.Metrics.Disrupted(observe.Disruption{
			Reason: "garbage_collected", Pool: translate.PoolCalled(claim.Labels), Option: claim.Labels[api.LabelCapacityType],
			Mode: translate.TerminationMode(claim), Node: claim.Status.NodeName,
		})
	}
	return errors.Join(errs...)
}

// mayLose reports whether the claim has a machine that would be listed, and whose node
// does not prove that it is there.
func (c *Collector) mayLose(claim *karpv1.NodeClaim, node *corev1.Node) bool {
	return claim.DeletionTimestamp == nil && claim.Status.ProviderID != "" && translate.IsListed(claim) && c.mustBeVisible(claim) && !c.inShiftedZone(claim) && (node == nil || !translate.IsReady(node))
}

// inShiftedZone reports whether the cloud may not tell of the claim's machine, since work
// is shifted away from its zone.
func (c *Collector) inShiftedZone(claim *karpv1.NodeClaim) bool {
	return c.Shifted != nil && c.Shifted(claim.Labels[api.LabelZoneID])
}

// mustBeVisible reports whether a claim has had its machine for so long that
// the cloud would list it if it were still there. A machine that was taken
// back while it booted is noticed so, long before its node is overdue.
func (c *Collector) mustBeVisible(claim *karpv1.NodeClaim) bool {
	if condition.IsTrue(claim, karpv1.ClaimRegistered) {
		return true
	}
	launched := condition.Get(claim, karpv1.ClaimLaunched)
	return launched != nil && launched.Status == metav1.ConditionTrue && c.Now().Sub(launched.LastTransitionTime.Time) >= visibleAfter
}

// batchOf is the purchase that a claim takes part in.
func batchOf(c *karpv1.NodeClaim) string {
	batch, _, _ := strings.Cut(c.Annotations[api.MarkLaunchAttempt], "/")
	return batch
}
