package demand

import (
	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/supply"
	"github.com/daemok/daemok/core/topology"
)

// OfferingSet is the offerings that can be launched for pods of one level on one spot.
type OfferingSet struct {
	Spot   topology.Spot
	Wants  *cluster.Shape  // the level's, bound to the spot
	ByPool []PoolOfferings // heaviest pool first

	Various []PoolOfferings // those with other offerings than all before them; nil until core/place asks for the cheapest
}

// PoolOfferings is the part of an offering set that one pool has.
type PoolOfferings struct {
	Candidate *supply.Candidate
	Options   bitset.Set
}

// First returns the cost of the instance that is launched first for one pod of the group, and the tier of its pool.
// With available set, instances count too that limits forbid now.
func (m *OfferingSet) First(g *Group, available bool) (cost float64, tier int, ok bool) {
	for _, s := range m.ByPool {
		if ok && s.Candidate.Weight < tier {
			break
		}
		from := s.Candidate.WithinLimits
		if available {
			from = s.Candidate.AvailableNow
		}
		free := s.Candidate.Free
		if s.Candidate.Whole != nil {
			free = s.Candidate.Whole
		}
		for i := s.Options.Next(0); i >= 0; i = s.Options.Next(i + 1) {
			if !from.Has(i) || !amount.Fits(free[s.Candidate.Options[i].Kind], g.Need) {
				continue
			}
			if c := CostOf(s.Candidate.Offering(s.Candidate.Options[i])) + float64(s.Candidate.PerInstance()); !ok || c < cost {
				cost, tier, ok = c, s.Candidate.Weight, true
			}
			break
		}
	}
	return cost, tier, ok
}

// Reaches reports whether an instance for one pod of the group can be had in the
// domain of a key that the offering set leaves open.
func (m *OfferingSet) Reaches(board *topology.Board, g *Group, key int, domain int32) bool {
	for _, s := range m.ByPool {
		if !s.Candidate.Defines(board.Keys()[key]) {
			value, ok := s.Candidate.Labels.Get(board.Keys()[key])
			if !ok || value == board.Value(key, domain) {
				return true
			}
			continue
		}
		domains := s.Candidate.Domains(board, key)
		for i := s.Options.Next(0); i >= 0; i = s.Options.Next(i + 1) {
			if domains[i] == domain && s.Candidate.WithinLimits.Has(i) && amount.Fits(s.Candidate.Free[s.Candidate.Options[i].Kind], g.Need) {
				return true
			}
		}
	}
	return false
}

// CostOf is the cost of an offering where domains are compared.
func CostOf(o *cluster.Offering) float64 {
	switch {
	case o.Option == cluster.Reserved:
		return 0
	case !o.Priced:
		return 1e18
	}
	return float64(o.Price)
}

// Add adds an option of the pool. Pools come one after another.
func (m *OfferingSet) Add(b *supply.Candidate, option int) {
	if n := len(m.ByPool); n == 0 || m.ByPool[n-1].Candidate != b {
		m.ByPool = append(m.ByPool, PoolOfferings{b, bitset.New(len(b.Options))})
	}
	m.ByPool[len(m.ByPool)-1].Options.Add(option)
}
