package place

import (
	"math"
	"slices"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/bound"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/quantity"
)

// wholesale is what all pools sell, to tell quickly what machines for some pods
// cost at least.
type wholesale struct {
	columns []bound.Column // without those that have no more of anything than one that costs no more
	each    []float64      // by resource: what one unit costs at least if nothing else counts
}

// wholesale lists it once.
func (d *desk) wholesale() *wholesale {
	if d.market != nil {
		return d.market
	}
	out := &wholesale{each: make([]float64, d.run.dims.Len())}
	for i := range out.each {
		out.each[i] = math.Inf(1)
	}
	for at, b := range d.run.buyers {
		if b.twin() {
			continue
		}
		before, least := &d.pools[at], make([]float64, len(b.Kinds))
		for o := before.available.Next(0); o >= 0; o = before.available.Next(o + 1) {
			offer := b.Offer(b.Options[o])
			free := before.most(b.Options[o].Kind)
			price := costOf(offer) + float64(b.PerMachine())
			if known := least[b.Options[o].Kind]; !offer.Priced || free == nil || known > 0 && price >= known {
				continue
			}
			least[b.Options[o].Kind] = price
			c := bound.Column{Price: price, Has: positive(free)}
			for i, has := range c.Has {
				if has > 0 {
					out.each[i] = min(out.each[i], c.Price/has)
				}
			}
			if !slices.ContainsFunc(out.columns, func(x bound.Column) bool { return x.Price <= c.Price && covers(x.Has, c.Has) }) {
				out.columns = slices.DeleteFunc(out.columns, func(x bound.Column) bool { return c.Price <= x.Price && covers(c.Has, x.Has) })
				out.columns = append(out.columns, c)
			}
		}
	}
	d.market = out
	return out
}

// most is what a machine of the kind has for pods, surplus credits included.
func (p *deskPool) most(kind int) []int64 {
	if p.whole != nil {
		return p.whole[kind]
	}
	return p.free[kind]
}

// least is what machines for pods that need so much together cost at least.
func (w *wholesale) least(sum []int64) float64 {
	out := 0.0
	for i, v := range sum {
		if v > 0 {
			out = max(out, float64(w.each[i]*float64(v)))
		}
	}
	return out
}

// exceeds reports whether machines for pods that need so much together cost more
// than that for certain.
func (w *wholesale) exceeds(sum []int64, most float64) bool {
	return w.least(sum) > most || bound.Cover(positive(sum), w.columns).Cost > most
}

// tooExpensive reports whether the search has ended: machines for the pods that found
// no seat cost more than they may, for certain.
func (r *run) tooExpensive() bool {
	if r.question == nil || r.question.over {
		return r.question != nil
	}
	if r.question.Below <= 0 || r.round > 1 || len(r.groups) == 0 {
		return false
	}
	most := float64(r.question.Below)
	var sum []int64
	var last *group
	for _, g := range r.groups {
		if !r.mustBuy(g) {
			continue
		}
		if r.question.desk.cheapest(g.from.market, g.need) > most {
			return r.end(g.of)
		}
		if last = g.of; sum == nil {
			sum = make([]int64, r.dims.Len())
		}
		take(sum, g.need, -g.left())
	}
	if last != nil && r.question.desk.wholesale().exceeds(sum, most) {
		return r.end(last)
	}
	return false
}

// mustBuy reports whether pods of the row have no place on what is there for
// certain. Those that other pods matter to may find one when it is known where
// these are.
func (r *run) mustBuy(row *group) bool {
	if row.kin.plain(row.level) {
		return true
	}
	for _, at := range r.question.desk.hopeFor(row.shape).seats {
		if at == nil {
			return true
		}
		if !at.closed {
			return false
		}
	}
	return false
}

func (r *run) end(g *group) bool {
	r.question.over, r.question.lost = true, g
	return true
}

// cheapest is what the cheapest machine costs that has room for one such pod, of
// what is sold in the market: more than anything if there is none.
func (d *desk) cheapest(m *market, need []int64) float64 {
	least := math.Inf(1)
	if m.various == nil {
		m.various = various(m.stalls)
	}
	for _, s := range m.various {
		before := &d.pools[s.b.at]
		for o := s.options.Next(0); o >= 0; o = s.options.Next(o + 1) {
			offer := s.b.Offer(s.b.Options[o])
			if !before.available.Has(o) || !offer.Priced || !amount.Fits(before.most(s.b.Options[o].Kind), need) {
				continue
			}
			cost := costOf(offer) + float64(s.b.PerMachine())
			least = min(least, cost)
			break // options are in the order of their prices
		}
	}
	return least
}

// various leaves out what an earlier pool sells in the same market for the same.
func various(stalls []stall) []stall {
	var out []stall
	for _, s := range stalls {
		if !slices.ContainsFunc(out, func(o stall) bool { return o.b == s.b.like && slices.Equal(o.options, s.options) }) {
			out = append(out, s)
		}
	}
	return out
}

// hope is where one pod of a shape may go at least, other pods aside.
type hope struct {
	seats [2]*seat // the first two that have room; nil: there is no such
	cost  float64  // of the cheapest machine for it
}

// hopeless tells whether machines for pods that have room on no other node cost
// that much for certain.
func (d *desk) hopeless(node int, below quantity.MicroUSDPerHour) bool {
	n := &d.ground.snapshot.Nodes[node]
	var sum []int64
	least := 0.0
	for j := range n.Pods {
		if !n.Pods[j].Moves() {
			continue
		}
		h := d.hopeFor(n.Pods[j].Shape)
		if h.seats[0] != nil && h.seats[0] != d.seats[node] || h.seats[1] != nil {
			continue
		}
		least = max(least, h.cost)
		if sum == nil {
			sum = make([]int64, d.run.dims.Len())
		}
		take(sum, d.kins[n.Pods[j].Shape].need, -1)
	}
	return sum != nil && (least >= float64(below) || d.wholesale().exceeds(sum, float64(below)))
}

func (d *desk) hopeFor(s *cluster.Shape) hope {
	if h, known := d.hopes[s]; known {
		return h
	}
	k, r := d.kins[s], d.run
	var h hope
	lv := k.required()
	found := 0
	for at := d.gaps.next(0, r.firstLaunch, k.need); at < r.firstLaunch && found < 2; at = d.gaps.next(at+1, r.firstLaunch, k.need) {
		if seat := r.seats[at]; !seat.shutForGood && lv.mayBeOn(seat, r.firstLaunch) {
			h.seats[found] = seat
			found++
		}
	}
	h.cost = math.Inf(1)
	for _, b := range r.buyers {
		before := &d.pools[b.at]
		if d.spareFor(lv.wants).Has(b.at) {
			continue
		}
		terms, _ := b.Terms(lv.wants)
		for _, t := range terms {
			for o := t.Options.Next(0); o >= 0; o = t.Options.Next(o + 1) {
				offer := b.Offer(b.Options[o])
				if before.available.Has(o) && offer.Priced && amount.Fits(before.most(b.Options[o].Kind), k.need) {
					h.cost = min(h.cost, costOf(offer)+float64(b.PerMachine()))
					break
				}
			}
		}
	}
	d.hopes[s] = h
	return h
}
