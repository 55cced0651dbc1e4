package place

import (
	"cmp"
	"slices"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/bound"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/feasibility"
	"github.com/daemok/daemok/core/topology"
)

// candidate is one pool while instances are launched from it.
type candidate struct {
	*feasibility.Pool
	terms       *terms
	at          int // position among the candidates
	available   bitset.Set
	within      bitset.Set                // the options that the pool's limits still allow
	limits      *limits                   // nil where the pool has none
	constraints []feasibility.Constraint  // what the limits are in the way of; see bounds
	free        [][]int64                 // for pods, by instance type; nil where daemon pods alone are too much
	whole       [][]int64                 // likewise, with cpu beyond what an instance type can use for ever; nil: the same
	credits     []*credit                 // by instance type; nil where none has any
	price       []float64                 // by option: what it comes to, see costs
	cost        []float64                 // by option: what counts when options are compared, see thrifty and withRisk
	risky       bool                      // some spot offerings are likely to be interrupted
	limited     bool                      // there are so many instances of some options only
	risk        []float64                 // by option, see risks; nil where none is
	lasting     bool                      // costs are the same whatever resources are worth
	alike       [][]int                   // options by instance type and cost, see classes
	wares       map[string][]bound.Column // see columnsOf
	like        *candidate                // an earlier pool with the same options for the same price, or itself, in a question; see setTwins
	valued      int                       // terms.valued when yields were last set for all that are like it
	yield       []float64                 // by option: worth of what it holds per cost, at most about 1
	borrowed    bool                      // yield is another pool's, and not to be written
	byYield     []int                     // options by falling yield
	marks       []bool                    // by instance type: see kindMarks
	ofKind      [][]int                   // see optionsOf
	regions     *regions                  // of options that are the same to all that are launched for
	regionsOf   map[string]*regions       // by keys, see regionsBy
	kits        *regions                  // see run.kits
	inDomain    map[int][]int32           // by topology key and option: the domain
	varied      bool                      // some requirement has minValues
	parted      bool                      // there are several of some instance type, see closed
	choices     map[string]*choices       // by what launches leave open
	ready       *Ready                    // what was prepared of pools
	number      int                       // of the pool among them
	lots        map[string]*lot
	sizes       *sizes     // nil: none is too large
	large       bitset.Set // options that are too large for the cluster; nil: none are
	cramped     bitset.Set // options that leave less to pods than the floor asks for; nil: none do
	lastLot     *lot
	setText     []byte // kept for its memory
}

// ask is how one group may use one pool.
type ask struct {
	ways []way
	need []int64    // of one pod
	any  bitset.Set // the options of all ways
	best float64    // highest yield among the options that hold a pod of the group
}

// way is one of the pod's alternatives.
type way struct {
	options bitset.Set // those that can be had now
	term    feasibility.Term
	lot     *lot
	first   int  // the option launched first for one pod alone
	barred  bool // minValues cannot be kept
}

func newCandidate(p *feasibility.Pool, d amount.Dims, ready *Ready, number int, z *sizes) *candidate {
	first := ready.pools[number].outset.Get(func() *outset { return outsetOf(p) })
	b := &candidate{Pool: p, sizes: z, ready: ready, number: number, available: first.available.Clone(), parted: parted(p), risky: first.risky, limited: first.limited}
	b.within = b.available.Clone()
	b.free = make([][]int64, len(p.Kinds))
	for k := range p.Kinds {
		if p.Kinds[k].Daemons.FitsIn(p.Kinds[k].Free.Add(p.Kinds[k].Daemons)) {
			b.free[k] = d.Vector(p.Kinds[k].Free, p.InstanceTypeAt(k).Attachable)
		}
	}
	b.sustained()
	for i, o := range p.Options {
		if b.free[o.Kind] == nil {
			b.available.Remove(i)
		}
	}
	b.recordCramped()
	b.limits = newLimits(p.Pool)
	b.narrow()
	b.varied = slices.ContainsFunc(b.Requirements, func(q constraint.Requirement) bool { return q.MinValues > 0 })
	return b
}

