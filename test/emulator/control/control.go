// Package control is the second port of the emulator, which controls the emulated AWS. Through it
// capacity runs out, prices change, calls are throttled or fail, instances are interrupted, a zone
// fails, the clock advances.
//
// An order is a JSON value posted to a path (package internal/orders), so that any program can send
// it; Client does so for Go. Names may be patterns as of path.Match. It promises that an order that
// matches nothing is an error which lists what exists, because it is probably a typing mistake, and
// that random choices depend on the account's seed.
package control

import (
	"context"
	"net/http"
	"time"

	"github.com/daemok/daemok/internal/orders"
	"github.com/daemok/daemok/test/emulator"
	"github.com/daemok/daemok/test/emulator/faults"
)

// Ice is an order to offer capacity out, or to bring it back. Kind, Zone and Option are
// patterns; empty ones match all.
type Ice struct {
	Kind     string `json:"kind"`
	Zone     string `json:"zone,omitempty"`
	Option   string `json:"option,omitempty"`
	Machines int    `json:"machines,omitempty"` // that each pool still has
	Melt     bool   `json:"melt,omitempty"`     // plenty again
}

// Price is an order to set prices, or to let the market make them again. Kind, Zone and Option
// are patterns; empty ones match all. Prices on demand are a region's: an order about zones leaves them out.
type Price struct {
	Kind   string  `json:"kind"`
	Zone   string  `json:"zone,omitempty"`
	Option string  `json:"option,omitempty"`
	USD    float64 `json:"usd,omitempty"`   // an hour
	Times  float64 `json:"times,omitempty"` // that of now, instead
	End    bool    `json:"end,omitempty"`   // the market's own again
}

// Throttle is an order to let actions be called less often, or as on an ordinary day.
type Throttle struct {
	Action    string  `json:"action"` // or a pattern
	PerSecond float64 `json:"perSecond,omitempty"`
	Burst     float64 `json:"burst,omitempty"` // 0: a second's worth, one at least
	Times     float64 `json:"times,omitempty"` // those of an ordinary day, instead
	End       bool    `json:"end,omitempty"`
}

// Outage is an order to cut a zone off, or to end that.
type Outage struct {
	Zone string `json:"zone"`
	End  bool   `json:"end,omitempty"`
}

// Fault is an order to have calls fail, or to end that: see faults.Fault.
type Fault struct {
	Action string  `json:"action"`
	Code   string  `json:"code,omitempty"`
	Nth    int     `json:"nth,omitempty"`
	Times  int     `json:"times,omitempty"`
	Share  float64 `json:"share,omitempty"`
	After  bool    `json:"after,omitempty"`
	End    bool    `json:"end,omitempty"` // all faults of the action
}

// Rights is an order to take the right to call actions away, or to give it back.
type Rights struct {
	Action string `json:"action"` // or a pattern
	Denied bool   `json:"denied"`
}

// Quota is an order to limit the vCPUs of the account's instances, by a code of Service Quotas.
type Quota struct {
	Code  string `json:"code"`
	VCPUs int    `json:"vCPUs"`
}

// Clock is an order to put the clocks of AWS forward.
type Clock struct {
	Forward time.Duration `json:"forward"`
}

// Skew is an order to have the clock by which AWS judges signatures, tokens and credentials go wrong: see emulator.Server.Skew.
type Skew struct {
	By time.Duration `json:"by"` // how far it is ahead; 0: right again
}

// Deed is what AWS may do to its instances.
type Deed string

// The deeds.
const (
	Interrupt  Deed = "interrupt" // takes a spot instance back
	Rebalance  Deed = "rebalance" // recommends to replace one
	Disruption Deed = "retire"    // announces that it will be retired
)

// InterruptionMessage is an order to say something of instances that have not ended, and to do it.
type InterruptionMessage struct {
	Instance string        `json:"instance"` // its ID or private DNS name, or a pattern of either
	Deed     Deed          `json:"deed"`
	Advised  bool          `json:"advised,omitempty"` // an interruption begins with a recommendation
	In       time.Duration `json:"in,omitempty"`      // how long after it the warning comes; when the retirement is
}

// Instance is one that something was said of.
type Instance struct {
	ID         string `json:"id"`
	PrivateDNS string `json:"privateDNS"`
}

// Reserve is an order to put a capacity reservation into the account.
type Reserve struct {
	Kind          string            `json:"kind"` // instance type
	Zone          string            `json:"zone"`
	Machines      int               `json:"machines"`
	Targeted      bool              `json:"targeted,omitempty"`      // for launches that name it; else open
	Interruptible bool              `json:"interruptible,omitempty"` // its owner may reclaim it
	Block         bool              `json:"block,omitempty"`         // a capacity block, which needs an end
	For           time.Duration     `json:"for,omitempty"`           // how long it lasts; 0: until it is cancelled
	Tags          map[string]string `json:"tags,omitempty"`
}

// Reclaim is an order to have the owner of an interruptible reservation take capacity back.
type Reclaim struct {
	Reservation string `json:"reservation"` // its ID
	Left        int    `json:"left"`        // how many instances it holds from then on
}

// ReservedInstances is an order to put Reserved Instances into the account.
type ReservedInstances struct {
	Kind        string        `json:"kind"` // instance type
	Machines    int           `json:"machines"`
	Zone        string        `json:"zone,omitempty"`     // of zonal ones; else regional
	Platform    string        `json:"platform,omitempty"` // product description; else Linux/UNIX
	Dedicated   bool          `json:"dedicated,omitempty"`
	Convertible bool          `json:"convertible,omitempty"`
	For         time.Duration `json:"for,omitempty"` // their term; 0: a year
}

