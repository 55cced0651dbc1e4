// Package cluster is the cluster state at one moment as one immutable value, the Snapshot, and what-if
// edits.
//
// A Snapshot is never modified; what-if edits return a new one that shares the rest. The package
// describes and does not judge: core/feasibility answers whether a pod may run somewhere, and
// core/place where it should go.
package cluster

import (
	"slices"
	"time"

	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/parallel"
	"github.com/daemok/daemok/core/quantity"
)

// Labels that the core itself must know, because an offering carries them.
const (
	LabelZone         = "topology.kubernetes.io/zone"
	LabelCapacityType = "karpenter.sh/capacity-type"
	LabelInstanceType = "node.kubernetes.io/instance-type"
	LabelNodePool     = "karpenter.sh/nodepool"
	LabelHostname     = "kubernetes.io/hostname"
	LabelArch         = "kubernetes.io/arch"
	LabelRegistered   = "karpenter.sh/registered"
	LabelInitialized  = "karpenter.sh/initialized"
	LabelReservation  = "karpenter.k8s.aws/capacity-reservation-id" // of a reserved offering, and a capacity reservation that it draws on
)

// Option is a capacity type for an instance, with the words of the label
// karpenter.sh/capacity-type.
type Option string

// The launch options.
const (
	OnDemand Option = "on-demand"
	Spot     Option = "spot"
	Reserved Option = "reserved"
)

// Offering is one instance types in one zone under one capacity type.
type Offering struct {
	Zone               string
	Option             Option
	Price              quantity.MicroUSDPerHour // meaningful if Priced
	Priced             bool                     // an unknown price is not zero: such an offering is launched last
	Available          bool                     // false: unavailable lately, or otherwise not to be had
	Doubtful           bool                     // it, or several of its family, were unavailable there lately: it may be again, and is launched where others leave pods without a place
	Why                string                   // it is not available, and what helps; empty: it is, or it is unavailable
	ReservedCapacities []ReservedCapacity       // what an instance of the offering is taken from, one of each, sorted by name; none: not counted
	Risk               float64                  // of a spot instance: interruptions that are expected in an hour; 0: not known
	Labels             constraint.Labels        // what nodes get from the offering, zone and capacity type included
	Cover              Cover                    // what pays for it beside Price; see core/coverage
	Unless             constraint.Label         // launched only for pods that require that no node has this label; zero: for all
}

// Asked reports whether the offering may be launched for a pod with these requirements.
func (o *Offering) Asked(by constraint.Requirements) bool {
	return o.Unless.Key == "" || !by.Get(o.Unless.Key).Allows(o.Unless.Value)
}

// InstanceType is one instance type that a pool may launch, as its class would set it up. Labels
// are those every instance of the type gets whatever its offering.
type InstanceType struct {
	Name        string
	Labels      constraint.Labels
	Capacity    quantity.Resources
	Allocatable quantity.Resources       // for pods, after the system's own share
	Sustained   quantity.MilliCPU        // cpu that instances of the type can use for ever at their price; 0: all of it
	Surplus     quantity.MicroUSDPerHour // price of one core beyond Sustained; 0: no more than Sustained is counted on
	LastResort  bool                     // launched where nothing else will do: bare metal
	Attachable  []Attachable             // how many volumes instances of the type take, before they say so themselves; sorted by driver
	OnRequest   []string                 // resources, among those above, that an instance has only if it is launched for pods that ask for them; sorted
	Offerings   []Offering               // sorted by zone, option
}

// Ordered is what an instance of the type has, for pods and in all, when it is launched for the
// requests.
func (k *InstanceType) Ordered(requests quantity.Resources) (allocatable, capacity quantity.Resources) {
	allocatable, capacity = k.Allocatable, k.Capacity
	for _, name := range k.OnRequest {
		if requests.Get(name) == 0 {
			allocatable, capacity = allocatable.With(name, 0), capacity.With(name, 0)
		}
	}
	return allocatable, capacity
}

// Attachable is how many volumes of one driver an instance takes.
type Attachable struct {
	Driver string
	Count  int64
}

