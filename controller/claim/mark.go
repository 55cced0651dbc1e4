package claim

import (
	"context"
	"errors"
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

// errGone says that a claim needs no machine any more.
var errGone = errors.New("the claim is gone or has its machine")

// markTries is how often a claim that changed meanwhile is read anew at once.
const markTries = 5

// marker writes attempts on claims.
type marker struct {
	store client.Client
	live  client.Reader
}

// mark writes the attempt on every claim of the batch before it is made;
// claims that went meanwhile leave the batch. It reports whether all that are
// left carry the attempt; nothing may be bought before.
func (m marker) mark(ctx context.Context, b *batch) (all bool) {
	errs := make([]error, len(b.claims))
	var writes sync.WaitGroup
	for i, c := range b.claims {
		writes.Go(func() { errs[i] = m.markOne(ctx, c, b.attempt) })
	}
	writes.Wait()
	all = true
	var left []*karpv1.NodeClaim
	for i, err := range errs {
		switch {
		case errors.Is(err, errGone):
			continue
		case err != nil:
			all = false
		}
		left = append(left, b.claims[i])
	}
	b.claims = left
	return all
}

func (m marker) markOne(ctx context.Context, c *karpv1.NodeClaim, a attempt) error {
	var err error
	for range markTries {
		if c.Annotations[api.MarkLaunchAttempt] == a.String() {
			return nil
		}
		marked := c.DeepCopy()
		if marked.Annotations == nil {
			marked.Annotations = map[string]string{}
		}
		marked.Annotations[api.MarkLaunchAttempt] = a.String()
		err = m.store.Patch(ctx, marked, client.MergeFromWithOptions(c, client.MergeFromWithOptimisticLock{}))
		switch {
		case err == nil:
			*c = *marked
			return nil
		case apierrors.IsNotFound(err):
			return errGone
		case !apierrors.IsConflict(err):
			return fmt.Errorf("write launch attempt %s on claim %s: %w", a, c.Name, err)
		}
		if err := m.reread(ctx, c); err != nil {
			return err
		}
	}
	return fmt.Errorf("write launch attempt %s on claim %s: %w", a, c.Name, err)
}

// reread replaces a claim by what the API server has now.
func (m marker) reread(ctx context.Context, c *karpv1.NodeClaim) error {
	live := &karpv1.NodeClaim{}
	err := m.live.Get(ctx, client.ObjectKeyFromObject(c), live)
	switch {
	case apierrors.IsNotFound(err), err == nil && (live.UID != c.UID || !needsMachine(live)):
		return errGone
	case err != nil:
		return fmt.Errorf("read claim %s anew: %w", c.Name, err)
	}
	*c = *live
	return nil
}
