// Package world is what all services of the emulated account share: its settings, identifiers, tags, clock and lock.
//
// It promises that what is drawn by chance depends on the seed alone. A service embeds a World, keeps what is its own, and binds a
// table of its actions, which the server dispatches calls to. It knows no service.
package world

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/daemok/daemok/cloud/aws/ec2data"
	"github.com/daemok/daemok/test/market"
)

// Options is how a server is set up.
type Options struct {
	Account   Account
	Seed      uint64
	Now       func() time.Time // nil: the real time
	TimeScale float64          // of boots and terminations alone; 0: at once
	Figures   market.Figures   // zero: market.DefaultFigures
	Lags      *Lags            // nil: DefaultLags
	Market    *market.Market   // nil: one that offers the region's whole catalogue
}

// Lags are how long AWS takes to know of its own changes, beside those of the
// market. They are engineering picks. Each is drawn evenly between both ends.
type Lags struct {
	ProfileLeast, ProfileMost   time.Duration // an instance profile until EC2 accepts it
	TemplateLeast, TemplateMost time.Duration // a launch template until a launch finds it
	EventLeast, EventMost       time.Duration // an event until it lies in the queue
	TagLeast, TagMost           time.Duration // a tag until filters see it

	ReservationLeast, ReservationMost time.Duration // an instance until its reservation's free count shows that it came, or went

	TemplateSeen float64 // share of launch templates that launches find at once
	EventTwice   float64 // share of events that come twice
}

// DefaultLags are those of an ordinary day.
func DefaultLags() Lags {
	return Lags{
		ProfileLeast: 5 * time.Second, ProfileMost: 15 * time.Second,
		TemplateMost: 500 * time.Millisecond, TemplateSeen: 0.98,
		EventMost:       2 * time.Second,
		TagMost:         2 * time.Second,
		ReservationMost: 5 * time.Second,
		EventTwice:      0.02,
	}
}

// World is what all services of the account share: its settings, clock, market and catalogue, what is drawn by chance, and
// the lock that each call holds. It is safe for concurrent use.
type World struct {
	Clock  *Clock
	market *market.Market
	shared bool // the market has a clock of its own
	Data   *ec2data.Data
	lags   Lags
	seed   uint64

	Requests atomic.Uint64 // answered so far

	Closing   chan struct{} // closed by Close: long polls end
	closeOnce sync.Once

	Mu sync.Mutex // guards what follows, and the tables of all services
	Record
	draws uint64        // of lags
	polls chan struct{} // closed and replaced when a queue changed
}

// ZonesMax is how many zones of its region the account has a network in.
const ZonesMax = 4

// Record is what an account that was exported keeps of its world.
type Record struct {
	Settings   Account `json:"Account"`
	CreatedAt  time.Time
	Zones      []Zone
	Tokens     map[string]answered // by action and client token
	TokensAt   time.Time           // when old ones were forgotten
	NextID     uint64
	Parameters map[string]Parameter // of SSM, by name
	Quotas     map[string]int       // vCPUs by code, where SetQuota said so
	PutForward time.Duration        `json:"Ahead"` // how far the clocks were put forward
}

// New makes the world of an account that nothing was done in.
func New(o Options) *World {
	w := &World{
		Clock: &Clock{base: o.Now, Real: o.Now == nil}, market: o.Market, shared: o.Market != nil, Data: ec2data.Load(), lags: DefaultLags(), seed: o.Seed,
		Closing: make(chan struct{}), polls: make(chan struct{}),
	}
	if w.Clock.base == nil {
		w.Clock.base = func() time.Time { return time.Now().UTC() }
	}
	if o.Lags != nil {
		w.lags = *o.Lags
	}
	a := o.Account.withDefaults()
	zones := zonesOf(w.Data, a.Region)
	if w.market == nil {
		w.market = market.New(market.Options{
			Seed: o.Seed, Now: w.Clock.now, Kinds: Kinds(w.Data, a.Region), TimeScale: o.TimeScale, Figures: o.Figures,
		})
	}
	w.Record = Record{Settings: a, CreatedAt: w.Now(), Zones: zones[:min(len(zones), ZonesMax)], Tokens: map[string]answered{}, NextID: 1, Quotas: map[string]int{}}
	return w
}

func zonesOf(data *ec2data.Data, region string) []Zone {
	var zones []Zone
	for _, z := range data.Zones(region) {
		zones = append(zones, Zone{Name: z.Name, ID: z.ID})
	}
	return zones
}

// Kinds is a region's catalogue as a market offers it.
func Kinds(data *ec2data.Data, region string) []market.Kind {
	var kinds []market.Kind
	for _, t := range data.OfferedIn(region) {
		k := market.Kind{Name: t.Name, Zones: t.OfferedZones(region), Interruption: t.Interruption[region]}
		if t.HasUsage("on-demand") {
			k.OnDemandUSD, _, _ = t.OnDemandUSD(region)
		}
		k.SpotUSD, _, _ = t.SpotUSD(region)
		k.Slow = t.BareMetal || len(t.GPUs) > 0 || len(t.Accelerators) > 0
		kinds = append(kinds, k)
	}
	return kinds
}

// Offered lists the types that the market offers.
func (s *World) Offered(region string) []*ec2data.Type {
	return slices.DeleteFunc(slices.Clone(s.Data.OfferedIn(region)), func(t *ec2data.Type) bool {
		_, offered := s.market.Kind(t.Name)
		return !offered
	})
}

// Market is the market behind the account: sold-out pools, prices,
// interruptions and call counters are its business.
func (s *World) Market() *market.Market { return s.market }

// Account returns what the account was made from, defaults filled in.
func (s *World) Account() Account {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return s.Settings
}

// Close ends all long polls and makes Run return. It is safe to repeat.
func (s *World) Close() { s.closeOnce.Do(func() { close(s.Closing) }) }

// Regions are the regions that the catalogue knows.
func (s *World) Regions() []string { return s.Data.RegionNames() }

// PollSignal is closed when a queue gets a message or a hidden one comes back
// early.
func (s *World) PollSignal() <-chan struct{} {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return s.polls
}

// WakePollers lets waiting polls look again; the lock is held.
func (s *World) WakePollers() {
	close(s.polls)
	s.polls = make(chan struct{})
}

// Seed is what all that is drawn by chance comes of.
func (s *World) Seed() uint64 { return s.seed }

// Kept is what Export writes.
func (s *World) Kept() any { return &s.Record }

// Complete adds what an account that an earlier version wrote has not.
func (s *World) Complete() {
	s.Settings = s.Settings.withDefaults()
	if s.Quotas == nil {
		s.Quotas = map[string]int{}
	}
}
