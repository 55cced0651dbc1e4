package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"runtime"
	"sync/atomic"
	"time"

	"k8s.io/client-go/util/flowcontrol"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws"
	"github.com/daemok/daemok/controller"
	"github.com/daemok/daemok/controller/class"
	"github.com/daemok/daemok/controller/nodepool"
	"github.com/daemok/daemok/controller/planner"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/decide"
	"github.com/daemok/daemok/internal/version"
	"github.com/daemok/daemok/kube/access"
	"github.com/daemok/daemok/kube/api/autoscaling/v1beta1"
	"github.com/daemok/daemok/kube/api/mark"
	"github.com/daemok/daemok/kube/api/validate"
	"github.com/daemok/daemok/kube/apiclock"
	"github.com/daemok/daemok/kube/definitions"
	"github.com/daemok/daemok/kube/fence"
	"github.com/daemok/daemok/kube/snapshot"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/kube/translate/provisioner"
	"github.com/daemok/daemok/observe"
	"github.com/daemok/daemok/observe/alias"
	"github.com/daemok/daemok/observe/follow"
	"github.com/daemok/daemok/observe/record"
	"github.com/daemok/daemok/observe/spend"
	"github.com/daemok/daemok/observe/state"
	"github.com/daemok/daemok/observe/trace"
)

// build puts the program together, in plain sight (ADR-5).
func build(ctx context.Context, o options, tracer *trace.Tracer, log *slog.Logger) (ctrl.Manager, error) {
	if o.shadow.on {
		return buildShadow(ctx, o, log)
	}
	config, err := access.Config("")
	if err != nil {
		return nil, fmt.Errorf("find the cluster: %w", err)
	}
	clock := &apiclock.Clock{}
	config.Wrap(clock.Transport)
	config.QPS, config.Burst = float32(o.kubeQPS), o.kubeBurst
	kubernetes, err := versionOf(config)(ctx)
	if err != nil {
		return nil, fmt.Errorf("the API server at %s cannot be used, check KUBECONFIG and the way to it: %w", config.Host, err)
	}
	if err := newEnough(kubernetes, o.kubernetesLeast); err != nil {
		return nil, err
	}
	if err := (waiter{log, o.healthPort}).forDefinitions(ctx, config); err != nil {
		return nil, err
	}
	info := version.Get()
	reported := observe.NewMetrics(metrics.Registry, info.Version, info.Commit, info.Go, runtime.GOARCH)
	provider, err := newProvider(ctx, o, config, reported, log)
	if err != nil {
		return nil, err
	}
	f := &fence.Fence{LeaseFor: fence.LeaseFor, CallFor: fence.CallFor, Now: time.Now}
	decisions := &record.Record{}
	scraped := &alias.Gatherer{From: metrics.Registry, Rules: alias.WorkQueues()}
	m, err := newManager(o, config, f, map[string]http.Handler{record.Path: record.Handler(decisions, time.Now)}, scraped)
	if err != nil {
		return nil, err
	}
	if err := addIndexes(ctx, m); err != nil {
		return nil, err
	}
	older, err := provisioner.Served(m.GetRESTMapper())
	if err != nil {
		return nil, err
	}
	if older && o.legacyMetrics {
		scraped.Rules, scraped.Copies = append(scraped.Rules, alias.Legacy()...), alias.LegacyLabels()
	}
	p := parts{
		options: o, clock: clock, log: log, older: older, manager: m, metrics: reported, provider: provider, record: decisions,
		instances: provider, spot: provider, sizes: provider, offerings: provider, short: provider, checks: provider, adopter: provider,
		account: &class.Account{}, hasPrices: provider.HasOnDemand(), traces: tracer,
	}
	live := o.given.Live
	p.drifts = driftGate{said: o.saysDrift, is: o.olderDrift, settings: new(atomic.Bool)}
	p.drifts.settings.Store(live.Drift)
	p.account.Set(class.Usual{InstanceProfile: live.InstanceProfile, Tags: live.Tags, ManyPods: live.ManyPods, NoPodInterfaces: live.NoPodInterfaces})
	p.classes = controller.NodeClasses{Store: m.GetClient(), Catalog: provider, Served: classKinds(o, authority(o, config), p.account, older), Build: info.Build(), Render: controller.LaunchForm, Compared: &class.Comparisons{}}
	if o.leaderElection {
		p.provider = behind(f, provider)
		p.instances = p.provider
		p.adopter = fence.Adopter{Inner: provider, Fence: f}
	}
	if o.zonalShift {
		p.asked.shifts = provider
	}
	if o.readsCommitments() {
		p.asked.commitments = provider
	}
	if o.interruptionQueue != "" {
		p.interruptionMessages = provider.InterruptionMessages(o.interruptionQueue)
		if o.leaderElection {
			p.interruptionMessages = fence.InterruptionMessages{Inner: p.interruptionMessages, Fence: f}
		}
	}
	if p.events, err = newEvents(m, fencedConfig(o, config, f)); err != nil {
		return nil, err
	}
	p.follower = p.newFollower()
	p.metrics.PodsOn = state.PodsOn(m.GetClient())
	made := &madePlans{}
	buffers, err := p.add(ctx, made)
	if err != nil {
		return nil, err
	}
	return m, errors.Join(p.addMetrics(ctx, scraped, buffers), p.addWeb(made))
}

