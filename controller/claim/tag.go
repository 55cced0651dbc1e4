package claim

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

// lookForMachine is how soon a machine that the cloud does not show yet is
// looked for again.
const lookForMachine = 5 * time.Second

// Tagger is the loop that names machines at the cloud after their nodes and
// claims, once nodes have names. It overwrites no tag that is there, so that a
// name that the class gives stays.
type Tagger struct {
	Store    client.Client
	Machines tagging
	Pace     Pace // of machines, so that other calls of the account have room; nil: at once
}

// tagging is the part of the cloud that Tagger uses.
type tagging interface {
	List(ctx context.Context, f cloud.Filter) ([]cloud.Machine, error)
	Tag(ctx context.Context, id string, tags map[string]string) error
}

// Pace lets callers go on one after another; Wait returns an error when ctx ends.
type Pace interface {
	Wait(ctx context.Context) error
}

// Reconcile tags the machine of one claim, if that is due, and notes it on the
// claim. It returns how long to wait before the next look; zero means wait for
// a change.
func (t *Tagger) Reconcile(ctx context.Context, name string) (time.Duration, error) {
	c := &karpv1.NodeClaim{}
	if err := t.Store.Get(ctx, client.ObjectKey{Name: name}, c); err != nil {
		return 0, client.IgnoreNotFound(err)
	}
	if !needsTags(c) {
		return 0, nil
	}
	if t.Pace != nil {
		if err := t.Pace.Wait(ctx); err != nil {
			return 0, fmt.Errorf("wait to tag the machine of claim %s: %w", name, err)
		}
	}
	tagged, err := t.tag(ctx, c)
	switch {
	case err != nil:
		return 0, fmt.Errorf("tag machine %s of claim %s: %w", c.Status.ProviderID, name, err)
	case !tagged:
		return lookForMachine, nil
	}
	return 0, t.note(ctx, c.DeepCopy())
}

func needsTags(c *karpv1.NodeClaim) bool {
	return c.DeletionTimestamp == nil && c.Status.ProviderID != "" && c.Status.NodeName != "" &&
		c.Annotations[api.AnnotationInstanceTagged] != "true"
}

// tag adds the tags that the machine lacks. It reports false where the machine
// is not to be seen: too young, or gone, which is another loop's business.
func (t *Tagger) tag(ctx context.Context, c *karpv1.NodeClaim) (tagged bool, err error) {
	id := translate.MachineID(c.Status.ProviderID)
	found, err := t.Machines.List(ctx, cloud.Filter{IDs: []string{id}})
	if err != nil || len(found) == 0 {
		return false, err
	}
	lacks := map[string]string{api.TagName: c.Status.NodeName, api.TagNodeClaim: c.Name}
	maps.DeleteFunc(lacks, func(key, _ string) bool { _, there := found[0].Tags[key]; return there })
	if len(lacks) == 0 {
		return true, nil
	}
	err = t.Machines.Tag(ctx, id, lacks)
	if _, gone := errors.AsType[*cloud.NotFoundError](err); gone {
		return false, nil
	}
	return err == nil, err
}

func (t *Tagger) note(ctx context.Context, c *karpv1.NodeClaim) error {
	before := c.DeepCopy()
	if c.Annotations == nil {
		c.Annotations = map[string]string{}
	}
	c.Annotations[api.AnnotationInstanceTagged] = "true"
	if err := t.Store.Patch(ctx, c, client.MergeFrom(before)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("note tags on claim %s: %w", c.Name, err)
	}
	return nil
}
