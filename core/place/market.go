package place

import (
	"fmt"
	"slices"
	"strings"

	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/fit"
	"github.com/daemok/daemok/core/topology"
)

// market is the machines that can be bought for pods of one level on one spot.
type market struct {
	spot   topology.Spot
	wants  *cluster.Shape // the level's, bound to the spot
	stalls []stall        // heaviest pool first
}

// stall is what one pool has of it.
type stall struct {
	b       *buyer
	options bitset.Set
}

// first returns the cost of the machine that is bought first for one pod of
// the group, and the tier of its pool. With sold set, machines count that
// limits forbid now.
func (m *market) first(g *group, sold bool) (cost float64, tier int, ok bool) {
	for _, s := range m.stalls {
		if ok && s.b.Weight < tier {
			break
		}
		from := s.b.within
		if sold {
			from = s.b.available
		}
		free := s.b.free
		if s.b.whole != nil {
			free = s.b.whole
		}
		for i := s.options.Next(0); i >= 0; i = s.options.Next(i + 1) {
			if !from.Has(i) || !fits(free[s.b.Options[i].Kind], g.need) {
				continue
			}
			if c := costOf(s.b.Offer(s.b.Options[i])); !ok || c < cost {
				cost, tier, ok = c, s.b.Weight, true
			}
			break
		}
	}
	return cost, tier, ok
}

// costOf is what counts when domains are compared.
func costOf(o *cluster.Offer) float64 {
	switch {
	case o.Option == cluster.Reserved:
		return 0
	case !o.Priced:
		return 1e18
	}
	return float64(o.Price)
}

// buyable reports whether a machine can be had for a pod of the group now.
func (r *run) buyable(g *group, lv *level) bool {
	return slices.ContainsFunc(r.marketsOf(lv), func(m *market) bool {
		_, _, ok := m.first(g, false)
		return ok
	})
}

// marketsOf lists the spots on which machines can be bought for pods of the
// level; a single one where it does not matter. Levels that want the same of
// nodes share them.
func (r *run) marketsOf(lv *level) []*market {
	if lv.markets == nil {
		text := nodesText(lv)
		if r.markets[text] == nil {
			r.markets[text] = r.newMarkets(lv)
		}
		lv.markets = r.markets[text]
	}
	return *lv.markets
}

// nodesText is equal for levels that want the same of nodes in the same keys.
func nodesText(lv *level) string {
	var b strings.Builder
	fmt.Fprint(&b, lv.strict, lv.rules.Fixed(), lv.wants.Unable, lv.wants.Tolerations)
	for _, t := range lv.wants.NodeTerms {
		b.WriteString("|" + t.String())
	}
	for _, t := range lv.wants.VolumeTerms {
		b.WriteString("|volume " + t.String())
	}
	return b.String()
}

func (r *run) newMarkets(lv *level) *[]*market {
	found := map[int64]*market{}
	var out []*market
	if len(lv.rules.Fixed()) == 0 {
		out = append(out, r.newMarket(lv, r.nowhere()))
		found[0] = out[0]
	}
	for _, b := range r.buyers {
		if lv.strict && fit.Avoided(b.Taints, lv.wants.Tolerations) {
			continue
		}
		terms, _ := b.Terms(lv.wants)
		for _, t := range terms {
			out = r.stock(b, lv, t, found, out)
		}
	}
	return &out
}

func (r *run) nowhere() topology.Spot {
	out := make(topology.Spot, len(r.board.Keys()))
	for k, key := range r.board.Keys() {
		out[k] = topology.None
		if key == cluster.LabelHostname {
			out[k] = topology.Fresh
		}
	}
	return out
}

func (r *run) newMarket(lv *level, spot topology.Spot) *market {
	m := &market{spot: spot, wants: lv.wants}
	if pins := r.pins(lv.rules.Fixed(), spot); len(pins) > 0 {
		bound := *lv.wants
		bound.NodeTerms = fit.Cross(lv.wants.NodeTerms, []constraint.Requirements{pins})
		m.wants = &bound
	}
	return m
}