// Catalogue is all instance types of one class, sorted by name. It is interned: pools and snapshots
// share one value and never write it; a change makes another one. A zero Revision is an empty
// catalogue.
type Catalogue struct {
	Revision      uint64                   // grows with every change of prices, availability or instance types
	Disk          quantity.MicroUSDPerHour // what the volumes that every instance is set up with cost
	InstanceTypes []InstanceType
	Base          *Catalogue           // what overlays have changed to this one, with the same offerings in the same places; nil: none has
	Index         parallel.Once[Index] // kept for core/feasibility, which makes it
}

// Has reports whether some instance type or offering has the label.
func (c *Catalogue) Has(key string) bool {
	for i := range c.InstanceTypes {
		if _, has := c.InstanceTypes[i].Labels.Get(key); has {
			return true
		}
		for j := range c.InstanceTypes[i].Offerings {
			if _, has := c.InstanceTypes[i].Offerings[j].Labels.Get(key); has {
				return true
			}
		}
	}
	return false
}

// Index is what all pools with one catalogue need to know of it.
type Index struct {
	Keys         []string     // of labels that instance types and offerings decide, sorted
	OfferingKeys []string     // those of them that offerings have, sorted
	Offerings    []OfferingAt // all offerings, in the order in which they are launched

	Columns map[string]*parallel.Once[Column] // by key; each is made when it is asked for
}

// Column is what the offerings of a catalogue say of one label. There are far fewer values than
// offerings.
type Column struct {
	Values []string // in the order in which offerings have them
	Of     []int32  // by position among the index's offerings: that of its value; -1: it has no such label
}

// OfferingAt is where an offering is.
type OfferingAt struct {
	Kind     int // position among the instance types
	Offering int // position among the instance type's offerings
}

// InstanceType finds an instance type by its name; nil where there is none, or no catalogue.
func (c *Catalogue) InstanceType(name string) *InstanceType {
	if c == nil {
		return nil
	}
	for i := range c.InstanceTypes {
		if c.InstanceTypes[i].Name == name {
			return &c.InstanceTypes[i]
		}
	}
	return nil
}

// PoolID names a pool: kind and name, since two API generations have pools
// under the same names.
type PoolID struct{ Kind, Name string }

// String prints "NodePool/default".
func (id PoolID) String() string { return id.Kind + "/" + id.Name }

// Pool is a user's rules for nodes.
type Pool struct {
	ID            PoolID
	Weight        int                      // higher is tried first; 0 where unset
	Labels        constraint.Labels        // what every node of the pool gets, the label that names the pool included
	Requirements  constraint.Requirements  // labels are not repeated here
	Floor         Floor                    // the least size of its instances
	InstanceCost  quantity.MicroUSDPerHour // what is declared to be paid for each instance beside its type and volumes
	Taints        []constraint.Taint
	StartupTaints []constraint.Taint
	Limits        Limits
	Used          Used       // by the pool's nodes and instances being launched
	OnDemand      Minimum    // of its nodes
	Replicas      *int64     // of a static pool: how many nodes it keeps, whatever runs on them; nil: pods decide
	Hours         Hours      // of its schedule; Replicas or Limits say the same
	Catalogue     *Catalogue // the instance types of its class; nil where the class is not ready
	NotReady      string     // why nothing may be launched; empty if it may
	Uncommitted   bool       // its instances are planned at their prices, whatever commitments pay for them
	Policy        Policy
	Repair        Repair
	Boot          time.Duration // what instances of the pool usually take from launch to being initialised; 0: not known
}

// Protection is an annotation of a pod by which its user keeps its node from voluntary disruption.
type Protection struct {
	DoNotDisrupt   bool      // karpenter.sh/do-not-disrupt holds now, or another word that stands for it
	DoNotEvict     bool      // that word is karpenter.sh/do-not-evict, of the v1alpha5 API
	NotSafeToEvict bool      // that word is Cluster Autoscaler's, safe-to-evict: "false"
	ProtectedUntil time.Time // when that ends by itself; zero: never, or it does not hold
}

