package supply

import (
	"cmp"
	"slices"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/feasibility"
	"github.com/daemok/daemok/core/topology"
)

// Candidate is one pool while instances are launched from it.
type Candidate struct {
	pricing
	At        int                 // position among the candidates
	Like      *Candidate          // in a question: an earlier pool with the same options at the same cost, or this one; see Twin
	lots      map[string]*Lot     // by options
	lastLot   *Lot                // the one asked for last
	setText   []byte              // kept for its memory
	Regions   *Regions            // of options that are equal for all groups that instances are launched for
	regionsOf map[string]*Regions // by keys, see RegionsBy
	Kits      *Regions            // of options with which the same daemon pods come
	inDomain  map[int][]int32     // by topology key and option: the domain
}

// poolOptions is a pool with its options: its offerings, each with one of its instance types.
type poolOptions struct {
	*feasibility.Pool
	Varied bool   // some requirement has minValues
	Parted bool   // there are several of some instance type, see Closed
	ready  *Ready // what was prepared of pools
	number int    // of the pool among them
	marks  []bool // by instance type: see kindMarks
}

// instances is what instances of the pool leave to pods.
type instances struct {
	poolOptions
	*common
	sizes   *Sizes     // nil: none is too large
	large   bitset.Set // options that are too large for the cluster; nil: none are
	cramped bitset.Set // options that leave less to pods than the floor asks for; nil: none do
}

// obtainable says which options can be launched now.
type obtainable struct {
	instances
	AvailableNow bitset.Set
	WithinLimits bitset.Set               // the options that limits still allow
	Remaining    *limits                  // of limits that bind the pool; nil where none does
	Constraints  []feasibility.Constraint // what is left of the limits, as constraints; kept for core/place
	Risky        bool                     // some spot offerings are likely to be interrupted
	Limited      bool                     // there are so many instances of some options only
}

// pricing says what options cost, and what they yield for it.
type pricing struct {
	obtainable
	Valuation *Valuation
	prices
	yields
}

// prices is what options cost.
type prices struct {
	Price   []float64 // by option: what it comes to, see costs
	Cost    []float64 // by option: what counts when options are compared, see thrifty and withRisk
	Risk    []float64 // by option, see risks; nil where none is
	Lasting bool      // costs are the same whatever resources are worth
	alike   [][]int   // options by instance type and cost, see classes
}

// yields is what options yield by what resources are worth. It must not be written.
type yields struct {
	Yield   []float64 // by option: worth of what it holds per cost, at most about 1
	ByYield []int     // options by falling yield
}

// Ask is how one group may use one pool.
type Ask struct {
	Ways []Way
	need []int64    // of one pod
	Any  bitset.Set // the options of all ways
	Best float64    // highest yield among the options that hold a pod of the group
}

// Way is one of the pod's alternatives.
type Way struct {
	Options bitset.Set // those that the alternative allows, available or not
	Term    feasibility.Term
	Lot     *Lot
	first   int  // the option launched first for one pod alone
	Barred  bool // minValues cannot be kept
}

// NewCandidate returns the pool as it is before anything is launched from it. The number is its position among the pools
// that ready knows; z says which instances are too large, and is nil where none is; l is what is left of limits, for all
// candidates together, and is nil where nothing is limited.
func NewCandidate(p *feasibility.Pool, d amount.Dims, ready *Ready, number int, z *Sizes, l *Limits) *Candidate {
	first := ready.pools[number].outset.Get(func() *outset { return outsetOf(p) })
	b := &Candidate{}
	b.poolOptions = poolOptions{Pool: p, ready: ready, number: number, Parted: parted(p)}
	if l != nil {
		if c := *ready.pools[number].charges.Get(func() **charges { out := l.chargesOf(p); return &out }); c != nil {
			b.Remaining = &limits{l, c}
		}
	}
	b.common = ready.commonOf(p, number, d, b.Remaining)
	b.sizes, b.AvailableNow, b.Risky, b.Limited = z, b.available.Clone(), first.risky, first.limited
	b.recordCramped()
	b.Narrow()
	b.Varied = slices.ContainsFunc(b.Requirements, func(q constraint.Requirement) bool { return q.MinValues > 0 })
	return b
}

