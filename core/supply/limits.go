package supply

import (
	"encoding/binary"
	"math"
	"slices"
	"strconv"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/feasibility"
	"github.com/daemok/daemok/core/quantity"
)

// Limits is what limits still allow while instances are planned: those of pools, and quotas, which pools share.
type Limits struct {
	Left  []int64 // of each limit
	First []int64 // what it was at the beginning
	list  []Limit
}

// Limit is one amount that may not be exceeded.
type Limit struct {
	Name  string        // of what: a resource, cluster.LimitNodes, cluster.LimitCost or cluster.LimitOnDemand
	Most  int64         // in all; 0 for LimitOnDemand, see cluster.Minimum.Left
	Used  *cluster.Used // when nothing was planned
	Pool  *cluster.Pool
	Quota *cluster.Quota // nil: it is the pool's
}

// Take is what one instance takes of a limit, by its position.
type Take struct {
	Limit  int
	Amount int64
}

// LimitsOf returns nil where nothing is limited.
func LimitsOf(s *cluster.Snapshot) *Limits {
	out := &Limits{}
	for i := range s.Pools {
		p := &s.Pools[i]
		for _, l := range p.Limits.List() {
			out.add(Limit{Name: l.Name, Most: l.Amount, Used: &p.Used, Pool: p})
		}
		if m := p.OnDemand; m.Any() {
			out.list = append(out.list, Limit{Name: cluster.LimitOnDemand, Used: &p.Used, Pool: p})
			out.Left = append(out.Left, m.Left(s.Balance(p.ID)))
		}
	}
	for i := range s.Quotas {
		q := &s.Quotas[i]
		list := q.Limits.List()
		if q.Unreadable != "" {
			list = []quantity.Extended{{Name: cluster.LimitNodes}}
		}
		for _, l := range list {
			out.add(Limit{Name: l.Name, Most: l.Amount, Used: &q.Used, Quota: q})
		}
	}
	if len(out.list) == 0 {
		return nil
	}
	out.First = slices.Clone(out.Left)
	return out
}

func (v *Limits) add(l Limit) {
	v.list, v.Left = append(v.list, l), append(v.Left, quantity.Difference(l.Most, l.Used.Of(l.Name)))
}

// Unpriced reports whether it limits the cost of nodes of which one has no known price: then nothing may be launched.
func (l *Limit) Unpriced() bool { return l.Name == cluster.LimitCost && l.Used.Unpriced != "" }

// isMinimum reports whether it is a minimum of on-demand nodes, of which on-demand instances take a negative amount.
func (l *Limit) isMinimum() bool { return l.Name == cluster.LimitOnDemand }

// takenBy is what one node takes of the limit.
func (l *Limit) takenBy(t *cluster.Taking) int64 {
	if l.isMinimum() {
		return l.Pool.OnDemand.Taken(t.Spot)
	}
	return t.Of(l.Name)
}

// Admits reports whether one more instance may take that much. What takes nothing may be launched also where more is
// used than the limit allows.
func (v *Limits) Admits(t Take) bool {
	return !v.list[t.Limit].Unpriced() && (t.Amount <= 0 || t.Amount <= v.Left[t.Limit])
}

// Begin makes what is left now what was left at the beginning.
func (v *Limits) Begin() {
	if v != nil {
		v.First = slices.Clone(v.Left)
	}
}

// Restore makes what is left as much as it was.
func (v *Limits) Restore(left []int64) {
	if v != nil {
		copy(v.Left, left)
	}
}

// Saved is what is left now, for Restore.
func (v *Limits) Saved() []int64 {
	if v == nil {
		return nil
	}
	return slices.Clone(v.Left)
}

// Use accounts for an instance that was launched.
func (v *Limits) Use(takes []Take) {
	for _, t := range takes {
		v.Left[t.Limit] -= t.Amount
	}
}

// GiveBack accounts for an instance that is not launched after all, or a node that is gone.
func (v *Limits) GiveBack(takes []Take) {
	for _, t := range takes {
		v.Left[t.Limit] += t.Amount
	}
}

// Depart accounts for a node that goes: minimums no longer count it. What it takes of other limits it takes until it is
// gone, see GiveBack. It reports whether a minimum counted it.
func (v *Limits) Depart(n *cluster.Node) (counted bool) {
	if v == nil || n.Claim == "" || n.Deleting || n.Closed {
		return false
	}
	for i := range v.list {
		if l := &v.list[i]; l.isMinimum() && l.Pool.ID == n.Pool {
			v.Left[i] += l.Pool.OnDemand.Taken(n.IsSpot())
			return true
		}
	}
	return false
}

// Needs reports whether a minimum would not be kept without an instance that takes so much.
func (v *Limits) Needs(takes []Take) bool {
	return slices.ContainsFunc(takes, func(t Take) bool { return t.Amount < 0 && v.Left[t.Limit]+t.Amount < 0 })
}

