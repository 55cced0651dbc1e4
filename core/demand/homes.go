package demand

// Request is what distinguishes groups that are to be launched for.
type Request struct {
	Of          *Group
	Level       *Level
	OfferingSet *OfferingSet
}