// parts is what the loops share.
type parts struct {
	options   options
	clock     *apiclock.Clock
	log       *slog.Logger
	manager   ctrl.Manager
	metrics   *observe.Metrics
	events    *observe.Events
	provider  provider
	instances cloud.Instances

	hasPrices            bool // the start has read prices on demand
	spot                 controller.SpotMemory
	sizes                controller.Sizes
	offerings            controller.Offerings
	interruptionMessages cloud.InterruptionMessages // nil: no queue is set
	short                cloud.Shortages
	checks               cloud.Checks
	adopter              cloud.Adopter
	asked                asked
	classes              controller.NodeClasses
	account              *class.Account // what classes of the older API generation share
	drifts               driftGate
	older                bool // the older API generation is served
	clusterState         *snapshot.ClusterState
	follower             *follow.Follower
	record               *record.Record
	traces               *trace.Tracer // nil: there are none
}

// asked is what options have the cloud asked for; nil: they do not.
type asked struct {
	shifts      cloud.Shifts
	commitments cloud.Commitments
}

// How many instances are tagged a second, and at once after a rest: EC2 lets an account make few
// such calls, and nothing waits for the tags.
const (
	tagsPerSecond = 1
	tagsAtOnce    = 10
)

// pools are the API generations whose pools this program serves.
func (p *parts) pools() []nodepool.Generation {
	if p.older {
		return []nodepool.Generation{controller.NodePools(), controller.Provisioners(provisioner.Generation())}
	}
	return []nodepool.Generation{controller.NodePools()}
}

// add hands the loops to the manager. It returns what lists the CapacityBuffers that are served; nil: none
// are.
func (p *parts) add(ctx context.Context, made *madePlans) (buffers func() []*v1beta1.CapacityBuffer, err error) {
	savings := spend.NewSavings(func() *cluster.Snapshot { return p.clusterState.Snapshot() }, p.record, p.clock.Now)
	if err := metrics.Registry.Register(savings); err != nil {
		return nil, fmt.Errorf("register metrics: %w", err)
	}
	program, err := controller.New(ctx, controller.Parts{
		Store: p.manager.GetClient(), Live: p.manager.GetAPIReader(), Watches: p.manager.GetCache(),
		Cloud: controller.Cloud{
			Catalog: p.provider, Instances: p.measured, Spot: p.spot, Sizes: p.sizes, Offerings: p.offerings, Adopter: p.adopter,
			InterruptionMessages: p.interruptionMessages, Checks: p.checks, Shifts: p.asked.shifts, Short: p.short,
			Commitments: p.asked.commitments,
			CallFor:     fence.CallFor, TagPace: flowcontrol.NewTokenBucketRateLimiter(tagsPerSecond, tagsAtOnce),
		},
		Classes: p.classes, Pools: p.pools(), ClassKinds: p.classes.Objects(),
		Events: p.events, Metrics: p.metrics, Log: p.log, Now: p.clock.Now, Clock: p.clock,
		Planning: controller.Planning{
			Policy: p.options.policy(), Window: planner.Window{Idle: p.options.batchIdle, Max: p.options.batchMax},
			Spreads: p.options.defaultSpreads, NewID: randomID, Pods: p.follower,
			Nominations: flowcontrol.NewTokenBucketRateLimiter(nominationsPerSecond, nominationsAtOnce),
			Failures:    flowcontrol.NewTokenBucketRateLimiter(failuresPerSecond, failuresAtOnce),
			Filled:      p.manager.GetCache().WaitForCacheSync, Began: p.metrics.Synced, Savings: savings,
			NoOverlays: !p.options.overlays, NoQuotas: !p.options.quotas,
			NoCommitments: !p.options.commitments, Devices: !p.options.ignoreDRA,
			Instance: p.options.processorInstance,
			Made:     p.options.web.listener(made), Watched: p.watched,
		},
		Record: p.record, Traces: p.traces,
		Self:         controller.Self{Cluster: p.options.clusterName, Namespace: ownNamespace(), Pod: ownPod()},
		PoolDefaults: p.options.poolDefaults(),
		Steering:     p.options.steering, OlderDrift: p.drifts.on,
		ClaimsGo: func(ctx context.Context) (bool, error) { return definitions.ClaimsGo(ctx, p.manager.GetAPIReader()) },
	})
	if err != nil {
		return nil, err
	}
	p.clusterState = program.ClusterState
	var errs []error
	for _, l := range append(program.Loops, p.classLoops()...) {
		errs = append(errs, addLoop(p.manager, l, p.options.cpuRequests))
	}
	for _, r := range append(program.Rounds, program.Later(p.profilesRound(), p.lookForOthers(), p.writeStatus())...) {
		errs = append(errs, p.manager.Add(leading(func(ctx context.Context) error { return r.Run(ctx, p.log) })))
	}
	everywhere := []controller.Round{p.followOlder(), p.compareDefinitions()}
	if p.older {
		everywhere = append(everywhere, p.followGlobal())
	}
	for _, r := range everywhere {
		errs = append(errs, p.manager.Add(always(func(ctx context.Context) error { return r.Run(ctx, p.log) })))
	}
	for _, run := range append(program.Tasks, p.refreshTemplates) {
		errs = append(errs, p.manager.Add(leading(run)))
	}
	fill := func(ctx context.Context) error { return p.fill(ctx, program.Planned) }
	errs = append(errs, p.manager.Add(always(p.refresh)), p.manager.Add(always(fill)))
	return program.Buffers, errors.Join(errs...)
}

