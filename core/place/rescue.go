package place

import (
	"cmp"
	"slices"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/demand"
	"github.com/daemok/daemok/core/provisioning"
	"github.com/daemok/daemok/core/supply"
	"github.com/daemok/daemok/core/topology"
)

// rescuer seeks another way for pods that are left without a place.
type rescuer struct {
	run    *Run
	failed int // instances tried without effect
}

// rescuesMax is how many instances are tried without effect at most.
const rescuesMax = 64

// all launches instances one by one for pods that found no place. While many instances are chosen, some of their effects
// cannot be foreseen: daemon pods that rules count, and domains that they open or fill. With everything else in its
// place, those of a single instance are known. It reports whether any was launched.
func (rs *rescuer) all() bool {
	if !rs.run.Values.Counted || rs.run.Effort.Exhausted || !rs.run.Offers() {
		return false
	}
	any := false
	for _, g := range rs.run.Waiting {
		for g.Left() > 0 && g.Shape.Unable == "" && !g.PodClass.Required().Rules.Free() && rs.rescueOne(g) {
			any = true
		}
	}
	return any
}

// rescueOne launches an instance for the group's next pod, the cheapest of the heaviest pool that will do, and places
// more pods of the group on it.
func (rs *rescuer) rescueOne(g *demand.Group) bool {
	lv := g.PodClass.Required()
	if rs.run.Used(g.PodClass) {
		return false
	}
	for _, c := range rs.remedies(g, lv) {
		if rs.failed >= rescuesMax || rs.run.Effort.Spent(1) {
			return false
		}
		if rs.orderAlone(g, lv, c) {
			return true
		}
		rs.failed++
	}
	return false
}

// remedy is options of one pool that are alike for a pod: on the same spot, with the same daemon pods that rules look at.
type remedy struct {
	b        *supply.Candidate
	podGroup *demand.Group
	way      supply.Way
	option   int // the one launched first
}

// remedies lists the remedies with room for the group's next pod, in the order in which they are tried.
func (rs *rescuer) remedies(g *demand.Group, lv *demand.Level) []remedy {
	rs.run.Demand.Groups = nil
	for _, m := range rs.run.scheduler.Index.OfferingSetsOf(lv) {
		podGroup := &demand.Group{Shape: g.Shape, PodClass: g.PodClass, Need: g.Need, Of: g, Level: lv, Wants: m.Wants, From: demand.Request{Of: g, Level: lv, OfferingSet: m}, At: len(rs.run.Demand.Groups)}
		rs.run.Demand.Groups = append(rs.run.Demand.Groups, podGroup)
	}
	rs.run.Provisioner.ForgetAsks()
	var out []remedy
	for _, b := range rs.run.Candidates {
		for _, podGroup := range rs.run.Demand.Groups {
			for _, w := range rs.run.Provisioner.Ask(b, podGroup).Ways {
				out = append(out, rs.kitsOf(b, podGroup, w)...)
			}
		}
	}
	slices.SortStableFunc(out, func(x, y remedy) int {
		return cmp.Or(cmp.Compare(y.b.Weight, x.b.Weight), cmp.Compare(x.b.Cost[x.option], y.b.Cost[y.option]))
	})
	return out
}

// kitsOf divides the options of one way by the daemon pods that they bring.
func (rs *rescuer) kitsOf(b *supply.Candidate, podGroup *demand.Group, w supply.Way) []remedy {
	var out []remedy
	kits := rs.kits(b)
	at := map[int32]int{}
	for i := w.Options.Next(0); i >= 0; i = w.Options.Next(i + 1) {
		kind := b.Options[i].Kind
		if !b.WithinLimits.Has(i) || !amount.Fits(b.Free[kind], podGroup.Need) || supply.Conflict(podGroup.PodClass.Ports, b.Kinds[kind].Ports) {
			continue
		}
		n, known := at[kits.Of(i)]
		if !known {
			n = len(out)
			at[kits.Of(i)] = n
			part := w
			part.Options, part.Lot = bitset.New(len(b.Options)), &supply.Lot{}
			out = append(out, remedy{b, podGroup, part, i})
		}
		out[n].way.Options.Add(i)
	}
	return out
}

// kits divides the options of a pool by the daemon pods that they bring, of those that rules look at.
func (rs *rescuer) kits(b *supply.Candidate) *supply.Regions {
	if b.Kits == nil {
		var columns [][]int32
		for shape := range rs.run.Values.Daemons {
			column := make([]int32, len(b.Options))
			for i := range column {
				if b.BringsAs(shape, i) {
					column[i] = 1
				}
			}
			columns = append(columns, column)
		}
		b.Kits = supply.NewRegions(len(b.Options), columns)
	}
	return b.Kits
}

// orderAlone launches an instance for the group's next pod, if that may be on it and all placed pods keep their places.
func (rs *rescuer) orderAlone(g *demand.Group, lv *demand.Level, c remedy) bool {
	rs.run.Provisioner.Affinities.Gatherer.Reset()
	filled := supply.Load{Option: c.option, Sum: make([]int64, rs.run.Dims.Len())}
	filled.Add(c.podGroup.Part(&c.way, 1, rs.run.Provisioner.Affinities.Gatherer.Attaches(rs.run.Dims, g)), c.podGroup.Need)
	filled, why := rs.run.Provisioner.Lister.KeepMinValues(c.b, filled, provisioning.Errand{})
	if !why.OK() || c.b.Holding(&filled).Next(0) < 0 {
		return false
	}
	as := rs.run.Provisioner.Lister.List(c.b, &filled)
	board, place, ok := rs.wouldStand(lv, c.b, &as)
	if !ok {
		return false
	}
	c.podGroup.Pods = rs.run.Turns(g.Next(1))
	rs.run.Provisioner.SumUp()
	rs.run.Provisioner.Launch(c.b, &filled, &as)
	last := len(rs.run.Provisioner.Launched) - 1
	rs.run.Provisioner.Launched[last].Place = place
	rs.run.placeLaunched(last)
	board.Put(lv.Rules, place, 1, false)
	rs.run.Board = board
	rs.run.Hold(g.PodClass)
	rs.run.addLaunchTargets()
	if s := rs.run.Targets[len(rs.run.Targets)-1]; s.Admitted(lv, len(rs.run.Targets)) && !rs.run.Used(g.PodClass) {
		if n := min(g.Left(), rs.run.RoomOn(s, g, lv)); n > 0 {
			rs.run.Sit(s, g, lv, n)
		}
	}
	return true
}

// wouldStand reports whether pods of the level may be on such an instance of the plan, and all placed pods keep their
// places when it is there. It returns the board with the instance, and the instance's place on it.
func (rs *rescuer) wouldStand(lv *demand.Level, b *supply.Candidate, as *provisioning.Listing) (board *topology.Board, place int, ok bool) {
	var late []int
	for _, all := range []bool{false, true} { // most that will not do are found on the board as it is
		board = rs.run.Board.Clone()
		if all {
			board = rs.run.replays.outset()
		}
		place = board.AddOutlook(topology.Outlook{Ways: as.Ways, Host: HostOf(rs.run.Provisioner.Lister.NextName())}, b.Taints)
		as.Due.Put(board, place)
		if all {
			rs.run.Effort.Spent(int64(len(rs.run.Placed)))
			lost, others := rs.run.replays.reseat(board)
			if len(lost) > 0 {
				return nil, 0, false
			}
			late = others
		}
		if board.Room(lv.Rules, board.Spot(place)) <= 0 {
			return nil, 0, false
		}
	}
	rs.run.replays.comeLate(late)
	return board, place, true
}
