package bench

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
)

// market is the capacity that the cloud has left of each spot offering: it decides which of
// the offerings that a request names is launched. It draws by the estimate that plans have
// of the cost of spot (cluster.LikelySpot), so it says nothing of whether that is right.
type market struct {
	chance *rand.Rand
	shy    map[[2]string]float64 // by instance type and zone: what its price is multiplied by when offerings are compared
}

// allot returns what the cloud gives for a launch: of spot offerings that cost little
// more than the cheapest one of which it has enough, else what was asked for first.
func (m *market) allot(s *cluster.Snapshot, l *plan.Launch) plan.Choice {
	pool, found := s.Pool(l.Pool)
	if !found || pool.Catalogue == nil || l.Choice.Option != cluster.Spot {
		return l.Choice
	}
	var all []plan.Choice
	for i := range pool.Catalogue.InstanceTypes {
		k := &pool.Catalogue.InstanceTypes[i]
		if !l.Requests.FitsIn(k.Allocatable) {
			continue
		}
		for j := range k.Offerings {
			o := &k.Offerings[j]
			labels := pool.Labels.Merge(k.Labels).Merge(l.Labels).Merge(o.Labels)
			if _, ok := l.Requirements.Allow(labels); ok && o.Option == cluster.Spot && o.Priced && o.Available {
				all = append(all, plan.Choice{Kind: k.Name, Zone: o.Zone, Option: o.Option, Price: o.Price, Priced: true, Beside: l.Choice.Beside})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b plan.Choice) int { return cmp.Compare(a.Price, b.Price) })
	limit, _ := cluster.NearSpot(func(yield func(string, quantity.MicroUSDPerHour) bool) {
		for i := range all {
			if !yield(all[i].Kind, all[i].Price) {
				return
			}
		}
	})
	best, least := l.Choice, 0.0
	for i := range all {
		if all[i].Price > limit {
			break
		}
		if score := float64(all[i].Price) * m.shyness(all[i].Kind, all[i].Zone); least == 0 || score < least {
			best, least = all[i], score
		}
	}
	return best
}

func (m *market) shyness(kind, zone string) float64 {
	at := [2]string{kind, zone}
	if _, known := m.shy[at]; !known {
		m.shy[at] = 1 + cluster.Shyest*m.chance.Float64()
	}
	return m.shy[at]
}
