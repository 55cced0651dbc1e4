package place

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/feasibility"
	"github.com/daemok/daemok/core/supply"
	"github.com/daemok/daemok/core/topology"
)

// offeringIndex finds the offerings that pods may be on, by level and spot.
type offeringIndex struct {
	run  *run
	sets map[string][]*offeringSet // see offeringSetsOf
}

// offeringSet is the instances that can be launched for pods of one level on one spot.
type offeringSet struct {
	spot   topology.Spot
	wants  *cluster.Shape  // the level's, bound to the spot
	byPool []poolOfferings // heaviest pool first

	various []poolOfferings // those with other offerings than all before them; nil: not looked at yet, see evaluator.cheapest
}

// poolOfferings is what one pool has of it.
type poolOfferings struct {
	b       *supply.Candidate
	options bitset.Set
}

// first returns the cost of the instance that is launched first for one pod of
// the group, and the tier of its pool. With offered set, instances count that
// limits forbid now.
func (m *offeringSet) first(g *group, available bool) (cost float64, tier int, ok bool) {
	for _, s := range m.byPool {
		if ok && s.b.Weight < tier {
			break
		}
		from := s.b.WithinLimits
		if available {
			from = s.b.AvailableNow
		}
		free := s.b.Free
		if s.b.Whole != nil {
			free = s.b.Whole
		}
		for i := s.options.Next(0); i >= 0; i = s.options.Next(i + 1) {
			if !from.Has(i) || !amount.Fits(free[s.b.Options[i].Kind], g.need) {
				continue
			}
			if c := costOf(s.b.Offering(s.b.Options[i])) + float64(s.b.PerInstance()); !ok || c < cost {
				cost, tier, ok = c, s.b.Weight, true
			}
			break
		}
	}
	return cost, tier, ok
}

// reaches reports whether an instance for one pod of the group can be had in the
// domain of a key that the offering set leaves open.
func (m *offeringSet) reaches(board *topology.Board, g *group, key int, domain int32) bool {
	for _, s := range m.byPool {
		if !s.b.Defines(board.Keys()[key]) {
			value, ok := s.b.Labels.Get(board.Keys()[key])
			if !ok || value == board.Value(key, domain) {
				return true
			}
			continue
		}
		domains := s.b.Domains(board, key)
		for i := s.options.Next(0); i >= 0; i = s.options.Next(i + 1) {
			if domains[i] == domain && s.b.WithinLimits.Has(i) && amount.Fits(s.b.Free[s.b.Options[i].Kind], g.need) {
				return true
			}
		}
	}
	return false
}

// costOf is what counts when domains are compared.
func costOf(o *cluster.Offering) float64 {
	switch {
	case o.Option == cluster.Reserved:
		return 0
	case !o.Priced:
		return 1e18
	}
	return float64(o.Price)
}

// launchable reports whether an instance can be had for a pod of the group now.
func (ix *offeringIndex) launchable(g *group, lv *level) bool {
	return slices.ContainsFunc(ix.offeringSetsOf(lv), func(m *offeringSet) bool {
		_, _, ok := m.first(g, false)
		return ok
	})
}

