package scheduling

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/demand"
	"github.com/daemok/daemok/core/feasibility"
	"github.com/daemok/daemok/core/supply"
	"github.com/daemok/daemok/core/topology"
)

// offeringIndex finds the offerings that pods may be on, by level and spot.
type offeringIndex struct {
	*Places
	Sets map[string][]*demand.OfferingSet // see OfferingSetsOf
}

// launchable reports whether an instance can be had for a pod of the group now.
func (ix *offeringIndex) launchable(g *demand.Group, lv *demand.Level) bool {
	return slices.ContainsFunc(ix.OfferingSetsOf(lv), func(m *demand.OfferingSet) bool {
		_, _, ok := m.First(g, false)
		return ok
	})
}

// OfferingSetsOf lists the offering sets for pods of the level: one for each spot that instances can be launched on,
// or a single one where the spot does not matter. Levels that want the same of nodes share them.
func (ix *offeringIndex) OfferingSetsOf(lv *demand.Level) []*demand.OfferingSet {
	if lv.Asked {
		return lv.OfferingSets
	}
	text := nodesText(lv)
	offeringSets, known := ix.Sets[text]
	if !known {
		offeringSets = ix.newOfferingSets(lv)
		ix.Sets[text] = offeringSets
	}
	lv.OfferingSets, lv.Asked = offeringSets, true
	return offeringSets
}

// nodesText is equal for levels that want the same of nodes in the same keys.
func nodesText(lv *demand.Level) string {
	var b strings.Builder
	fmt.Fprint(&b, lv.Strict, lv.Rules.Fixed(), lv.Wants.Unable, lv.Wants.Tolerations)
	for _, t := range lv.Wants.NodeTerms {
		b.WriteString("|" + t.String())
	}
	for _, t := range lv.Wants.VolumeTerms {
		b.WriteString("|volume " + t.String())
	}
	return b.String()
}

func (ix *offeringIndex) newOfferingSets(lv *demand.Level) []*demand.OfferingSet {
	book := &book{at: map[string]*demand.OfferingSet{}}
	if len(lv.Rules.Fixed()) == 0 {
		ix.offeringSetAt(book, lv, ix.nowhere())
	}
	for _, b := range ix.Candidates {
		if lv.Strict && feasibility.Avoided(b.Taints, lv.Wants.Tolerations) {
			continue
		}
		terms, _ := b.Terms(lv.Wants)
		for _, t := range terms {
			ix.addOptions(b, lv, t, book)
		}
	}
	return book.list
}

// book is the offering sets of one level while they are found.
type book struct {
	list []*demand.OfferingSet
	at   map[string]*demand.OfferingSet // by appendSpot
	text []byte                         // kept for its memory
}

// offeringSetAt returns the level's offering set on the spot, a new one if there is none.
func (ix *offeringIndex) offeringSetAt(k *book, lv *demand.Level, spot topology.Spot) *demand.OfferingSet {
	k.text = appendSpot(k.text[:0], lv.Rules.Fixed(), spot)
	m := k.at[string(k.text)]
	if m == nil {
		m = ix.newOfferingSet(lv, spot)
		k.at[string(k.text)] = m
		k.list = append(k.list, m)
	}
	return m
}

// appendSpot appends a text that is equal for spots with the same domains of these keys, as the key of a map.
func appendSpot(text []byte, keys []int, spot topology.Spot) []byte {
	for _, k := range keys {
		text = binary.LittleEndian.AppendUint32(text, uint32(spot[k]))
	}
	return text
}

func (ix *offeringIndex) nowhere() topology.Spot {
	out := make(topology.Spot, len(ix.Board.Keys()))
	for k, key := range ix.Board.Keys() {
		out[k] = topology.None
		if key == cluster.LabelHostname {
			out[k] = topology.Fresh
		}
	}
	return out
}

func (ix *offeringIndex) newOfferingSet(lv *demand.Level, spot topology.Spot) *demand.OfferingSet {
	m := &demand.OfferingSet{Spot: spot, Wants: lv.Wants}
	if pins := ix.pins(lv.Rules.Fixed(), spot); len(pins) > 0 {
		bound := *lv.Wants
		bound.NodeTerms = feasibility.Cross(lv.Wants.NodeTerms, []constraint.Requirements{pins})
		m.Wants = &bound
	}
	return m
}

// addOptions adds the options that one pool has for one of the pod's alternatives.
func (ix *offeringIndex) addOptions(b *supply.Candidate, lv *demand.Level, t feasibility.Term, found *book) {
	fixed := lv.Rules.Fixed()
	in := b.RegionsBy(ix.Board, fixed)
	offeringSets := make([][]*demand.OfferingSet, in.Count) // by region
	for i := t.Options.Next(0); i >= 0; i = t.Options.Next(i + 1) {
		at := in.Of(i)
		if offeringSets[at] == nil {
			for _, spot := range ix.spotsOf(b, t, i, fixed) {
				offeringSets[at] = append(offeringSets[at], ix.offeringSetAt(found, lv, spot))
			}
		}
		for _, m := range offeringSets[at] {
			m.Add(b, i)
		}
	}
}

// spotsOf lists the spots that instances of the option can be on: several where the pool leaves one of its own
// labels open.
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
	key := ix.Board.Keys()[k]
	if b.Defines(key) {
		return b.Domains(ix.Board, k)[option : option+1]
	}
	if value, ok := b.Labels.Get(key); ok {
		return []int32{ix.Board.Domain(k, value)}
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
		out[i] = ix.Board.Domain(k, v)
	}
	return out
}
