// Package cloud is the port to a cloud: Catalog, Instances, InterruptionMessages, and the errors that
// they may return. It has three interfaces because three callers use different parts: Catalog (what
// can be launched, at what price), Instances (launch, terminate, list) and InterruptionMessages
// (interruptions and maintenance). They use offerings and instances, not API objects.
//
// Insufficient capacity is an ordinary answer (NoCapacityError), not a fault. The tests in
// test/conformance specify what every implementation must do.
package cloud

import (
	"cmp"
	"context"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/offering"
)

// Class is a user's cloud settings for instances, resolved. Settings is the provider's own
// value; callers pass it on and do not look inside.
type Class struct {
	ID       string // names the class, unique in the cluster: "EC2NodeClass/default"
	Settings any
}

// Catalog says what can be launched.
type Catalog interface {
	// Kinds returns the instances that a class can become, with the offerings of the
	// moment. The answer is shared and must not be written. Its Revision changes when
	// anything in it does, so a caller may compare and skip. It answers from memory; it
	// returns an error only while nothing was learnt yet.
	Kinds(ctx context.Context, class Class) (*cluster.Catalogue, error)
}

// Instances launches and returns instances of one cluster. It never sees or touches
// instances of another cluster.
type Instances interface {
	// Launch launches up to r.Count instances. It returns those it got, in order of ID, and
	// a *NoCapacityError naming the offerings that were short when they are fewer than
	// asked. Equal Tokens with equal parameters return the same instances and launch
	// nothing twice; an equal Token with other parameters is a *TokenMismatchError. On any
	// other error, and on a *NoCapacityError that is not Answered where the token was used
	// before, the outcome is unknown: find out with List(Filter{Batch}).
	Launch(ctx context.Context, r LaunchRequest) ([]Instance, error)

	// Prepare makes ready what such a Launch needs and may take time to become usable. It
	// is a hint: it never launches, a Launch works without it, and callers do no more with
	// its error than to report it. Token, Batch and Count do not matter. It is safe to
	// repeat, and costs little when everything is ready.
	Prepare(ctx context.Context, r LaunchRequest) error

	// Terminate terminates instances. An instance that is unknown or already gone is
	// reported in gone; one that has begun to shut down is not. One that was launched a
	// moment ago may not be visible yet: it is a *NotVisibleError, and was not terminated.
	// The others are, whatever error there is for some. It is safe to repeat.
	Terminate(ctx context.Context, ids ...string) (gone []string, err error)

	// List returns the instances that match, sorted by ID: pending, running, stopping and
	// stopped ones, and those shutting down. It does not return terminated ones.
	List(ctx context.Context, f Filter) ([]Instance, error)

	// Tag adds tags to an instance that List or Launch has shown, as it was shown; it asks
	// for nothing again. It returns *NotFoundError for one that the cloud does not know, or
	// that by the tags it was shown with is not this cluster's. One that has ended since
	// takes tags as long as the cloud knows of it.
	Tag(ctx context.Context, m Instance, tags map[string]string) error
}

// Adopter makes instances the cluster's own that run already and were launched by another
// program or for another class.
type Adopter interface {
	// Adoptable returns the instance of that ID, whichever cluster it belongs to. It
	// returns *NotFoundError for one that does not exist or has ended, and a *RefusedError
	// with the reason NotAdoptable for one that the cluster may not take over.
	Adoptable(ctx context.Context, id string) (Instance, error)

	// Adopt puts the tags on an instance, as Adoptable has shown it, by which it is the
	// cluster's, and those given; those of the class where it has others under these keys
	// are left out. It is safe to repeat. From then on List shows the instance.
	Adopt(ctx context.Context, m Instance, class Class, tags map[string]string) error
}

// NotAdoptable is why an instance stays whose it is.
const NotAdoptable = "NotAdoptable"

