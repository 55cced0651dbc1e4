package offering

import (
	"fmt"
	"testing"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/quantity"
)

// Of reservations that would all do the one with most left is asked, for no more than it has.
func TestWhatAReservedRequestAsksFor(t *testing.T) {
	reserved := func(id, zone string, left int64) cluster.Offering {
		return cluster.Offering{Zone: zone, Option: cluster.Reserved, Available: true, Price: 10, Priced: true, ReservedCapacities: []cluster.ReservedCapacity{{Name: id, Left: left}},
			Labels: constraint.NewLabels(map[string]string{cluster.LabelZone: zone, cluster.LabelCapacityType: "reserved", cluster.LabelReservation: id, labelReservationType: "default"})}
	}
	for name, tt := range map[string]struct {
		offerings []cluster.Offering
		want      string
		room      int
	}{
		"of one reservation what it has":               {[]cluster.Offering{reserved("cr-1", "a", 3)}, "cr-1", 3},
		"of two in a zone the one with most left":      {[]cluster.Offering{reserved("cr-1", "a", 1), reserved("cr-2", "a", 2)}, "cr-2", 2},
		"of two with as much left the first":           {[]cluster.Offering{reserved("cr-1", "a", 1), reserved("cr-2", "a", 1)}, "cr-1", 1},
		"of two in two zones both":                     {[]cluster.Offering{reserved("cr-1", "a", 1), reserved("cr-2", "b", 2)}, "cr-1 cr-2", 3},
		"of more than a request may ask, as many":      {[]cluster.Offering{reserved("cr-1", "a", 5000)}, "cr-1", InstancesMax},
		"of what is no reservation as many as one may": {[]cluster.Offering{{Zone: "a", Option: cluster.OnDemand, Available: true, Price: 10, Priced: true}}, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			k := kind("m5.large", 2000)
			k.Offerings = tt.offerings
			requests := quantity.Resources{CPU: 1000}
			choice := Choose([]cluster.InstanceType{k}, ask(nil, requests))
			got := ""
			for i, o := range choice.Named {
				if i > 0 {
					got += " "
				}
				got += fmt.Sprint(o.Offering.Reservation())
			}
			if room := choice.Room(); got != tt.want || room != tt.room {
				t.Errorf("asks %q for %d at most, want %q for %d", got, room, tt.want, tt.room)
			}
		})
	}
}
