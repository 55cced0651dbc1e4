// Package controller assembles the loops in the folders below: what each watches, what repeats, and
// what runs once.
//
// It promises that the same loops react to the same changes, whether the program runs them through a
// manager or a simulation runs them in virtual time. It starts nothing itself. It knows no leases, and
// only the classes of AWS.
package controller

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/controller/buffer"
	"github.com/daemok/daemok/controller/drift"
	"github.com/daemok/daemok/controller/garbagecollection"
	"github.com/daemok/daemok/controller/interruption"
	"github.com/daemok/daemok/controller/launch"
	"github.com/daemok/daemok/controller/nodeclaim"
	"github.com/daemok/daemok/controller/nodepool"
	"github.com/daemok/daemok/controller/repair"
	"github.com/daemok/daemok/controller/request"
	"github.com/daemok/daemok/controller/status"
	"github.com/daemok/daemok/controller/steer"
	"github.com/daemok/daemok/controller/termination"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/kube/api/autoscaling/v1beta1"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/apply"
	"github.com/daemok/daemok/kube/foreign"
	"github.com/daemok/daemok/kube/snapshot"
	"github.com/daemok/daemok/kube/surge"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/observe/record"
)

// Program is all the loops, to be run by the holder of the lease.
type Program struct {
	ClusterState *snapshot.ClusterState // what the watches have shown
	Loops        []Loop
	Rounds       []Round
	Tasks        []func(ctx context.Context) error // each runs until ctx ends

	Planned <-chan struct{} // closed once the first plan is made

	Buffers func() []*v1beta1.CapacityBuffer // those that are served, not to be written; nil: they do not act
}

