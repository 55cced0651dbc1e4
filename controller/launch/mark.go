package launch

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

var (
	// errGone says that a claim needs no instance any more.
	errGone = errors.New("the claim is gone, is withdrawn or has its instance")
	// errElsewhere says that a claim carries an attempt that this batch did not
	// make, so that an instance may be under way to it already.
	errElsewhere = errors.New("the claim takes part in another attempt")
)

// markTries is how often a claim that changed meanwhile is read again at once.
const markTries = 5

// marker writes attempts on claims.
type marker struct {
	store client.Client
	live  client.Reader
}

// mark writes the attempt on every claim of the batch before it is made;
// claims that went meanwhile, or that another controller has tried to launch for, leave
// the batch. It reports whether all that are
// left carry the attempt; nothing may be launched before.
func (m marker) mark(ctx context.Context, b *batch) (all bool) {
	errs := make([]error, len(b.claims))
	var writes sync.WaitGroup
	for i, c := range b.claims {
		writes.Go(func() { errs[i] = m.markOne(ctx, c, b.attempt, b.request.ClassMarks) })
	}
	writes.Wait()
	all = true
	var left []*karpv1.NodeClaim
	for i, err := range errs {
		switch {
		case errors.Is(err, errGone), errors.Is(err, errElsewhere):
			continue
		case err != nil:
			all = false
		}
		left = append(left, b.claims[i])
	}
	b.claims = left
	return all
}

// markOne writes the attempt over the one that is known, and with it which form
// of the class its instance will be made from: the class may be another by the
// time the instance is there. An attempt that turns out to be there instead is
// never written over: its instance could not be distinguished from one that none asked
// for.
func (m marker) markOne(ctx context.Context, c *karpv1.NodeClaim, a attempt, class map[string]string) error {
	if its, tried := attemptOf(c); tried && (its.batch != a.batch || its.n > a.n) {
		return errElsewhere
	}
	var err error
	for range markTries {
		if c.Annotations[api.AnnotationLaunchAttempt] == a.String() {
			return nil
		}
		marked := c.DeepCopy()
		if marked.Annotations == nil {
			marked.Annotations = map[string]string{}
		}
		maps.Copy(marked.Annotations, class)
		marked.Annotations[api.AnnotationLaunchAttempt] = a.String()
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
		known := c.Annotations[api.AnnotationLaunchAttempt]
		if err := m.reread(ctx, c); err != nil {
			return err
		}
		if live := c.Annotations[api.AnnotationLaunchAttempt]; live != known && live != a.String() {
			return errElsewhere
		}
	}
	return fmt.Errorf("write launch attempt %s on claim %s: %w", a, c.Name, err)
}

// reread replaces a claim by what the API server has now.
func (m marker) reread(ctx context.Context, c *karpv1.NodeClaim) error {
	live := &karpv1.NodeClaim{}
	err := m.live.Get(ctx, client.ObjectKeyFromObject(c), live)
	switch {
	case apierrors.IsNotFound(err), err == nil && (live.UID != c.UID || !needsInstance(live) || translate.IsWithdrawn(live)):
		return errGone
	case err != nil:
		return fmt.Errorf("read claim %s again: %w", c.Name, err)
	}
	*c = *live
	return nil
}

// recordWithdrawn replaces the claims that were withdrawn since they were read,
// as far as the store shows that.
func (m marker) recordWithdrawn(ctx context.Context, claims []*karpv1.NodeClaim) {
	for i, c := range claims {
		now := &karpv1.NodeClaim{}
		if err := m.store.Get(ctx, client.ObjectKeyFromObject(c), now); err == nil && now.UID == c.UID && translate.IsWithdrawn(now) {
			claims[i] = now
		}
	}
}
