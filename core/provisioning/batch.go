package provisioning

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/demand"
	"github.com/daemok/daemok/core/pack"
	"github.com/daemok/daemok/core/supply"
)

// Packer chooses instances for a batch. For pods that it leaves out, and for those that would break a rule that the
// batch cannot express, one instance after another is launched.
type Packer interface {
	Pack(batch pack.Batch) []pack.Instance
}

// batch is a pack.Batch with what its positions stand for.
type batch struct {
	pack.Batch
	groups             []*demand.Group
	from               []origin // by offering
	offeringPools      []offeringPool
	limits             map[int]int    // positions among the limits, by those among all that is limited
	reservedCapacities map[string]int // likewise, by name
	asked              []bool         // by resource: some group asks for it
	minimum            bool           // some pool has one of on-demand nodes
	less               map[int][]int  // by offering: the same offerings with less room, see supplyOf
}

type origin struct {
	candidate *supply.Candidate
	option    int
}

// batcher launches the instances that a packer chooses.
type batcher struct{ *Provisioner }

// launchTogether lets the packer choose instances for the pods of each tier of pools, the heaviest first, and of each
// part of it apart.
func (pr batcher) launchTogether() {
	if pr.Packer == nil {
		return
	}
	var tiers []int
	for _, g := range pr.Groups {
		if g.Left() > 0 && !slices.Contains(tiers, g.Home) {
			tiers = append(tiers, g.Home)
		}
	}
	slices.SortFunc(tiers, func(a, b int) int { return cmp.Compare(b, a) })
	for _, tier := range tiers {
		groups := slices.DeleteFunc(slices.Clone(pr.Groups), func(g *demand.Group) bool {
			return g.Home != tier || g.Left() == 0 || !pr.distinguishable(g)
		})
		extras := pr.extrasBeside(groups)
		parts := partsOf(pr.Provisioner, tier, groups)
		for i, p := range parts {
			l := pr.batchOf(p)
			for _, later := range parts[i+1:] {
				l.After += later.pods()
			}
			if len(l.Offerings) > 0 && !pr.Effort.Spent(0) {
				pr.launchBatch(l, extras)
			}
		}
	}
}

// part is groups and the pools that may launch instances for them. No pool may launch for groups of two parts, and
// parts share no capacity reservation, so that the cheapest instances of one part do not depend on the others.
type part struct {
	groups []*demand.Group
	pools  bitset.Set // by Candidate.At; the number after the last pool stands for capacity reservations
}

// pods counts the pods that the part launches for.
func (p *part) pods() int {
	n := 0
	for _, g := range p.groups {
		n += int(g.Left())
	}
	return n
}

// partsOf divides the groups of a tier.
func partsOf(pr *Provisioner, tier int, groups []*demand.Group) []part {
	pools := make([]bitset.Set, len(groups))
	for i, g := range groups {
		pools[i] = poolsOf(pr, tier, g)
	}
	return divide(groups, pools)
}

// divide makes parts of groups, each of which may use these pools. Groups keep their order, and parts have that of
// their first groups.
func divide(groups []*demand.Group, pools []bitset.Set) []part {
	var out []part
	for i, g := range groups {
		mine := part{pools: pools[i].Clone()}
		at := len(out)
		for n := 0; n < len(out); n++ {
			if !out[n].pools.Intersects(mine.pools) {
				continue
			}
			mine.groups, at = append(mine.groups, out[n].groups...), min(at, n)
			mine.pools.Or(out[n].pools)
			out = slices.Delete(out, n, n+1)
			n--
		}
		mine.groups = append(mine.groups, g)
		slices.SortFunc(mine.groups, func(a, b *demand.Group) int { return cmp.Compare(a.At, b.At) })
		out = slices.Insert(out, at, mine)
	}
	return out
}

// poolsOf returns the pools of the tier that may launch instances for the group.
func poolsOf(pr *Provisioner, tier int, g *demand.Group) bitset.Set {
	out := bitset.New(len(pr.Candidates) + 1)
	for _, b := range pr.Candidates {
		if b.Weight != tier || len(waysInto(pr, b, g)) == 0 {
			continue
		}
		out.Add(b.At)
		if b.Limited {
			out.Add(len(pr.Candidates))
		}
	}
	return out
}