// Breaks reports whether an instance that takes so much is one too many for a minimum.
func (v *Limits) Breaks(takes []Take) bool {
	return slices.ContainsFunc(takes, func(t Take) bool {
		return v.list[t.Limit].isMinimum() && t.Amount > 0 && v.Left[t.Limit] < 0
	})
}

// TakenBy is what the node takes, of the limits of its pool and of quotas, minimums aside: see Depart.
func (v *Limits) TakenBy(s *cluster.Snapshot, n *cluster.Node) []Take {
	t := s.TakenBy(n)
	return v.takes(&t, func(l *Limit) bool {
		if l.Quota != nil {
			return l.Quota.Selects(n.Labels)
		}
		return n.Claim != "" && l.Pool.ID == n.Pool && !l.isMinimum()
	})
}

// TakenByInstance is what an instance being launched takes, of the limits of its pool and of quotas.
func (v *Limits) TakenByInstance(s *cluster.Snapshot, m *cluster.Instance) []Take {
	t := s.TakenByInstance(m)
	return v.takes(&t, func(l *Limit) bool {
		if l.Quota != nil {
			return s.MayCount(l.Quota, m)
		}
		return l.Pool.ID == m.Pool
	})
}

func (v *Limits) takes(t *cluster.Taking, bound func(*Limit) bool) (out []Take) {
	for i := range v.list {
		if l := &v.list[i]; bound(l) {
			out = append(out, Take{i, l.takenBy(t)})
		}
	}
	return out
}

// costSlack is by how much an instance may cost more than another and still count as taking no more of a limit on the
// cost: few instance types cost the same, and a launch is to leave several open.
const costSlack = 1.25

// charges is what instances by the options of a pool take of limits. Most options of an instance type take the same.
type charges struct {
	classOf []int32  // by option
	classes []charge // what options of the class take
	shared  bool     // of quotas too
	uneven  bool     // options of one instance type may take different amounts
}

// charge is what an instance takes of limits, in their order.
type charge struct {
	takes   []Take
	barred  bool    // its cost is limited, and not known
	options []int32 // by which it is launched
}

// chargesOf returns what options of the pool take; nil where none takes anything.
func (v *Limits) chargesOf(p *feasibility.Pool) *charges {
	bound := v.binding(p)
	if len(bound) == 0 {
		return nil
	}
	out := &charges{classOf: make([]int32, len(p.Options))}
	out.shared = slices.ContainsFunc(bound, func(at int) bool { return v.list[at].Quota != nil })
	if out.shared || p.Limits.Cost != nil || p.OnDemand.Any() {
		out.byOption(v, p, bound)
	} else {
		out.byType(v, p, bound)
	}
	return out
}

// byType is for limits that count by the instance type alone.
func (c *charges) byType(v *Limits, p *feasibility.Pool, bound []int) {
	c.classes = make([]charge, len(p.Kinds))
	takes := make([]Take, 0, len(p.Kinds)*len(bound))
	for k := range p.Kinds {
		t := cluster.Taking{Capacity: p.InstanceTypeAt(k).Capacity}
		for _, at := range bound {
			takes = append(takes, Take{at, t.Of(v.list[at].Name)})
		}
		c.classes[k].takes = takes[len(takes)-len(bound):]
	}
	for i, o := range p.Options {
		c.put(i, int32(o.Kind))
	}
}

// byOption is for limits that may count offerings of one instance type differently.
func (c *charges) byOption(v *Limits, p *feasibility.Pool, bound []int) {
	known, ofKind := map[string]int32{}, make([]int32, len(p.Kinds))
	var key []byte
	for i, o := range p.Options {
		one := v.chargeOf(p, o, bound)
		key = strconv.AppendBool(key[:0], one.barred)
		for _, t := range one.takes {
			key = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(key, uint64(t.Limit)), uint64(t.Amount))
		}
		class, found := known[string(key)]
		if !found {
			class = int32(len(c.classes))
			known[string(key)], c.classes = class, append(c.classes, one)
		}
		c.put(i, class)
		if of := &ofKind[p.Kinds[o.Kind].Of]; *of == 0 {
			*of = class + 1
		} else {
			c.uneven = c.uneven || *of != class+1
		}
	}
}

// put makes the option one of the class.
func (c *charges) put(option int, class int32) {
	c.classOf[option] = class
	c.classes[class].options = append(c.classes[class].options, int32(option))
}

