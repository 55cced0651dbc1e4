// Package controller assembles the loops in the folders below: what each watches, what repeats, and
// what runs once.
//
// It promises that the same loops react to the same changes, whether the program runs them through a
// manager or a simulation runs them in virtual time. It starts nothing itself. It knows no leases, and
// only the classes of AWS.
package controller

import (
	"context"
	"log/slog"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/controller/drift"
	"github.com/daemok/daemok/controller/garbagecollection"
	"github.com/daemok/daemok/controller/idle"
	"github.com/daemok/daemok/controller/interruption"
	"github.com/daemok/daemok/controller/launch"
	"github.com/daemok/daemok/controller/nodeclaim"
	"github.com/daemok/daemok/controller/nodepool"
	"github.com/daemok/daemok/controller/planner"
	"github.com/daemok/daemok/controller/policy"
	"github.com/daemok/daemok/controller/remark"
	"github.com/daemok/daemok/controller/repair"
	"github.com/daemok/daemok/controller/reserved"
	"github.com/daemok/daemok/controller/shift"
	"github.com/daemok/daemok/controller/steer"
	"github.com/daemok/daemok/controller/termination"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/decide"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/apiclock"
	"github.com/daemok/daemok/kube/apply"
	"github.com/daemok/daemok/kube/foreign"
	"github.com/daemok/daemok/kube/snapshot"
	"github.com/daemok/daemok/kube/snapshot/pools"
	"github.com/daemok/daemok/kube/surge"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/observe"
	"github.com/daemok/daemok/observe/record"
	"github.com/daemok/daemok/observe/trace"
)

// Parts is what the loops stand on.
type Parts struct {
	Store                client.Client // reads what the watches have shown; see the indexes of claim and drain
	Live                 client.Reader // reads past every cache
	Watches              cache.Informers
	Catalog              cloud.Catalog
	Instances            func(loop string) cloud.Instances // for the loop of that name
	Adopter              cloud.Adopter                     // takes over instances that run already; nil: none are
	InterruptionMessages cloud.InterruptionMessages        // what the cloud says by itself; nil: not read
	Checks               cloud.Checks                      // the cloud's checks of instances; nil: not asked
	Short                cloud.Shortages                   // receives offerings of instances that the cloud interrupts; needed where there are InterruptionMessages or Checks
	Shifts               cloud.Shifts                      // zones that work is shifted away from; nil: not asked
	Spot                 SpotMemory                        // what was seen of spot instances; nil: not observed
	Sizes                Sizes                             // how much memory instances turn out to have; nil: not observed
	Offerings            Offerings                         // nil: unavailable offerings are not remembered
	Classes              Classes
	Events               *observe.Events
	Metrics              *observe.Metrics
	Log                  *slog.Logger
	Now                  func() time.Time
	Clock                Clock // how far that is to be trusted; nil: always

	Pools       []nodepool.Generation         // API generations whose pools are served
	ClassKinds  []client.Object               // Kinds of classes whose changes concern the pools that use them
	NewID       func() string                 // five characters for the name of a claim, not used before
	CallFor     time.Duration                 // how long a launch may take
	Policy      decide.Policy                 // how plans are made
	Effort      planner.Effort                // how much work one plan may be
	Window      planner.Window                // how pods are gathered into one plan
	Nominations interface{ TryAccept() bool } // limits how many pods get an event about their place; nil: no limit
	Failures    interface{ TryAccept() bool } // limits how many pods get an event why they have no place; nil: no limit
	Pods        podListener                   // receives which pods a plan says something about; may be nil
	Record      *record.Record                // of decisions
	Traces      *trace.Tracer                 // nil: there are none
	TagPace     nodeclaim.Pace                // how fast instances are tagged; nil: at once

	Cluster   string // the name of the cluster, which instances are tagged with; empty: the tag is left to the cloud adapter
	Namespace string // where the controller runs; empty: ConfigMaps there mean nothing
	Pod       string // that it runs in; empty: none, and no node is kept for its sake

	Spreads []corev1.TopologySpreadConstraint // of pods without any of their own, as the cluster's scheduler has them by default

	InstanceCost quantity.MicroUSDPerHour // what each instance costs beside its type and volumes, of pools that do not say
	Room         cluster.Room             // what each instance is to leave to pods, likewise

	OlderDrift func() bool // whether nodes of Provisioners drift, as it is now; nil: they do not

	Steering bool // nodes that should go next empty without evictions; else what was done for that is taken back

	Repair cluster.Repair // when unhealthy nodes are repaired, of pools that do not say and of none

	ClaimsGo func(ctx context.Context) (bool, error) // whether the definition of NodeClaims is being deleted; nil: it is not

	Filled func(ctx context.Context) bool // waits until the watches have listed what there is; false when ctx ended
	Began  func()                         // called right before the first plan
}