// batchOf lists the groups of a part, and the offerings of its pools.
func (pr batcher) batchOf(p part) *batch {
	out := &batch{groups: p.groups}
	for _, g := range p.groups {
		out.Groups = append(out.Groups, pr.batchGroup(g))
	}
	out.reportPorts(pr.Board.Kinds())
	out.recordAsked()
	for _, b := range pr.Candidates {
		if p.pools.Has(b.At) {
			out.addPool(pr.Provisioner, b)
		}
	}
	out.open(pr.Provisioner)
	return out
}

// distinguishable reports whether a batch can express what pods of the group need. It cannot where others must be on
// their host, or where they share volumes.
func (pr *Provisioner) distinguishable(g *demand.Group) bool {
	return !pr.Board.NearOnHost(g.Level.Rules) && len(g.PodClass.Shared) == 0
}

func (pr batcher) batchGroup(g *demand.Group) pack.Group {
	kinds, caps := pr.Board.OnHost(g.Level.Rules)
	out := pack.Group{Need: g.Need, Count: g.Left(), Kinds: slices.Clone(kinds)}
	for _, c := range caps {
		out.Caps = append(out.Caps, pack.Cap(c))
	}
	return out
}

// reportPorts adds ports of the host to the groups, each port as a pack.Group kind of its own from this number on: a
// pod with a port joins where no pod has one that conflicts with it.
func (l *batch) reportPorts(from int) {
	var known []cluster.Port
	for _, g := range l.groups {
		for _, p := range g.PodClass.Ports {
			if !slices.Contains(known, p) {
				known = append(known, p)
			}
		}
	}
	for i, g := range l.groups {
		podGroup := &l.Groups[i]
		for at, p := range known {
			if slices.Contains(g.PodClass.Ports, p) {
				podGroup.Kinds = append(podGroup.Kinds, from+at)
			}
			if slices.ContainsFunc(g.PodClass.Ports, p.Conflicts) {
				podGroup.Caps = append(podGroup.Caps, pack.Cap{Kind: from + at, Most: 1})
			}
		}
	}
}

// addPool adds the offerings of the pool within its limits that are worth examining for some group. An instance type
// that may use surplus credits is added in several grades.
func (l *batch) addPool(pr *Provisioner, b *supply.Candidate) {
	l.minimum = l.minimum || b.OnDemand.Gives()
	takes := l.takes(b, pr.Reserved.Left)
	from := offeringPool{b: b, setOf: make([]uint32, len(l.groups))}
	lots, known := map[*supply.Lot]uint32{}, map[string]uint32{}
	var key []byte
	for i, g := range l.groups {
		key = key[:0]
		ways := waysInto(pr, b, g)
		for _, w := range ways {
			if _, found := lots[w.Lot]; !found {
				lots[w.Lot] = uint32(len(lots))
			}
			key = binary.LittleEndian.AppendUint32(key, lots[w.Lot])
		}
		if _, found := known[string(key)]; !found {
			known[string(key)] = uint32(len(from.sets))
			from.sets = append(from.sets, b.Launchable(ways))
		}
		from.setOf[i] = known[string(key)]
	}
	worthwhile := b.Frontier(from.sets, l.asked)
	from.first = len(l.Offerings)
	n := worthwhile.Count()
	l.Offerings, l.from = slices.Grow(l.Offerings, n), slices.Grow(l.from, n)
	for o := worthwhile.Next(0); o >= 0; o = worthwhile.Next(o + 1) {
		it := pack.Offering{Takes: takes(o), Zone: b.Offering(b.Options[o]).Zone}
		for _, it.Free = range b.Grades(b.Options[o].Kind) {
			it.Cost = b.CostFor(o, it.Free) + b.RiskOf(o)
			from.n++
			l.Offerings, l.from = append(l.Offerings, it), append(l.from, origin{b, o})
		}
	}
	l.offeringPools = append(l.offeringPools, from)
}