// sustained takes off the cpu that an instance type can use for a while only: pods ask for
// what they use all the time, and beyond it such instances are throttled or
// billed for more than their price. It stays where that bill is known and the
// pool has no other instances. Of instance types that are a last resort nothing is left.
func (b *candidate) sustained() {
	others := b.offersSteady()
	for k := range b.free {
		instanceType := b.InstanceTypeAt(k)
		if b.free[k] == nil || !bursts(instanceType) && !instanceType.LastResort {
			continue
		}
		if b.recordCredit(k); !others && b.creditOf(k) != nil && !instanceType.LastResort {
			continue
		}
		if b.whole == nil {
			b.whole = slices.Clone(b.free)
		}
		if instanceType.LastResort {
			b.free[k] = make([]int64, len(b.free[k]))
			continue
		}
		b.free[k] = slices.Clone(b.free[k])
		b.free[k][amount.CPU] -= int64(instanceType.Capacity.CPU - instanceType.Sustained)
	}
}

// wouldDoWhole reports whether an instance has room for one pod once that cpu is
// terminated.
func (b *candidate) wouldDoWhole(terms []feasibility.Term, need []int64) bool {
	return b.whole != nil && slices.ContainsFunc(terms, func(t feasibility.Term) bool {
		for i := t.Options.Next(0); i >= 0; i = t.Options.Next(i + 1) {
			if free := b.whole[b.Options[i].Kind]; b.available.Has(i) && free != nil && amount.Fits(free, need) {
				return true
			}
		}
		return false
	})
}

// unleash gives that back, because some pods can have no other instance.
func (b *candidate) unleash() bool {
	if b.whole == nil {
		return false
	}
	b.free, b.whole = b.whole, nil
	b.lots, b.lastLot, b.choices, b.wares = nil, nil, nil, nil
	if b.cost != nil && b.credits != nil {
		b.reckon(b.terms.worth)
	}
	return true
}

// narrow keeps the options that the limits allow one more instance of.
func (b *candidate) narrow() {
	b.within = b.available.Clone()
	if b.limits == nil {
		return
	}
	for i := b.within.Next(0); i >= 0; i = b.within.Next(i + 1) {
		if !b.limits.allow(b.InstanceType(b.Options[i]).Capacity) {
			b.within.Remove(i)
		}
	}
}

// newAsk finds how pods that want this of nodes, and need so much each, may use the pool. Strict
// ones keep off pools whose taints ask for it.
func (b *candidate) newAsk(wants *cluster.Shape, need []int64, strict bool) *ask {
	out := &ask{need: need}
	if strict && feasibility.Avoided(b.Taints, wants.Tolerations) {
		b.rate(out)
		return out
	}
	terms, _ := b.Terms(wants)
	if roomy := b.roomy(terms); roomy != nil {
		out.ways = b.keepingRoom(b.waysOf(roomy, need), need)
	}
	if len(out.ways) == 0 {
		out.ways = b.waysOf(terms, need)
	}
	out.any = anyOf(out.ways)
	slices.SortStableFunc(out.ways, func(x, y way) int { return cmp.Compare(x.first, y.first) })
	if len(out.ways) == 0 && b.wouldDoWhole(terms, need) && b.unleash() {
		return b.newAsk(wants, need, strict)
	}
	if b.cost == nil && b.terms.worth != nil && len(out.ways) > 0 {
		b.value() // in a question, none asked the pool before
	}
	b.rate(out)
	return out
}

// waysOf returns the ways in which a pod that needs so much may use the pool.
func (b *candidate) waysOf(terms []feasibility.Term, need []int64) (out []way) {
	for _, t := range terms {
		lot := b.lotOf(t.Options)
		if first := b.first(lot, need); first >= 0 {
			out = append(out, way{options: lot.options, term: t, lot: lot, first: first})
		}
	}
	return out
}

