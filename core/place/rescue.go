package place

import (
	"cmp"
	"slices"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/topology"
)

// rescuesMax is how many machines are tried in vain at most.
const rescuesMax = 64

// rescue orders machines one by one for pods that found no home. What machines
// bring with them cannot be foreseen while many are chosen: daemon pods that
// rules count, and domains that their number opens or fills. With everything
// else in its place a single machine is judged as what it is. It reports
// whether any was ordered.
func (r *run) rescue() bool {
	if !r.counted || r.out.Exhausted || !r.offers() {
		return false
	}
	any := false
	for _, g := range r.waiting {
		for g.left() > 0 && g.shape.Unable == "" && !g.podClass.required().rules.Free() && r.rescueOne(g) {
			any = true
		}
	}
	return any
}

// rescueOne orders a machine for the group's next pod, the cheapest of the
// heaviest pool that will do, and lets more of the group join it.
func (r *run) rescueOne(g *group) bool {
	lv := g.podClass.required()
	if r.used(g.podClass) {
		return false
	}
	for _, c := range r.remedies(g, lv) {
		if r.rescues >= rescuesMax || r.spent(1) {
			return false
		}
		if r.orderAlone(g, lv, c) {
			return true
		}
		r.rescues++
	}
	return false
}

// remedy is machines of one pool that are alike for a pod: in the same
// place, with the same daemon pods that rules look at.
type remedy struct {
	b        *candidate
	podGroup *group
	way      way
	option   int // the one launched first
}

// remedies lists the machines that have room for the group's next pod, in
// the order in which they are tried.
func (r *run) remedies(g *group, lv *level) []remedy {
	r.groups = nil
	for _, m := range r.offeringSetsOf(lv) {
		podGroup := &group{shape: g.shape, podClass: g.podClass, need: g.need, of: g, level: lv, wants: m.wants, from: request{g, lv, m}, at: len(r.groups)}
		r.groups = append(r.groups, podGroup)
	}
	var out []remedy
	for _, b := range r.candidates {
		b.asks = nil
		for _, podGroup := range r.groups {
			for _, w := range b.ask(podGroup, len(r.groups)).ways {
				out = append(out, r.kitsOf(b, podGroup, w)...)
			}
		}
	}
	slices.SortStableFunc(out, func(x, y remedy) int {
		return cmp.Or(cmp.Compare(y.b.Weight, x.b.Weight), cmp.Compare(x.b.cost[x.option], y.b.cost[y.option]))
	})
	return out
}

// kitsOf parts what one way of asking offers by the daemon pods that come
// along.
func (r *run) kitsOf(b *candidate, podGroup *group, w way) []remedy {
	var out []remedy
	kits := r.kits(b)
	at := map[int32]int{}
	for i := w.options.Next(0); i >= 0; i = w.options.Next(i + 1) {
		kind := b.Options[i].Kind
		if !b.within.Has(i) || !amount.Fits(b.free[kind], podGroup.need) || conflict(podGroup.podClass.ports, b.Kinds[kind].Ports) {
			continue
		}
		n, known := at[kits.of(i)]
		if !known {
			n = len(out)
			at[kits.of(i)] = n
			part := w
			part.options, part.lot = bitset.New(len(b.Options)), &lot{}
			out = append(out, remedy{b, podGroup, part, i})
		}
		out[n].way.options.Add(i)
	}
	return out
}

// kits parts the options of a pool by the daemon pods, of those that rules
// look at, that come with them.
func (r *run) kits(b *candidate) *regions {
	if b.kits == nil {
		var columns [][]int32
		for shape := range r.daemons {
			column := make([]int32, len(b.Options))
			for i := range column {
				if b.BringsAs(shape, i) {
					column[i] = 1
				}
			}
			columns = append(columns, column)
		}
		b.kits = newRegions(len(b.Options), columns)
	}
	return b.kits
}

// orderAlone orders a machine for the group's next pod if that may be on it and
// all that have a place keep it.
func (r *run) orderAlone(g *group, lv *level, c remedy) bool {
	r.gatherer.reset()
	filled := load{option: c.option, sum: make([]int64, r.dims.Len())}
	filled.add(c.podGroup, &c.way, 1, r.attaches(g, &r.gatherer))
	filled, why := r.keepMinValues(c.b, filled, errand{})
	if !why.OK() || c.b.holding(&filled).Next(0) < 0 {
		return false
	}
	as := r.list(c.b, &filled)
	board, place, ok := r.wouldStand(lv, c.b, &as)
	if !ok {
		return false
	}
	c.podGroup.pods = r.turns(g.next(1))
	r.demand = r.newDemand()
	r.launch(c.b, &filled, &as)
	r.launched[len(r.launched)-1].place = place
	board.Put(lv.rules, place, 1, false)
	r.board = board
	r.hold(g.podClass)
	r.addLaunchTargets()
	if s := r.targets[len(r.targets)-1]; lv.admitted(s, len(r.targets)) && !r.used(g.podClass) {
		if n := min(g.left(), r.roomOn(s, g, lv)); n > 0 {
			r.sit(s, g, lv, n)
		}
	}
	return true
}

// wouldStand reports whether pods of the level may be on such a machine of the
// plan, and all that have a place keep it when it is there; it returns the board
// with the machine, and its place on it.
func (r *run) wouldStand(lv *level, b *candidate, as *listing) (board *topology.Board, place int, ok bool) {
	var late []int
	for _, all := range []bool{false, true} { // most of those that will not do are told by a look at what is there
		board = r.board.Clone()
		if all {
			board = r.outset()
		}
		place = board.AddOutlook(topology.Outlook{Ways: as.ways, Host: hostOf(r.nextName())}, b.Taints)
		as.due.put(board, place)
		if all {
			r.spent(int64(len(r.placed)))
			lost, others := r.reseat(board)
			if len(lost) > 0 {
				return nil, 0, false
			}
			late = others
		}
		if board.Room(lv.rules, board.Spot(place)) <= 0 {
			return nil, 0, false
		}
	}
	r.comeLate(late)
	return board, place, true
}
