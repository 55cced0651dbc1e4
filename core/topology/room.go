package topology

import (
	"math"
	"slices"

	"github.com/daemok/daemok/core/cluster"
)

// Room returns how many more pods with these rules the spot may take now, by the rules alone: 0 for
// none, Unlimited where no rule sets a bound. More may be allowed once these are there. On a spot
// with a Fresh host, which stands for instances that are yet to be launched, rules about hosts are
// left to Host.
func (b *Board) Room(r *Rules, at Spot) int64 {
	room := Unlimited
	for i := range r.spreads {
		if room = min(room, b.roomInSpread(&r.spreads[i], at)); room <= 0 {
			return 0
		}
	}
	for _, a := range r.apart {
		d := at[b.tallies[a.tally].key]
		if d == None || d == Fresh {
			continue
		}
		if b.mostAt(&b.tallies[a.tally], d) > 0 {
			return 0
		}
		if a.self {
			room = 1
		}
	}
	for _, t := range r.keptOff {
		if d := at[b.tallies[t].key]; d != None && d != Fresh && b.mostAt(&b.tallies[t], d) > 0 {
			return 0
		}
	}
	if !b.nearEnough(r, at) {
		return 0
	}
	return room
}

// Bars reports whether pods that are at the spot keep pods with these rules away,
// however many come elsewhere: Room is 0 there from now on.
func (b *Board) Bars(r *Rules, at Spot) bool {
	full := func(t *tally) bool {
		d := at[t.key]
		return d != None && d != Fresh && b.mostAt(t, d) > 0
	}
	return slices.ContainsFunc(r.apart, func(a apartRule) bool { return full(&b.tallies[a.tally]) }) ||
		slices.ContainsFunc(r.keptOff, func(t int) bool { return full(&b.tallies[t]) })
}

// roomInSpread: with pods of its own counted, numbers may rise to the least
// one plus maxSkew; the least one rises only when all others do.
func (b *Board) roomInSpread(s *spreadRule, at Spot) int64 {
	t := &b.tallies[s.tally]
	switch d := at[t.key]; {
	case d == Fresh:
		return Unlimited
	case d >= 0:
		return s.roomIn(t, d)
	case d == None || d == Unknown || !b.daring:
		return 0
	default:
		room := Unlimited
		for _, d := range b.reach(d) {
			room = min(room, s.roomIn(t, d))
		}
		return room
	}
}

func (s *spreadRule) roomIn(t *tally, d int32) int64 {
	if d == None {
		return 0
	}
	has := t.most(d)
	least := t.leastBeside(d, has, s.minDomains)
	if s.self {
		return max(0, least+s.maxSkew-has)
	}
	if has-least > s.maxSkew {
		return 0
	}
	return Unlimited
}

// nearEnough reports whether all pods are there that the rules want near. The first pods of a class
// that wants its own pods near may be anywhere: where they must have the label, if not for a volume
// alone. To a new instance its daemon pods come by themselves.
func (b *Board) nearEnough(r *Rules, at Spot) bool {
	for i := range r.near {
		if !b.nearBy(&r.near[i], at) {
			return false
		}
	}
	return true
}

func (b *Board) nearBy(n *nearRule, at Spot) bool {
	there, anywhere := true, false
	for _, i := range n.tallies {
		t := &b.tallies[i]
		switch d := at[t.key]; {
		case d == Fresh:
			continue
		case d >= 0:
			there = there && (t.count(d) > 0 || t.brought && b.isNew(at))
		case d == None && n.volume:
			there = there && t.with[at.own(len(b.keys))] > 0
		case d == None || d == Unknown || !b.daring:
			return false
		case slices.Contains(b.reach(d), None):
			return false
		default:
			there = there && (t.with[d] > 0 || !slices.ContainsFunc(b.reach(d), func(d int32) bool { return t.count(d) == 0 }))
		}
		anywhere = anywhere || t.total > 0
	}
	return there || !anywhere && n.selfish
}

// mostAt is how many pods there may be where one of a spot stands for.
func (b *Board) mostAt(t *tally, d int32) int64 {
	if d >= Unknown || !b.daring {
		return t.most(d)
	}
	most := int64(0)
	for _, d := range b.reach(d) {
		if d != None {
			most = max(most, t.most(d))
		}
	}
	return most
}

// Dare makes Room judge places of which it is not decided where they are: they
// have room if they have it wherever they turn up. Until then they have none
// for pods with rules, since pods there narrow down where others may be.
func (b *Board) Dare() { b.daring = true }

func (b *Board) isNew(at Spot) bool { return at.own(len(b.keys)) == None }

// Brought notes that new instances bring pods with these rules by themselves. To be called after
// Start.
func (b *Board) Brought(r *Rules) {
	for _, t := range r.counted {
		b.tallies[t].brought = true
	}
}

// Put counts n pods in at a place. Ending pods count for affinity alone.
func (b *Board) Put(r *Rules, place int, n int64, ending bool) {
	p := &b.places[place]
	for _, i := range r.counted {
		t := &b.tallies[i]
		switch {
		case t.volume && p.spot[t.key] == None:
			t.total += n // the volume is made there, wherever that is
			t.gather(p.spot.own(len(b.keys)), n)
		case t.filter < 0:
			t.put(p.spot[t.key], n, b.reach(p.spot[t.key]))
		case ending || !b.filters[t.filter].at[place]:
		case b.filters[t.filter].sure[place]:
			t.put(p.spot[t.key], n, b.reach(p.spot[t.key]))
		default:
			b.drift(t, p.spot[t.key], n)
		}
	}
	for _, i := range r.owns {
		t := &b.tallies[i]
		t.put(p.spot[t.key], n, b.reach(p.spot[t.key]))
	}
}

