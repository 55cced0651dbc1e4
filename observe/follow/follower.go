// Package follow counts what happens to objects, from the watches. Examples are how long pods take to
// be bound and to start, how long instances take to terminate, and which conditions change.
//
// It promises to count each thing once, in the process that leads, and only what happens while it
// watches: what existed before is nothing new. It does not count claims, pools and instances of
// another provider. It writes nothing but metrics, and keeps nothing of objects that are gone.
package follow

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/daemok/daemok/kube/api/autoscaling/v1"
	"github.com/daemok/daemok/kube/api/autoscaling/v1beta1"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	awsv1alpha1 "github.com/daemok/daemok/kube/api/aws/v1alpha1"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha1"
	"github.com/daemok/daemok/kube/buffer"
	"github.com/daemok/daemok/kube/provisioningrequest"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/observe"
	"github.com/daemok/daemok/observe/trace"
)

// Follower counts. Metrics, Leading and Now must be set; it is safe for
// concurrent use.
type Follower struct {
	Metrics  *observe.Metrics
	Leading  func() bool           // false: another process counts
	Serves   translate.Generations // whose pools are followed
	Traces   *trace.Tracer         // is notified of claims; nil: there are none
	Instance string                // the processorInstance of ProvisioningRequests that are counted
	Objects  bool                  // export a series for each pod that waits, and count conditions
	Now      func() time.Time

	mu     sync.Mutex
	pods   map[types.UID]*waiting // that have not started yet
	made   map[string]string      // by node: the claim that it was launched by
	theirs map[string]bool        // by node: it is another provider's
}

// Follow lets the follower hear of everything the cache's informers see. It is
// called once.
func (f *Follower) Follow(ctx context.Context, informers cache.Informers) error {
	type watch struct {
		kind    client.Object
		handler toolscache.ResourceEventHandler
	}
	watches := []watch{
		{&corev1.Pod{}, handler[*corev1.Pod]{f.podSeen, f.podGone}},
		{&corev1.Node{}, handler[*corev1.Node]{f.nodeSeen, f.nodeGone}},
		{&karpv1.NodeClaim{}, handler[*karpv1.NodeClaim]{f.claimSeen, f.claimGone}},
		{&awsv1.EC2NodeClass{}, f.conditions("ec2nodeclass")},
	}
	if _, older := f.Serves.Of(translate.KindProvisioner); older {
		watches = append(watches, watch{&awsv1alpha1.AWSNodeTemplate{}, f.conditions("awsnodetemplate")})
	}
	for _, g := range f.Serves {
		watches = append(watches, watch{g.New(), handler[translate.PoolResource]{
			func(before, after translate.PoolResource) { f.poolSeen(g, before, after) },
			func(last translate.PoolResource) { f.poolGone(g, last) },
		}})
	}
	for _, h := range watches {
		if err := follow(ctx, informers, h.kind, h.handler); err != nil {
			return err
		}
	}
	return nil
}

// FollowLate lets the follower hear of objects of a type that clusters may lack, once they are watched. It does
// nothing for a type whose conditions are not counted. It is called once for each type.
func (f *Follower) FollowLate(ctx context.Context, informers cache.Informers, of client.Object) error {
	switch of.(type) {
	case *v1alpha1.NodeOverlay:
		return follow(ctx, informers, of, f.conditions("nodeoverlay"))
	case *v1.ProvisioningRequest:
		ours := func(o any) bool {
			r, is := o.(*v1.ProvisioningRequest)
			return is && provisioningrequest.Ours(r, f.Instance)
		}
		h := toolscache.FilteringResourceEventHandler{FilterFunc: ours, Handler: f.conditions("provisioningrequest")}
		return follow(ctx, informers, of, h)
	case *v1beta1.CapacityBuffer:
		ours := func(o any) bool { b, is := o.(*v1beta1.CapacityBuffer); return is && buffer.Ours(b) }
		h := toolscache.FilteringResourceEventHandler{FilterFunc: ours, Handler: f.conditions("capacitybuffer")}
		return follow(ctx, informers, of, h)
	}
	return nil
}

func follow(
	ctx context.Context, informers cache.Informers, of client.Object, h toolscache.ResourceEventHandler,
) error {
	informer, err := informers.GetInformer(ctx, of, cache.BlockUntilSynced(false))
	if err != nil {
		return fmt.Errorf("watch %T for metrics: %w", of, err)
	}
	if _, err := informer.AddEventHandler(h); err != nil {
		return fmt.Errorf("follow %T for metrics: %w", of, err)
	}
	return nil
}

// handler reports objects as they change. before is nil for one that is new, and after itself for
// one that was there when the watch began.
type handler[T any] struct {
	seen func(before, after T)
	gone func(last T)
}

func (h handler[T]) OnAdd(o any, first bool) {
	object, ok := o.(T)
	if !ok {
		return
	}
	var before T
	if first {
		before = object
	}
	h.seen(before, object)
}

func (h handler[T]) OnUpdate(old, o any) {
	before, ok := old.(T)
	after, also := o.(T)
	if ok && also {
		h.seen(before, after)
	}
}

func (h handler[T]) OnDelete(o any) {
	if tomb, ok := o.(toolscache.DeletedFinalStateUnknown); ok {
		o = tomb.Obj
	}
	if object, ok := o.(T); ok {
		h.gone(object)
	}
}