// stock adds what one pool has for one of the pod's alternatives.
func (r *run) stock(b *buyer, lv *level, t fit.Term, found map[int64]*market, out []*market) []*market {
	fixed := lv.rules.Fixed()
	add := func(m *market, option int) {
		if n := len(m.stalls); n == 0 || m.stalls[n-1].b != b {
			m.stalls = append(m.stalls, stall{b, bitset.New(len(b.Options))})
		}
		m.stalls[len(m.stalls)-1].options.Add(option)
	}
	byOption := map[int64][]*market{} // by what options say of the keys
	for i := t.Options.Next(0); i >= 0; i = t.Options.Next(i + 1) {
		key := r.said(b, i, fixed)
		if _, known := byOption[key]; !known {
			for _, spot := range r.spotsOf(b, t, i, fixed) {
				at := spotKey(fixed, spot)
				if found[at] == nil {
					found[at] = r.newMarket(lv, spot)
					out = append(out, found[at])
				}
				byOption[key] = append(byOption[key], found[at])
			}
		}
		for _, m := range byOption[key] {
			add(m, i)
		}
	}
	return out
}

// said tells options apart by what they, and not their pool, say of the keys.
func (r *run) said(b *buyer, option int, fixed []int) int64 {
	key := int64(0)
	for _, k := range fixed {
		if b.Defines(r.board.Keys()[k]) {
			key = key*regionBase + int64(b.domains(r.board, k)[option]) + 2
		}
	}
	return key
}

func spotKey(fixed []int, spot topology.Spot) int64 {
	key := int64(0)
	for _, k := range fixed {
		key = key*regionBase + int64(spot[k]) + 2
	}
	return key
}

// spotsOf lists where machines of the option can be: several spots where the
// pool leaves a label of its own open.
func (r *run) spotsOf(b *buyer, t fit.Term, option int, fixed []int) []topology.Spot {
	out := []topology.Spot{r.nowhere()}
	for _, k := range fixed {
		domains := r.domainsOf(b, t, option, k)
		for n := len(out) - 1; n >= 0; n-- {
			for _, d := range domains[1:] {
				more := slices.Clone(out[n])
				more[k] = d
				out = append(out, more)
			}
			out[n][k] = domains[0]
		}
	}
	return out
}

// domainsOf lists the domains that the label may put a machine in.
func (r *run) domainsOf(b *buyer, t fit.Term, option, k int) []int32 {
	key := r.board.Keys()[k]
	if b.Defines(key) {
		return b.domains(r.board, k)[option : option+1]
	}
	if value, ok := b.Labels.Get(key); ok {
		return []int32{r.board.Domain(k, value)}
	}
	open := t.Custom
	if !open.Has(key) {
		open = b.Requirements
	}
	if !open.Has(key) {
		return []int32{topology.None}
	}
	values, finite := open.Get(key).Finite()
	if value, ok := open.Get(key).Any(); !finite && ok {
		values = []string{value}
	}
	if len(values) == 0 {
		return []int32{topology.None}
	}
	out := make([]int32, len(values))
	for i, v := range values {
		out[i] = r.board.Domain(k, v)
	}
	return out
}

// domains returns the domain of every option for a key that options decide.
func (b *buyer) domains(board *topology.Board, k int) []int32 {
	if b.inDomain == nil {
		b.inDomain = map[int][]int32{}
	}
	out := b.inDomain[k]
	if out == nil {
		out = make([]int32, len(b.Options))
		for i, o := range b.Options {
			out[i] = topology.None
			if value, ok := b.Label(o, board.Keys()[k]); ok {
				out[i] = board.Domain(k, value)
			}
		}
		b.inDomain[k] = out
	}
	return out
}

// chart notes which options are in the same domains of all keys that matter to
// pods that are bought for.
func (r *run) chart() {
	var keys []int
	for _, g := range r.groups {
		for _, k := range g.level.rules.Fixed() {
			if !slices.Contains(keys, k) {
				keys = append(keys, k)
			}
		}
	}
	for _, b := range r.buyers {
		for _, k := range keys {
			if !b.Defines(r.board.Keys()[k]) {
				continue
			}
			if b.regions == nil {
				b.regions = make([]int64, len(b.Options))
			}
			for i, d := range b.domains(r.board, k) {
				b.regions[i] = b.regions[i]*regionBase + int64(d) + 2
			}
		}
	}
}

// regionBase exceeds the number of domains that options can be in.
const regionBase = 1 << 16

func (b *buyer) region(option int) int64 {
	if b.regions == nil {
		return 0
	}
	return b.regions[option]
}
