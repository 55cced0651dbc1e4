package catalog

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/quantity"
)

// reservedShare is what of its price on demand a reserved instance counts as costing: it is
// paid for whether it runs or not, so that it comes before all others, and yet small
// instances before large ones.
const reservedShare = 10_000

// place is one type of instance in one zone.
type place struct{ kind, zone string }

func reservedBy(all []nodeclass.Reservation) map[place][]nodeclass.Reservation {
	out := map[place][]nodeclass.Reservation{}
	for _, r := range all {
		at := place{r.Kind, r.Zone}
		out[at] = append(out[at], r)
	}
	return out
}

// reserved is the offering of a capacity reservation in the zone, of the reservation's
// tenancy.
func (z zone) reserved(r nodeclass.Reservation, now Market) cluster.Offering {
	left := now.ReservedCapacities.Left(r.ID)
	o := cluster.Offering{
		Zone: z.name, Option: cluster.Reserved, Labels: z.reservedLabels(r), Why: cmp.Or(z.away, z.full),
		ReservedCapacities: append([]cluster.ReservedCapacity{{Name: r.ID, Left: left}}, z.reservedCapacities...),
	}
	slices.SortFunc(o.ReservedCapacities, func(a, b cluster.ReservedCapacity) int { return cmp.Compare(a.Name, b.Name) })
	if r.Dedicated {
		o.Unless = unlessDefault
	}
	if r.Expiring { // which stays so, whatever is left of it
		o.Why = cmp.Or(o.Why, fmt.Sprintf("capacity block %s expires: AWS terminates its instances from %s on", r.ID,
			r.InstancesEndAt().UTC().Format(time.RFC3339)))
	}
	o.Price, o.Priced = reservedPrice(r.Kind, now)
	o.Available = left > 0 && o.Why == ""
	return o
}

// reservedPrice is that share of the price on demand; one that is not known does
// not matter.
func reservedPrice(kind string, now Market) (quantity.MicroUSDPerHour, bool) {
	price, _ := now.Prices.OnDemand(kind)
	return max(1, price/reservedShare), true
}

func (z zone) reservedLabels(r nodeclass.Reservation) constraint.Labels {
	kind := "default"
	if r.Block {
		kind = "capacity-block"
	}
	return z.offeringLabels(way{option: cluster.Reserved, dedicated: r.Dedicated}).
		With(nodeclass.LabelReservation, r.ID).
		With(nodeclass.LabelReservationType, kind).
		With(nodeclass.LabelReservationInterruptible, strconv.FormatBool(r.Interruptible))
}