// Clock compares the time with the API server's.
type Clock interface {
	Doubt() string // why it is not to be trusted, so that nothing is disrupted or given up; empty: it is
	Ahead() time.Duration
}

// doubt is what the clock says of itself.
func (p Parts) doubt() apiclock.Doubt {
	if p.Clock == nil {
		return nil
	}
	return p.Clock.Doubt
}

// podListener receives which pods a plan says something about, and for which of them a
// claim was made.
type podListener interface {
	Decided(p plan.Plan)
	Ordered(claim string, pods []cluster.Pod)
}

// podListeners are several, of which some may be nil.
type podListeners []podListener

// Decided implements podListener.
func (all podListeners) Decided(p plan.Plan) {
	for _, l := range all {
		if l != nil {
			l.Decided(p)
		}
	}
}

// Ordered implements podListener.
func (all podListeners) Ordered(claim string, pods []cluster.Pod) {
	for _, l := range all {
		if l != nil {
			l.Ordered(claim, pods)
		}
	}
}

// SpotMemory is what was seen of spot instances, and takes over what another process has
// seen of them.
type SpotMemory interface {
	SpotSeen() cloud.SpotSeen
	RecallSpot(seen cloud.SpotSeen)
}

// Sizes receives how much memory instances turn out to have, from this process and from
// others.
type Sizes interface {
	// SawMemory reports whether what is known of the instance type changed.
	SawMemory(kind, image string, memory quantity.Bytes) (news bool)
	MemorySeen() cloud.MemorySeen
	RecallMemory(seen cloud.MemorySeen)
}

// Offerings remembers which offerings could not be had lately, and takes over what another
// process has seen of that.
type Offerings interface {
	UnavailableSeen() []cloud.Unavailable
	RecallUnavailable(seen []cloud.Unavailable)
}

// Classes says what the loops must know of classes.
type Classes interface {
	Class(ctx context.Context, ref karpv1.NodeClassReference) (translate.LaunchClass, error)
	Known(ctx context.Context, ref karpv1.NodeClassReference) (translate.LaunchClass, error)
	Kinds(ref karpv1.NodeClassReference) (*cluster.Catalogue, string)
	Offered(ref karpv1.NodeClassReference) nodepool.Offered
	State(ctx context.Context, ref karpv1.NodeClassReference) (nodepool.ClassState, error)
	Form(ctx context.Context, ref karpv1.NodeClassReference) (drift.Class, error)
}

// Program is all the loops, to be run by the holder of the lease.
type Program struct {
	ClusterState *snapshot.ClusterState // what the watches have shown
	Loops        []Loop
	Rounds       []Round
	Tasks        []func(ctx context.Context) error // each runs until ctx ends

	Planned <-chan struct{} // closed once the first plan is made
}

// Loop moves objects of one Kind, each by itself.
type Loop struct {
	Name    string
	Kind    client.Object // whose own changes lead to a check
	Others  []Trigger
	Workers int // objects checked at once
	// Step checks once and returns when the next is due; zero is when something changes. A
	// conflict says that the cache is a moment behind.
	Step func(ctx context.Context, name string) (time.Duration, error)
}

