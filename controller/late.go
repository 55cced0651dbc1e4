package controller

import (
	"context"
	"errors"
	"time"

	vpav1 "github.com/daemok/daemok/kube/api/verticalpodautoscaler/v1"
	"github.com/daemok/daemok/kube/snapshot"
)

// lateEvery is how often it is tried again to follow a kind that cannot be followed.
const lateEvery = time.Minute

// recommendations are VerticalPodAutoscalers, which many clusters do not have.
type recommendations struct {
	Parts
	clusterState *snapshot.ClusterState

	followed bool
	refused  string
}

// follow tries once to have the cluster state take them in.
func (r *recommendations) follow(ctx context.Context) {
	const name = "verticalpodautoscalers.autoscaling.k8s.io"
	err := snapshot.FollowLate(ctx, r.clusterState, r.Live, r.Watches, &vpav1.VerticalPodAutoscaler{}, name)
	r.followed = err == nil
	if r.followed || errors.Is(err, snapshot.ErrNotServed) {
		return
	}
	if why := err.Error(); why != r.refused {
		r.refused = why
		r.Log.Warn("pods that move are planned without what VerticalPodAutoscalers recommend", "why", why)
	}
}

// round tries it again where it could not be done.
func (r *recommendations) round(ctx context.Context) (time.Duration, error) {
	if r.followed {
		return time.Hour, nil
	}
	r.follow(ctx)
	return lateEvery, nil
}
