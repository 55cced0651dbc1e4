package emulator

import (
	"github.com/daemok/daemok/test/emulator/world"
)

// kept is everything the account holds, instances' lives and prices aside:
// those are the market's. It is written to and read from JSON as it is.
type kept struct {
	VPCs         []*vpc                          // the cluster's first, then by age
	Subnets      []*subnet                       // sorted by ID
	Groups       []*securityGroup                // sorted by ID
	Images       []*image                        // sorted by ID
	Released     int                             // how often newer images came out since
	Templates    map[string]*template            // by ID
	Records      map[string]*instance            `json:"Instances"` // by ID
	Fleets       map[string]*fleet               // by ID
	Reservations map[string]*capacityReservation // by ID
	Placements   map[string]*placementGroup      // by ID
	Interfaces   map[string]*detachedInterface   // that instances do not hold, by ID
}

// newState builds the account as the getting-started guides leave it.
func newState(a world.Account, zones []world.Zone, images []*image) *kept {
	s := &kept{
		Templates:    map[string]*template{},
		Records:      map[string]*instance{},
		Fleets:       map[string]*fleet{},
		Reservations: map[string]*capacityReservation{},
	}
	own := newVPC(a)
	s.VPCs = []*vpc{own}
	s.Subnets = newSubnets(a, own.ID, zones)
	s.Groups = newGroups(a, own.ID)
	s.Images = images
	return s
}
