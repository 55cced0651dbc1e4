package controller

import (
	"context"
	"log/slog"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/controller/drift"
	"github.com/daemok/daemok/controller/nodeclaim"
	"github.com/daemok/daemok/controller/nodepool"
	"github.com/daemok/daemok/controller/planner"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/decide"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/apiclock"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/observe"
	"github.com/daemok/daemok/observe/record"
	"github.com/daemok/daemok/observe/spend"
	"github.com/daemok/daemok/observe/trace"
)

// Parts is what the loops stand on.
type Parts struct {
	Store   client.Client // reads what the watches have shown; see the indexes of claim and drain
	Live    client.Reader // reads past every cache
	Watches cache.Informers
	Cloud
	Classes Classes
	Events  *observe.Events
	Metrics *observe.Metrics
	Log     *slog.Logger
	Now     func() time.Time
	Clock   Clock // how far that is to be trusted; nil: always

	Pools      []nodepool.Generation // API generations whose pools are served
	ClassKinds []client.Object       // Kinds of classes whose changes concern the pools that use them
	Planning
	Record *record.Record // of decisions
	Traces *trace.Tracer  // nil: there are none
	Self

	translate.PoolDefaults             // what is so of pools that do not say, and of nodes without a pool
	OlderDrift             func() bool // whether nodes of Provisioners drift, as it is now; nil: they do not
	Steering               bool        // nodes that should go next empty without evictions; else what was done for that is taken back

	ClaimsGo func(ctx context.Context) (bool, error) // whether the definition of NodeClaims is being deleted; nil: it is not
}

// Cloud is the cloud and what is remembered of it.
type Cloud struct {
	Catalog              cloud.Catalog
	Instances            func(loop string) cloud.Instances // for the loop of that name
	Adopter              cloud.Adopter                     // takes over instances that run already; nil: none are
	InterruptionMessages cloud.InterruptionMessages        // what the cloud says by itself; nil: not read
	Checks               cloud.Checks                      // the cloud's checks of instances; nil: not asked
	Short                cloud.Shortages                   // receives offerings of instances that the cloud interrupts; needed where there are InterruptionMessages or Checks
	Shifts               cloud.Shifts                      // zones that work is shifted away from; nil: not asked
	Commitments          cloud.Commitments                 // of the account; nil: they are not read
	Spot                 SpotMemory                        // what was seen of spot instances; nil: not observed
	Sizes                Sizes                             // how much memory instances turn out to have; nil: not observed
	Offerings            Offerings                         // nil: unavailable offerings are not remembered
	CallFor              time.Duration                     // how long a launch may take
	TagPace              nodeclaim.Pace                    // how fast instances are tagged; nil: at once
}

// Planning is how plans are made and reported.
type Planning struct {
	Policy      decide.Policy
	Effort      planner.Effort                    // how much work one plan may be
	Window      planner.Window                    // how pods are gathered into one plan
	Spreads     []corev1.TopologySpreadConstraint // of pods without any of their own, as the cluster's scheduler has them by default
	NewID       func() string                     // five characters for the name of a claim, not used before
	Nominations interface{ TryAccept() bool }     // limits how many pods get an event about their place; nil: no limit
	Failures    interface{ TryAccept() bool }     // limits how many pods get an event why they have no place; nil: no limit
	Pods        podListener                       // receives which pods a plan says something about; may be nil
	Filled      func(ctx context.Context) bool    // waits until the watches have listed what there is; false when ctx ended
	Began       func()                            // called right before the first plan
	Savings     *spend.Savings                    // counts what disruption saves; nil: that is not counted

	NoOverlays bool // NodeOverlays have no effect
	Devices    bool // pods with ResourceClaims are planned for
	NoQuotas   bool // CapacityQuotas have no effect

	Instance string // the processorInstance of ProvisioningRequests that are served; empty: those that name none

	NoCommitments bool // Reserved Instances and Savings Plans have no effect

	// Watched is called with an object of each type that clusters may lack, once it is watched; may be nil.
	Watched func(ctx context.Context, of client.Object) error

	Made func(*cluster.Snapshot, plan.Plan) // receives each plan once it is carried out; may be nil
}

// Self is where the controller runs.
type Self struct {
	Cluster   string // the name of the cluster, which instances are tagged with; empty: the tag is left to the cloud adapter
	Namespace string // empty: ConfigMaps there mean nothing
	Pod       string // empty: none, and no node is kept for its sake
}

// pod names the pod that the controller runs in.
func (s Self) pod() types.NamespacedName {
	return types.NamespacedName{Namespace: s.Namespace, Name: s.Pod}
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

// servesOlder reports whether pools of the older API generation are served.
func (p Parts) servesOlder() bool {
	_, is := Served(p.Pools).Of(translate.KindProvisioner)
	return is
}

// commitmentsIn is the namespace whose ConfigMap lists commitments; empty: commitments have no effect.
func (p Parts) commitmentsIn() string {
	if p.NoCommitments {
		return ""
	}
	return p.Namespace
}

// account says what the account is committed to, as far as that is read; nil: it is not.
func (p Parts) account() func() cloud.AccountCommitments {
	if p.Cloud.Commitments == nil {
		return nil
	}
	return p.Cloud.Commitments.Commitments
}