// Trigger names the objects to check when one of another Kind changed.
type Trigger struct {
	Kind  client.Object
	Names func(ctx context.Context, o client.Object) []string
}

// Names of loops, as users know them from logs and metrics.
const (
	classesName  = "nodeclass"
	claimsName   = "nodeclaim.lifecycle"
	tagsName     = "nodeclaim.tagging"
	nodesName    = "node.termination"
	collectName  = "nodeclaim.garbagecollection"
	driftName    = "nodeclaim.disruption"
	reservedName = "capacityreservation.capacitytype"
	plansName    = "provisioner"
)

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
			Generations: Served(p.Pools), Pools: pools.Defaults{InstanceCost: p.InstanceCost, Room: p.Room, Repair: p.Repair}, Spreads: p.Spreads, FreezeIn: p.Namespace, Doubt: p.doubt(),
			Self: types.NamespacedName{Namespace: p.Namespace, Name: p.Pod}, AwaitPolicies: true, HoldDrains: collector.Holds,
		}
	})
	seen := func(c *karpv1.NodeClaim, gone bool) { ledger.Seen(c, gone, p.Now()) }
	if err := clusterState.Follow(ctx, p.Watches, seen); err != nil {
		return nil, err
	}
	holds := &apply.Holds{}
	applier := &apply.Applier{
		Store: p.Store, Live: p.Live, Ledger: ledger, Holds: holds, Serves: Served(p.Pools), Pools: clusterState, Now: p.Now, Doubt: p.doubt(), NewID: p.NewID, Again: clusterState.Touch, View: clusterState.Snapshot, Namespace: p.Namespace, Pod: p.Pod,
	}
	requests := &launch.Requests{Classes: p.Classes, Catalog: p.Catalog}
	launcher := p.launcher(requests)
	applier.Orders = launcher
	health := &nodepool.Health{}
	claims := &nodeclaim.Reconciler{
		Store: p.Store, Live: p.Live, Instances: p.Instances(claimsName), Events: p.Events, Metrics: p.Metrics, Log: p.Log, Now: p.Now, Doubt: p.doubt(),
		Health: func(c *karpv1.NodeClaim, registered bool) { health.Note(translate.PoolOf(c), registered) },
		Launcher: &launch.Starter{
			Store: p.Store, Launcher: launcher, Events: p.Events, Metrics: p.Metrics, Log: p.Log, Now: p.Now, Doubt: p.doubt(),
		},
	}
	if p.Policy.Nominated {
		claims.Nominations = &nodeclaim.Nominations{}
		p.Pods = podListeners{claims.Nominations, p.Pods}
	}
	claims.Adopts = &nodeclaim.Adoptions{
		Store: p.Store, Cloud: p.Adopter, Classes: p.Classes, Catalog: p.Catalog, Events: p.Events, Log: p.Log, Now: p.Now,
	}
	if p.Sizes != nil {
		claims.Memory = func(kind, image string, memory quantity.Bytes) {
			if p.Sizes.SawMemory(kind, image, memory) {
				clusterState.Touch()
			}
		}
	}
	collector.Again, collector.Going, claims.Held = clusterState.Touch, p.ClaimsGo, collector.HoldsClaim
	shifts := &shift.Watcher{Store: p.Store, Cloud: p.Shifts, Events: p.Events, Log: p.Log, Again: clusterState.Touch, Now: p.Now, Older: p.servesOlder()}
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
	program := &Program{
		ClusterState: clusterState, Planned: planned,
		Loops: []Loop{p.claims(claims), nodeLoop(p.Store, drains.Reconcile)},
		Tasks: []func(context.Context) error{launcher.Run, p.plans(clusterState, ledger, applier, requests, steers.Newest, planned), p.ring(planned)},
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
		{What: "find instances that left their capacity reservations", Do: (&reserved.Syncer{Store: p.Store, Instances: p.Instances(reservedName), Log: p.Log}).Round},
		{What: "scale workloads back after a surge", Do: drains.TakeBack},
		{What: "empty nodes that should go next", Do: steers.Round},
		{What: "report what DisruptionPolicies allow", Do: (&policy.Recorder{
			Live: p.Live, Store: p.Store, ClusterState: clusterState, Events: p.Events, Tripped: p.Metrics.BreakerTripped, Log: p.Log, Now: p.Now,
		}).Round},
		{What: "report on deleted NodePools", Do: (&nodepool.Departures{
			Store: p.Store, Serves: Served(p.Pools), Snapshot: clusterState.Snapshot, Stays: p.Record.Stays, Events: p.Events, Now: p.Now,
		}).Round},
		{What: "report what blocks disruption", Do: (&nodepool.Holdups{Store: p.Store, Serves: Served(p.Pools), Stays: p.Record.Stays, Unread: ledger.Unread, Orphans: collector.Held, Doubt: p.doubt(), Now: p.Now}).Round},
		{What: "report values that are not understood", Do: (&remark.Recorder{Source: clusterState, Events: p.Events, Log: p.Log}).Round},
		{What: "report what has no effect yet", Do: (&idle.Recorder{Live: p.Live, Events: p.Events}).Round},
	}...)
	program.Loops = append(program.Loops, p.pools(health)...)
	program.Rounds = append(program.Rounds, p.interruptionMessages()...)
	for _, kind := range p.ClassKinds {
		program.Loops = append(program.Loops, driftLoop(kind, drifted.ClassChanged, classChanged))
	}
	if p.servesOlder() {
		program.Rounds = append(program.Rounds, Round{What: "record since when nodes are empty", Do: (&nodeclaim.Empty{Store: p.Store, Known: clusterState, Log: p.Log, Now: p.Now}).Round})
	}
	if p.Clock != nil {
		program.Rounds = append(program.Rounds, Round{What: "compare the clock with the API server's", Do: (&remark.Clock{
			Clock: p.Clock, Store: p.Store, Pod: types.NamespacedName{Namespace: p.Namespace, Name: p.Pod}, Events: p.Events, Metrics: p.Metrics, Log: p.Log, Again: clusterState.Touch,
		}).Round})
	}
	if p.Shifts != nil {
		program.Rounds = append(program.Rounds, Round{What: "follow zonal shifts", Do: shifts.Round})
	}
	return program, nil
}

