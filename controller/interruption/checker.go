package interruption

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

const (
	checkEvery  = time.Minute
	deniedEvery = 10 * time.Minute
	// impairedFor is how long a check must fail before the instance is given up: what
	// passes by itself mostly does so in less.
	impairedFor = 2 * time.Minute
)

// Checker is the loop that asks the cloud for the status of instances. It needs no queue:
// it receives scheduled changes also where no rule forwards them.
type Checker struct {
	*Actor
	Checks cloud.Checks

	first    map[ailment]time.Time // when each was seen first; forgotten when the instance has recovered
	reported map[ailment]bool      // counted already
}

// ailment is what is wrong with an instance, whenever it began.
type ailment struct {
	instance string
	kind     cloud.TroubleKind
}

// Round asks once.
func (c *Checker) Round(ctx context.Context) (time.Duration, error) {
	troubles, err := c.Checks.Troubles(ctx)
	if refused, ok := errors.AsType[*cloud.RefusedError](err); ok {
		c.reportPools(ctx, refused.Reason, "status checks of its instances are not known: "+err.Error())
		return deniedEvery, err
	}
	if err != nil {
		return checkEvery, err
	}
	var list karpv1.NodeClaimList
	if len(troubles) > 0 {
		if err := c.Store.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil { // only read
			return checkEvery, fmt.Errorf("list claims to act on status checks: %w", err)
		}
	}
	claims, errs := known(list.Items), []error(nil)
	c.see(troubles)
	for _, t := range troubles {
		if claim := claims.of(t.InstanceID); claim != nil {
			errs = append(errs, c.heal(ctx, t, claim))
		}
	}
	return checkEvery, errors.Join(errs...)
}

// see remembers since when troubles are seen, and forgets those that are over.
func (c *Checker) see(troubles []cloud.Trouble) {
	first, reported := map[ailment]time.Time{}, map[ailment]bool{}
	for _, t := range troubles {
		a := ailment{t.InstanceID, t.Kind}
		first[a] = earliest(earliest(first[a], c.first[a]), earliest(t.Since, c.Now()))
		reported[a] = c.reported[a]
	}
	c.first, c.reported = first, reported
}

// heal lets a claim go whose instance fails, or will be changed. One that fails is not
// drained politely: its kubelet is not likely to answer, and what runs there to do
// anything.
func (c *Checker) heal(ctx context.Context, t cloud.Trouble, claim *karpv1.NodeClaim) error {
	a := ailment{t.InstanceID, t.Kind}
	fails := t.Kind == cloud.InstanceFails || t.Kind == cloud.SystemFails
	if fails && (c.Now().Sub(c.first[a]) < impairedFor || c.Doubt.Why() != "") {
		return nil
	}
	if !c.reported[a] && t.Kind != cloud.CapacityEnds { // that is no illness
		c.reported[a] = true
		c.Metrics.StatusUnhealthy.WithLabelValues(string(t.Kind)).Inc()
	}
	n := cloud.InterruptionMessage{Kind: cloud.Maintenance, InstanceID: t.InstanceID, At: c.Now(), EndsAt: t.StartsAt, Problem: t.What}
	switch {
	case fails:
		n.Kind = cloud.Impaired
	case t.Kind == cloud.CapacityEnds:
		n.Kind = cloud.ReservationInterrupted
	}
	f, step := &fate{}, c.letGo
	if claim.DeletionTimestamp != nil {
		step = c.hearOfLeaving
	}
	if err := step(ctx, n, claim, f); err != nil || !fails {
		return err
	}
	return c.hasten(ctx, claim)
}

// hasten ends the time that the drain of a claim has, unless that is said already. The
// claim is leaving by then: one that stays after all keeps its time.
func (c *Checker) hasten(ctx context.Context, claim *karpv1.NodeClaim) error {
	if claim.Annotations[api.AnnotationTerminationTimestamp] != "" {
		return nil
	}
	before := claim.DeepCopy()
	if claim.Annotations == nil {
		claim.Annotations = map[string]string{}
	}
	claim.Annotations[api.AnnotationTerminationTimestamp] = c.Now().UTC().Format(time.RFC3339)
	if err := c.Store.Patch(ctx, claim, client.MergeFrom(before)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("end the drain of claim %s, whose instance fails its status checks: %w", claim.Name, err)
	}
	return nil
}
