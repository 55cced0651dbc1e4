package apply

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

// Gather writes on claims that exist already which others they open to pods with, in parallel. It
// is to be called before Launch, so that no node of an earlier plan takes the pods meant for the
// instances of this one. A claim whose node is open already is left alone.
func (a *Applier) Gather(ctx context.Context, p plan.Plan) error {
	errs := make([]error, len(p.Joining))
	each(len(errs), func(i int) {
		if err := a.gather(ctx, p.Joining[i]); err != nil {
			errs[i] = fmt.Errorf("write on claim %s whom it waits for: %w", p.Joining[i].Claim, err)
		}
	})
	return errors.Join(errs...)
}

// gather reads past the cache: that may not show the claim yet, or not what the
// plan before this one wrote on it.
func (a *Applier) gather(ctx context.Context, m plan.Joining) error {
	c := &karpv1.NodeClaim{}
	if err := a.Live.Get(ctx, client.ObjectKey{Name: m.Claim}, c); err != nil {
		return client.IgnoreNotFound(err)
	}
	if c.DeletionTimestamp != nil || condition.IsTrue(c, karpv1.ClaimRegistered) {
		return nil
	}
	said := maps.Clone(c.Annotations)
	if said == nil {
		said = map[string]string{}
	}
	if err := translate.SetJoins(said, m.Joins); err != nil || said[api.AnnotationJoins] == c.Annotations[api.AnnotationJoins] {
		return err
	}
	after := c.DeepCopy()
	after.Annotations = said
	return client.IgnoreNotFound(a.Store.Patch(ctx, after, client.MergeFrom(c)))
}