// Pod is one pod. Node is empty while it waits.
type Pod struct {
	Namespace, Name, UID string
	Shape                *Shape // of one on a node: that of the pod that comes in its place
	Owner                string // "Deployment/web": for reports only
	CreatedAt            time.Time
	StartedAt            time.Time // zero: its node has not taken it in yet
	Node                 string
	Daemon               bool          // owned by a DaemonSet
	Mirror               bool          // static, owned by its node
	Ending               bool          // terminating, or already succeeded or failed
	Protection                         // by which its user keeps its node
	Returns              bool          // another comes in its place if its node goes, and needs a place (not daemon, mirror, bare-terminal ...)
	OneOff               string        // why no other comes though its work is not done, such as that it has no controller; it does not return then; empty: one does, or its owner wants none
	Retries              int           // of a Job: how many of its pods may be evicted before the Job fails; 0: any number, or none, as OneOff says then
	Completes            bool          // of a Job: it ends by itself once its work is done
	Stays                bool          // tolerates the taint of leaving nodes: it is not evicted, and a drain does not wait for it
	Unready              bool          // its condition Ready is False
	Pending              bool          // it has a node, where not all its containers have been started yet, be it for lack of an image
	Moved                int           // how often in a row the pods that it replaces were evicted so that their nodes could go: see disruption.Follow
	MovedAt              time.Time     // the last time; zero: it was not seen that they were
	Grace                time.Duration // that it is given to end in, once it is evicted
	DeletionCost         int32         // controller.kubernetes.io/pod-deletion-cost
	LastOf               string        // Service whose only ready pod it is, while another may become so and its owner has it wait for that; empty: of none
	PDBs                 string        // names of the PodDisruptionBudgets of its namespace that select it, sorted, with commas between
	Kept                 bool          // by those: as they are written, no eviction of it is ever allowed; see Snapshot.Keep
	Uprooted             bool          // what protects it, if anything, keeps it no longer: its instance is about to be taken away; see Node.Uproots

	// Holds is what it takes of its node, where its shape asks for more: it asked for that when it was made, or pods of
	// its owner do that are made now. Nil: what its shape asks for.
	Holds *quantity.Resources
}

// Takes is what the pod takes of the node that it is on.
func (p *Pod) Takes() quantity.Resources {
	if p.Holds != nil {
		return *p.Holds
	}
	return p.Shape.Requests
}

// MovedTo is the pod that comes in its place on another node; empty: on none yet.
func (p Pod) MovedTo(node string) Pod {
	p.Node, p.Holds = node, nil
	return p
}

// Evictable reports whether a drain would evict the pod: not one that is
// ending, that is static, or that stays.
func (p *Pod) Evictable() bool { return !p.Ending && !p.Mirror && !p.Stays }

// Moves reports whether the pod needs another place when its node goes away: not one that keeps the
// node for as long as what protects it does not change.
func (p *Pod) Moves() bool { return p.Returns && (p.Uprooted || !p.Protected()) }

// works reports whether the pod does work that its owner wants.
func (p *Pod) works() bool { return p.Returns || p.OneOff != "" }

// Node is a registered instance, ours or another's.
type Node struct {
	Name             string
	Claim            string // name of its claim; empty for nodes that are not ours
	Pool             PoolID // zero for nodes that are not ours
	InstanceID       string
	Labels           constraint.Labels
	Taints           []constraint.Taint
	StartupTaints    []constraint.Taint // expected to vanish; ignored until Initialized
	Allocatable      quantity.Resources
	Capacity         quantity.Resources
	Attachable       []Attachable             // sorted by driver; a driver that is not named has no limit
	Price            quantity.MicroUSDPerHour // 0 where unknown
	CreatedAt        time.Time                // when its instance was launched, where it is ours
	QuietSince       time.Time                // the moment the consolidateAfter clock started: the last pod event or, before any, initialisation; zero: not known
	ExpiresAt        time.Time                // zero: never
	Drifted          string                   // how it differs from what its pool and class ask for, in the words of the API, such as AMIDrift, or PoolDeleted; empty: it does not
	DriftedAt        time.Time                // since when
	ChangedAt        time.Time                // when it was opened to pods or, after that, one last came or went, as far as that was seen; zero: it was not
	Ready            bool
	Initialized      bool
	Deleting         bool      // being deleted, drained or disrupted: no destination for pods
	InstanceEnds     bool      // drained, and its instance is being terminated
	EndsAt           time.Time // when the cloud takes its instance away; zero: not that it is known
	Ailments         []Ailment // what makes it unhealthy, by the rules of its pool; sorted by condition
	DoNotDisrupt     bool
	DoNotConsolidate bool    // to save money; it goes where its pool asks for empty nodes to go after a while
	Controller       Replica // whether a replica of the controller, ready to act, runs on it
	HasGrace         bool    // pods that are in the way of its end are given so much time, and no more
	Pods             []Pod   // bound to it, sorted by namespace, name; without those that succeeded or failed, which hold nothing
	InMove
	// LaunchedFor is the pods that its instance was launched for, or that are to have it now, that still wait, are
	// expected or sit on a node that is being deleted.
	LaunchedFor []Pod
}