// offeringSetsOf lists the spots on which instances can be launched for pods of the
// level; a single one where it does not matter. Levels that want the same of
// nodes share them.
func (ix *offeringIndex) offeringSetsOf(lv *level) []*offeringSet {
	if lv.asked {
		return lv.offeringSets
	}
	text := nodesText(lv)
	offeringSets, known := ix.sets[text]
	if !known {
		offeringSets = ix.newOfferingSets(lv)
		ix.sets[text] = offeringSets
	}
	lv.offeringSets, lv.asked = offeringSets, true
	return offeringSets
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

func (ix *offeringIndex) newOfferingSets(lv *level) []*offeringSet {
	book := &book{at: map[string]*offeringSet{}}
	if len(lv.rules.Fixed()) == 0 {
		ix.offeringSetAt(book, lv, ix.nowhere())
	}
	for _, b := range ix.run.candidates {
		if lv.strict && feasibility.Avoided(b.Taints, lv.wants.Tolerations) {
			continue
		}
		terms, _ := b.Terms(lv.wants)
		for _, t := range terms {
			ix.reservedCapacity(b, lv, t, book)
		}
	}
	return book.list
}

// book is the offering sets of one level while they are found.
type book struct {
	list []*offeringSet
	at   map[string]*offeringSet // by appendSpot
	text []byte                  // kept for its memory
}

// offeringSetAt returns the level's offering set on the spot, a new one if there is none.
func (ix *offeringIndex) offeringSetAt(k *book, lv *level, spot topology.Spot) *offeringSet {
	k.text = appendSpot(k.text[:0], lv.rules.Fixed(), spot)
	m := k.at[string(k.text)]
	if m == nil {
		m = ix.newOfferingSet(lv, spot)
		k.at[string(k.text)] = m
		k.list = append(k.list, m)
	}
	return m
}

// appendSpot adds what distinguishes spots that are to be the same in these keys.
func appendSpot(text []byte, keys []int, spot topology.Spot) []byte {
	for _, k := range keys {
		text = binary.LittleEndian.AppendUint32(text, uint32(spot[k]))
	}
	return text
}

func (ix *offeringIndex) nowhere() topology.Spot {
	out := make(topology.Spot, len(ix.run.board.Keys()))
	for k, key := range ix.run.board.Keys() {
		out[k] = topology.None
		if key == cluster.LabelHostname {
			out[k] = topology.Fresh
		}
	}
	return out
}

func (ix *offeringIndex) newOfferingSet(lv *level, spot topology.Spot) *offeringSet {
	m := &offeringSet{spot: spot, wants: lv.wants}
	if pins := ix.run.scheduler.pins(lv.rules.Fixed(), spot); len(pins) > 0 {
		bound := *lv.wants
		bound.NodeTerms = feasibility.Cross(lv.wants.NodeTerms, []constraint.Requirements{pins})
		m.wants = &bound
	}
	return m
}

// reservedCapacity adds what one pool has for one of the pod's alternatives.
func (ix *offeringIndex) reservedCapacity(b *supply.Candidate, lv *level, t feasibility.Term, found *book) {
	fixed := lv.rules.Fixed()
	in := b.RegionsBy(ix.run.board, fixed)
	offeringSets := make([][]*offeringSet, in.Count) // by region
	for i := t.Options.Next(0); i >= 0; i = t.Options.Next(i + 1) {
		at := in.Of(i)
		if offeringSets[at] == nil {
			for _, spot := range ix.spotsOf(b, t, i, fixed) {
				offeringSets[at] = append(offeringSets[at], ix.offeringSetAt(found, lv, spot))
			}
		}
		for _, m := range offeringSets[at] {
			m.add(b, i)
		}
	}
}

// add puts an option of the pool on sale.
func (m *offeringSet) add(b *supply.Candidate, option int) {
	if n := len(m.byPool); n == 0 || m.byPool[n-1].b != b {
		m.byPool = append(m.byPool, poolOfferings{b, bitset.New(len(b.Options))})
	}
	m.byPool[len(m.byPool)-1].options.Add(option)
}

// spotsOf lists where instances of the option can be: several spots where the
// pool leaves a label of its own open.
func (ix *offeringIndex) spotsOf(b *supply.Candidate, t feasibility.Term, option int, fixed []int) []topology.Spot {
	out := []topology.Spot{ix.nowhere()}
	for _, k := range fixed {
		domains := ix.domainsOf(b, t, option, k)
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

// domainsOf lists the domains that the label may put an instance in.
func (ix *offeringIndex) domainsOf(b *supply.Candidate, t feasibility.Term, option, k int) []int32 {
	key := ix.run.board.Keys()[k]
	if b.Defines(key) {
		return b.Domains(ix.run.board, k)[option : option+1]
	}
	if value, ok := b.Labels.Get(key); ok {
		return []int32{ix.run.board.Domain(k, value)}
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
		out[i] = ix.run.board.Domain(k, v)
	}
	return out
}
