package main

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/controller"
	"github.com/daemok/daemok/kube/api/autoscaling/v1beta1"
	"github.com/daemok/daemok/kube/compact"
	"github.com/daemok/daemok/kube/foreign"
	"github.com/daemok/daemok/observe"
	"github.com/daemok/daemok/observe/alias"
	"github.com/daemok/daemok/observe/follow"
	"github.com/daemok/daemok/observe/spend"
	"github.com/daemok/daemok/observe/state"
)

// newFollower counts what happens to objects, while this process leads.
func (p *parts) newFollower() *follow.Follower {
	return &follow.Follower{
		Metrics: p.metrics, Leading: p.leads, Traces: p.traces, Serves: controller.Served(p.pools()), Objects: !p.options.disableStateMetrics, Now: time.Now,
		Instance: p.options.processorInstance,
	}
}

// addMetrics wires what is read at a scrape and what is counted from watches.
func (p *parts) addMetrics(
	ctx context.Context, scraped *alias.Gatherer, buffers func() []*v1beta1.CapacityBuffer,
) error {
	p.metrics.LeadsBy(p.leads)
	if err := p.follower.Follow(ctx, p.manager.GetCache()); err != nil {
		return err
	}
	pods, err := p.manager.GetCache().GetInformer(ctx, &corev1.Pod{}, cache.BlockUntilSynced(false))
	if err != nil {
		return fmt.Errorf("follow pods for metrics: %w", err)
	}
	scraped.Beside = &state.Collector{
		Store: foreign.HideFrom(p.manager.GetClient()), Pods: pods.(*compact.Pods).All,
		Serves: controller.Served(p.pools()), Snapshot: p.clusterState.Snapshot, Kinds: p.classes.Kinds,
		Overlays: p.clusterState.Overlays.List, Leading: p.leadsAndKnows,
		Objects: !p.options.disableStateMetrics, Offerings: state.Offerings(p.options.offeringMetrics), Now: time.Now,
		Buffers: buffers, Requests: p.clusterState.Requests.States,
	}
	nodes := &spend.Nodes{
		Snapshot: p.clusterState.Snapshot, Leading: p.leadsAndKnows, Objects: !p.options.disableStateMetrics,
	}
	for _, c := range []prometheus.Collector{p.follower, nodes} {
		if err := metrics.Registry.Register(c); err != nil {
			return fmt.Errorf("register metrics: %w", err)
		}
	}
	return nil
}

// watched counts what happens to objects of a type that clusters may lack, once they are watched.
func (p *parts) watched(ctx context.Context, of client.Object) error {
	return p.follower.FollowLate(ctx, p.manager.GetCache(), of)
}

// leads reports whether this process holds the lease, or needs none.
func (p *parts) leads() bool {
	select {
	case <-p.manager.Elected():
		return true
	default:
		return false
	}
}

// leadsAndKnows reports whether this process leads and has seen everything:
// before that a scrape would wait for the caches.
func (p *parts) leadsAndKnows() bool { return p.leads() && p.metrics.IsSynced() }

// measured is the cloud's instances for the loop of that name.
func (p *parts) measured(controller string) cloud.Instances {
	return observe.Instances{Instances: p.instances, Metrics: p.metrics, Controller: controller, Provider: "aws", Now: time.Now}
}
