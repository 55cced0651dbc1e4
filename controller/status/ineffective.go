package status

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/api"
	autoscalingv1 "github.com/daemok/daemok/kube/api/autoscaling/v1"
	autoscalingv1beta1 "github.com/daemok/daemok/kube/api/autoscaling/v1beta1"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha1"
	"github.com/daemok/daemok/kube/pages"
)

// ineffectiveEvery is how often kinds without effect are listed.
const ineffectiveEvery = 30 * time.Second

// Ineffective reports objects that are accepted but have no effect, since a gate is off.
type Ineffective struct {
	Reporter
	NoOverlays bool // the gate NodeOverlay is off
	NoBuffers  bool // the gate CapacityBuffer is off
	NoRequests bool // the gate ProvisioningRequest is off
	NoQuotas   bool // the gate CapacityQuota is off

	NoCommitmentsIn string // the controller's namespace where the gate Commitments is off; else empty
}

// Round lists them once, and returns when to list again.
func (r *Ineffective) Round(ctx context.Context) (time.Duration, error) {
	var overlays, buffers, requests, quotas error
	if r.NoOverlays {
		overlays = r.report(ctx, "NodeOverlay", &v1alpha1.NodeOverlayList{},
			"has no effect, since the feature gate NodeOverlay is off: "+
				"prices and capacities of instance types stay as they are")
	}
	if r.NoBuffers {
		buffers = r.report(ctx, "CapacityBuffer", &autoscalingv1beta1.CapacityBufferList{},
			"has no effect, since the feature gate CapacityBuffer is off: no capacity is kept free")
	}
	if r.NoRequests {
		requests = r.report(ctx, "ProvisioningRequest", &autoscalingv1.ProvisioningRequestList{},
			"has no effect, since the feature gate ProvisioningRequest is off: "+
				"no capacity is sought, and pods do not wait for it")
	}
	if r.NoQuotas {
		quotas = r.report(ctx, "CapacityQuota", &autoscalingv1beta1.CapacityQuotaList{},
			"has no effect, since the feature gate CapacityQuota is off: nothing that it limits is")
	}
	return ineffectiveEvery, errors.Join(overlays, buffers, requests, quotas, r.commitments(ctx))
}

// commitments reports the ConfigMap that lists them.
func (r *Ineffective) commitments(ctx context.Context) error {
	if r.NoCommitmentsIn == "" {
		return nil
	}
	c, key := &corev1.ConfigMap{}, client.ObjectKey{Namespace: r.NoCommitmentsIn, Name: api.ConfigMapCommitments}
	switch err := r.Live.Get(ctx, key, c); {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("read ConfigMap %s: %w", key, err)
	}
	r.warn(c, "ConfigMap/"+key.String(), "NotInEffect", "data: commitments have no effect, since the feature gate "+
		"Commitments is off: instances are planned at their prices; docs/status.md says what works")
	return nil
}

// report reports objects of a kind, and what becomes of them.
func (r *Ineffective) report(ctx context.Context, kind string, list client.ObjectList, what string) error {
	err := r.Live.List(ctx, list)
	if pages.NotServed(err) {
		return nil // not installed
	}
	if err != nil {
		return fmt.Errorf("list objects of kind %s: %w", kind, err)
	}
	return meta.EachListItem(list, func(o runtime.Object) error {
		named, err := meta.Accessor(o)
		if err != nil {
			return fmt.Errorf("name an object of kind %s: %w", kind, err)
		}
		r.warn(o, kind+"/"+named.GetNamespace()+"/"+named.GetName(), "NotInEffect",
			fmt.Sprintf("spec: a %s %s; docs/status.md says what works", kind, what))
		return nil
	})
}
