package place

import (
	"cmp"
	"slices"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/cluster"
)

// lane is groups whose worth is mostly in one resource, the largest in it
// first. Of a lane with a clan no machine can have pods of two groups, so that
// after the first pod all of it is passed over at once.
type lane struct {
	at     int // position among all lanes
	clan   int // noClan: the groups have nothing to do with each other
	groups []*group
	least  []int64 // of each block of groups, the least that one of them needs of each resource
}

// block is how many groups of a lane are passed over at once where there is
// no room for any of them.
const block = 16

// measure notes what blocks of groups need.
func (l *lane) measure() {
	l.least = l.least[:0]
	for i, g := range l.groups {
		if i%block == 0 {
			l.least = append(l.least, g.need...)
			continue
		}
		least := l.least[len(l.least)-len(g.need):]
		for k, v := range g.need {
			least[k] = min(least[k], v)
		}
	}
}

// full reports whether none of the block fits into so much room.
func (l *lane) full(number int, room []int64) bool {
	return !amount.Fits(room, l.least[number*len(room):(number+1)*len(room)])
}

// noClan is the clan of groups that may share a machine.
const noClan = -1

// clanMin is how many groups at least get a lane of their own: each lane is
// looked at for each pod that is added, and each group of a lane as well.
const clanMin = 16

// clanKey is what no two pods of a clan can have on one host: a port, or the
// place of those who must be apart from each other.
type clanKey struct {
	port  cluster.Port
	tally int
}

// noteClans finds the groups of which no two can share a machine.
func (r *run) noteClans() {
	clans := map[clanKey][]*group{}
	for _, g := range r.groups {
		g.clan = noClan
		if key, ok := r.clanOf(g); ok {
			clans[key] = append(clans[key], g)
		}
	}
	r.clans = 0
	for _, g := range r.groups { // in order, so that numbers do not depend on that of the map
		key, ok := r.clanOf(g)
		if list := clans[key]; ok && len(list) >= clanMin && list[0] == g {
			for _, o := range list {
				o.clan = r.clans
			}
			r.clans++
		}
	}
}

func (r *run) clanOf(g *group) (clanKey, bool) {
	if len(g.kin.ports) > 0 {
		return clanKey{port: g.kin.ports[0]}, true
	}
	tally, ok := r.board.Only(g.level.rules)
	return clanKey{tally: tally}, ok
}

// sortBySide lists the groups by the resource that most of their worth is in,
// the largest in it first. Machines are filled from all sides in turn, so
// that their resources are used up together.
func (r *run) sortBySide() {
	sides := make([][]*group, r.dims.Len())
	for _, g := range r.groups {
		if g.left() == 0 {
			continue
		}
		g.side = 0
		for i, w := range r.worth {
			if float64(w*float64(g.need[i])) > float64(r.worth[g.side]*float64(g.need[g.side])) {
				g.side = i
			}
		}
		sides[g.side] = append(sides[g.side], g)
	}
	r.sides, r.lanes = make([][]lane, len(sides)), 0
	for side, list := range sides {
		slices.SortStableFunc(list, func(a, b *group) int {
			return cmp.Or(
				cmp.Compare(b.shape.Priority, a.shape.Priority),
				cmp.Compare(b.need[side], a.need[side]),
				a.at-b.at)
		})
		r.sides[side] = r.lanesOf(list)
	}
	r.demand.gone = 0
}

// thin takes groups out of the lanes that are bought for, once they are so many
// that passing over them takes longer.
func (r *run) thin() {
	if 8*r.demand.gone < len(r.groups) {
		return
	}
	for _, lanes := range r.sides {
		for i := range lanes {
			l := &lanes[i]
			l.groups = slices.DeleteFunc(l.groups, func(g *group) bool { return r.demand.left[g.at] == 0 })
			l.measure()
		}
	}
	r.demand.gone = 0
}

// lanesOf parts the groups of one side by their clans.
func (r *run) lanesOf(list []*group) []lane {
	var out []lane
	at := map[int]int{}
	for i, g := range list {
		g.rank = i
		n, known := at[g.clan]
		if !known {
			n = len(out)
			at[g.clan] = n
			out = append(out, lane{at: r.lanes, clan: g.clan})
			r.lanes++
		}
		out[n].groups = append(out[n].groups, g)
	}
	for i := range out {
		out[i].measure()
	}
	return out
}
