package manifest

import (
	"context"
	"errors"
	"fmt"
	"time"

	requestv1 "github.com/daemok/daemok/kube/api/autoscaling/v1"
	"github.com/daemok/daemok/kube/provisioningrequest"
)

// requests takes in ProvisioningRequests, after all that their pods may be made from.
func (a *applier) requests(objects []Object) error {
	from := overlaid{objects: objects, applier: a}
	for _, o := range objects {
		r, is := o.Object.(*requestv1.ProvisioningRequest)
		if !is {
			continue
		}
		if err := seek(a, o, r, from); err != nil {
			return fmt.Errorf("%s: %w", o.At(), err)
		}
	}
	return nil
}

// seek takes in one ProvisioningRequest.
func seek(a *applier, o Object, r *requestv1.ProvisioningRequest, from overlaid) error {
	if !a.Requests.Ours(r) {
		a.change(o, "is of another provisioning class, or for another autoscaler: no plan depends on it")
		return nil
	}
	if why := provisioningrequest.Invalid(r); why != "" {
		return errors.New(why)
	}
	if r.CreationTimestamp.IsZero() {
		r.CreationTimestamp.Time = a.Now.Truncate(time.Second)
	}
	resolved, err := provisioningrequest.Resolve(context.Background(), from, r)
	if err != nil {
		return err
	}
	if len(resolved.Pods) == 0 {
		return errors.New(resolved.NotReady.Message + a.hint("what the request names"))
	}
	a.Requests.Serve()
	a.ClusterState.Seen(r)
	a.Requests.Resolved(resolved)
	for _, s := range a.Requests.States() {
		switch {
		case s.Object != r:
		case s.NotReady.Message != "":
			return errors.New(s.NotReady.Message)
		default:
			pods := 0
			for _, set := range r.Spec.PodSets {
				pods += int(set.Count)
			}
			a.change(o, "capacity is sought for %s", counted(pods))
		}
	}
	return nil
}