// binding lists the limits that some options of the pool take of.
func (v *Limits) binding(p *feasibility.Pool) (out []int) {
	var of *cluster.Quota // of the limit before
	selects := false
	for i := range v.list {
		l := &v.list[i]
		if l.Quota != nil && l.Quota != of {
			of, selects = l.Quota, maySelect(l.Quota, p)
		}
		if l.Quota == nil && l.Pool.ID == p.ID || l.Quota != nil && selects {
			out = append(out, i)
		}
	}
	return out
}

// maySelect reports whether the quota may select a node that is launched by some option of the pool.
func maySelect(q *cluster.Quota, p *feasibility.Pool) bool {
	for _, r := range q.Selector { // first by labels that are the same for all options
		if !p.Defines(r.Key) && !r.Set.Intersects(p.MayLabel(r.Key, p.Requirements)) {
			return false
		}
	}
	return slices.ContainsFunc(p.Options, func(o feasibility.Option) bool { return q.MaySelect(launched{p, o}) })
}

func (v *Limits) chargeOf(p *feasibility.Pool, o feasibility.Option, bound []int) charge {
	offering := p.Offering(o)
	t := cluster.Taking{Capacity: p.InstanceType(o).Capacity, Cost: offering.ListPrice() + p.PerInstance()}
	t.Spot = offering.Option == cluster.Spot
	var out charge
	for _, at := range bound {
		l := &v.list[at]
		if l.Quota != nil && !l.Quota.MaySelect(launched{p, o}) {
			continue
		}
		out.barred = out.barred || l.Name == cluster.LimitCost && !offering.Priced
		out.takes = append(out.takes, Take{at, l.takenBy(&t)})
	}
	return out
}

// launched is a node that is launched by an option of a pool.
type launched struct {
	*feasibility.Pool
	by feasibility.Option
}

// MayHave implements cluster.NewNode.
func (n launched) MayHave(key string) constraint.Set {
	if value, has := n.Label(n.by, key); has {
		return constraint.Values(value)
	}
	if n.Defines(key) {
		return constraint.Absent()
	}
	return n.MayLabel(key, n.Requirements)
}

// limits is what is left of the limits that bind a pool, and what its options take of them.
type limits struct {
	*Limits
	*charges
}

func (l *limits) of(option int) *charge { return &l.classes[l.classOf[option]] }

// Takes is what an instance launched by the option takes; not to be written.
func (l *limits) Takes(option int) []Take { return l.of(option).takes }

// allows reports whether one more instance may be launched.
func (l *limits) allows(c *charge) bool {
	return !c.barred && !slices.ContainsFunc(c.takes, func(t Take) bool { return !l.Admits(t) })
}

// keep removes the options of which limits forbid one more instance.
func (l *limits) keep(options bitset.Set) {
	for i := range l.classes {
		if c := &l.classes[i]; !l.allows(c) {
			c.leave(options)
		}
	}
}

// keepAmounts is keep without minimums.
func (l *limits) keepAmounts(options bitset.Set) {
	for i := range l.classes {
		c := &l.classes[i]
		exceeds := func(t Take) bool { return !l.IsMinimum(t.Limit) && !l.Admits(t) }
		if c.barred || slices.ContainsFunc(c.takes, exceeds) {
			c.leave(options)
		}
	}
}

// IsMinimum reports whether the limit at a position is a minimum of on-demand nodes.
func (v *Limits) IsMinimum(limit int) bool { return v.list[limit].isMinimum() }

// leave removes the options of the class.
func (c *charge) leave(options bitset.Set) {
	for _, i := range c.options {
		options.Remove(int(i))
	}
}

// keepModest removes the options that take more than the given one.
func (l *limits) keepModest(options bitset.Set, than int, slack float64) {
	most := l.of(than)
	for i := range l.classes {
		if c := &l.classes[i]; !l.noMore(c, most, slack) {
			c.leave(options)
		}
	}
}

// noMore reports whether a takes no more of any limit than b.
func (l *limits) noMore(a, b *charge, slack float64) bool {
	if a == b {
		return true
	}
	at := 0
	for _, t := range a.takes {
		for at < len(b.takes) && b.takes[at].Limit < t.Limit {
			at++
		}
		most := 0.0
		if at < len(b.takes) && b.takes[at].Limit == t.Limit {
			most = float64(b.takes[at].Amount)
		}
		if l.list[t.Limit].Name == cluster.LimitCost {
			most *= slack
		}
		if float64(t.Amount) > most {
			return false
		}
	}
	return true
}

// Largest is what an instance takes at most that may become any of the options.
func (l *limits) Largest(options bitset.Set) (out []Take) {
	most := map[int]int64{}
	seen := make([]bool, len(l.classes))
	for i := options.Next(0); i >= 0; i = options.Next(i + 1) {
		if class := l.classOf[i]; !seen[class] {
			seen[class] = true
			for _, t := range l.classes[class].takes {
				if n, taken := most[t.Limit]; !taken || t.Amount > n {
					most[t.Limit] = t.Amount
				}
			}
		}
	}
	for at := range l.list {
		if n, taken := most[at]; taken {
			out = append(out, Take{at, n})
		}
	}
	return out
}

