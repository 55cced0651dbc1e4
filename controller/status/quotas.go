package status

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api/autoscaling/v1beta1"
	"github.com/daemok/daemok/kube/api/validate"
	"github.com/daemok/daemok/kube/translate"
)

// quotasEvery is how often the status of CapacityQuotas is compared with what nodes have.
const quotasEvery = 5 * time.Second

// Quotas writes in the status of CapacityQuotas what counts against them, and reports those that cannot be used.
type Quotas struct {
	Reporter
	Objects  func() []*v1beta1.CapacityQuota // not to be written
	Snapshot func() *cluster.Snapshot
}

// Round checks once, and returns when to check again.
func (r *Quotas) Round(ctx context.Context) (time.Duration, error) {
	list := r.Objects()
	if len(list) == 0 {
		return quotasEvery, nil
	}
	s := r.Snapshot()
	var errs []error
	offers := slices.ContainsFunc(s.Pools, func(p cluster.Pool) bool { return p.NotReady == "" && p.Catalogue != nil })
	for _, q := range list {
		if at := slices.IndexFunc(s.Quotas, func(x cluster.Quota) bool { return x.Name == q.Name }); at >= 0 {
			errs = append(errs, r.update(ctx, q, &s.Quotas[at], offers))
		}
	}
	return quotasEvery, errors.Join(errs...)
}

// update brings the status of a quota up to date. Before a pool offers anything, no price is known.
func (r *Quotas) update(ctx context.Context, q *v1beta1.CapacityQuota, is *cluster.Quota, offers bool) error {
	for _, f := range validate.CapacityQuota(q) {
		r.warn(q, "CapacityQuota/"+q.Name+"/"+f.Field, "SpecWarning", f.String())
	}
	if is.Limits.Cost != nil && is.Used.Unpriced != "" && offers {
		r.warn(q, "CapacityQuota/"+q.Name, "PriceUnknown",
			fmt.Sprintf("nothing is launched that counts against the limit on the cost, since the price of "+
				"node or NodeClaim %s is not known: have the selector leave it out", is.Used.Unpriced))
	}
	next := q.DeepCopy()
	next.Status.Used = &v1beta1.CapacityQuotaUsed{Resources: used(q.Spec.Limits.Resources, &is.Used)}
	if equality.Semantic.DeepEqual(q.Status, next.Status) {
		return nil
	}
	return r.write(ctx, next, q)
}

// used is what counts against each of the limits.
func used(limits map[corev1.ResourceName]resource.Quantity, by *cluster.Used) corev1.ResourceList {
	out := corev1.ResourceList{}
	for name := range limits {
		out[name] = translate.Quantity(string(name), by.Of(string(name)))
	}
	return out
}