// New puts the program together. It begins to follow the watches, which must
// not be started before.
func New(ctx context.Context, p Parts) (*Program, error) {
	all := p.Store
	p.Store, p.Live = foreign.Hide(all), foreign.HideFrom(p.Live)
	ledger, clusterState := &apply.Ledger{}, snapshot.New(p.Classes.Kinds, p.Now)
	collector := &garbagecollection.Collector{
		Store: p.Store, Live: p.Live, Instances: p.Instances(collectName), Events: p.Events, Namespace: p.Namespace, Wake: make(chan struct{}, 1), Log: p.Log, Metrics: p.Metrics, Now: p.Now, Doubt: p.doubt(),
	}
	clusterState.Configure(func(s *snapshot.Settings) {
		*s = snapshot.Settings{
			Generations: Served(p.Pools), Pools: p.PoolDefaults, Spreads: p.Spreads, FreezeIn: p.Namespace, Doubt: p.doubt(),
			Self: p.pod(), AwaitPolicies: true, AwaitBuffers: !p.Policy.IgnoreBuffers, HoldDrains: collector.Holds,
			NoOverlays: p.NoOverlays, PlanDevices: p.Devices, AwaitDevices: p.Devices,
			NoRequests: p.Policy.IgnoreRequests, Instance: p.Instance, NoQuotas: p.NoQuotas,
			CommitmentsIn: p.commitmentsIn(), Account: p.account(),
		}
	})
	followed := p.overlays(p.Live, clusterState)
	if !p.NoOverlays {
		if err := followed.start(ctx); err != nil {
			return nil, err
		}
	}
	requested := p.requested(p.Live, clusterState)
	if !p.Policy.IgnoreRequests {
		if err := requested.start(ctx); err != nil {
			return nil, err
		}
	}
	limited := p.quotas(p.Live, clusterState)
	if !p.NoQuotas {
		if err := limited.start(ctx); err != nil {
			return nil, err
		}
	}
	seen := func(c *karpv1.NodeClaim, gone bool) { ledger.Seen(c, gone, p.Now()) }
	if err := clusterState.Follow(ctx, p.Watches, seen); err != nil {
		return nil, err
	}
	holds := &apply.Holds{}
	applier := &apply.Applier{
		Store: p.Store, Live: p.Live, Ledger: ledger, Holds: holds, Serves: Served(p.Pools),
		Autoscaler: p.ClusterAutoscaler, Pools: clusterState, Quotas: clusterState.Quotas,
		Now: p.Now, Doubt: p.doubt(), NewID: p.NewID, Again: clusterState.Touch,
		View: clusterState.Snapshot, Namespace: p.Namespace, Pod: p.Pod,
	}
	recommended := p.recommendations(p.Live, clusterState)
	if err := recommended.start(ctx); err != nil {
		return nil, err
	}
	claimed := p.devices(p.Live, clusterState)
	if p.Devices {
		if err := claimed.start(ctx); err != nil {
			return nil, err
		}
	}
	requests := &launch.Requests{Classes: p.Classes, Catalog: p.Catalog, Overlays: &clusterState.Overlays}
	launcher := p.launcher(requests, &clusterState.Overlays)
	applier.Orders = launcher
	health := &nodepool.Health{}
	claims := &nodeclaim.Reconciler{
		Store: p.Store, Live: p.Live, Instances: p.Instances(claimsName), Events: p.Events, Metrics: p.Metrics, Log: p.Log, Now: p.Now, Doubt: p.doubt(),
		Autoscaler: p.ClusterAutoscaler,
		Health:     func(c *karpv1.NodeClaim, registered bool) { health.Note(translate.PoolOf(c), registered) },
		Launcher: &launch.Starter{
			Store: p.Store, Launcher: launcher, Events: p.Events, Metrics: p.Metrics, Log: p.Log, Now: p.Now, Doubt: p.doubt(),
		},
	}
	if p.Devices {
		claims.Devices = &clusterState.Devices
	}
	if p.Policy.Nominated {
		claims.Nominations = &nodeclaim.Nominations{}
		p.Pods = podListeners{claims.Nominations, p.Pods}
	}
	claims.Adopts = &nodeclaim.Adoptions{
		Store: p.Store, Cloud: p.Adopter, Classes: p.Classes, Catalog: p.Catalog, Overlays: &clusterState.Overlays, Events: p.Events,
		Log: p.Log, Now: p.Now,
	}
	if p.Sizes != nil {
		claims.Memory = func(kind, image string, memory quantity.Bytes) {
			if p.Sizes.SawMemory(kind, image, memory) {
				clusterState.Touch()
			}
		}
	}
	collector.Again, collector.Going, claims.Held = clusterState.Touch, p.ClaimsGo, collector.HoldsClaim
	reporter := status.Reporter{Store: p.Store, Live: p.Live, Events: p.Events, Log: p.Log, Now: p.Now}
	shifts := &status.Shifts{Reporter: reporter, Cloud: p.Shifts, Again: clusterState.Touch, Older: p.servesOlder()}
	collector.Shifted = shifts.Shifted
	drifted := &drift.Finder{
		Store: p.Store, Pools: clusterState, Classes: p.Classes, Instances: p.Instances(driftName), Events: p.Events, Log: p.Log, Now: p.Now,
		OfProvisioners: p.OlderDrift,
	}
	classChanged := make(chan struct{}, 1)
	drains := p.drains()
	drains.Holds, drains.Shifted, drains.Held = holds, shifts.Shifted, collector.HoldsDrain
	drains.Foreign = func(ctx context.Context, n *corev1.Node) (bool, error) { return foreign.Node(ctx, all, n) }
	planned := make(chan struct{})
	steers := &steer.Steering{Store: p.Store, Off: !p.Steering, Events: p.Events, Metrics: p.Metrics, Log: p.Log, Now: p.Now}
	idle := &status.Ineffective{Reporter: reporter, NoOverlays: p.NoOverlays, NoBuffers: p.Policy.IgnoreBuffers,
		NoRequests: p.Policy.IgnoreRequests, NoQuotas: p.NoQuotas}
	if p.NoCommitments {
		idle.NoCommitmentsIn = p.Namespace
	}
	newest := []func(plan.Plan){steers.Newest}
	buffers := p.buffers(clusterState, p.Store)
	if buffers != nil {
		newest = append(newest, buffers.Newest)
	}
	served := p.requests(clusterState, p.Store)
	newest = append(newest, served.Newest)
	program := &Program{
		ClusterState: clusterState, Planned: planned,
		Loops: []Loop{p.claims(claims), nodeLoop(p.Store, drains.Reconcile)},
		Tasks: []func(context.Context) error{
			launcher.Run, p.plans(clusterState, ledger, applier, requests, newest, planned), p.ring(planned),
		},
	}
	program.Rounds = program.Later([]Round{
		{What: "find NodeClaims lost before their launch", Do: func(ctx context.Context) (time.Duration, error) { return lostEvery, applier.FindLost(ctx) }},
		{What: "record which nodes are quiet", Do: (&nodeclaim.Quiet{Store: p.Store, Known: clusterState, Now: p.Now}).Round},
		{What: "collect orphans", Do: collector.Round, Wake: collector.Wake},
		{What: "find drifted nodes", Do: drifted.Round, Wake: classChanged},
		{What: "tag instances with their nodes", Do: (&nodeclaim.Tagger{
			Store: p.Store, Instances: p.Instances(tagsName), Cluster: p.Cluster, Adopted: claims.Adopts, Pace: p.TagPace, Now: p.Now,
		}).Round},
		{What: "repair unhealthy nodes", Do: (&repair.Repairer{
			Store: p.Store, Live: p.Live, Snapshot: clusterState.Snapshot, Events: p.Events, Metrics: p.Metrics, Log: p.Log, Now: p.Now,
		}).Round},
		{What: "find instances that left their capacity reservations", Do: (&status.Reservations{Reporter: reporter, Instances: p.Instances(reservedName)}).Round},
		{What: "scale workloads back after a surge", Do: drains.TakeBack},
		{What: "empty nodes that should go next", Do: steers.Round},
		{What: "report what DisruptionPolicies allow", Do: (&status.Policies{Reporter: reporter, ClusterState: clusterState, Tripped: p.Metrics.BreakerTripped}).Round},
		{What: "report on pools what blocks disruption, and how far deletions are", Do: (&status.Pools{
			Reporter: reporter, Serves: Served(p.Pools), Snapshot: clusterState.Snapshot, Stays: p.Record.Stays, Unread: ledger.Unread, Orphans: collector.Held, Doubt: p.doubt(),
		}).Round},
		{What: "report values that are not understood", Do: (&status.Warnings{Reporter: reporter, Source: clusterState}).Round},
		{What: "report what has no effect", Do: idle.Round},
		{What: "follow VerticalPodAutoscalers", Do: recommended.round},
	}...)
	program.keep(buffers)
	if !p.Policy.IgnoreRequests {
		program.Rounds = append(program.Rounds,
			Round{What: "serve ProvisioningRequests", Do: served.Round, Wake: served.Wake},
			Round{What: "follow ProvisioningRequests", Do: requested.round, After: planned})
	}
	program.Loops = append(program.Loops, p.pools(health)...)
	if !p.NoOverlays {
		overlays := &status.Overlays{Reporter: reporter, List: clusterState.Overlays.List}
		program.Rounds = append(program.Rounds, program.Later(
			Round{What: "follow NodeOverlays", Do: followed.round},
			Round{What: "write conditions of NodeOverlays", Do: overlays.Round},
		)...)
	}
	if p.Devices {
		follow := Round{What: "follow devices and ResourceClaims", Do: claimed.round}
		program.Rounds = append(program.Rounds, program.Later(follow)...)
	}
	if !p.NoQuotas {
		quotas := &status.Quotas{
			Reporter: reporter, Objects: clusterState.Quotas.Objects, Snapshot: clusterState.Snapshot,
		}
		program.Rounds = append(program.Rounds, program.Later(
			Round{What: "follow CapacityQuotas", Do: limited.round},
			Round{What: "report what counts against CapacityQuotas", Do: quotas.Round},
		)...)
	}
	if !p.NoCommitments {
		program.Rounds = append(program.Rounds, readCommitments(clusterState, p.Live))
	}
	if account := p.account(); account != nil {
		unread := &status.Commitments{Reporter: reporter, Account: account, Pod: p.pod()}
		program.Rounds = append(program.Rounds, Round{What: "report unread commitments", Do: unread.Round})
	}
	program.Rounds = append(program.Rounds, p.interruptionMessages()...)
	for _, kind := range p.ClassKinds {
		program.Loops = append(program.Loops, driftLoop(kind, drifted.ClassChanged, classChanged))
	}
	if p.servesOlder() {
		program.Rounds = append(program.Rounds, Round{What: "record since when nodes are empty", Do: (&nodeclaim.Empty{Store: p.Store, Known: clusterState, Log: p.Log, Now: p.Now}).Round})
	}
	if p.Clock != nil {
		program.Rounds = append(program.Rounds, Round{What: "compare the clock with the API server's", Do: (&status.Clock{
			Reporter: reporter, Clock: p.Clock, Pod: p.pod(), Gauge: p.Metrics.ClockAhead, Again: clusterState.Touch,
		}).Round})
	}
	if p.Shifts != nil {
		program.Rounds = append(program.Rounds, Round{What: "follow zonal shifts", Do: shifts.Round})
	}
	return program, nil
}

