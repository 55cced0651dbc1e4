package place

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/cluster"
)

// batch is a Batch with what its numbers stand for.
type batch struct {
	Batch
	groups  []*group
	from    []origin // by offer
	sellers []seller
	stocks  map[string]int // positions among the limits
	asked   []bool         // by resource: some row asks for it
	less    map[int][]int  // by offer: the same with less room, see supplyOf
}

type origin struct {
	buyer  *buyer
	option int
}

// buyTogether lets the packer choose machines for the pods of each tier of pools,
// the heaviest first.
func (r *run) buyTogether() {
	if r.options.Packer == nil {
		return
	}
	var tiers []int
	for _, g := range r.groups {
		if g.left() > 0 && !slices.Contains(tiers, g.home) {
			tiers = append(tiers, g.home)
		}
	}
	slices.SortFunc(tiers, func(a, b int) int { return cmp.Compare(b, a) })
	for _, tier := range tiers {
		if l := r.batchOf(tier); len(l.Rows) > 0 && len(l.Offers) > 0 && !r.spent(0) {
			r.buyBatch(l)
		}
	}
}

// batchOf lists what is to be bought from the pools of a tier.
func (r *run) batchOf(tier int) *batch {
	out := &batch{}
	for _, g := range r.groups {
		if g.home == tier && g.left() > 0 && r.tellable(g) {
			out.groups = append(out.groups, g)
			out.Rows = append(out.Rows, r.batchRow(g))
		}
	}
	out.tellPorts(r.board.Kinds())
	var sellers []*buyer
	options := 0
	for _, b := range r.sellers {
		if b.Weight == tier {
			sellers, options = append(sellers, b), options+b.within.Count()
		}
	}
	out.Offers, out.from = make([]BatchOffer, 0, options), make([]origin, 0, options)
	for _, b := range sellers {
		out.offer(b)
	}
	out.open(r)
	return out
}

// tellable reports whether a batch can tell what pods of the group ask for: not
// where others must be on their host, or volumes are shared.
func (r *run) tellable(g *group) bool {
	return !r.board.NearOnHost(g.level.rules) && len(g.kin.shared) == 0
}

func (r *run) batchRow(g *group) BatchRow {
	kinds, caps := r.board.OnHost(g.level.rules)
	out := BatchRow{Need: g.need, Count: g.left(), Kinds: slices.Clone(kinds)}
	for _, c := range caps {
		out.Caps = append(out.Caps, BatchCap(c))
	}
	return out
}

// tellPorts adds ports of the host, each as a kind of its own from a number on:
// a pod with a port joins where no pod has one that conflicts with it.
func (l *batch) tellPorts(from int) {
	var known []cluster.Port
	for _, g := range l.groups {
		for _, p := range g.kin.ports {
			if !slices.Contains(known, p) {
				known = append(known, p)
			}
		}
	}
	for i, g := range l.groups {
		row := &l.Rows[i]
		for at, p := range known {
			if slices.Contains(g.kin.ports, p) {
				row.Kinds = append(row.Kinds, from+at)
			}
			if slices.ContainsFunc(g.kin.ports, p.Conflicts) {
				row.Caps = append(row.Caps, BatchCap{from + at, 1})
			}
		}
	}
}

// offer adds what the pool sells within its limits. A kind that may use surplus
// credits is sold in several grades.
func (l *batch) offer(b *buyer) {
	takes := l.takes(b)
	from := seller{b, make([]span, len(b.Options))}
	for o := b.within.Next(0); o >= 0; o = b.within.Next(o + 1) {
		kind := b.Options[o].Kind
		if b.free[kind] == nil {
			continue
		}
		it := BatchOffer{Takes: takes(o), Zone: b.Offer(b.Options[o]).Zone}
		from.at[o].first = len(l.Offers)
		for _, it.Free = range b.grades(kind) {
			it.Cost = b.costFor(o, it.Free) + b.riskOf(o)
			from.at[o].n++
			l.Offers, l.from = append(l.Offers, it), append(l.from, origin{b, o})
		}
	}
	l.sellers = append(l.sellers, from)
}

