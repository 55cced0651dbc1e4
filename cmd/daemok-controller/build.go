package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/flowcontrol"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws"
	"github.com/daemok/daemok/controller/claim"
	"github.com/daemok/daemok/controller/class"
	"github.com/daemok/daemok/controller/collect"
	"github.com/daemok/daemok/controller/drain"
	"github.com/daemok/daemok/controller/planner"
	"github.com/daemok/daemok/controller/pool"
	"github.com/daemok/daemok/core/decide"
	"github.com/daemok/daemok/core/place"
	"github.com/daemok/daemok/internal/version"
	"github.com/daemok/daemok/kube/api"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	"github.com/daemok/daemok/kube/api/fingerprint"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/apply"
	"github.com/daemok/daemok/kube/fence"
	"github.com/daemok/daemok/kube/snapshot"
	"github.com/daemok/daemok/observe"
	"github.com/daemok/daemok/observe/follow"
)

// build puts the program together, in plain sight (ADR-5).
func build(ctx context.Context, o options, log *slog.Logger) (ctrl.Manager, error) {
	config, err := ctrl.GetConfig()
	if err != nil {
		return nil, fmt.Errorf("find the cluster: %w", err)
	}
	config.QPS, config.Burst = float32(o.kubeQPS), o.kubeBurst
	if _, err := versionOf(config)(ctx); err != nil {
		return nil, fmt.Errorf("the API server at %s cannot be used, check KUBECONFIG and the way to it: %w", config.Host, err)
	}
	info := version.Get()
	told := observe.NewMetrics(metrics.Registry, info.Version, info.Commit, info.Go, runtime.GOARCH)
	provider, err := newProvider(ctx, o, config, told, log)
	if err != nil {
		return nil, err
	}
	f := &fence.Fence{LeaseFor: leaseFor, CallFor: callFor, Now: time.Now}
	m, err := newManager(o, config, f)
	if err != nil {
		return nil, err
	}
	if err := addIndexes(ctx, m); err != nil {
		return nil, err
	}
	p := parts{
		options: o, log: log, manager: m, metrics: told, provider: provider, authority: authority(o, config),
		machines: provider,
		classes:  classes{store: m.GetClient(), catalog: provider},
	}
	if o.leaderElection {
		p.machines = fencedMachines{Machines: provider, fence: f}
		p.provider = fencedFinder{provider: provider, fence: f}
	}
	if p.events, err = newEvents(m, config); err != nil {
		return nil, err
	}
	p.follower = p.newFollower()
	return m, errors.Join(p.addPlanner(ctx), p.addLoops(), p.addBackground(), p.addMetrics(ctx))
}

// parts is what the loops share.
type parts struct {
	options   options
	log       *slog.Logger
	manager   ctrl.Manager
	metrics   *observe.Metrics
	events    *observe.Events
	provider  provider
	machines  cloud.Machines
	classes   classes
	keeper    *snapshot.Keeper
	follower  *follow.Follower
	authority string // CA that machines trust, base64
}

func newEvents(m ctrl.Manager, config *rest.Config) (*observe.Events, error) {
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("build client for events: %w", err)
	}
	broadcaster := record.NewBroadcaster()
	broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: clients.CoreV1().Events("")})
	recorder := broadcaster.NewRecorder(m.GetScheme(), corev1.EventSource{Component: "karpenter"})
	return &observe.Events{Recorder: recorder, Now: time.Now}, nil
}

// addPlanner wires watches to snapshots to plans to claims.
func (p *parts) addPlanner(ctx context.Context) error {
	ledger := &apply.Ledger{}
	p.keeper = snapshot.NewKeeper(p.classes.Kinds, time.Now)
	seen := func(c *karpv1.NodeClaim, gone bool) { ledger.Seen(c, gone, time.Now()) }
	if err := p.keeper.Follow(ctx, p.manager.GetCache(), seen); err != nil {
		return err
	}
	applier := &apply.Applier{
		Store: p.manager.GetClient(), Live: p.manager.GetAPIReader(), Ledger: ledger, Pools: p.keeper,
		Now: time.Now, NewID: randomID, Again: p.keeper.Touch,
	}
	loop := &planner.Planner{
		Source: p.keeper, Ledger: ledger, Applier: applier, Now: time.Now,
		Listener: &planner.Teller{
			Log: p.log, Events: p.events, Metrics: p.metrics, Pods: p.follower,
			Nominations: flowcontrol.NewTokenBucketRateLimiter(nominationsPerSecond, nominationsAtOnce),
		},
		Preparer: &claim.Preparer{
			Pools: p.keeper, Machines: p.measured("provisioner"), Log: p.log, Requests: &claim.Requests{Classes: p.classes, Catalog: p.provider},
		},
		Effort: decide.Usual,
		Window: planner.Window{Idle: p.options.batchIdle, Max: p.options.batchMax},
	}
	if p.options.minValuesPolicy == "BestEffort" {
		loop.Policy.MinValues = place.BestEffort
	}
	findLost := func(ctx context.Context) (time.Duration, error) { return lostEvery, applier.FindLost(ctx) }
	if err := p.manager.Add(leading(func(ctx context.Context) error { return every(ctx, p.log, "find lost orders", findLost) })); err != nil {
		return err
	}
	return p.manager.Add(leading(func(ctx context.Context) error {
		defer applier.Wait()
		if !p.manager.GetCache().WaitForCacheSync(ctx) || !p.keeper.WaitForFirst(ctx) {
			return nil
		}
		if !p.undo(ctx, applier) {
			return nil
		}
		p.metrics.Synced()
		return loop.Run(ctx)
	}))
}