// LaunchRequest asks for Count equal instances.
type LaunchRequest struct {
	Class   Class
	Token   string            // idempotency token
	Batch   string            // found again by Filter.Batch
	Count   int               // 1 or more
	Options []OfferingChoice  // acceptable offerings, best first; of one Option only (all spot, all on-demand or all reserved), and all or none Dedicated
	Tags    map[string]string // beside those that the class gives
	Node    NodeSetup         // what the instance registers with at boot

	Extended []string // resources beside CPU, memory, disk and pods that the instances are for, sorted: some are there only where a launch attaches them
	Relaxed  bool     // fewer different instances are named than their user asked for
	Ordered  bool     // Priority decides, since prices are not those of the cloud: it must not choose by its own
}

// OfferingChoice names one acceptable offering. A request lists them in the order in which they are wanted; Priority says
// so to a provider that is asked to follow an order: lower is better.
type OfferingChoice struct {
	Kind             string
	Zone             string
	ZoneID           string // for reports of the offering; empty where it is not known
	Option           cluster.Option
	ReservedCapacity string  // the reservation that instances of the offering are taken from; empty: none
	Priority         float64 // price in dollars per hour
	Needed           bool    // for the variety that was asked for: if not all can be named, others are left out

	// Partition is that of the class's placement group; empty where it has none, or
	// where the provider is to choose.
	Partition string

	Dedicated bool // on hardware that runs instances of one account alone
}

// NodeSetup is what the boot of an instance must hand to its kubelet.
type NodeSetup struct {
	Labels map[string]string
	Taints []Taint
}

// Taint is a taint as text.
type Taint struct{ Key, Value, Effect string }

// Instance is one thing at the cloud. What a launch answers may lack what is only known once
// the instance is listed: PrivateDNS, Subnet, Groups and Partition.
type Instance struct {
	ID               string // the cloud's own, such as i-0123456789abcdef0
	ProviderID       string // as the node's spec.providerID will say
	Kind             string
	Zone             string
	ZoneID           string
	Option           cluster.Option
	ReservedCapacity string // the reservation that it is taken from; empty, and Option on demand, once that is over
	Image            string
	Class            string // from its tags: name of the class it was launched for
	State            State
	Batch            string
	LaunchedAt       time.Time
	Tags             map[string]string
	PrivateDNS       string
	Subnet           string   // the part of the network that it is in
	Groups           []string // the firewalls (security groups) it is behind, sorted
	Placement        string   // the placement group that it is in, by ID where that is known, else by name; empty: in none
	Partition        string   // of that group, by number; empty: in none
	Dedicated        bool     // its hardware runs instances of its account alone
}

// Identity is what says which offering the instance is.
func (m Instance) Identity() offering.Identity {
	return offering.Identity{Type: m.Kind, Zone: m.Zone, CapacityType: m.Option, Reservation: m.ReservedCapacity, Partition: m.Partition, Dedicated: m.Dedicated}
}

// State is where an instance is in its life.
type State string

// The states, in order. Terminated instances are not listed.
const (
	Pending      State = "pending"
	Running      State = "running"
	Stopping     State = "stopping"
	Stopped      State = "stopped"
	ShuttingDown State = "shutting-down"
)

// Filter selects instances of this cluster. Zero fields select all.
type Filter struct {
	IDs   []string
	Batch string
}

// InterruptionMessages delivers what the cloud says about instances by itself. It may say
// the same several times, and in any order.
type InterruptionMessages interface {
	// Next waits for interruption messages until ctx ends; it may return none after a
	// while, which says that they can be had. Each must be acknowledged with Done, or it
	// comes again. A *RefusedError with one of the Queue reasons says that they cannot be
	// had as things are; it is worth trying again later.
	Next(ctx context.Context) ([]InterruptionMessage, error)
	Done(ctx context.Context, interruptionMessages ...InterruptionMessage) error
}

// Reasons why interruption messages cannot be read.
const (
	QueueNotFound  = "QueueNotFound"
	QueueDenied    = "QueueAccessDenied"
	QueueKeyDenied = "QueueKeyAccessDenied"
)