// requests serves ProvisioningRequests, and writes their status to the store.
func (p Parts) requests(clusterState *snapshot.ClusterState, store client.Client) *request.Server {
	return request.New(request.Parts{
		Store: store, Live: p.Live, Known: clusterState.Requests, Events: p.Events, Log: p.Log, Now: p.Now,
	})
}

// buffers follows CapacityBuffers, and writes their status to the store; nil where they do not act.
func (p Parts) buffers(clusterState *snapshot.ClusterState, store client.Client) *buffer.Resolver {
	if p.Policy.IgnoreBuffers {
		return nil
	}
	return buffer.New(buffer.Parts{
		Store: store, Live: p.Live, Watches: p.Watches, Known: clusterState.Buffers, Log: p.Log, Now: p.Now,
		Watched: p.Watched,
	})
}

// keep adds the round that resolves CapacityBuffers, which waits for no plan; nil: they do not act.
func (p *Program) keep(k *buffer.Resolver) {
	if k != nil {
		p.Rounds = append(p.Rounds, Round{What: "keep capacity for CapacityBuffers", Do: k.Round, Wake: k.Wake})
		p.Buffers = k.List
	}
}

// interruptionMessages are the rounds that hear what the cloud says of instances.
func (p Parts) interruptionMessages() (out []Round) {
	actor := &interruption.Actor{Shortages: p.Short, Store: p.Store, Serves: Served(p.Pools), Events: p.Events, Metrics: p.Metrics, Log: p.Log, Now: p.Now, Doubt: p.doubt()}
	if p.InterruptionMessages != nil {
		out = append(out, Round{What: "handle interruption messages", Do: (&interruption.Reader{Actor: actor, InterruptionMessages: p.InterruptionMessages}).Round})
	}
	if p.Checks != nil {
		out = append(out, Round{What: "handle status checks of instances", Do: (&interruption.Checker{Actor: actor, Checks: p.Checks}).Round})
	}
	return out
}

