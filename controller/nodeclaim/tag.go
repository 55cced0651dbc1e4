package nodeclaim

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"k8s.io/client-go/util/flowcontrol"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

const (
	// tagEvery is how long nodes that join one after another wait for each other,
	// so that one look at the cloud shows the instances of all.
	tagEvery = 10 * time.Second
	// tagMost is how many instances are tagged after one look: by the pace of
	// instances what was seen of the last is a minute old.
	tagMost = 60
	// What was not tagged is tried again after tagAgain, and then after twice that
	// each time, up to tagAgainMax.
	tagAgain, tagAgainMax = 10 * time.Second, 15 * time.Minute
)

// Tagger names instances at the cloud after their nodes and claims, once nodes
// have names. It overwrites no tag that is there, so that a name that the class
// gives stays. The tag with the cluster's name is put back where it is lacking. For many
// instances it looks once. A claim whose annotations are removed is looked at again.
type Tagger struct {
	Store     client.Client
	Instances tagging
	Cluster   string // the name that the tag of EKS has; empty: none looks after that tag
	Adopted   owner  // tags instances that were not launched for their claims; nil: there are none
	Pace      Pace   // of instances, so that other calls of the account have room; nil: at once
	Now       func() time.Time

	failed *flowcontrol.Backoff // by claim
}

// tagging is the part of the cloud that Tagger uses.
type tagging interface {
	List(ctx context.Context, f cloud.Filter) ([]cloud.Instance, error)
	Tag(ctx context.Context, m cloud.Instance, tags map[string]string) error
}

// owner puts all tags on the instance of a claim, which it has taken over.
type owner interface {
	own(ctx context.Context, c *karpv1.NodeClaim) error
}

// Pace lets callers go on one after another; Wait returns an error when ctx ends.
type Pace interface {
	Wait(ctx context.Context) error
}

// Round tags instances that are due, notes it on their claims, and returns when to
// look again. An instance that cannot be tagged keeps no other waiting.
func (t *Tagger) Round(ctx context.Context) (time.Duration, error) {
	due, err := t.due(ctx)
	if err != nil || len(due) == 0 {
		return tagEvery, err
	}
	var errs []error
	ids := make([]string, 0, len(due))
	for id, c := range due {
		if t.Adopted == nil || !translate.Adopts(c) {
			ids = append(ids, id)
		}
	}
	errs = append(errs, t.own(ctx, due))
	if len(ids) == 0 {
		return tagEvery, errors.Join(errs...)
	}
	found, err := t.Instances.List(ctx, cloud.Filter{IDs: ids})
	if err != nil {
		return tagEvery, errors.Join(append(errs, fmt.Errorf("list instances to tag them: %w", err))...)
	}
	for _, m := range found[:min(len(found), tagMost)] { // the others after another look
		c := due[m.ID]
		if err := t.tag(ctx, c, m); err != nil {
			t.failed.Next(c.Name, t.Now())
			errs = append(errs, err)
		}
	}
	return tagEvery, errors.Join(errs...)
}

// own tags instances that were taken over, as many as one look tags of others.
func (t *Tagger) own(ctx context.Context, due map[string]*karpv1.NodeClaim) error {
	var errs []error
	left := tagMost
	for _, id := range slices.Sorted(maps.Keys(due)) {
		c := due[id]
		if t.Adopted == nil || !translate.Adopts(c) || left == 0 {
			continue
		}
		left--
		err := t.wait(ctx, c)
		if err == nil {
			err = t.Adopted.own(ctx, c)
		}
		if err != nil {
			t.failed.Next(c.Name, t.Now())
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// wait is for the pace of instances.
func (t *Tagger) wait(ctx context.Context, c *karpv1.NodeClaim) error {
	if t.Pace == nil {
		return nil
	}
	if err := t.Pace.Wait(ctx); err != nil {
		return fmt.Errorf("wait to tag the instance of claim %s: %w", c.Name, err)
	}
	return nil
}

// due returns the claims whose instances are to be tagged now, by the instance's ID.
func (t *Tagger) due(ctx context.Context) (map[string]*karpv1.NodeClaim, error) {
	var list karpv1.NodeClaimList
	if err := t.Store.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil { // only read
		return nil, fmt.Errorf("list claims to tag their instances: %w", err)
	}
	if t.failed == nil {
		t.failed = flowcontrol.NewBackOff(tagAgain, tagAgainMax)
	}
	out := map[string]*karpv1.NodeClaim{}
	for i := range list.Items {
		c := &list.Items[i]
		if t.needsTags(c) && !t.failed.IsInBackOffSinceUpdate(c.Name, t.Now()) {
			out[translate.InstanceID(c.Status.ProviderID)] = c
		}
	}
	return out, nil
}

func (t *Tagger) needsTags(c *karpv1.NodeClaim) bool {
	return c.DeletionTimestamp == nil && c.Status.ProviderID != "" && c.Status.NodeName != "" &&
		(c.Annotations[api.AnnotationInstanceTagged] != "true" || t.Cluster != "" && c.Annotations[api.AnnotationClusterNameTagged] != "true")
}

// tag adds the tags that the instance lacks, and notes that on its claim. An instance
// that has gone since it was seen is another loop's business.
func (t *Tagger) tag(ctx context.Context, c *karpv1.NodeClaim, m cloud.Instance) error {
	lacks := map[string]string{api.TagName: c.Status.NodeName, api.TagNodeClaim: c.Name}
	if t.Cluster != "" {
		lacks[api.TagEKSCluster] = t.Cluster
	}
	maps.DeleteFunc(lacks, func(key, _ string) bool { _, there := m.Tags[key]; return there })
	if len(lacks) > 0 {
		if err := t.wait(ctx, c); err != nil {
			return err
		}
		err := t.Instances.Tag(ctx, m, lacks)
		if _, gone := errors.AsType[*cloud.NotFoundError](err); gone {
			return nil
		}
		if err != nil {
			return fmt.Errorf("tag instance %s of claim %s: %w", m.ID, c.Name, err)
		}
	}
	return recordTags(ctx, t.Store, c, t.Cluster != "")
}

// recordTags notes on a claim that its instance has the tags that it is to have, and whether that of the
// cluster's name is among them.
func recordTags(ctx context.Context, store client.Client, c *karpv1.NodeClaim, cluster bool) error {
	c = c.DeepCopy()
	before := c.DeepCopy()
	if c.Annotations == nil {
		c.Annotations = map[string]string{}
	}
	c.Annotations[api.AnnotationInstanceTagged] = "true"
	if cluster {
		c.Annotations[api.AnnotationClusterNameTagged] = "true"
	}
	if err := store.Patch(ctx, c, client.MergeFrom(before)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("record tags on claim %s: %w", c.Name, err)
	}
	return nil
}
