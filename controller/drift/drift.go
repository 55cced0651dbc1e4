// Package drift records on each NodeClaim whether its instance still matches its NodePool and class.
// The condition Drifted names the first difference: what the instance has and what is required now.
//
// It promises that what cannot be checked changes nothing: an instance neither becomes drifted nor
// stops being drifted because a class is not ready or the cloud does not answer. It replaces a
// fingerprint of another version instead of comparing it. It disrupts nothing.
package drift

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/observe"
)

const (
	// checkEvery is how soon a change of a pool shows on claims; that of a class does at
	// once. A check reads what the watches have shown.
	checkEvery = 10 * time.Second
	// recheck is how soon a claim is checked again that was written by another writer
	// meanwhile.
	recheck = 200 * time.Millisecond
	// instancesEvery is how old the cloud's list of instances may be. What is compared of
	// them hardly ever changes; once a class has, instances that are younger than the list
	// are asked for, all in one list.
	instancesEvery = 5 * time.Minute
)

// Class is what instances of a class are made from now.
type Class struct {
	Hash, HashVersion string    // fingerprint of its settings; empty where it is not known
	Selected          *Selected // nil while that is not known for the class as it is now
}

// Selected is what the selectors of a class find at the cloud.
type Selected struct {
	Images  []Image
	Subnets []string
	Groups  []string

	Reservations []string
	Placement    []string // the placement group, by its ID and by its name; none: instances are in none
}

// Image is one that the class selects, for instances whose labels meet the requirements.
type Image struct {
	ID           string
	Requirements constraint.Requirements
}

// classes reports classes. The error of Form is for one that cannot be read; Kinds is nil
// while it is not known what a class offers.
type classes interface {
	Form(ctx context.Context, ref karpv1.NodeClassReference) (Class, error)
	Kinds(ref karpv1.NodeClassReference) (*cluster.Catalogue, string)
}

// pools finds a pool as it was last seen.
type pools interface {
	Pool(id cluster.PoolID) (translate.PoolObject, bool)
}

type lister interface {
	List(ctx context.Context, f cloud.Filter) ([]cloud.Instance, error)
}

type publisher interface{ Publish(observe.Event) }

// Finder checks all claims by turns.
type Finder struct {
	Store     client.Client
	Pools     pools
	Classes   classes
	Instances lister
	Events    publisher
	Log       *slog.Logger
	Now       func() time.Time

	OfProvisioners func() bool // whether instances of Provisioners drift; nil: they do not

	classChanged atomic.Bool // since the last check
	behind       bool        // at this check: a claim was another than the cache showed

	instances map[string]instance // at the cloud, by ID
	listedAt  time.Time           // when they were asked for
	since     map[types.UID]since
}

// since is from when on, without a break, something was seen of a claim's instance; zero:
// it is not.
type since struct {
	gone  time.Time // its type is not offered
	stray time.Time // it is in a reservation that its class does not select
}

// ClassChanged says that some class may be another than at the last check. It is safe for
// concurrent use.
func (f *Finder) ClassChanged() { f.classChanged.Store(true) }

// Round checks once and returns when to check again.
func (f *Finder) Round(ctx context.Context) (time.Duration, error) {
	changed := f.classChanged.Swap(false)
	f.behind = false
	var list karpv1.NodeClaimList
	if err := f.Store.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil { // only read
		return checkEvery, fmt.Errorf("list claims to find those that drifted: %w", err)
	}
	errs := []error{f.listInstances(ctx, changed && f.anyYounger(list.Items))}
	known := f.newKnown(ctx)
	var err error
	if known.lacks, err = f.findLacks(ctx); err != nil {
		errs = append(errs, err)
	}
	now := map[types.UID]since{}
	for i := range list.Items {
		c := &list.Items[i]
		if c.DeletionTimestamp == nil {
			errs = append(errs, f.look(ctx, c, known, now))
		}
	}
	f.since = now
	if f.behind {
		return recheck, errors.Join(errs...)
	}
	return checkEvery, errors.Join(errs...)
}