// InterruptionMessage is one message about one instance. It may be an instance of another
// cluster.
type InterruptionMessage struct {
	ID         string // for Done
	Kind       InterruptionMessageKind
	InstanceID string // empty for NoOp and NotUnderstood
	At         time.Time
	EndsAt     time.Time // when the instance is taken away; zero: not known
	Count      int       // how often it was handed out, this time included
	Shared     bool      // other clusters read these interruption messages too: one that is theirs must not be acknowledged
	Problem    string    // why it was not understood; else what happens, in the cloud's words, where these say more
}

// InterruptionMessageKind says what happens to the instance.
type InterruptionMessageKind string

// The kinds of interruption messages.
const (
	Interrupted            InterruptionMessageKind = "spot_interrupted"
	Rebalance              InterruptionMessageKind = "rebalance_recommendation"
	Maintenance            InterruptionMessageKind = "scheduled_change"
	HasStopped             InterruptionMessageKind = "instance_stopped"
	Terminated             InterruptionMessageKind = "instance_terminated"
	ReservationInterrupted InterruptionMessageKind = "capacity_reservation_interrupted"
	Impaired               InterruptionMessageKind = "unhealthy"      // by the cloud's own checks
	NoOp                   InterruptionMessageKind = "no_op"          // nothing follows from it
	NotUnderstood          InterruptionMessageKind = "not_understood" // see Problem
)

// Checks reports instances that the cloud finds something wrong with, or means to change.
type Checks interface {
	// Troubles returns what is so now, of instances of other clusters too, sorted by
	// instance and kind. A *RefusedError with the reason ChecksDenied says that it may not
	// be asked.
	Troubles(ctx context.Context) ([]Trouble, error)
}

// ChecksDenied is why the results of the cloud's checks are not known.
const ChecksDenied = "StatusChecksDenied"

// Trouble is one thing that is wrong with an instance, or will be done to it.
type Trouble struct {
	InstanceID string
	Kind       TroubleKind
	What       string    // in the cloud's words
	Since      time.Time // when a check failed first; zero: not known
	StartsAt   time.Time // when what is scheduled begins; zero: not known
}

// Compare orders troubles by instance and kind, then by what they say.
func (t Trouble) Compare(o Trouble) int {
	return cmp.Or(cmp.Compare(t.InstanceID, o.InstanceID), cmp.Compare(t.Kind, o.Kind), cmp.Compare(t.What, o.What),
		t.StartsAt.Compare(o.StartsAt), t.Since.Compare(o.Since))
}

// TroubleKind says what kind of thing it is.
type TroubleKind string

// The kinds.
const (
	InstanceFails TroubleKind = "instance_status" // the check of the instance
	SystemFails   TroubleKind = "system_status"   // the check of what it runs on
	Scheduled     TroubleKind = "scheduled_event" // a reboot, a stop, a retirement
	CapacityEnds  TroubleKind = "capacity_end"    // what the instance runs in was launched until then
)

// Shifts reports zones that work is moved away from for a while, by a user or by the cloud.
// Nothing is launched there meanwhile.
type Shifts interface {
	// Shifts asks which are in effect now, by zone, and has the catalogue follow. A
	// *RefusedError with the reason ShiftsNotRegistered says that they cannot be known.
	Shifts(ctx context.Context) ([]Shift, error)
}

// ShiftsNotRegistered is why the cloud knows of no shifts of the cluster.
const ShiftsNotRegistered = "ZonalShiftNotEnabled"

// Shift is one zone that work is moved away from.
type Shift struct {
	ZoneID string
	EndsAt time.Time // zero: not known
}

// Shortages remembers which offerings have insufficient capacity, so that plans of the next
// minutes leave them out, as they do after a *NoCapacityError.
type Shortages interface {
	Short(offerings ...OfferingChoice)
}