// open decides which offerings each group may have. Groups that may have the same options of every pool share one
// set.
func (l *batch) open(pr *Provisioner) {
	sets := map[string]*openOfferings{}
	of := make([]*openOfferings, len(l.groups))
	var key []byte
	for i := range l.groups {
		key = key[:0]
		for _, s := range l.offeringPools {
			key = binary.LittleEndian.AppendUint32(key, s.setOf[i])
		}
		if sets[string(key)] == nil {
			sets[string(key)] = l.supplyOf(pr, i)
		}
		of[i] = sets[string(key)]
	}
	for _, s := range sets {
		for _, set := range []*bitset.Set{&s.all, &s.steady, &s.small} {
			*set = lengthened(*set, len(l.Offerings))
		}
	}
	for i, g := range l.groups {
		l.Groups[i].Offerings = of[i].forPods(pr, l, g.Need)
	}
}

// recordAsked records which resources the groups ask for.
func (l *batch) recordAsked() {
	for i := range l.Groups {
		if l.asked == nil {
			l.asked = make([]bool, len(l.Groups[i].Need))
		}
		for d, v := range l.Groups[i].Need {
			l.asked[d] = l.asked[d] || v > 0
		}
	}
}

// offeringPool is a pool of a batch.
type offeringPool struct {
	b        *supply.Candidate
	sets     []bitset.Set // of options that some group may have
	setOf    []uint32     // by group of the batch: the options that it may have, among the sets
	first, n int          // its offerings: those of options that are worth examining
}

// waysInto is how pods of the group may use the pool now.
func waysInto(pr *Provisioner, b *supply.Candidate, g *demand.Group) []supply.Way {
	a := pr.Ask(b, g)
	if !slices.ContainsFunc(a.Ways, func(w supply.Way) bool { return w.Barred }) {
		return a.Ways
	}
	return slices.DeleteFunc(slices.Clone(a.Ways), func(w supply.Way) bool { return w.Barred })
}

// open returns the options that the group of the batch may have.
func (s *offeringPool) open(group int) bitset.Set { return s.sets[s.setOf[group]] }

// offeringsOf calls the function for the pool's offerings that the group may have.
func (l *batch) offeringsOf(s *offeringPool, group int, do func(option, offering int)) {
	open := s.open(group)
	for i := s.first; i < s.first+s.n; i++ {
		if option := l.from[i].option; open.Has(option) {
			do(option, i)
		}
	}
}

// takes returns what an instance launched by an option takes of limits, and of what is left of capacity reservations,
// which become limits of the batch.
func (l *batch) takes(b *supply.Candidate, reserved map[string]int64) func(option int) []pack.Take {
	return func(o int) []pack.Take {
		var out []pack.Take
		if b.Remaining != nil {
			for _, t := range b.Remaining.Takes(o) {
				if b.OnDemand.Gives() && b.Remaining.IsMinimum(t.Limit) {
					continue // see launchBatch
				}
				at := limitAt(l, &l.limits, t.Limit, max(0, b.Remaining.Left[t.Limit]))
				out = append(out, pack.Take{Limit: at, Amount: t.Amount})
			}
		}
		for _, s := range b.ReservedCapacitiesOf(o) {
			at := limitAt(l, &l.reservedCapacities, s.Name, reserved[s.Name])
			out = append(out, pack.Take{Limit: at, Amount: s.Takes()})
		}
		return out
	}
}

// limitAt returns the position of a limit among those of the batch, and adds it with what is left of it where it is new.
func limitAt[K comparable](l *batch, known *map[K]int, of K, left int64) int {
	at, found := (*known)[of]
	if !found {
		if at = len(l.Limits); *known == nil {
			*known = map[K]int{}
		}
		l.Limits, (*known)[of] = append(l.Limits, left), at
	}
	return at
}

