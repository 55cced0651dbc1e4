package status

import (
	"context"
	"errors"
	"time"

	"github.com/daemok/daemok/kube/api/condition"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha1"
	"github.com/daemok/daemok/kube/api/validate"
	"github.com/daemok/daemok/kube/snapshot/pools"
)

// overlaysEvery is how often conditions of NodeOverlays are compared with what they came to.
const overlaysEvery = 5 * time.Second

// Overlays writes the conditions of NodeOverlays: whether each is valid, and not in conflict with another one.
type Overlays struct {
	Reporter
	List func() []pools.Overlay // as they were when the last snapshot was made
}

// Round checks once, and returns when to check again.
func (r *Overlays) Round(ctx context.Context) (time.Duration, error) {
	var errs []error
	for _, o := range r.List() {
		if o.Known {
			errs = append(errs, r.update(ctx, o))
		}
	}
	return overlaysEvery, errors.Join(errs...)
}

// update brings the conditions of an overlay up to date, and reports what is false.
func (r *Overlays) update(ctx context.Context, o pools.Overlay) error {
	next, kind, now := o.Object.DeepCopy(), v1alpha1.OverlayValidationSucceeded, r.Now()
	reason, message := v1alpha1.ReasonRuntimeValidation, o.Invalid
	if message == "" {
		reason, message = v1alpha1.ReasonConflict, o.Idle
	}
	var changed bool
	if message == "" && o.Unsure && isInConflict(next) {
		return nil // by a pool of which this process does not know yet what it may launch
	}
	if message == "" {
		changed = condition.SetTrue(next, kind, now)
	} else {
		changed = condition.SetFalse(next, kind, reason, message, now)
		r.warn(next, "NodeOverlay/"+next.Name, reason, message)
	}
	for _, f := range validate.Warnings(validate.NodeOverlay(next)) {
		r.warn(next, "NodeOverlay/"+next.Name+"/"+f.Field, "SpecWarning", f.String())
	}
	if summed := condition.SumUp(next, now); !changed && !summed {
		return nil
	}
	if message != "" {
		r.Log.Warn("a NodeOverlay has no effect", "overlay", next.Name, "reason", reason, "message", message)
	}
	return r.write(ctx, next, o.Object)
}

// isInConflict reports whether the conditions of an overlay say so, of its spec as it is.
func isInConflict(o *v1alpha1.NodeOverlay) bool {
	c := condition.Get(o, v1alpha1.OverlayValidationSucceeded)
	return c != nil && c.Reason == v1alpha1.ReasonConflict && c.ObservedGeneration == o.Generation
}
