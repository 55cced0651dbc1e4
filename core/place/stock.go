package place

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
	for name, left := range r.stocks {
		if left <= 0 {
			r.onSale(name, false)
		}
	}
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