// InMove is what moves mean for a node, those that are under way and those that were given up.
type InMove struct {
	Rests  string // why it is left alone for a little while, whatever speaks for letting it go; empty: it is not
	Closed bool   // it is to go with a move, and may yet stay: see Close
	// Unneeded says that what it was launched for did not come about: it goes once it is empty, however long it was.
	// No snapshot of a cluster says so; plans do.
	Unneeded bool
}

// TaintEmptying is on nodes that are to empty: kube-scheduler puts pods on others while these have room, since its
// effect is PreferNoSchedule.
const TaintEmptying = "daemok.sh/emptying"

// TaintDisrupted is on nodes that are to go with a move, from its beginning.
const TaintDisrupted = "karpenter.sh/disrupted"

// Emptying is the taint of nodes that are to empty.
func Emptying() constraint.Taint {
	return constraint.Taint{Key: TaintEmptying, Effect: constraint.PreferNoSchedule}
}

// Emptying reports whether the node is being drained.
func (n *Node) Emptying() bool { return slices.Contains(n.Taints, Emptying()) }

// PoolDeleting is why nothing is launched from a pool that is being deleted.
const PoolDeleting = "the pool is being deleted"

// PoolDeleted is how a node has drifted whose pool is being deleted: it goes, and
// so does every other node of the pool.
const PoolDeleted = "NodePoolDeleted"

// Replica says of a node whether the controller that makes the plans runs on it.
type Replica string

// The seats. A replica that is not ready has none.
const (
	NoReplica   Replica = ""
	OnlyReplica Replica = "only"           // the controller has no other replica
	OneReplica  Replica = "one-of-several" // it has others, ready or not
)

// Close shows the node as one that is to go with a move and may yet stay, since it is not deleted
// yet. It is no destination for pods, and those that run on it need no other place until it is
// decided: nothing is launched for them, and they count where they are. Once the node is deleted
// they are shown as pods that return, for every plan to find places for. This is the one rule for
// such nodes.
func (n *Node) Close() {
	n.Deleting, n.Closed, n.Pods = true, true, slices.Clone(n.Pods)
	for i := range n.Pods {
		n.Pods[i].Returns = false
	}
}

// Goes reports whether the node goes away soon: a pod that does not move keeps
// it, and kube-scheduler counts it until then.
func (n *Node) Goes() bool {
	return n.Deleting && !slices.ContainsFunc(n.Pods, func(p Pod) bool { return p.works() && !p.Uprooted && p.Protected() && !p.Ending })
}

// Instance is an instance being launched that is not a node yet: a claim.
type Instance struct {
	Claim         string
	Pool          PoolID
	Labels        constraint.Labels       // known labels; grows when the instance is launched
	Requirements  constraint.Requirements // what may still be chosen
	Taints        []constraint.Taint
	StartupTaints []constraint.Taint
	Allocatable   quantity.Resources // after launch: of the type launched; before: the least among its options
	Capacity      quantity.Resources // after launch: of the type launched; before: the most among its options
	Attachable    []Attachable       // as Allocatable
	CreatedAt     time.Time
	Launching     bool // a launch for it is or was under way: what capacity reservations have left is reported without it
	Launched      bool
	Deleting      bool  // or withdrawn: no destination for pods
	Planned       bool  // launched by a plan for pods that waited; what users launch they also withdraw
	Replacement   bool  // launched to replace nodes, or for pods of nodes that are leaving: it is not withdrawn for lack of pods
	LaunchedFor   []Pod // the pods it was launched for that still wait, are expected or sit on a node that is being deleted
	Pods          []Pod // that have their places on it already, while a plan seeks places for others; no snapshot of a cluster has any

	PurposeUnknown bool // a plan launched it, and it is not known for which pods
	TypesUnknown   bool // what its pool may launch is not known: its amounts are what was asked for
}

// Daemon is a DaemonSet: one pod of its shape on every node that admits it.
type Daemon struct {
	Namespace, Name string
	Shape           *Shape
}
