package shadow

import (
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/offering"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
)

// spotMore is what a spot instance that replaces others is likely to cost beside its price, since the cloud chooses
// among the offerings that a request names. A plan says it of its launches for pods that wait alone.
func spotMore(s *cluster.Snapshot, l *plan.Launch) quantity.MicroUSDPerHour {
	p, ok := s.Pool(l.Pool)
	if !ok || p.Catalogue == nil || l.Choice.Option != cluster.Spot {
		return 0
	}
	ask := offering.Ask{Requirements: l.Requirements, Requests: l.Requests, Relaxed: l.Relaxed}
	for _, r := range l.Requirements {
		if !p.Catalogue.Has(r.Key) {
			ask.NotOfTypes = append(ask.NotOfTypes, r.Key)
		}
	}
	var prices []quantity.MicroUSDPerHour
	for _, n := range offering.Choose(p.Catalogue.InstanceTypes, ask).Named {
		if n.Offering.Option == cluster.Spot && n.Offering.Priced {
			prices = append(prices, n.Offering.Price)
		}
	}
	slices.Sort(prices)
	return max(0, cluster.LikelySpot(prices)-l.Choice.Price)
}
