package launch

import (
	"context"
	"errors"
	"fmt"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/offering"
	"github.com/daemok/daemok/core/overlay"
	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

// classes finds a class; it returns *translate.NotReadyError for one that is missing
// or not ready.
type classes interface {
	Class(ctx context.Context, ref karpv1.NodeClassReference) (translate.LaunchClass, error)
	// Known is Class for instances that are launched already: whether the class
	// is ready now does not matter.
	Known(ctx context.Context, ref karpv1.NodeClassReference) (translate.LaunchClass, error)
}

// Request is what would be asked of the cloud, and the annotations of the class
// in the form that it was formed from.
type Request struct {
	cloud.LaunchRequest
	ClassMarks map[string]string
	// Whole stands for all that the claim may ever be launched, of which Options
	// are what is to be tried first.
	Whole uint64
	// Few are the types of Options where these are on demand, though the claim may be
	// spot, and too few for a good chance that one of them is there; else none.
	Few []string
	// Room is how many instances the reservations of Options have left; 0 where they are
	// from none. Claims beyond it are launched for next, from others that would do.
	Room int
	// LeftOut counts by reason the offerings that would do and are not among Options.
	LeftOut string
}

// requests forms the request that would launch a claim's instance now.
type requests interface {
	// For returns the request without token, batch and count. It returns
	// *cloud.NoCapacityError when nothing suitable is offered. Of a claim it reads
	// spec, labels and annotations alone.
	For(ctx context.Context, c *karpv1.NodeClaim) (Request, error)
}

// isOfAnotherClass reports whether the claim says that its instance is made from
// another form of the class than the request would have it made from.
func (r Request) isOfAnotherClass(c *karpv1.NodeClaim) bool {
	for key, value := range r.ClassMarks {
		if noted, there := c.Annotations[key]; there && noted != value {
			return true
		}
	}
	return false
}

// Requests forms launch requests from claims and what is offered now.
type Requests struct {
	Classes  classes
	Catalog  cloud.Catalog
	Overlays overlays // nil: there are none

	choices choices
}

// overlays say what NodeOverlays make of what a class offers, for a pool.
type overlays interface {
	Overlaid(ctx context.Context, pool cluster.PoolID, c *cluster.Catalogue) *cluster.Catalogue
}

// For implements what the Launcher asks.
func (r *Requests) For(ctx context.Context, c *karpv1.NodeClaim) (Request, error) {
	class, err := r.Classes.Class(ctx, translate.ClassOf(c))
	if err != nil {
		return Request{}, err
	}
	catalogue, err := r.Catalog.Kinds(ctx, class.Cloud)
	if err != nil {
		return Request{}, fmt.Errorf("list what class %s offers: %w", class.Cloud.ID, err)
	}
	same := class.Cloud.ID
	if r.Overlays != nil {
		listed := catalogue
		if catalogue = r.Overlays.Overlaid(ctx, translate.PoolOf(c), listed); catalogue != listed {
			same += " " + translate.PoolCalled(c.Labels)
		}
	}
	want, err := translate.Requirements(c.Spec.Requirements)
	if err != nil {
		return Request{}, &cloud.RefusedError{Reason: karpv1.ReasonLaunchFailed, Cause: "spec.requirements: " + err.Error()}
	}
	chosen, err := r.choose(c, want, same, catalogue)
	if err != nil {
		return Request{}, err
	}
	return Request{cloud.LaunchRequest{
		Class:   class.Cloud,
		Options: chosen.options,
		Tags:    translate.InstanceTags(c),
		Node:    cloud.NodeSetup{Labels: translate.KnownLabels(c, want), Taints: bootTaints(c)},

		Extended: translate.AttachedOf(c),
		Relaxed:  isRelaxed(c),
		Ordered:  chosen.ordered,
	}, class.Annotations, chosen.whole, chosen.few, chosen.room, chosen.leftOut}, nil
}

// choose lists the offerings for a claim. Where what can be had has become too
// little for its minValues nothing is launched, unless the claim was made with
// fewer values than minValues asks for, as policy BestEffort allows.
func (r *Requests) choose(c *karpv1.NodeClaim, want constraint.Requirements, class string, catalogue *cluster.Catalogue) (choice, error) {
	ask := offering.Ask{Requirements: want, NotOfTypes: notOfTypes(want), Requests: translate.Resources(c.Spec.Resources.Requests), Relaxed: isRelaxed(c)}
	same := sameChoice(ask)
	if chosen, known := r.choices.get(class, catalogue, same); known {
		return chosen, nil
	}
	all := offering.Choose(catalogue.InstanceTypes, ask)
	if all.WhyNone != "" {
		return choice{}, &cloud.NoCapacityError{Cause: all.WhyNone}
	}
	ordered := overlay.Reorders(catalogue, all.Named)
	chosen := choice{optionsOf(all.Named, ordered), all.Whole, all.Room(), all.Few, all.Summary(), ordered}
	r.choices.put(class, catalogue, same, chosen)
	return chosen, nil
}

// unpriced is the priority of an offering without a price, where priorities decide: it comes last.
const unpriced = 1e9

// optionsOf are the offerings that a request names, in the cloud's words.
func optionsOf(named []offering.Named, ordered bool) []cloud.OfferingChoice {
	out := make([]cloud.OfferingChoice, len(named))
	for i, n := range named {
		zoneID, _ := n.Offering.Labels.Get(api.LabelZoneID)
		out[i] = cloud.OfferingChoice{
			Kind: n.Type.Name, Zone: n.Offering.Zone, ZoneID: zoneID, Option: n.Offering.Option, ReservedCapacity: n.Offering.Reservation(),
			Priority: float64(n.Offering.Price) / 1e6, Needed: n.Needed, Partition: n.Partition, Dedicated: n.Dedicated(),
		}
		if ordered && !n.Offering.Priced {
			out[i].Priority = unpriced
		}
	}
	return out
}

// notOfTypes lists the required labels that are the pool's own and say nothing about instances. The pool's name
// is on the node because of the claim, not because of the instance.
func notOfTypes(want constraint.Requirements) (keys []string) {
	for _, r := range want {
		if r.Key == api.LabelNodePool || r.Key == api.LabelProvisioner || !api.IsWellKnown(r.Key) {
			keys = append(keys, r.Key)
		}
	}
	return keys
}

// isRelaxed reports whether the claim was made with fewer values than minValues asks for.
func isRelaxed(c *karpv1.NodeClaim) bool {
	return c.Annotations[api.AnnotationMinValuesRelaxed] == "true"
}

// PlainSetup is what the node of a claim registers with that says nothing of labels and taints.
func PlainSetup() cloud.NodeSetup {
	plain := &karpv1.NodeClaim{}
	return cloud.NodeSetup{Labels: translate.KnownLabels(plain, constraint.Requirements{}), Taints: bootTaints(plain)}
}

// bootTaints are those a node registers with: the claim's, those that will
// vanish after start-up, and the one that keeps pods off until we have seen
// the node.
func bootTaints(c *karpv1.NodeClaim) []cloud.Taint {
	var out []cloud.Taint
	for _, t := range c.Spec.Taints {
		out = append(out, cloud.Taint{Key: t.Key, Value: t.Value, Effect: string(t.Effect)})
	}
	for _, t := range c.Spec.StartupTaints {
		out = append(out, cloud.Taint{Key: t.Key, Value: t.Value, Effect: string(t.Effect)})
	}
	return append(out, cloud.Taint{Key: api.TaintUnregistered, Effect: "NoExecute"})
}

// hopeless reports whether a claim cannot be launched for and should make room
// for a new plan.
func hopeless(err error) bool {
	var short *cloud.NoCapacityError
	notReady, unready := errors.AsType[*translate.NotReadyError](err)
	return errors.As(err, &short) || unready && !notReady.Passes
}
