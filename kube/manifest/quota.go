package manifest

import (
	"errors"
	"fmt"
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api/autoscaling/v1beta1"
	"github.com/daemok/daemok/kube/api/validate"
)

// addQuota adds a CapacityQuota to those of the cluster, or puts it in the place of one.
func addQuota(a *applier, o Object, q *v1beta1.CapacityQuota) error {
	if err := a.judge(o, validate.CapacityQuota(q)); err != nil {
		return err
	}
	if !a.Quotas.Used() {
		a.Notes = append(a.Notes,
			fmt.Sprintf("%s limits nothing: the controller's feature gate CapacityQuota is off", o))
		return nil
	}
	if slices.ContainsFunc(a.Quotas.Now(), func(x cluster.Quota) bool { return x.Name == q.Name }) {
		a.change(o, "as the manifest says")
	} else {
		a.change(o, "new")
	}
	a.Seen(q)
	return nil
}

// quota takes a CapacityQuota away.
func (d *deletion) quota(o Object) error {
	at := slices.IndexFunc(d.s.Quotas, func(x cluster.Quota) bool { return x.Name == o.GetName() })
	if at < 0 {
		return errors.New("there is no such CapacityQuota to delete, or it has no effect")
	}
	d.s.Quotas = slices.Delete(d.s.Quotas, at, at+1)
	d.change(o, "deleted: it limits nothing")
	return nil
}
