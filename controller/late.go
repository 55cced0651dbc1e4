package controller

import (
	"context"
	"errors"
	"log/slog"
	"time"

	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	autoscalingv1 "github.com/daemok/daemok/kube/api/autoscaling/v1"
	"github.com/daemok/daemok/kube/api/autoscaling/v1beta1"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha1"
	vpav1 "github.com/daemok/daemok/kube/api/verticalpodautoscaler/v1"
	"github.com/daemok/daemok/kube/snapshot"
)

// lateEvery is how often it is tried again to follow a type that cannot be followed.
const lateEvery = 30 * time.Second

// late follows objects of a type that clusters may lack, or not let the controller list: there are none until it can.
type late struct {
	Object  client.Object // of the type
	Follow  func(ctx context.Context) error
	Without string // what becomes of plans without them, for the log
	Vital   bool   // plans without them are wrong where there are some
	Usual   bool   // a cluster that lacks the type is one to be reported; otherwise most do
	State   interface {
		WaitForFirst(ctx context.Context, only ...client.Object) bool
		Touch()
	}
	Log     *slog.Logger
	Watched func(ctx context.Context, of client.Object) error // is called once it is followed; may be nil

	taken    bool // it is followed, by Follow
	followed bool // and whoever is to know of it does
	refused  string
}

// overlays follows NodeOverlays.
func (p Parts) overlays(live client.Reader, clusterState *snapshot.ClusterState) *late {
	return &late{
		Object: &v1alpha1.NodeOverlay{}, Without: "NodeOverlays have no effect", Vital: true, Usual: true,
		State: clusterState, Log: p.Log, Watched: p.Watched,
		Follow: func(ctx context.Context) error { return clusterState.Overlays.Follow(ctx, live, p.Watches) },
	}
}

// requested follows ProvisioningRequests.
func (p Parts) requested(live client.Reader, clusterState *snapshot.ClusterState) *late {
	return &late{
		Object: &autoscalingv1.ProvisioningRequest{}, Vital: true, State: clusterState, Log: p.Log,
		Watched: p.Watched,
		Without: "ProvisioningRequests have no effect, and pods that consume one do not wait for it",
		Follow: func(ctx context.Context) error {
			return clusterState.Requests.Follow(ctx, live, p.Watches)
		},
	}
}

// quotas follows CapacityQuotas.
func (p Parts) quotas(live client.Reader, clusterState *snapshot.ClusterState) *late {
	return &late{
		Object: &v1beta1.CapacityQuota{}, Without: "CapacityQuotas have no effect", Vital: true,
		State: clusterState, Log: p.Log,
		Follow: func(ctx context.Context) error { return clusterState.Quotas.Follow(ctx, live, p.Watches) },
	}
}

// recommendations follows VerticalPodAutoscalers.
func (p Parts) recommendations(live client.Reader, clusterState *snapshot.ClusterState) *late {
	of := &vpav1.VerticalPodAutoscaler{}
	return &late{
		Object: of, Without: "pods that move are planned without what VerticalPodAutoscalers recommend",
		State: clusterState, Log: p.Log,
		Follow: func(ctx context.Context) error {
			const name = "verticalpodautoscalers.autoscaling.k8s.io"
			return snapshot.FollowLate(ctx, clusterState, live, p.Watches, of, name)
		},
	}
}

// devices follows devices and ResourceClaims.
func (p Parts) devices(live client.Reader, clusterState *snapshot.ClusterState) *late {
	return &late{
		Object: &resourcev1.ResourceClaim{}, Without: "pods with ResourceClaims are left alone", Vital: true,
		Usual: true, State: clusterState, Log: p.Log,
		Follow: func(ctx context.Context) error { return clusterState.Devices.Follow(ctx, live, p.Watches) },
	}
}

// start tries it once, before anything else runs. An error is one that may pass, of a type without which plans are
// wrong: then the program must be started again. Another reason, such as a right that is missing, keeps it from
// nothing.
func (l *late) start(ctx context.Context) error {
	err := l.try(ctx)
	if l.Vital && !errors.Is(err, snapshot.ErrNotServed) && !apierrors.IsForbidden(err) {
		return err
	}
	return nil
}

// round tries it again where it could not be done. Plans are made anew once all that there is has been taken in.
func (l *late) round(ctx context.Context) (time.Duration, error) {
	if l.followed {
		return time.Hour, nil
	}
	if _ = l.try(ctx); !l.followed { // try has logged why
		return lateEvery, nil
	}
	if l.State.WaitForFirst(ctx, l.Object) {
		l.State.Touch()
	}
	return time.Hour, nil
}

// try tries it, and logs why it cannot be done, each reason once.
func (l *late) try(ctx context.Context) error {
	var err error
	if !l.taken {
		err = l.Follow(ctx)
		l.taken = err == nil
	}
	if err == nil && l.Watched != nil {
		err = l.Watched(ctx, l.Object)
	}
	l.followed = err == nil
	if l.followed || !l.Usual && errors.Is(err, snapshot.ErrNotServed) {
		return err
	}
	if why := err.Error(); why != l.refused {
		l.refused = why
		l.Log.Warn(l.Without, "why", why)
	}
	return err
}