// open sets which offers each row may have. Rows that ask every pool for the
// same options share one set.
func (l *batch) open(r *run) {
	sets, numbers := map[string]*supply{}, map[*lot]uint32{}
	of := make([]*supply, len(l.groups))
	var key []byte
	l.noteAsked()
	offers := len(l.Offers)
	for i, g := range l.groups {
		key = key[:0]
		for _, s := range l.sellers {
			for _, w := range s.ways(r, g) {
				if _, known := numbers[w.lot]; !known {
					numbers[w.lot] = uint32(len(numbers) + 1)
				}
				key = binary.LittleEndian.AppendUint32(key, numbers[w.lot])
			}
			key = append(key, 0)
		}
		if sets[string(key)] == nil {
			set := bitset.New(offers)
			for _, s := range l.sellers {
				for _, w := range s.ways(r, g) {
					s.add(set, w.options)
				}
			}
			sets[string(key)] = l.supplyOf(r, set)
		}
		of[i] = sets[string(key)]
	}
	for _, s := range sets {
		for _, set := range []*bitset.Set{&s.all, &s.steady, &s.small} {
			*set = lengthened(*set, len(l.Offers))
		}
	}
	for i, g := range l.groups {
		l.Rows[i].Offers = of[i].forPods(r, l, g.need)
	}
}

// noteAsked notes what the rows ask for.
func (l *batch) noteAsked() {
	for i := range l.Rows {
		if l.asked == nil {
			l.asked = make([]bool, len(l.Rows[i].Need))
		}
		for d, v := range l.Rows[i].Need {
			l.asked[d] = l.asked[d] || v > 0
		}
	}
}

// seller is a pool of a batch.
type seller struct {
	b  *buyer
	at []span // by option: its positions among the offers
}

type span struct{ first, n int }

// ways is how pods of the group may use the pool now.
func (s seller) ways(r *run, g *group) []way {
	a := s.b.ask(g, len(r.groups))
	if !slices.ContainsFunc(a.ways, func(w way) bool { return w.barred }) {
		return a.ways
	}
	return slices.DeleteFunc(slices.Clone(a.ways), func(w way) bool { return w.barred })
}

func (s seller) add(set, options bitset.Set) {
	for o := options.Next(0); o >= 0; o = options.Next(o + 1) {
		for i := range s.at[o].n {
			set.Add(s.at[o].first + i)
		}
	}
}

// takes adds the limits of the pool and returns what a machine bought by an
// option takes of them, and of what is left of stocks.
func (l *batch) takes(b *buyer) func(option int) []BatchTake {
	limits := l.limit(b)
	return func(o int) []BatchTake {
		var out []BatchTake
		if limits != nil {
			out = limits(b.Options[o].Kind)
		}
		for _, s := range b.stocksOf(o) {
			at, known := l.stocks[s.Name]
			if !known {
				at = len(l.Limits)
				l.Limits = append(l.Limits, b.run.stocks[s.Name])
				if l.stocks == nil {
					l.stocks = map[string]int{}
				}
				l.stocks[s.Name] = at
			}
			out = append(out, BatchTake{at, 1})
		}
		return out
	}
}

// limit adds the limits of the pool and returns what a machine of a kind takes
// of them; nil where there are none.
func (l *batch) limit(b *buyer) func(kind int) []BatchTake {
	if b.limits == nil {
		return nil
	}
	first := len(l.Limits)
	if b.limits.nodes != nil {
		l.Limits = append(l.Limits, *b.limits.nodes)
	}
	for _, e := range b.limits.left {
		l.Limits = append(l.Limits, e.Amount)
	}
	return func(kind int) []BatchTake {
		at := first
		var out []BatchTake
		if b.limits.nodes != nil {
			out, at = append(out, BatchTake{at, 1}), at+1
		}
		for _, e := range b.limits.left {
			out, at = append(out, BatchTake{at, b.KindAt(kind).Capacity.Get(e.Name)}), at+1
		}
		return out
	}
}