// undo takes off the taints that an earlier process left, before the first
// plan; it reports false when ctx ended first.
func (p *parts) undo(ctx context.Context, applier *apply.Applier) bool {
	for {
		err := applier.Undo(ctx)
		if err == nil {
			return true
		}
		p.log.Error("could not take stale taints off, trying again", "error", err.Error())
		select {
		case <-ctx.Done():
			return false
		case <-time.After(undoAgain):
		}
	}
}

// How many pods are told by an event where they should go, as Karpenter does.
const (
	nominationsPerSecond = 5
	nominationsAtOnce    = 10
)

// undoAgain is when stale taints are tried again, and lostEvery how often
// orders that no watch has shown are looked for.
const (
	undoAgain = 2 * time.Second
	lostEvery = 20 * time.Second
)

// addLoops wires the loops that move one object each.
func (p *parts) addLoops() error {
	store, health := p.manager.GetClient(), &pool.Health{}
	launcher := (&claim.Launcher{
		Store: store, Live: p.manager.GetAPIReader(), Machines: p.measured("nodeclaim.lifecycle"), Now: time.Now, CallFor: callFor,
		Requests: &claim.Requests{Classes: p.classes, Catalog: p.provider},
		Outcome: &claim.Outcomes{
			Store: store, Classes: p.classes, Catalog: p.provider, Events: p.events, Metrics: p.metrics, Now: time.Now,
		},
	}).Open()
	claims := &claim.Reconciler{
		Store: store, Launcher: launcher, Machines: p.measured("nodeclaim.lifecycle"), Events: p.events, Metrics: p.metrics, Now: time.Now,
		Health: func(c *karpv1.NodeClaim, registered bool) { health.Note(c.Labels[api.LabelNodePool], registered) },
	}
	nodes := &drain.Reconciler{
		Store: store, Live: p.manager.GetAPIReader(), Machines: p.measured("node.termination"), Events: p.events, Metrics: p.metrics, Now: time.Now,
	}
	classLoop := &class.Reconciler{
		Store: store, Finder: p.provider, Events: p.events, Now: time.Now,
		DryRun: !p.options.disableDryRun, Verified: aws.VerifiedFor,
		Validate: validateClass,
		Hash: func(c *awsv1.EC2NodeClass) (string, string) {
			return fingerprint.EC2NodeClass(c, fingerprint.Cluster{CABundle: p.authority}), fingerprint.Version
		},
	}
	pools := &pool.Reconciler{
		Generation: generationV1(), Store: store, ClassState: p.classes.State, Offered: p.classes.Offered, Health: health,
		Events: p.events, Metrics: p.metrics, Now: time.Now,
	}
	noteEvents := func(ctx context.Context) (time.Duration, error) {
		return claims.NotePodEvents(ctx, p.keeper.LastPodEvent)
	}
	return errors.Join(
		p.manager.Add(leading(func(ctx context.Context) error { return every(ctx, p.log, "note pod events", noteEvents) })),
		addLoops(p.manager, claims.Reconcile, nodes.Reconcile, classLoop.Reconcile, pools.Reconcile),
		p.manager.Add(leading(launcher.Run)))
}

// addBackground wires what runs by the clock.
func (p *parts) addBackground() error {
	collector := &collect.Collector{
		Store: p.manager.GetClient(), Live: p.manager.GetAPIReader(), Machines: p.measured("nodeclaim.garbagecollection"), Log: p.log, Metrics: p.metrics, Now: time.Now,
	}
	return errors.Join(
		p.manager.Add(leading(func(ctx context.Context) error { return every(ctx, p.log, "collect orphans", collector.Round) })),
		p.manager.Add(leading(p.refreshTemplates)),
		p.manager.Add(always(p.refresh)))
}

// every repeats a round until ctx ends; the round says when the next is due.
func every(ctx context.Context, log *slog.Logger, what string, round func(context.Context) (time.Duration, error)) error {
	for {
		after, err := round(ctx)
		if err != nil && ctx.Err() == nil {
			log.Error("could not "+what, "error", err.Error())
		}
		t := time.NewTimer(after)
		select {
		case <-ctx.Done():
			t.Stop()
			return nil
		case <-t.C:
		}
	}
}

// randomID is five characters that make the name of a claim its own.
func randomID() string {
	const letters = "bcdfghjklmnpqrstvwxz2456789"
	id := make([]byte, 5)
	for i := range id {
		id[i] = letters[rand.IntN(len(letters))]
	}
	return string(id)
}
