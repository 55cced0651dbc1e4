// Package market is a deterministic model of a cloud: capacity pools, prices, instance lifecycle, API
// limits. The in-memory provider and AWS's wire emulator are both built on it.
//
// It promises that the same seed, clock and calls give the same market: every random draw depends on
// the seed and a name, never on the order of other draws. It knows neither wire protocols nor
// Kubernetes, and it has no clock of its own.
package market

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// Option is a capacity type.
type Option string

// The options.
const (
	OnDemand Option = "on-demand"
	Spot     Option = "spot"
)

// Kind is one instance type that the market offers.
type Kind struct {
	Name         string
	Zones        []string // that offer it
	OnDemandUSD  float64  // an hour; 0: not offered on demand
	SpotUSD      float64  // an hour, on average; 0: not offered as spot
	Interruption int      // band 0 (seldom) to 4
	Slow         bool     // boots in minutes: bare metal, accelerators
}

// Pool is what capacity is counted by.
type Pool struct {
	Kind, Zone string
	Option     Option
}

// String prints "spot m5.large in us-east-1a".
func (p Pool) String() string { return fmt.Sprintf("%s %s in %s", p.Option, p.Kind, p.Zone) }

// ShortageError says that a pool has fewer instances than asked for.
type ShortageError struct {
	Pool      Pool
	Asked, Of int // asked for, and there
}

func (e *ShortageError) Error() string {
	return fmt.Sprintf("%s: %d asked for, %d there", e.Pool, e.Asked, e.Of)
}

// Options is how a market is set up.
type Options struct {
	Seed      uint64
	Now       func() time.Time
	Kinds     []Kind
	TimeScale float64 // of boots and terminations alone; 0: at once
	Figures   Figures // zero: DefaultFigures
}

// Market is the model. It is safe for concurrent use.
type Market struct {
	seed    uint64
	now     func() time.Time
	figures Figures
	scale   float64
	kinds   map[string]Kind
	usual   map[string]Rate // buckets on an ordinary day

	mu        sync.Mutex
	machines  map[string]*Machine
	next      uint64 // number of the next instance
	capacity  map[Pool]depth
	buckets   map[string]bucket
	calls     map[string]int
	out       map[string]time.Time // zones that are cut off, since when
	due       []transition         // sorted by time, then instance
	prices    map[Pool]float64
	never     float64 // share of instances that never join a cluster
	failing   int     // how many instances are to end before they run
	failingBy string
	forgetAt  time.Time // no instance is to be forgotten before; zero: none has an end
	wake      chan struct{}
	changed   chan struct{} // closed and replaced at every change
	spentUSD  float64       // on instances that are forgotten
	revision  uint64        // of prices fixed by hand
}

// New opens a market.
func New(o Options) *Market {
	m := &Market{
		seed: o.Seed, now: o.Now, figures: o.Figures, scale: o.TimeScale,
		kinds: map[string]Kind{}, machines: map[string]*Machine{}, capacity: map[Pool]depth{},
		buckets: map[string]bucket{}, calls: map[string]int{}, prices: map[Pool]float64{}, out: map[string]time.Time{}, wake: make(chan struct{}, 1),
		changed: make(chan struct{}),
	}
	if m.figures.Buckets == nil {
		m.figures = DefaultFigures()
	}
	m.usual = m.figures.Buckets // never written: SetRate makes a copy
	for _, k := range o.Kinds {
		m.kinds[k.Name] = k
	}
	return m
}

