package interruption

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/apiclock"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/observe"
)

// Actor does what follows from what the cloud says, whether Reader or Checker has received
// it.
type Actor struct {
	Shortages cloud.Shortages
	Store     client.Client
	Serves    translate.Generations
	Events    publisher
	Metrics   *observe.Metrics
	Log       *slog.Logger
	Now       func() time.Time
	Doubt     apiclock.Doubt // of that time: no instance has failed for too long meanwhile

	advised pace
}

// consequence is what follows from a kind of interruption message, beside that the claim is
// deleted.
type consequence struct {
	reason  string // of the event
	message string
	short   bool // the cloud has too few such instances: none is launched for a while
}

// consequences are those of the kinds that announce an end.
var consequences = map[cloud.InterruptionMessageKind]consequence{
	cloud.Interrupted:            {"SpotInterrupted", "Spot interruption warning was received", true},
	cloud.Maintenance:            {"InstanceUnhealthy", "A scheduled change of the instance was announced", false},
	cloud.Impaired:               {"InstanceUnhealthy", "Status checks of the instance fail", false},
	cloud.HasStopped:             {"InstanceStopping", "Instance is stopping", false},
	cloud.Terminated:             {"InstanceTerminating", "Instance is terminating", false},
	cloud.ReservationInterrupted: {"CapacityReservationInstanceInterrupted", "The capacity reserved for the instance is taken back", true},
}

// fate is what was done to a claim here, which the watches may not show yet.
type fate struct {
	leaves bool
	endsAt time.Time         // as it was noted; zero: it is not known
	claim  *karpv1.NodeClaim // as it is known, and as it was written meanwhile
}

// follow does what follows from an interruption message about a claim's instance. The
// offering is remembered to be short first, so that no plan launches it in the instance's
// place.
func (r *Actor) follow(ctx context.Context, n cloud.InterruptionMessage, claims owners, f *fate) error {
	c, leaves := f.claim, f.leaves
	leaves = leaves || c.DeletionTimestamp != nil
	switch {
	case n.Kind == cloud.Rebalance && leaves:
		return nil
	case n.Kind == cloud.Rebalance:
		return r.advise(ctx, c, claims.ofPool[translate.PoolOf(c)])
	case leaves:
		return r.hearOfLeaving(ctx, n, c, f)
	}
	return r.letGo(ctx, n, c, f)
}

// hearOfLeaving does what follows for a claim that leaves already. Where the cloud has too
// few such instances, that counts all the same, and is reported where it is new.
func (r *Actor) hearOfLeaving(ctx context.Context, n cloud.InterruptionMessage, c *karpv1.NodeClaim, f *fate) error {
	what := consequences[n.Kind]
	news := what.short && !f.leaves && translate.EndsAt(c).IsZero()
	if what.short {
		r.short(c)
	}
	if err := r.recordEnd(ctx, n, c, f); err != nil {
		return err
	}
	if news {
		r.report(c, what.reason, messageOf(n))
	}
	return nil
}

// messageOf is what an interruption message of an end says, in a user's words.
func messageOf(n cloud.InterruptionMessage) string {
	message := consequences[n.Kind].message
	if n.Problem != "" {
		message += " (" + n.Problem + ")"
	}
	if !n.EndsAt.IsZero() {
		message += ": it ends at " + n.EndsAt.UTC().Format(time.RFC3339)
	}
	return message
}

// letGo lets a claim go whose instance ends.
func (r *Actor) letGo(ctx context.Context, n cloud.InterruptionMessage, c *karpv1.NodeClaim, f *fate) error {
	what, message := consequences[n.Kind], messageOf(n)
	if what.short {
		r.short(c)
	}
	if err := r.recordEnd(ctx, n, c, f); err != nil {
		return err
	}
	if err := r.Store.Delete(ctx, c, client.Preconditions{UID: &c.UID}); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete claim %s after interruption message %s: %w", c.Name, n.Kind, err)
	}
	f.leaves = true
	r.report(c, what.reason, message)
	r.report(c, "TerminatingOnInterruption", "The node is drained and its instance terminated: "+message)
	r.Log.Info("AWS interrupts an instance: deleting its nodeclaim", "claim", c.Name, "instance", n.InstanceID, "interruption", string(n.Kind))
	mode := translate.TerminationMode(c)
	if n.Kind == cloud.Impaired {
		mode = translate.Forceful
	}
	r.Metrics.Disrupted(observe.Disruption{
		Reason: string(n.Kind), Pool: translate.PoolCalled(c.Labels), Option: c.Labels[api.LabelCapacityType], Mode: mode, Node: c.Status.NodeName,
	})
	return nil
}

// short has no more such instances be launched for a while.
func (r *Actor) short(c *karpv1.NodeClaim) {
	r.Shortages.Short(cloud.OfferingChoice{
		Kind: c.Labels[api.LabelInstanceType], Zone: c.Labels[api.LabelZone], Option: cluster.Option(c.Labels[api.LabelCapacityType]), ReservedCapacity: c.Labels[api.LabelReservationID],
	})
}

// recordEnd marks the claim with the moment at which its instance ends: so long its pods
// may be held at most. Of several moments the earliest counts. A claim that leaves for
// another reason is marked where the end is minutes away, for the sake of pods that may not
// be evicted; else it is not, so that its drain does not come to a halt.
func (r *Actor) recordEnd(ctx context.Context, n cloud.InterruptionMessage, c *karpv1.NodeClaim, f *fate) error {
	at, known := n.EndsAt, earliest(translate.EndsAt(c), f.endsAt)
	if n.Kind == cloud.HasStopped || n.Kind == cloud.Terminated {
		at = n.At // it has ended
	}
	other := known.IsZero() && (c.DeletionTimestamp != nil || f.leaves)
	soon := n.Kind == cloud.Interrupted || n.Kind == cloud.ReservationInterrupted
	if other && !soon || at.IsZero() || earliest(at, known).Equal(known) {
		return nil
	}
	before := c.DeepCopy()
	if c.Annotations == nil {
		c.Annotations = map[string]string{}
	}
	c.Annotations[api.AnnotationEnds] = at.UTC().Format(time.RFC3339)
	if err := r.Store.Patch(ctx, c, client.MergeFrom(before)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("record on claim %s when its instance ends, after interruption message %s: %w", c.Name, n.Kind, err)
	}
	f.endsAt = at
	return nil
}

// earliest is the earlier of two moments, where zero is none.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// report publishes an event on the claim and, where there is one, on its node.
func (r *Actor) report(c *karpv1.NodeClaim, reason, message string) {
	r.Events.Publish(observe.Event{About: c, Key: "NodeClaim/" + c.Name, Warning: true, Reason: reason, Message: message})
	if c.Status.NodeName == "" {
		return
	}
	node := &corev1.Node{}
	node.Name = c.Status.NodeName
	node.APIVersion, node.Kind = "v1", "Node"
	r.Events.Publish(observe.Event{About: node, Key: "Node/" + node.Name, Warning: true, Reason: reason, Message: message})
}

// reportPools reports to operators, on every pool, what keeps this program from receiving
// interruption messages.
func (r *Actor) reportPools(ctx context.Context, reason, message string) {
	pools, err := r.Serves.List(ctx, r.Store)
	if err != nil {
		return // the log has it
	}
	for _, p := range pools {
		r.Events.Publish(observe.Event{About: p.Object, Key: p.ID.String(), Warning: true, Reason: reason, DedupeFor: 10 * time.Minute, Topic: reason, Message: message})
	}
}