// commitmentsEvery is how often the ConfigMap daemok-commitments is read: it changes a few times a year.
const commitmentsEvery = time.Minute

// readCommitments reads those that users list.
func readCommitments(into *snapshot.ClusterState, from client.Reader) Round {
	return Round{What: "read commitments", Do: func(ctx context.Context) (time.Duration, error) {
		return commitmentsEvery, into.Commitments.Read(ctx, from)
	}}
}

// lostEvery is how often launches that no watch has shown are searched for.
const lostEvery = 20 * time.Second

func (p Parts) launcher(requests *launch.Requests, overlays *snapshot.Overlays) *launch.Launcher {
	return (&launch.Launcher{
		Store: p.Store, Live: p.Live, Instances: p.Instances(claimsName), Requests: requests, Log: p.Log, Now: p.Now, Doubt: p.doubt(), CallFor: p.CallFor,
		Gathered: func(d time.Duration) {
			p.Metrics.BatchSeconds.WithLabelValues("create_fleet").Observe(d.Seconds())
		},
		Called: p.Traces.Called,
		Outcome: &launch.Outcomes{
			Store: p.Store, Classes: p.Classes, Catalog: p.Catalog, Overlays: overlays, Events: p.Events,
			Metrics: p.Metrics, Log: p.Log, Now: p.Now,
			Record: &record.Launches{Record: p.Record, Now: p.Now},
		},
	}).Open()
}

func (p Parts) drains() *termination.Reconciler {
	return &termination.Reconciler{
		Store: p.Store, Live: p.Live, Serves: Served(p.Pools), Instances: p.Instances(nodesName), Events: p.Events, Metrics: p.Metrics, Log: p.Log, Now: p.Now, Doubt: p.doubt(),
		Autoscaler: p.ClusterAutoscaler,
		Surges:     surge.Records{Store: p.Store, Live: p.Live, Namespace: p.Namespace},
	}
}

func (p Parts) claims(r *nodeclaim.Reconciler) Loop {
	return claimLoop(p.Store, r.Reconcile, r.Released)
}

// catalogue is what instances of a class can be; nil while that is not known.
func (p Parts) catalogue(ref karpv1.NodeClassReference) *cluster.Catalogue {
	out, _ := p.Classes.Kinds(ref)
	return out
}

// offered reads what classes offer once from each catalogue: they have thousands of offerings, and pools ask at every change
// of a claim.
func (p Parts) offered() func(karpv1.NodeClassReference) nodepool.Offered {
	type known struct {
		in  *cluster.Catalogue
		all nodepool.Offered
	}
	var mu sync.Mutex
	last := map[karpv1.NodeClassReference]known{}
	return func(ref karpv1.NodeClassReference) nodepool.Offered {
		in := p.catalogue(ref)
		mu.Lock()
		k, read := last[ref]
		mu.Unlock()
		if read && k.in == in {
			return k.all
		}
		k = known{in, p.Classes.Offered(ref)}
		mu.Lock()
		defer mu.Unlock()
		last[ref] = k
		return k.all
	}
}

func (p Parts) pools(health *nodepool.Health) (loops []Loop) {
	for _, g := range p.Pools {
		pools := &nodepool.Reconciler{
			Generation: g, Store: p.Store, Live: p.Live, ClassState: p.Classes.State, Offered: p.offered(), Catalogue: p.catalogue, Health: health,
			Events: p.Events, Metrics: p.Metrics, Now: p.Now, IgnoreReplicas: p.Planning.Policy.IgnoreReplicas,
		}
		loops = append(loops, poolLoop(p.Store, g.Generation, p.ClassKinds, pools.Reconcile))
	}
	return loops
}

// Later has rounds begin once the first plan is made, which has the processors to itself until then. Where there is
// none for long, since the API server does not answer or watches are late, they begin without it.
func (p *Program) Later(rounds ...Round) []Round {
	for i := range rounds {
		rounds[i].After = p.Planned
	}
	return rounds
}