// launchBatch launches the instances that the packer chooses: first those from a capacity reservation, so that no
// others use it up; then the most expensive first. Pods that a rule keeps off an instance wait for the next one. The
// packer does not know of minimums of on-demand nodes: where one forbids a spot instance, an on-demand instance is
// launched in its place. There the cheapest come first.
func (pr batcher) launchBatch(l *batch, extras []int64) {
	instances := pr.Packer.Pack(l.Batch)
	cost := func(m pack.Instance) float64 {
		if l.minimum {
			return l.Offerings[m.Offering].Cost
		}
		return -l.Offerings[m.Offering].Cost
	}
	slices.SortStableFunc(instances, func(a, b pack.Instance) int {
		return cmp.Or(cmp.Compare(demand.Rank(!l.plenty(a)), demand.Rank(!l.plenty(b))), cmp.Compare(cost(a), cost(b)))
	})
	for _, m := range instances {
		if pr.Effort.Spent(int64(len(m.Parts))) {
			return
		}
		pr.launchInstance(l, m, extras)
	}
}

// plenty reports whether the number of such instances is not limited by a capacity reservation.
func (l *batch) plenty(m pack.Instance) bool {
	from := l.from[m.Offering]
	return len(from.candidate.ReservedCapacitiesOf(from.option)) == 0
}

// extrasBeside returns how many pods of each group may fill gaps on instances for the groups: those that are left,
// without these groups, which have instances of their own; nil where there are none.
func (pr batcher) extrasBeside(groups []*demand.Group) []int64 {
	left := slices.Clone(pr.outstanding.left)
	for _, g := range groups {
		left[g.At] = 0
	}
	if !slices.ContainsFunc(left, func(n int64) bool { return n > 0 }) {
		return nil
	}
	return left
}

// launchInstance launches one instance of the batch and takes the extras that fit.
func (pr batcher) launchInstance(l *batch, m pack.Instance, extras []int64) {
	b := l.from[m.Offering].candidate
	filled := supply.Load{Sum: make([]int64, pr.Dims.Len())}
	filled.Reset(l.from[m.Offering].option)
	filled.Room = m.Room
	if b.Remaining != nil { // what it leaves of limits is for the others of the batch
		filled.Modest = filled.Option + 1
	}
	f := &pr.filler
	f.start(pr.Provisioner, b, &filled, pr.outstanding.left, nil)
	if whole, ok := b.WholeCPU(b.Options[filled.Option].Kind); ok {
		f.room[amount.CPU] = whole
	}
	for _, p := range m.Parts {
		g := l.groups[p.Group]
		if w, ok := pr.Ask(b, g).Joins(filled.Option, filled.Custom); ok && !w.Barred {
			f.add(g, w, min(p.N, f.free(g)))
		}
	}
	if len(filled.Parts) == 0 || b.Holding(&filled).Next(0) < 0 {
		return
	}
	kept, why := pr.Lister.KeepMinValues(b, filled, Errand{})
	if !why.OK() {
		return
	}
	pr.tournament.stabilize(b, &kept)
	kept = pr.Lister.keepFlexible(b, kept)
	if extras != nil {
		kept = pr.ride(b, kept, extras)
	}
	as := pr.Lister.List(b, &kept)
	pr.Launch(b, &kept, &as)
}

// ride adds the extras that fit to a load, as far as minValues allow it. It adds none where a spot instance would no
// longer leave enough instance types open.
func (pr batcher) ride(b *supply.Candidate, own supply.Load, extras []int64) supply.Load {
	full := own.Clone()
	pr.fill(b, &full, extras, nil)
	out, why := pr.Lister.KeepMinValues(b, full, Errand{g: pr.Groups[own.Parts[0].Group]})
	if !why.OK() || pr.leavesEnough(b, &own) && !pr.leavesEnough(b, &out) {
		return own
	}
	for _, p := range out.Parts {
		if extras[p.Group] > 0 { // groups of the batch have no extras
			extras[p.Group] -= p.N
		}
	}
	return out
}

// leavesEnough reports whether an instance for the load leaves enough instance types open.
func (pr batcher) leavesEnough(b *supply.Candidate, l *supply.Load) bool {
	first := b.FirstHolding(l)
	return first >= 0 && b.LeavesOpen(b.Together(l), first, l.Sum)
}
