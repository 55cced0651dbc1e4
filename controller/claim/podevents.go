package claim

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

// podEventEvery is how exactly the time of a claim's last pod event is kept
// across restarts; while the process runs it is known exactly.
const podEventEvery = 10 * time.Second

// NotePodEvents writes when a pod last came to or left each node on its
// claim, where the claim is more than podEventEvery behind. It returns when
// to look again.
func (r *Reconciler) NotePodEvents(ctx context.Context, last func(node string) time.Time) (time.Duration, error) {
	var list karpv1.NodeClaimList
	if err := r.Store.List(ctx, &list); err != nil {
		return podEventEvery, fmt.Errorf("list claims to note pod events: %w", err)
	}
	var errs []error
	for i := range list.Items {
		c := &list.Items[i]
		at := last(c.Status.NodeName)
		if c.Status.NodeName == "" || at.Sub(c.Status.LastPodEventTime.Time) < podEventEvery {
			continue
		}
		before := c.DeepCopy()
		c.Status.LastPodEventTime = metav1.NewTime(at)
		if err := r.Store.Status().Patch(ctx, c, client.MergeFrom(before)); client.IgnoreNotFound(err) != nil {
			errs = append(errs, fmt.Errorf("note pod event on claim %s: %w", c.Name, err))
		}
	}
	return podEventEvery, errors.Join(errs...)
}