// more is how many instances by the option limits allow.
func (l *limits) more(option int) int64 {
	n := int64(math.MaxInt64)
	for _, t := range l.Takes(option) {
		if !l.Admits(t) {
			return 0
		}
		if t.Amount > 0 {
			n = min(n, l.Left[t.Limit]/t.Amount)
		}
	}
	return n
}

// share is the part of what was left at the beginning that an instance by the option takes, added up over all limits
// but minimums.
func (l *limits) share(option int) float64 {
	sum := 0.0
	for _, t := range l.Takes(option) {
		if l.list[t.Limit].isMinimum() {
			continue
		}
		sum += float64(t.Amount) / float64(max(1, l.First[t.Limit]))
	}
	return sum
}

// Used reports whether less is left than at the beginning.
func (l *limits) Used() bool {
	return slices.ContainsFunc(l.classes, func(c charge) bool {
		return slices.ContainsFunc(c.takes, func(t Take) bool { return l.Left[t.Limit] != l.First[t.Limit] })
	})
}

// Binding lists the limits that some option of the pool counts against, with their positions.
func (l *limits) Binding(yield func(at int, limit *Limit) bool) {
	for i := range l.list {
		if slices.ContainsFunc(l.classes, func(c charge) bool { return c.of(i) != nil }) && !yield(i, &l.list[i]) {
			return
		}
	}
}

// of is what it takes of the limit; nil: it does not count against it.
func (c *charge) of(limit int) *Take {
	for i := range c.takes {
		if c.takes[i].Limit == limit {
			return &c.takes[i]
		}
	}
	return nil
}

// Taken is what an instance takes of one limit.
type Taken struct {
	Amount int64
	Counts bool // it counts against the limit
	Priced bool // false: the limit is on the cost, which is not known
}

// TakesOf is what an instance by the option takes of the limit at a position.
func (l *limits) TakesOf(option, limit int) Taken {
	c := l.of(option)
	t := c.of(limit)
	if t == nil {
		return Taken{Priced: true}
	}
	return Taken{Amount: t.Amount, Counts: true, Priced: !c.barred || l.list[limit].Name != cluster.LimitCost}
}

// Shares reports whether some limit may bind both pools: then what is launched from one counts for the other.
func (b *obtainable) Shares(other *Candidate) bool {
	return b.Remaining != nil && other.Remaining != nil && b.Remaining.shared && other.Remaining.shared
}

// More is how many instances by the option limits allow.
func (b *obtainable) More(option int) int64 {
	if b.Remaining == nil {
		return math.MaxInt64
	}
	return b.Remaining.more(option)
}

// asModest reports whether an instance by the option takes no more of what is limited than one by the other.
func (b *obtainable) asModest(option, than int) bool {
	return b.Remaining == nil || option == than || b.Remaining.noMore(b.Remaining.of(option), b.Remaining.of(than), costSlack)
}

// asModestAs is asModest of an instance of the type by some option.
func (b *obtainable) asModestAs(option, kind int) bool {
	return b.Remaining == nil || b.Options[option].Kind == kind ||
		slices.ContainsFunc(b.optionsOf(kind), func(than int) bool { return b.asModest(option, than) })
}

// limitCostCounts reports whether what instances take of limits counts as a cost.
func (b *pricing) limitCostCounts() bool { return b.Remaining != nil && b.Valuation.LimitCost > 0 }

// LimitCost is what counts as the cost of what an instance by the option takes of limits; see Valuation.LimitCost.
func (b *pricing) LimitCost(option int) float64 {
	if !b.limitCostCounts() {
		return 0
	}
	return float64(b.Valuation.LimitCost * b.Remaining.share(option))
}

// thrifty adds LimitCost to prices.
func (b *pricing) thrifty(prices []float64) []float64 {
	if !b.limitCostCounts() {
		return prices
	}
	out := slices.Clone(prices)
	for i := range b.Options {
		out[i] += b.LimitCost(i)
	}
	return out
}

// HeldBack reports whether limits forbid an instance that has room for pods that want this and need so much.
func (b *obtainable) HeldBack(wants *cluster.Shape, need []int64) bool {
	if wants.Unable != "" {
		return false
	}
	terms, _ := b.Terms(wants)
	return slices.ContainsFunc(terms, func(t feasibility.Term) bool {
		for i := t.Options.Next(0); i >= 0; i = t.Options.Next(i + 1) {
			if b.AvailableNow.Has(i) && !b.WithinLimits.Has(i) && amount.Fits(b.MostFree(b.Options[i].Kind), need) {
				return true
			}
		}
		return false
	})
}
