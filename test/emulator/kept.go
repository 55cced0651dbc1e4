package emulator

// kept is everything the account holds, instances' lives and prices aside:
// those are the market's. It is written to and read from JSON as it is.
type kept struct {
	Records      map[string]*instance            `json:"Instances"` // by ID
	Fleets       map[string]*fleet               // by ID
	Reservations map[string]*capacityReservation // by ID
	Placements   map[string]*placementGroup      // by ID
	Interfaces   map[string]*detachedInterface   // that instances do not hold, by ID
}

// newState builds the account as the getting-started guides leave it.
func newState() *kept {
	s := &kept{
		Records:      map[string]*instance{},
		Fleets:       map[string]*fleet{},
		Reservations: map[string]*capacityReservation{},
	}
	return s
}
