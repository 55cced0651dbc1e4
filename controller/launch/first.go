package launch

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/apiclock"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/observe"
)

// beginAfter is how old a claim is that says of what is to come that it is not known yet.
// Most have their instance by then, and that is written with what they say of it.
const beginAfter = 2 * time.Second

// askAgain is how often an instance is asked for until there is one: the
// launcher may have met an obstacle that no change of the claim shows.
const askAgain = 10 * time.Second

// adder is the part of the Launcher that Starter uses.
type adder interface {
	Add(name string)
	Nudge(name string)
}

// Starter is the part of the loop over claims that concerns those without an instance.
type Starter struct {
	Store    client.Client
	Launcher adder
	Events   publisher
	Metrics  *observe.Metrics
	Log      *slog.Logger
	Now      func() time.Time
	Doubt    apiclock.Doubt // of that time: no claim is given up meanwhile
}

// Launch asks for an instance, or gives the claim up when it has taken too long
// or was withdrawn. It returns how long to wait before the next look.
// A claim that a launch was tried for is the Launcher's to give up: it alone
// can say that no instance came of it.
func (s *Starter) Launch(ctx context.Context, c *karpv1.NodeClaim) (time.Duration, error) {
	left := launchFor - s.Now().Sub(c.CreationTimestamp.Time)
	_, tried := attemptOf(c)
	if translate.IsWithdrawn(c) && !tried {
		return 0, s.deleteWithdrawn(ctx, c)
	}
	if left <= 0 && !tried && s.Doubt.Why() == "" {
		return 0, s.giveUp(ctx, c)
	}
	s.Launcher.Add(c.Name)
	if translate.IsWithdrawn(c) {
		s.Launcher.Nudge(c.Name)
	}
	if soon := left - launchFor + beginAfter; soon > 0 {
		return soon, nil
	}
	before := c.DeepCopy()
	if condition.Begin(c, s.Now()) {
		if err := s.Store.Status().Patch(ctx, c, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
			return 0, fmt.Errorf("write first conditions of claim %s: %w", c.Name, err)
		}
	}
	if left <= 0 {
		return askAgain, nil
	}
	return min(left, askAgain), nil
}

// deleteWithdrawn deletes a withdrawn claim that no launch was tried for; if one was
// meanwhile, the Launcher deletes it.
func (s *Starter) deleteWithdrawn(ctx context.Context, c *karpv1.NodeClaim) error {
	if err := s.Store.Delete(ctx, c, asSeen(c)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete claim %s, which was withdrawn: %w", c.Name, err)
	}
	countDisrupted(s.Metrics, c, labelWithdrawn)
	s.Log.Info("deleted a withdrawn nodeclaim", "claim", c.Name, "pool", translate.PoolCalled(c.Labels), "reason", c.Annotations[api.AnnotationWithdrawn])
	return nil
}

// giveUp deletes a claim that no launch was tried for in time, as it was seen; one that changed
// meanwhile is looked at again.
func (s *Starter) giveUp(ctx context.Context, c *karpv1.NodeClaim) error {
	s.Events.Publish(observe.Event{About: c, Key: "NodeClaim/" + c.Name, Warning: true, Reason: reasonTooLate, Message: tooLate})
	s.Log.Warn("gave up a nodeclaim", "claim", c.Name, "pool", translate.PoolCalled(c.Labels), "reason", reasonTooLate, "message", tooLate)
	if err := s.Store.Delete(ctx, c, asSeen(c)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("give up claim %s (%s): %w", c.Name, reasonTooLate, err)
	}
	countDisrupted(s.Metrics, c, labelTooLate)
	return nil
}

func asSeen(c *karpv1.NodeClaim) client.Preconditions {
	return client.Preconditions{UID: &c.UID, ResourceVersion: &c.ResourceVersion}
}
