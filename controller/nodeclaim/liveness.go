package nodeclaim

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/observe"
)

// registerFor is how long a claim may take from its launch to its node before it is replaced.
const registerFor = 15 * time.Minute

// lateAfter is how long most images take to boot and join at most; past it a claim
// says what may be wrong.
const lateAfter = 2 * time.Minute

// doubtAgain is how soon an instance that seems overdue by a clock that may be wrong is checked again.
const doubtAgain = 10 * time.Second

// boots is how long ago the instance was launched.
func boots(c *karpv1.NodeClaim, now time.Time) time.Duration {
	since := c.CreationTimestamp.Time
	if launched := condition.Get(c, karpv1.ClaimLaunched); launched != nil && launched.LastTransitionTime.After(since) {
		since = launched.LastTransitionTime.Time
	}
	return now.Sub(since)
}

// causes are what usually keeps an instance out of a cluster.
const causes = "likely causes: its node role is not mapped (EKS access entry of type EC2_LINUX, or aws-auth), " +
	"its security groups or subnet do not reach the API server, or its user data is wrong (see the instance's console log)"

// missing says that there is no node for the instance, and why that may be once it
// takes longer than instances usually take to boot.
func missing(c *karpv1.NodeClaim, now time.Time) string {
	if boots(c, now) < lateAfter {
		return fmt.Sprintf("no node has joined the cluster for instance %s yet; %v after its launch it is replaced",
			c.Status.ProviderID, registerFor)
	}
	return fmt.Sprintf("no node has joined the cluster for instance %s in %v; %v after its launch it is replaced. "+
		"If its image does not always take as long, %s",
		c.Status.ProviderID, lateAfter, registerFor, causes)
}

// dismissal gives up claims whose instance is of no use.
type dismissal struct {
	store   client.Client
	events  publisher
	metrics *observe.Metrics
	log     *slog.Logger
	health  func(c *karpv1.NodeClaim, registered bool)
}

// replace deletes the claim as it was seen, so that another is launched for pods that need one; a claim
// that changed meanwhile is looked at again.
func (r dismissal) replace(ctx context.Context, c *karpv1.NodeClaim, label, reason, text string) error {
	if r.health != nil {
		r.health(c, false)
	}
	r.events.Publish(observe.Event{About: c, Key: "NodeClaim/" + c.Name, Warning: true, Reason: reason, Message: text})
	r.log.Warn("gave up a nodeclaim", "claim", c.Name, "pool", translate.PoolCalled(c.Labels), "reason", reason,
		"message", text)
	asSeen := client.Preconditions{UID: &c.UID, ResourceVersion: &c.ResourceVersion}
	if err := r.store.Delete(ctx, c, asSeen); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("give up claim %s (%s): %w", c.Name, reason, err)
	}
	r.metrics.Disrupted(observe.Disruption{Reason: label, Pool: translate.PoolCalled(c.Labels),
		Option: c.Labels[api.LabelCapacityType], Mode: translate.TerminationMode(c), Node: c.Status.NodeName})
	return nil
}
