package place

import (
	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/cluster"
)

// countStocks notes what offers are taken from that are had so many times only, such
// as a capacity reservation. Pools share it, and so do kinds.
func (r *run) countStocks() {
	for _, b := range r.buyers {
		for i := range b.Options {
			o := b.Offer(b.Options[i])
			if o.Stock == "" || !o.Available {
				continue
			}
			if r.stocks == nil {
				r.stocks = map[string]int64{}
			}
			if left, known := r.stocks[o.Stock]; !known || o.Left < left {
				r.stocks[o.Stock] = o.Left
			}
		}
	}
	r.countOrders()
	for name, left := range r.stocks {
		if left <= 0 {
			r.onSale(name, false)
		}
	}
}

// countOrders takes off what machines on order are to be taken from, as long as
// nobody who sells them knows of it. A machine that is to come from a stock says so
// by its label.
func (r *run) countOrders() {
	if r.stocks == nil {
		return
	}
	for i := range r.snapshot.Machines {
		m := &r.snapshot.Machines[i]
		values, _ := m.Requirements.Get(cluster.LabelReservation).Finite()
		if m.Launched || m.Buying || m.Deleting || len(values) != 1 {
			continue
		}
		if name, known := r.stockLabelled(values[0]); known {
			r.stocks[name]--
		}
	}
}

// stockLabelled finds the stock whose offers have this label.
func (r *run) stockLabelled(reservation string) (name string, known bool) {
	for _, b := range r.buyers {
		for i, o := range b.Options {
			if from, labelled := b.Offer(o).Labels.Get(cluster.LabelReservation); labelled && from == reservation {
				return b.stockOf(i), true
			}
		}
	}
	return "", false
}

// onlyStock keeps of what a launch leaves open, where it is taken from a stock
// first, that stock alone: what is paid for already may be far larger than what
// would be bought for the same pods, and is counted as taken. Where so little would
// not do for minValues all stays open.
func (b *buyer) onlyStock(options bitset.Set, kinds []int) (bitset.Set, []int) {
	name := b.stockOf(options.Next(0))
	if name == "" {
		return options, kinds
	}
	only := options.Clone()
	for i := only.Next(0); i >= 0; i = only.Next(i + 1) {
		if b.stockOf(i) != name {
			only.Remove(i)
		}
	}
	left := b.firstKinds(only)
	if b.minValuesShort(only, left) != nil {
		return options, kinds
	}
	b.keepKinds(only, left)
	return only, left
}

// reservationOf is the reservation that machines of each of the options are taken
// from, by their label; empty where that is none, or not the same.
func (b *buyer) reservationOf(options bitset.Set) string {
	out := ""
	for i := options.Next(0); i >= 0; i = options.Next(i + 1) {
		from, _ := b.Offer(b.Options[i]).Labels.Get(cluster.LabelReservation)
		if from == "" || out != "" && from != out {
			return ""
		}
		out = from
	}
	return out
}

// stockOf names what a machine bought by the option is taken from; nothing where
// as many can be had as anyone wants.
func (b *buyer) stockOf(option int) string { return b.Offer(b.Options[option]).Stock }

// mayStill is how many machines can be bought by the option at most, of n.
func (r *run) mayStill(b *buyer, option int, n int64) int64 {
	if left, known := r.stocks[b.stockOf(option)]; known {
		return min(n, left)
	}
	return n
}

// takeStock accounts for a machine of this plan; the last one closes the offers.
func (r *run) takeStock(name string) {
	if name == "" {
		return
	}
	r.stocks[name]--
	if r.stocks[name] == 0 {
		r.onSale(name, false)
	}
}

// putBack accounts for a machine that is not ordered after all.
func (r *run) putBack(name string) {
	if name == "" {
		return
	}
	r.stocks[name]++
	if r.stocks[name] == 1 {
		r.onSale(name, true)
	}
	clear(r.failed)
}

// onSale opens or closes the offers that are taken from the stock.
func (r *run) onSale(name string, open bool) {
	for _, b := range r.buyers {
		any := false
		for i := range b.Options {
			switch o := b.Offer(b.Options[i]); {
			case o.Stock != name || !o.Available || b.free[b.Options[i].Kind] == nil:
				continue
			case open:
				b.available.Add(i)
			default:
				b.available.Remove(i)
			}
			any = true
		}
		if any {
			b.narrow()
			b.lots, b.lastLot = nil, nil
			b.rateAll()
		}
	}
	for _, g := range r.groups {
		r.rate(g)
	}
}

// rateAll seeks the highest yields anew for pods that are left.
func (b *buyer) rateAll() {
	for at, a := range b.asks {
		if a != nil && b.run.groups[at].left() > 0 {
			b.rate(a)
		}
	}
}