// look compares one claim and writes what is new.
func (f *Finder) look(ctx context.Context, c *karpv1.NodeClaim, k *known, now map[types.UID]since) error {
	if !condition.IsTrue(c, karpv1.ClaimLaunched) {
		return f.conclude(ctx, c, finding{})
	}
	pool := k.pool(translate.PoolOf(c))
	if pool == nil {
		return nil // made by hand, or its pool is not seen yet
	}
	class, err := k.class(translate.ClassOf(c))
	if err != nil {
		return err
	}
	if pool.ID.Kind == translate.KindProvisioner {
		return f.lookAtOlder(ctx, c, f.subject(c, pool, class))
	}
	if c, err = f.adopt(ctx, c, pool, class); err != nil {
		return err
	}
	s := f.subject(c, pool, class)
	s.lacks = k.lacks
	if s.seen(f.Now(), f.since[c.UID]); s.since != (since{}) {
		now[c.UID] = s.since
	}
	return f.conclude(ctx, c, s.judge(checks))
}

// adopt replaces fingerprints of other versions, which say nothing, by those of
// now. What has drifted by such a fingerprint keeps it, and so stays drifted.
func (f *Finder) adopt(ctx context.Context, c *karpv1.NodeClaim, pool *pool, class *class) (*karpv1.NodeClaim, error) {
	ofPool := pool.Hash != "" && c.Annotations[api.AnnotationNodePoolHashVersion] != pool.HashVersion
	ofClass := class.Hash != "" && c.Annotations[api.AnnotationNodeClassHashVersion] != class.HashVersion
	if !ofPool && !ofClass {
		return c, nil
	}
	after := c.DeepCopy()
	if ofPool {
		adoptOne(after, api.AnnotationNodePoolHash, api.AnnotationNodePoolHashVersion, pool.Hash, pool.HashVersion,
			karpv1.ReasonNodePoolDrifted)
	}
	if ofClass {
		adoptOne(after, api.AnnotationNodeClassHash, api.AnnotationNodeClassHashVersion, class.Hash,
			class.HashVersion, karpv1.ReasonNodeClassDrift)
	}
	err := f.Store.Patch(ctx, after, client.MergeFromWithOptions(c, client.MergeFromWithOptimisticLock{}))
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		f.behind = true
		return c, nil // what is compared next says nothing yet
	}
	if err != nil {
		return c, fmt.Errorf("replace fingerprints of another version on claim %s: %w", c.Name, err)
	}
	return after, nil
}

func adoptOne(c *karpv1.NodeClaim, hashKey, versionKey, hash, version, reason string) {
	if c.Annotations == nil {
		c.Annotations = map[string]string{}
	}
	c.Annotations[versionKey] = version
	if now := condition.Get(c, karpv1.ClaimDrifted); now == nil || now.Reason != reason {
		c.Annotations[hashKey] = hash
	}
}

// conclude writes the condition where it is not as found, and reports an instance that has
// drifted again, or in another way.
func (f *Finder) conclude(ctx context.Context, c *karpv1.NodeClaim, found finding) error {
	was := condition.Get(c, karpv1.ClaimDrifted)
	if found.keep || was == nil && found.reason == "" {
		return nil
	}
	after := c.DeepCopy()
	switch {
	case found.reason == "":
		condition.Clear(after, karpv1.ClaimDrifted)
	case !condition.Set(after, karpv1.ClaimDrifted, "True", found.reason, found.text, f.Now()):
		return nil
	}
	err := f.Store.Status().Patch(ctx, after, client.MergeFromWithOptions(c, client.MergeFromWithOptimisticLock{}))
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		f.behind = true
		return nil
	}
	if err != nil {
		return fmt.Errorf("write on claim %s whether it drifted: %w", c.Name, err)
	}
	if found.reason == "" {
		f.Log.Info("nodeclaim is no longer drifted", "claim", c.Name, "pool", translate.PoolCalled(c.Labels),
			"reason", was.Reason)
		return nil
	}
	if was == nil || was.Reason != found.reason {
		f.Log.Info("nodeclaim has drifted", "claim", c.Name, "pool", translate.PoolCalled(c.Labels), "reason",
			found.reason, "message", found.text)
		f.Events.Publish(observe.Event{About: after, Key: "NodeClaim/" + c.Name, Reason: karpv1.ClaimDrifted,
			Message: found.reason + ": " + found.text})
	}
	return nil
}