// SavingsPlan is an order to put a Savings Plan into the account.
type SavingsPlan struct {
	Type     string        `json:"type"`               // Compute, EC2Instance or SageMaker
	USD      float64       `json:"usd"`                // commitment of an hour
	Family   string        `json:"family,omitempty"`   // of an EC2Instance plan
	Region   string        `json:"region,omitempty"`   // of an EC2Instance plan; else the account's
	Discount float64       `json:"discount,omitempty"` // off prices on demand, 0.28 of them; 0: the usual one
	For      time.Duration `json:"for,omitempty"`      // its term; 0: a year
}

// Shift is an order to begin a zonal shift away from a zone, or to end those away from it.
type Shift struct {
	Zone string        `json:"zone"`
	Auto bool          `json:"auto,omitempty"` // an autoshift of AWS, which lasts until its end is ordered
	For  time.Duration `json:"for,omitempty"`  // how long a user's lasts, a minute to three days
	End  bool          `json:"end,omitempty"`
}

// Refuse is an order to refuse launches with an error code of AWS, or to end that. Kind, Zone
// and Option are patterns; empty ones match all.
type Refuse struct {
	Kind   string `json:"kind"`
	Zone   string `json:"zone,omitempty"`
	Option string `json:"option,omitempty"`
	Code   string `json:"code,omitempty"` // such as UnfulfillableCapacity
	End    bool   `json:"end,omitempty"`
}

// Boots is an order about instances that are launched from now on.
type Boots struct {
	Fail      int     `json:"fail,omitempty"`   // how many of the next end before they run
	Reason    string  `json:"reason,omitempty"` // why, as instances tell it: Client.VolumeLimitExceeded
	NeverJoin float64 `json:"neverJoin"`        // share of those that run and never join a cluster
}

// Update is an order to update the cluster's version.
type Update struct {
	Version string `json:"version"` // the next minor one, such as 1.36
}

// Status is what the emulator says of itself.
type Status struct {
	Now         time.Time      `json:"now"`
	Ahead       time.Duration  `json:"ahead"`  // how far its clocks were put forward
	Skewed      time.Duration  `json:"skewed"` // how far the clock is ahead by which it judges dates of callers
	Seed        uint64         `json:"seed"`
	Region      string         `json:"region"`
	ClusterName string         `json:"clusterName"`
	Instances   int            `json:"instances"` // that have not ended
	CostUSD     float64        `json:"costUSD"`   // of all instances so far
	Calls       map[string]int `json:"calls"`     // answered so far, by action
	Out         []string       `json:"out"`       // zones that are cut off, sorted
	Denied      []string       `json:"denied"`    // actions, sorted
	Faults      []faults.Fault `json:"faults"`    // that are to strike yet
	Throttled   []string       `json:"throttled"` // actions whose request limits are not the usual ones, sorted
	Limited     int            `json:"limited"`   // pools whose capacity was ordered
	Priced      int            `json:"priced"`    // pools whose price was
	Refused     int            `json:"refused"`   // pools in which launches are refused
}

// paths are where orders are posted.
const (
	pathStatus              = "/status"
	pathIce                 = "/ice"
	pathPrice               = "/price"
	pathThrottle            = "/throttle"
	pathOutage              = "/outage"
	pathFault               = "/fault"
	pathRights              = "/rights"
	pathClock               = "/clock"
	pathSkew                = "/skew"
	pathQuota               = "/quota"
	pathInterruptionMessage = "/notice"
	pathReserve             = "/reserve"
	pathReclaim             = "/reclaim"
	pathReservedInstances   = "/reserved-instances"
	pathSavingsPlan         = "/savings-plan"
	pathShift               = "/shift"
	pathRefuse              = "/refuse"
	pathBoots               = "/boots"
	pathUpdate              = "/update"
)

// Handler takes orders for the server. After each, did is called; nil is none.
func Handler(s *emulator.Server, did func()) http.Handler {
	if did == nil {
		did = func() {}
	}
	mux := http.NewServeMux()
	orders.Report(mux, pathStatus, func(*http.Request) (Status, error) { return status(s), nil })
	take(mux, pathIce, s, did, ice)
	take(mux, pathPrice, s, did, price)
	take(mux, pathThrottle, s, did, throttle)
	take(mux, pathOutage, s, did, outage)
	take(mux, pathFault, s, did, fault)
	take(mux, pathRights, s, did, rights)
	take(mux, pathClock, s, did, clock)
	take(mux, pathSkew, s, did, skew)
	take(mux, pathQuota, s, did, quota)
	take(mux, pathInterruptionMessage, s, did, interruptionMessage)
	take(mux, pathReserve, s, did, reserve)
	take(mux, pathReclaim, s, did, reclaim)
	take(mux, pathReservedInstances, s, did, reservedInstances)
	take(mux, pathSavingsPlan, s, did, savingsPlan)
	take(mux, pathShift, s, did, shift)
	take(mux, pathRefuse, s, did, refuse)
	take(mux, pathBoots, s, did, boots)
	take(mux, pathUpdate, s, did, func(s *emulator.Server, order Update) (time.Time, error) { return s.UpdateCluster(order.Version) })
	return mux
}

func take[Order, Outcome any](mux *http.ServeMux, path string, s *emulator.Server, did func(), do func(*emulator.Server, Order) (Outcome, error)) {
	orders.Take(mux, path, func(_ context.Context, order Order) (Outcome, error) {
		outcome, err := do(s, order)
		did()
		return outcome, err
	})
}