// Kinds returns all kinds, sorted by name.
func (m *Market) Kinds() []Kind {
	all := slices.Collect(maps.Values(m.kinds))
	slices.SortFunc(all, func(a, b Kind) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// Kind returns one kind.
func (m *Market) Kind(name string) (Kind, bool) {
	k, known := m.kinds[name]
	return k, known
}

// reservation begins the option of reserved capacity.
const reservation = "reservation/"

// Reservation is the option that draws on a capacity reservation by its id.
// Its pools have what SetCapacity gives them, and cost as on demand.
func Reservation(id string) Option { return Option(reservation + id) }

// Reserved reports whether the option draws on a reservation, and which.
func (o Option) Reserved() (id string, ok bool) { return strings.CutPrefix(string(o), reservation) }

// Offers reports whether the market has such a pool at all, unavailable or not.
// A reservation is one once its capacity was set.
func (m *Market) Offers(p Pool) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.offers(p)
}

func (m *Market) offers(p Pool) bool {
	if _, reserved := p.Option.Reserved(); reserved {
		_, set := m.capacity[p]
		return set
	}
	k, known := m.kinds[p.Kind]
	if !known || !slices.Contains(k.Zones, p.Zone) {
		return false
	}
	return p.Option == OnDemand && k.OnDemandUSD > 0 || p.Option == Spot && k.SpotUSD > 0
}

// depth is how many instances a pool still has. Pools that were never set have
// plenty.
type depth struct {
	left       int
	refill     float64 // instances an hour
	most       int
	measuredAt time.Time
}

func (d depth) at(now time.Time) int {
	return min(d.most, d.left+int(float64(now.Sub(d.measuredAt).Hours()*d.refill)))
}

const plenty = 1 << 30

// SetCapacity limits a pool to n instances, refilled at a rate an hour up to
// n. A refill of 0 means that what is offered is gone until it is terminated.
func (m *Market) SetCapacity(p Pool, n int, refill float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.capacity[p] = depth{left: n, refill: refill, most: n, measuredAt: m.now()}
}

// Resize makes room for n instances in all in a pool that was limited before, those
// that were launched from it and not terminated included.
func (m *Market) Resize(p Pool, n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	d := m.capacity[p]
	d.left, d.measuredAt = max(0, d.at(m.now())+n-d.most), m.now()
	d.most = n
	m.capacity[p] = d
}

// Restock makes a pool plentiful again.
func (m *Market) Restock(p Pool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.capacity, p)
}

// Limited counts the pools on demand and on spot whose capacity was set.
func (m *Market) Limited() (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for p := range m.capacity {
		if p.Option == OnDemand || p.Option == Spot {
			n++
		}
	}
	return n
}

// Capacity is how many instances the pool has now.
func (m *Market) Capacity(p Pool) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.left(p)
}

func (m *Market) left(p Pool) int {
	if _, out := m.out[p.Zone]; out {
		return 0
	}
	d, limited := m.capacity[p]
	if !limited {
		return plenty
	}
	return d.at(m.now())
}

func (m *Market) take(p Pool, n int) {
	if d, limited := m.capacity[p]; limited {
		d.left, d.measuredAt = d.at(m.now())-n, m.now()
		m.capacity[p] = d
	}
}

// Order asks for Count instances of one pool.
type Order struct {
	Pool          Pool
	Count         int
	Details       any     // kept with each instance, for whoever runs it
	MoreExpensive float64 // what each costs, in prices of the pool; 0: one
}

// Launch offers all Count instances or none; a pool that is short is a
// *ShortageError that says how many there are.
func (m *Market) Launch(o Order) ([]Machine, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.offers(o.Pool) {
		return nil, &ShortageError{Pool: o.Pool, Asked: o.Count}
	}
	if left := m.left(o.Pool); left < o.Count {
		return nil, &ShortageError{Pool: o.Pool, Asked: o.Count, Of: max(left, 0)}
	}
	m.take(o.Pool, o.Count)
	out := make([]Machine, o.Count)
	for i := range out {
		out[i] = *m.boot(o)
	}
	m.signal()
	return out, nil
}

// Machines returns every instance that is still remembered, by ID.
func (m *Market) Machines() []Machine {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forgetOld()
	out := make([]Machine, 0, len(m.machines))
	for _, machine := range m.machines {
		out = append(out, *machine)
	}
	slices.SortFunc(out, func(a, b Machine) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

// Machine returns one instance that is still remembered.
func (m *Market) Machine(id string) (Machine, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forgetOld()
	machine, known := m.machines[id]
	if !known {
		return Machine{}, false
	}
	return *machine, true
}

// Changed returns a channel that is closed at the next change of any instance
// by a call; changes that come with time alone do not close it. Any number
// may wait.
func (m *Market) Changed() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.changed
}

// Wake receives a value when the time of the next change may have moved. It
// serves one reader; use Changed where there may be more.
func (m *Market) Wake() <-chan struct{} { return m.wake }

// Nudge says that the clock may have been put forward.
func (m *Market) Nudge() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.signal()
}

func (m *Market) signal() {
	close(m.changed)
	m.changed = make(chan struct{})
	select {
	case m.wake <- struct{}{}:
	default:
	}
}