// servesOlder reports whether pools of the older API generation are served.
func (p Parts) servesOlder() bool {
	_, is := Served(p.Pools).Of(translate.KindProvisioner)
	return is
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

// lostEvery is how often launches that no watch has shown are searched for.
const lostEvery = 20 * time.Second

func (p Parts) launcher(requests *launch.Requests) *launch.Launcher {
	return (&launch.Launcher{
		Store: p.Store, Live: p.Live, Instances: p.Instances(claimsName), Requests: requests, Log: p.Log, Now: p.Now, Doubt: p.doubt(), CallFor: p.CallFor,
		Gathered: func(d time.Duration) {
			p.Metrics.BatchSeconds.WithLabelValues("create_fleet").Observe(d.Seconds())
		},
		Called: p.Traces.Called,
		Outcome: &launch.Outcomes{
			Store: p.Store, Classes: p.Classes, Catalog: p.Catalog, Events: p.Events, Metrics: p.Metrics, Log: p.Log, Now: p.Now,
			Record: &record.Launches{Record: p.Record, Now: p.Now},
		},
	}).Open()
}

func (p Parts) drains() *termination.Reconciler {
	return &termination.Reconciler{
		Store: p.Store, Live: p.Live, Serves: Served(p.Pools), Instances: p.Instances(nodesName), Events: p.Events, Metrics: p.Metrics, Log: p.Log, Now: p.Now, Doubt: p.doubt(),
		Surges: surge.Records{Store: p.Store, Live: p.Live, Namespace: p.Namespace},
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
			Events: p.Events, Metrics: p.Metrics, Now: p.Now,
		}
		loops = append(loops, poolLoop(p.Store, g.Generation, p.ClassKinds, pools.Reconcile))
	}
	return loops
}