// PutPerhaps notes that n pods may come to a place.
func (b *Board) PutPerhaps(r *Rules, place int, n int64) {
	p := &b.places[place]
	for _, list := range [][]int{r.counted, r.owns} {
		for _, i := range list {
			t := &b.tallies[i]
			if p.spot[t.key] != None && (t.filter < 0 || b.filters[t.filter].at[place]) {
				b.drift(t, p.spot[t.key], n)
			}
		}
	}
}

// drift counts n pods that may be where one of a spot stands for, or nowhere.
func (b *Board) drift(t *tally, d int32, n int64) {
	if d >= 0 {
		t.drift(n, []int32{d})
		return
	}
	t.drift(n, b.reach(d))
}

// PutAhead counts n pods in where an instance is yet to be launched; hosts do not count then.
func (b *Board) PutAhead(r *Rules, at Spot, n int64) {
	for _, list := range [][]int{r.counted, r.owns} {
		for _, i := range list {
			b.tallies[i].put(at[b.tallies[i].key], n, nil)
		}
	}
}

// Count returns how many pods the spreads of the rules count at the spot, all
// of them together, for choosing among spots with room; 0 without a spread on a
// key whose domain is decided there.
func (b *Board) Count(r *Rules, at Spot) int64 {
	sum := int64(0)
	for _, s := range r.spreads {
		if d := at[b.tallies[s.tally].key]; d >= 0 {
			sum += int64(b.tallies[s.tally].count(d))
		}
	}
	return sum
}

// Host counts pods on one instance that is yet to be launched. The zero value is not usable: see
// NewHost.
type Host struct {
	board   *Board
	counts  []int32 // by tally
	touched []int
}

// NewHost returns an empty host. To be called after Start.
func (b *Board) NewHost() *Host { return &Host{board: b, counts: make([]int32, len(b.tallies))} }

// Reset empties the host.
func (h *Host) Reset() {
	for _, t := range h.touched {
		h.counts[t] = 0
	}
	h.touched = h.touched[:0]
}

// Put counts n pods in.
func (h *Host) Put(r *Rules, n int64) {
	for _, t := range r.perHost {
		if h.counts[t] == 0 {
			h.touched = append(h.touched, t)
		}
		h.counts[t] += int32(n)
	}
}

// Room is Board.Room for the rules about hosts. Instances that are yet to be launched are compared
// with empty ones, so that any number of them may stand beside each other; see Even for another
// way.
func (h *Host) Room(r *Rules) int64 {
	if !r.host {
		return Unlimited
	}
	b, room := h.board, Unlimited
	host := b.hostKey()
	for i := range r.spreads {
		s := &r.spreads[i]
		if b.tallies[s.tally].key != host {
			continue
		}
		has, most := int64(h.counts[s.tally]), b.mostOnHost(s)
		if s.self {
			room = min(room, most-has)
		} else if has > most {
			return 0
		}
	}
	for _, a := range r.apart {
		if b.tallies[a.tally].key != host {
			continue
		}
		if h.counts[a.tally] > 0 {
			return 0
		}
		if a.self {
			room = min(room, 1)
		}
	}
	for _, t := range r.keptOff {
		if b.tallies[t].key == host && h.counts[t] > 0 {
			return 0
		}
	}
	if !h.nearEnough(r, host) {
		return 0
	}
	return max(0, room)
}

// Crowds reports whether n pods with these rules are too many for what is on
// the host already, by their spreads over hosts.
func (h *Host) Crowds(r *Rules, n int64) bool {
	b := h.board
	for i := range r.spreads {
		s := &r.spreads[i]
		if b.tallies[s.tally].key != b.hostKey() {
			continue
		}
		if has, most := int64(h.counts[s.tally]), b.mostOnHost(s); s.self && has+n > most || has > most {
			return true
		}
	}
	return false
}

// Off reports whether pods with these rules and those on the host cannot be
// beside each other.
func (h *Host) Off(r *Rules) bool {
	if !r.host {
		return false
	}
	host := h.board.hostKey()
	for _, a := range r.apart {
		if h.board.tallies[a.tally].key == host && h.counts[a.tally] > 0 {
			return true
		}
	}
	for _, t := range r.keptOff {
		if h.board.tallies[t].key == host && h.counts[t] > 0 {
			return true
		}
	}
	return false
}

func (h *Host) nearEnough(r *Rules, host int) bool {
	for i := range r.near {
		if !h.nearBy(&r.near[i], host) {
			return false
		}
	}
	return true
}

func (h *Host) nearBy(rule *nearRule, host int) bool {
	there, anywhere := true, false
	for _, n := range rule.tallies {
		if h.board.tallies[n].key != host {
			continue
		}
		there = there && h.counts[n] > 0
		anywhere = anywhere || h.counts[n] > 0 || h.board.tallies[n].total > 0
	}
	return there || !anywhere && rule.selfish
}

// NearOnHost reports whether some pods must be on the same host.
func (b *Board) NearOnHost(r *Rules) bool {
	host := b.hostKey()
	for _, rule := range r.near {
		for _, n := range rule.tallies {
			if b.tallies[n].key == host {
				return true
			}
		}
	}
	return false
}

func (b *Board) hostKey() int {
	if at, known := b.keyAt[cluster.LabelHostname]; known {
		return at
	}
	return math.MaxInt
}

// PutSomewhere notes that n pods are on some host, for rules that ask whether
// there are any such pods at all.
func (b *Board) PutSomewhere(r *Rules, n int64) {
	for _, t := range r.perHost {
		b.tallies[t].total += n
	}
}