// classKinds are the kinds of classes that this program serves. Instances of theirs trust the CA,
// as PEM or base64.
func classKinds(o options, authority string, account *class.Account, older bool) []class.Kind {
	kinds := []class.Kind{class.NodeClasses(authority, validate.ClassOptions{Expressions: o.expressions})}
	if older {
		kinds = append(kinds, class.NodeTemplates(account), class.Provisioners(account))
	}
	return kinds
}

// classLoops are the loops over the classes of this cloud.
func (p *parts) classLoops() (loops []controller.Loop) {
	for _, kind := range p.classes.Served {
		loops = append(loops, controller.ClassLoop(&class.Reconciler{
			Kind: kind, Store: p.manager.GetClient(), Live: p.manager.GetAPIReader(), Finder: p.provider, Events: p.events, Metrics: p.metrics, Log: p.log, Now: p.clock.Now,
			DryRun: !p.options.disableDryRun, Verified: aws.VerifiedFor, ReservedCapacity: p.options.reserved, ReservedENIs: p.options.reservedENIs,
			ImagesEvery: p.options.amiEvery, SubnetsEvery: p.options.subnetEvery, Form: p.classes.Render, Build: p.classes.Build, Compared: p.classes.Compared,
		}))
	}
	return loops
}

// policy is how the options ask plans to be made.
func (o options) policy() (p decide.Policy) {
	_ = p.MinValues.Set(o.minValuesPolicy) // check has seen to both
	_ = p.Preferences.Set(o.preferencePolicy)
	p.PreferenceWorth, p.Nominated = o.preferenceWorth, o.nominatePods
	p.Disruption.SpotToSpot, p.Disruption.EverySaving = o.spotToSpot, o.payback == "off"
	p.IgnoreReplicas, p.IgnoreBuffers, p.IgnoreRequests = !o.static, !o.buffers, !o.requests
	return p
}

// readsCommitments reports whether commitments of the account are read.
func (o options) readsCommitments() bool {
	return o.accountCommitments && o.commitments
}

// poolDefaults are what is so of pools that do not say otherwise.
func (o options) poolDefaults() translate.PoolDefaults {
	return translate.PoolDefaults{InstanceCost: o.instanceCost, Room: o.room, Repair: o.repair(),
		ClusterAutoscaler: mark.ClusterAutoscaler(o.autoscaler)}
}

// repair is when unhealthy nodes are repaired whose pools do not say.
func (o options) repair() cluster.Repair {
	if !o.nodeRepair {
		return cluster.Repair{}
	}
	return mark.UsualRepair()
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
