package nodeclaim

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

// Class is what this package asks of a class: the cloud's settings, and the
// annotations that tell later whether a machine was made from an older form
// of it.
type Class struct {
	Cloud       cloud.Class
	Annotations map[string]string
	InWords     func(string) string // a text about an EC2NodeClass in the names of the class's own fields
}

// NotReadyError says that a claim's class cannot be used now.
type NotReadyError struct {
	ClassID, Why string
	Passes       bool // it is not known yet whether the class is ready: the claim waits
}

func (e *NotReadyError) Error() string { return fmt.Sprintf("%s is not ready: %s", e.ClassID, e.Why) }

// classes finds a class; it returns *NotReadyError for one that is missing
// or not ready.
type classes interface {
	Class(ctx context.Context, ref karpv1.NodeClassReference) (Class, error)
	// Known is Class for machines that are launched already: whether the class
	// is ready now does not matter.
	Known(ctx context.Context, ref karpv1.NodeClassReference) (Class, error)
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
	// Room is how many machines the reservations of Options have left; 0 where they are
	// from none. Claims beyond it are launched for next, from others that would do.
	Room int
}

// isOfAnotherClass reports whether the claim says that its machine is made from
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
	Classes classes
	Catalog cloud.Catalog

	choices choices
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
	want, err := translate.Requirements(c.Spec.Requirements)
	if err != nil {
		return Request{}, &cloud.RefusedError{Reason: karpv1.ReasonLaunchFailed, Cause: "spec.requirements: " + err.Error()}
	}
	chosen, err := r.choose(c, want, class.Cloud.ID, catalogue)
	if err != nil {
		return Request{}, err
	}
	return Request{cloud.LaunchRequest{
		Class:   class.Cloud,
		Options: chosen.options,
		Tags:    tagsOf(c),
		Node:    cloud.NodeSetup{Labels: translate.KnownLabels(c, want), Taints: bootTaints(c)},

		Extended: extendedOf(c),
		Relaxed:  isRelaxed(c),
	}, class.Annotations, chosen.whole, fewOnDemand(want, chosen.options), chosen.room}, nil
}

// fallbackTypes is from how many types on on-demand machines may well take the place of spot ones.
const fallbackTypes = 5

// fewOnDemand lists the types, by price, where on-demand machines of few types take the
// place of spot ones.
func fewOnDemand(want constraint.Requirements, options []cloud.OfferingChoice) []string {
	if len(options) == 0 || options[0].Option != cluster.OnDemand || !want.Get(api.LabelCapacityType).Allows(api.CapacityTypeSpot) {
		return nil
	}
	var types []string
	for _, o := range options {
		if !slices.Contains(types, o.Kind) {
			types = append(types, o.Kind)
		}
		if len(types) == fallbackTypes {
			return nil
		}
	}
	return types
}

// choose lists the offerings for a claim, and says in a number which others
// would do. Where what can be had has become too
// little for its minValues nothing is launched, unless the claim was made with
// fewer values than minValues asks for, as policy BestEffort allows.
func (r *Requests) choose(c *karpv1.NodeClaim, want constraint.Requirements, class string, catalogue *cluster.Catalogue) (choice, error) {
	requests := translate.Resources(c.Spec.Resources.Requests)
	same := sameChoice(want, requests, isRelaxed(c))
	if chosen, known := r.choices.get(class, catalogue, same); known {
		return chosen, nil
	}
	fitting, unavailable := fittingOfferings(want, requests, catalogue.InstanceTypes, machinesDefine)
	if len(fitting) == 0 {
		return choice{}, &cloud.NoCapacityError{Cause: noneLeft(unavailable)}
	}
	if why := shortOf(want, fitting); why != "" && !isRelaxed(c) {
		return choice{}, &cloud.NoCapacityError{Cause: why}
	}
	options := slices.Clone(choose(fitting, unavailable, want, requests)) // no longer than it has to be: it is kept
	chosen := choice{options, wholeOf(fitting, unavailable, want), roomOf(options, fitting)}
	r.choices.put(class, catalogue, same, chosen)
	return chosen, nil
}

// isRelaxed reports whether the claim was made with fewer values than minValues asks for.
func isRelaxed(c *karpv1.NodeClaim) bool {
	return c.Annotations[api.AnnotationMinValuesRelaxed] == "true"
}

// extendedOf lists the extended resources that the claim was sized for.
func extendedOf(c *karpv1.NodeClaim) []string {
	var names []string
	for _, name := range wantedExtended(c) {
		names = append(names, string(name))
	}
	return names
}

// noneLeft says why there is nothing to launch, and what helps where an offering tells that.
func noneLeft(unavailable []priced) string {
	text := "no type that the claim allows and that holds its requests is offered and available now"
	if i := slices.IndexFunc(unavailable, func(p priced) bool { return p.offering.Why != "" }); i >= 0 {
		text += ": " + unavailable[i].offering.Why
	}
	return text
}

// wholeOf is equal for claims that may be launched the same offerings, and that ask
// for as many different ones.
func wholeOf(fitting, unavailable []priced, want constraint.Requirements) uint64 {
	h := fnv.New64a()
	for _, list := range [][]priced{fitting, unavailable} {
		for _, p := range list {
			partition, _ := p.offering.Labels.Get(api.LabelPlacementGroupPartition)
			for _, word := range []string{p.instanceType.Name, p.offering.Zone, string(p.offering.Option), p.offering.Reservation(), partition, p.offering.Unless.Key} {
				h.Write([]byte(word + " "))
			}
		}
		h.Write([]byte("\n"))
	}
	for _, r := range want {
		if r.MinValues > 0 {
			fmt.Fprintln(h, r.Key, r.MinValues)
		}
	}
	return h.Sum64()
}

// machinesDefine tells which labels offers must have a say on. The pool's name
// is on the node because of the claim, not because of the machine.
func machinesDefine(key string) bool {
	return key != api.LabelNodePool && key != api.LabelProvisioner && api.IsWellKnown(key)
}

func tagsOf(c *karpv1.NodeClaim) map[string]string {
	tags := map[string]string{}
	pool := translate.PoolOf(c)
	if pool.Name != "" {
		tags[api.TagNodePool] = pool.Name // of any generation, so that one IAM policy serves all
	}
	if pool.Kind == translate.KindProvisioner {
		tags[api.TagProvisioner] = pool.Name
	}
	return tags
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
	notReady, unready := errors.AsType[*NotReadyError](err)
	return errors.As(err, &short) || unready && !notReady.Passes
}

// instanceTypeOf finds the kind and offer that a machine was launched as.
func instanceTypeOf(catalogue *cluster.Catalogue, m cloud.Machine) (cluster.InstanceType, cluster.Offering, bool) {
	for _, k := range catalogue.InstanceTypes {
		if k.Name != m.Kind {
			continue
		}
		for _, o := range k.Offerings {
			if o.Zone == m.Zone && o.Option == m.Option && o.Reservation() == m.ReservedCapacity && (priced{offering: &o}).dedicated() == m.Dedicated {
				return k, inPartition(o, m.Partition), true
			}
		}
		return k, cluster.Offering{Zone: m.Zone, Option: m.Option}, true
	}
	return cluster.InstanceType{}, cluster.Offering{}, false
}
