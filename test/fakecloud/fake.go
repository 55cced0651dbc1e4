// Package fakecloud is the cloud port in memory, over package market, for tests and simulations.
//
// It promises everything that test/conformance requires, the same answers for the same seed, clock and
// calls, and the faults that a test injects. It has one subnet in each zone and no permissions: a
// class is its name, and perhaps some zones and tags, an image and security groups. Reservations are
// open to all classes.
package fakecloud

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws/ec2data"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/test/market"
	"github.com/daemok/daemok/test/market/clock"
)

var (
	_ cloud.Catalog              = (*Cloud)(nil)
	_ cloud.Instances            = (*Cloud)(nil)
	_ cloud.InterruptionMessages = (*Cloud)(nil)

	_ cloud.Shortages = (*Cloud)(nil)
)

// Tags that every instance carries.
const (
	TagCluster = "eks:eks-cluster-name"
	TagClass   = "karpenter.k8s.aws/ec2nodeclass"
	TagBatch   = "daemok.sh/batch"
)

// Options is how a cloud is set up. The zero value but for Clock will do.
type Options struct {
	Clock       clock.Clock // required
	Seed        uint64
	Cluster     string         // whose instances these are; "test" if empty
	Region      string         // "us-east-1" if empty
	Types       []string       // that it offers; DefaultTypes if empty, and see AllTypes
	TimeScale   float64        // of boots and terminations alone; 0: at once
	Figures     market.Figures // zero: market.DefaultFigures
	ShortageFor time.Duration  // how long a shortage is remembered; 3 minutes if 0
	RedeliverIn time.Duration  // how soon a notice that is not done comes again; 20 s if 0

	// Market, where given, is shared with clouds of other clusters. It must
	// have come from NewMarket with the same Region, Types and Clock.
	Market *market.Market
}

// Settings may be the Settings of a class here. Any other value is as good as
// none.
type Settings struct {
	Zones  []string          // where instances may be; everywhere if empty
	Tags   map[string]string // for every instance
	Image  string            // of every instance; one by the class's name if empty
	Groups []string          // of every instance; one by the class's name if empty
}

// Cloud is one cluster's view of a market. It is safe for concurrent use.
type Cloud struct {
	options       Options
	clock         clock.Clock
	market        *market.Market
	instanceTypes []cluster.InstanceType // without offers, sorted by name
	zones         []ec2data.Zone
	faults        *faults

	// mu is held over calls to the market, which never calls back.
	mu           sync.Mutex
	launches     map[string]launch // by token
	prepared     int
	short        map[market.Pool]time.Time
	reservations map[string]reservation // by name; those that are over stay
	catalogues   map[string]*offered    // by class
	revision     uint64
	inbox        inbox
}

// New opens a cloud.
func New(o Options) *Cloud {
	o = o.withDefaults()
	if o.Market == nil {
		o.Market = NewMarket(o)
	}
	return &Cloud{
		options: o, clock: o.Clock, market: o.Market,
		instanceTypes: instanceTypesOf(o.Region, o.Types), zones: ec2data.Load().Zones(o.Region),
		faults:   newFaults(o.Seed),
		launches: map[string]launch{}, short: map[market.Pool]time.Time{}, reservations: map[string]reservation{}, catalogues: map[string]*offered{},
		inbox: newInbox(),
	}
}

// NewMarket opens a market that offers the types of the options.
func NewMarket(o Options) *market.Market {
	o = o.withDefaults()
	var kinds []market.Kind
	for _, name := range o.Types {
		if t, ok := ec2data.Load().Type(name); ok {
			kinds = append(kinds, available(t, o.Region))
		}
	}
	return market.New(market.Options{
		Seed: o.Seed, Now: o.Clock.Now, Kinds: kinds, TimeScale: o.TimeScale, Figures: o.Figures,
	})
}

// Market is what the cloud launches from: to make offers short, fix prices,
// interrupt instances.
func (c *Cloud) Market() *market.Market { return c.market }

// Exhaust leaves n instances of an offering, which come back as instances do.
func (c *Cloud) Exhaust(o cloud.OfferingChoice, n int) { c.market.SetCapacity(poolOf(o), n, 0) }

// Short implements cloud.Shortages.
func (c *Cloud) Short(offerings ...cloud.OfferingChoice) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, o := range offerings {
		c.short[poolOf(o)] = c.clock.Now().Add(c.options.ShortageFor)
	}
}

func (o Options) withDefaults() Options {
	o.Cluster, o.Region = cmp.Or(o.Cluster, "test"), cmp.Or(o.Region, "us-east-1")
	o.ShortageFor, o.RedeliverIn = cmp.Or(o.ShortageFor, 3*time.Minute), cmp.Or(o.RedeliverIn, 20*time.Second)
	if len(o.Types) == 0 {
		o.Types = DefaultTypes()
	}
	o.Types = slices.Compact(slices.Sorted(slices.Values(o.Types)))
	return o
}

func poolOf(o cloud.OfferingChoice) market.Pool {
	option := market.Option(o.Option)
	if o.Option == cluster.Reserved {
		option = market.Reservation(o.ReservedCapacity)
	}
	return market.Pool{Kind: o.Kind, Zone: o.Zone, Option: option}
}