// wouldDoWhole reports whether an instance has room for one pod with the cpu that sustained took off.
func (b *obtainable) wouldDoWhole(terms []feasibility.Term, need []int64) bool {
	return b.Whole != nil && slices.ContainsFunc(terms, func(t feasibility.Term) bool {
		for i := t.Options.Next(0); i >= 0; i = t.Options.Next(i + 1) {
			if free := b.Whole[b.Options[i].Kind]; b.AvailableNow.Has(i) && free != nil && amount.Fits(free, need) {
				return true
			}
		}
		return false
	})
}

// Reopen works out again what can be launched, after offerings came to be available or unavailable.
func (b *Candidate) Reopen() {
	b.Narrow()
	b.lots, b.lastLot = nil, nil
}

// Unleash gives back what sustained took off, because some pods fit on no other instance. It reports
// whether there was anything to give back.
func (b *Candidate) Unleash() bool {
	if b.Whole == nil {
		return false
	}
	b.common = b.unleashed()
	b.lots, b.lastLot = nil, nil
	if b.Cost != nil && b.Credits != nil {
		b.reckon()
	}
	return true
}

// Narrow keeps the options that the limits allow one more instance of.
func (b *obtainable) Narrow() {
	b.WithinLimits = b.AvailableNow.Clone()
	if b.Remaining == nil {
		return
	}
	b.Remaining.keep(b.WithinLimits)
}

// withinAmounts is the options that limits allow one more instance of, or will once there are more on-demand nodes.
// The set must not be written.
func (b *obtainable) withinAmounts() bitset.Set {
	if !b.OnDemand.Gives() {
		return b.WithinLimits
	}
	out := b.AvailableNow.Clone()
	b.Remaining.keepAmounts(out)
	return out
}

// keepWhere removes the options of instance types that do not pass.
func (b *instances) keepWhere(options bitset.Set, passes func(kind int) bool) {
	for kind := range b.Kinds {
		if of := b.optionsOf(kind); slices.ContainsFunc(of, options.Has) && !passes(kind) {
			for _, i := range of {
				options.Remove(i)
			}
		}
	}
}

// NewAsk finds out how pods may use the pool. They want this of nodes, and need so much each. With strict
// set, they stay away from a pool with a PreferNoSchedule taint.
func (b *Candidate) NewAsk(wants *cluster.Shape, need []int64, strict bool) *Ask {
	out := &Ask{need: need}
	if strict && feasibility.Avoided(b.Taints, wants.Tolerations) {
		b.Rate(out)
		return out
	}
	terms, _ := b.Terms(wants)
	if roomy := b.roomy(terms); roomy != nil {
		out.Ways = b.keepingRoom(b.waysOf(roomy, need), need)
	}
	if len(out.Ways) == 0 {
		out.Ways = b.waysOf(terms, need)
	}
	out.Any = anyOf(out.Ways)
	slices.SortStableFunc(out.Ways, func(x, y Way) int { return cmp.Compare(x.first, y.first) })
	if len(out.Ways) == 0 && b.wouldDoWhole(terms, need) && b.Unleash() {
		return b.NewAsk(wants, need, strict)
	}
	if b.Cost == nil && b.Valuation.Worth != nil && len(out.Ways) > 0 {
		b.SetYields() // in a question, the pool was not asked before
	}
	b.Rate(out)
	return out
}

// waysOf returns the ways in which a pod that needs so much may use the pool.
func (b *Candidate) waysOf(terms []feasibility.Term, need []int64) (out []Way) {
	for _, t := range terms {
		lot := b.lotOf(t.Options)
		if first := b.first(lot, need); first >= 0 {
			out = append(out, Way{Options: lot.options, Term: t, Lot: lot, first: first})
		}
	}
	return out
}

// Launchable returns the options of the ways that can be launched within the pool's limits, and the spot options that
// can be once its minimum of on-demand nodes allows it.
func (b *obtainable) Launchable(ways []Way) bitset.Set {
	if len(ways) == 0 {
		return bitset.New(len(b.Options))
	}
	out := anyOf(ways).Clone()
	out.And(b.withinAmounts())
	for i := out.Next(0); i >= 0; i = out.Next(i + 1) {
		if b.Free[b.Options[i].Kind] == nil {
			out.Remove(i)
		}
	}
	return out
}

// anyOf returns the options of all ways; not to be written.
func anyOf(ways []Way) bitset.Set {
	if len(ways) == 0 {
		return nil
	}
	out := ways[0].Options
	for i, w := range ways[1:] {
		if i == 0 {
			out = out.Clone()
		}
		out.Or(w.Options)
	}
	return out
}