// buyBatch orders the machines that the packer chooses: those from a stock, so
// that no others use it up, then the most expensive first. Pods that a rule keeps off
// one wait for what is bought next.
func (r *run) buyBatch(l *batch) {
	machines := r.options.Packer(l.Batch)
	slices.SortStableFunc(machines, func(a, b BatchMachine) int {
		return cmp.Or(cmp.Compare(rank(!l.plenty(a)), rank(!l.plenty(b))), cmp.Compare(l.Offers[b.Offer].Cost, l.Offers[a.Offer].Cost))
	})
	riders := r.ridersOf(l)
	for _, m := range machines {
		if r.spent(int64(len(m.Parts))) {
			return
		}
		r.buyMachine(l, m, riders)
	}
}

// plenty reports whether the machine is taken from no stock.
func (l *batch) plenty(m BatchMachine) bool {
	from := l.from[m.Offer]
	return len(from.buyer.stocksOf(from.option)) == 0
}

// ridersOf returns how many pods of each group may ride along on machines of the
// batch: those that are left, less those of the batch, which have machines of
// their own; nil where that is nobody.
func (r *run) ridersOf(l *batch) []int64 {
	left := slices.Clone(r.demand.left)
	for _, g := range l.groups {
		left[g.at] = 0
	}
	if !slices.ContainsFunc(left, func(n int64) bool { return n > 0 }) {
		return nil
	}
	return left
}

// buyMachine orders one machine of the batch and takes the riders that fit.
func (r *run) buyMachine(l *batch, m BatchMachine, riders []int64) {
	b := l.from[m.Offer].buyer
	filled := load{sum: make([]int64, r.dims.Len())}
	filled.reset(l.from[m.Offer].option)
	filled.room = m.Room
	if b.limits != nil { // what it leaves is for the others of the batch
		filled.modest = b.Options[filled.option].Kind + 1
	}
	f := &r.filler
	f.start(r, b, &filled, r.demand.left, nil)
	if c := b.creditOf(b.Options[filled.option].Kind); c != nil {
		f.room[amount.CPU] = c.whole[amount.CPU]
	}
	for _, p := range m.Parts {
		g := l.groups[p.Row]
		if w, ok := b.ask(g, len(r.groups)).joins(filled.option, filled.custom); ok && !w.barred {
			f.add(g, w, min(p.N, f.free(g)))
		}
	}
	if len(filled.parts) == 0 || b.holding(&filled).Next(0) < 0 {
		return
	}
	kept, why := r.keepMinValues(b, filled, errand{})
	if !why.OK() {
		return
	}
	r.settle(b, &kept)
	kept = r.keepFlexible(b, kept)
	if riders != nil {
		kept = r.ride(b, kept, riders)
	}
	as := r.list(b, &kept)
	r.launch(b, &kept, &as)
}

// ride adds the riders that fit to a load, as far as minValues allow it. There are
// none where a spot machine would no longer leave enough kinds open.
func (r *run) ride(b *buyer, own load, riders []int64) load {
	full := own.clone()
	r.fill(b, &full, riders, nil)
	out, why := r.keepMinValues(b, full, errand{g: r.groups[own.parts[0].group]})
	if !why.OK() || r.leavesEnough(b, &own) && !r.leavesEnough(b, &out) {
		return own
	}
	for _, p := range out.parts {
		if riders[p.group] > 0 { // none of the batch is a rider
			riders[p.group] -= p.n
		}
	}
	return out
}

// leavesEnough reports whether a machine for the load leaves enough kinds open.
func (r *run) leavesEnough(b *buyer, l *load) bool {
	first := b.firstHolding(l)
	return first >= 0 && b.leavesOpen(b.together(l), first, l.sum)
}