// anyOf returns the options of all ways; not to be written.
func anyOf(ways []way) bitset.Set {
	if len(ways) == 0 {
		return nil
	}
	out := ways[0].options
	for i, w := range ways[1:] {
		if i == 0 {
			out = out.Clone()
		}
		out.Or(w.options)
	}
	return out
}

// joins returns the first way in which the group may share an instance that is
// launched by the option and limited by the requirements on custom keys.
func (a *ask) joins(option int, custom constraint.Requirements) (*way, bool) {
	for i := range a.ways {
		w := &a.ways[i]
		if !w.options.Has(option) {
			continue
		}
		if len(w.term.Custom) == 0 || len(custom) == 0 {
			return w, true
		}
		if _, conflict := custom.Conflict(w.term.Custom); !conflict {
			return w, true
		}
	}
	return nil, false
}

// bears reports whether the daemon pods of an instance type let the pods of the load be
// beside them, and these each other.
func (b *candidate) bears(l *load, kind int) bool {
	if slices.Equal(b.Kinds[kind].Pods, b.Kinds[b.Options[l.option].Kind].Pods) {
		return true
	}
	host := b.terms.host
	host.Reset()
	b.bring(host, kind)
	return !slices.ContainsFunc(l.parts, func(p part) bool {
		return len(p.ports) > 0 && conflict(p.ports, b.Kinds[kind].Ports) || host.Off(p.rules) || host.Crowds(p.rules, p.n)
	})
}

// bring puts the daemon pods of an instance type on the host.
func (b *candidate) bring(host *topology.Host, kind int) {
	if len(b.terms.daemons) == 0 {
		return
	}
	for _, shape := range b.Kinds[kind].Pods {
		if rules := b.terms.daemons[shape]; rules != nil {
			host.Put(rules, 1)
		}
	}
}

// firstHaving returns the option launched first, of those that pods which belong together share, that has
// room for all of them and that the pool's limits still allow, or -1.
func (b *candidate) firstHaving(w *way, shared bitset.Set, sum []int64) int {
	if w.barred || shared == nil {
		return -1
	}
	for i := w.first; i >= 0; i = w.options.Next(i + 1) {
		if b.within.Has(i) && shared.Has(i) && amount.Fits(b.free[b.Options[i].Kind], sum) {
			return i
		}
	}
	return -1
}

// firstWithin returns the option launched first for one pod that needs so much and that
// the pool's limits still allow, or -1.
func (b *candidate) firstWithin(w *way, need []int64) int {
	for i := w.first; i >= 0; i = w.options.Next(i + 1) {
		if b.within.Has(i) && amount.Fits(b.free[b.Options[i].Kind], need) {
			return i
		}
	}
	return -1
}

// before is a pool before anything is launched from it.
type before struct {
	available, within bitset.Set
	free, whole       [][]int64
	limits            *limits
}

// saved is the pool as it is now, to be restored.
func (b *candidate) saved() before {
	return before{b.available.Clone(), b.within.Clone(), b.free, b.whole, b.limits}
}

// restore makes the pool what it was before anything was launched from it.
func (b *candidate) restore(to *before) {
	if !slices.Equal(b.available, to.available) || b.whole == nil && to.whole != nil {
		b.lots, b.lastLot, b.choices, b.wares = nil, nil, nil, nil
	}
	if !b.lasting {
		b.price, b.cost = nil, nil
	}
	b.free, b.whole = to.free, to.whole
	if to.limits != nil {
		b.limits = to.limits.clone()
		b.limits.first = to.limits.first
	}
	copy(b.available, to.available)
	copy(b.within, to.within)
	b.byYield, b.kits, b.constraints, b.valued = nil, nil, nil, 0
}

// most is what an instance of the type has for pods, surplus credits included.
func (p *before) most(kind int) []int64 {
	if p.whole != nil {
		return p.whole[kind]
	}
	return p.free[kind]
}
