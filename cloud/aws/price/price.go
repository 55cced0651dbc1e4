// Package price knows what instances cost: on-demand prices from the Pricing API, spot prices from
// EC2's history, and a built-in table where AWS has not answered yet or has no answer.
//
// It promises that an unknown price stays unknown, never zero, and that a failed or partial refresh
// keeps what was known. It starts nothing itself: the caller refreshes it.
package price

import (
	"maps"
	"sync"

	"github.com/daemok/daemok/core/quantity"
)

// Table is a built-in list of prices for one region, in dollars per hour.
// False means that it has none.
type Table interface {
	OnDemandUSD(kind string) (float64, bool)
	SpotUSD(kind string) (float64, bool)
}

// Book is what is known about prices. It is safe for concurrent use.
type Book struct {
	table Table

	mu       sync.RWMutex
	onDemand map[string]quantity.MicroUSDPerHour
	alone    map[string]quantity.MicroUSDPerHour // of dedicated tenancy
	spot     map[pool]quantity.MicroUSDPerHour
	spotSeen bool // the history was read at least once
	seq      uint64
}

type pool struct{ kind, zone string }

// New returns a book that knows the table alone. A nil table is an empty one.
func New(table Table) *Book {
	return &Book{table: table, onDemand: map[string]quantity.MicroUSDPerHour{}, alone: map[string]quantity.MicroUSDPerHour{},
		spot: map[pool]quantity.MicroUSDPerHour{}}
}

// View is the book at one moment.
type View struct {
	Seq      uint64 // changes with every change of a price
	table    Table
	onDemand map[string]quantity.MicroUSDPerHour
	alone    map[string]quantity.MicroUSDPerHour
	spot     map[pool]quantity.MicroUSDPerHour
	spotSeen bool
}

// View returns what is known now. It shares memory with the book, which
// never writes what it has given out.
func (b *Book) View() View {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return View{b.seq, b.table, b.onDemand, b.alone, b.spot, b.spotSeen}
}

// OnDemand returns the on-demand price of an instance type.
func (v View) OnDemand(kind string) (quantity.MicroUSDPerHour, bool) {
	if p, ok := v.onDemand[kind]; ok {
		return p, true
	}
	return fromTable(v.table, kind, Table.OnDemandUSD)
}

// Dedicated returns the price of an instance type on demand that runs on hardware of its
// own: the usual price on demand where none is known. What AWS charges beside it for each
// hour in which a region has such instances is not part of it.
func (v View) Dedicated(kind string) (quantity.MicroUSDPerHour, bool) {
	if p, ok := v.alone[kind]; ok {
		return p, true
	}
	return v.OnDemand(kind)
}

// Spot returns the spot price of an instance type in a zone. The table counts only until
// the history was read: a pool without history is one without price.
func (v View) Spot(kind, zone string) (quantity.MicroUSDPerHour, bool) {
	if p, ok := v.spot[pool{kind, zone}]; ok {
		return p, true
	}
	if v.spotSeen {
		return 0, false
	}
	return fromTable(v.table, kind, Table.SpotUSD)
}

func fromTable(t Table, kind string, ask func(Table, string) (float64, bool)) (quantity.MicroUSDPerHour, bool) {
	if t == nil {
		return 0, false
	}
	dollars, ok := ask(t, kind)
	if !ok || dollars <= 0 {
		return 0, false
	}
	return quantity.USDPerHour(dollars), true
}

// setOnDemand takes over prices; instance types that are not among them keep theirs.
func (b *Book) setOnDemand(prices map[string]quantity.MicroUSDPerHour) { b.set(&b.onDemand, prices) }

func (b *Book) setDedicated(prices map[string]quantity.MicroUSDPerHour) { b.set(&b.alone, prices) }

func (b *Book) set(list *map[string]quantity.MicroUSDPerHour, prices map[string]quantity.MicroUSDPerHour) {
	b.mu.Lock()
	defer b.mu.Unlock()
	next := maps.Clone(*list)
	maps.Copy(next, prices)
	if !maps.Equal(next, *list) {
		*list, b.seq = next, b.seq+1
	}
}

func (b *Book) setSpot(prices map[pool]quantity.MicroUSDPerHour) {
	b.mu.Lock()
	defer b.mu.Unlock()
	next := maps.Clone(b.spot)
	maps.Copy(next, prices)
	if !b.spotSeen || !maps.Equal(next, b.spot) {
		b.spot, b.spotSeen, b.seq = next, true, b.seq+1
	}
}