// Joins returns the first way in which the group may share an instance that is
// launched by the option and limited by the requirements on custom keys.
func (a *Ask) Joins(option int, custom constraint.Requirements) (*Way, bool) {
	for i := range a.Ways {
		w := &a.Ways[i]
		if !w.Options.Has(option) {
			continue
		}
		if len(w.Term.Custom) == 0 || len(custom) == 0 {
			return w, true
		}
		if _, conflict := custom.Conflict(w.Term.Custom); !conflict {
			return w, true
		}
	}
	return nil, false
}

// Bears reports whether the daemon pods of an instance type may share an instance with the pods of the
// load, and these with each other.
func (b *pricing) Bears(l *Load, kind int) bool {
	if slices.Equal(b.Kinds[kind].Pods, b.Kinds[b.Options[l.Option].Kind].Pods) {
		return true
	}
	host := b.Valuation.Host
	host.Reset()
	b.Bring(host, kind)
	return !slices.ContainsFunc(l.Parts, func(p Part) bool {
		return len(p.Ports) > 0 && Conflict(p.Ports, b.Kinds[kind].Ports) || host.Off(p.Rules) || host.Crowds(p.Rules, p.N)
	})
}

// Bring puts the daemon pods of an instance type on the host.
func (b *pricing) Bring(host *topology.Host, kind int) {
	if len(b.Valuation.Daemons) == 0 {
		return
	}
	for _, shape := range b.Kinds[kind].Pods {
		if rules := b.Valuation.Daemons[shape]; rules != nil {
			host.Put(rules, 1)
		}
	}
}

// FirstHaving returns the first option that co-located pods share, that has room for all of them, and that the
// pool's limits still allow, or -1. Options are in the order of launching.
func (b *obtainable) FirstHaving(w *Way, shared bitset.Set, sum []int64) int {
	if w.Barred || shared == nil {
		return -1
	}
	for i := w.first; i >= 0; i = w.Options.Next(i + 1) {
		if b.WithinLimits.Has(i) && shared.Has(i) && amount.Fits(b.Free[b.Options[i].Kind], sum) {
			return i
		}
	}
	return -1
}

// FirstWithin returns the first option, in the order of launching, that has room for one pod that needs so
// much and that the pool's limits still allow, or -1.
func (b *obtainable) FirstWithin(w *Way, need []int64) int {
	for i := w.first; i >= 0; i = w.Options.Next(i + 1) {
		if b.WithinLimits.Has(i) && amount.Fits(b.Free[b.Options[i].Kind], need) {
			return i
		}
	}
	return -1
}

// Saved is a pool before anything is launched from it.
type Saved struct {
	AvailableNow, WithinLimits bitset.Set
	common                     *common
}

// Saved keeps what the pool has now, for Restore.
func (b *Candidate) Saved() Saved {
	return Saved{b.AvailableNow.Clone(), b.WithinLimits.Clone(), b.common}
}

// Restore makes the pool what it was before anything was launched from it. What is left of limits is restored apart.
func (b *Candidate) Restore(to *Saved) {
	if !slices.Equal(b.AvailableNow, to.AvailableNow) || b.common != to.common {
		b.lots, b.lastLot = nil, nil
	}
	if !b.Lasting || b.common != to.common {
		b.prices = prices{}
	}
	b.common = to.common
	copy(b.AvailableNow, to.AvailableNow)
	copy(b.WithinLimits, to.WithinLimits)
	b.yields, b.Kits, b.Constraints = yields{}, nil, nil
}

// Most is what an instance of the type has for pods, surplus credits included.
func (p *Saved) Most(kind int) []int64 {
	if p.common.Whole != nil {
		return p.common.Whole[kind]
	}
	return p.common.Free[kind]
}

// AllPriced reports whether all options that are available have a price that is paid for each instance. What is
// reserved, or covered by a commitment, is paid for already.
func (b *obtainable) AllPriced() bool {
	return *b.priced.Get(func() *bool {
		out := true
		for i := b.available.Next(0); out && i >= 0; i = b.available.Next(i + 1) {
			offering := b.Offering(b.Options[i])
			out = offering.Priced && !offering.PaidFor()
		}
		return &out
	})
}
