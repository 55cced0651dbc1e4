package ec2data

// Shares of the on-demand price that stand in for an unpublished spot price.
const (
	spotShare             = 0.34
	spotShareDiscontinued = 0.30
)

// OnDemandUSD returns the on-demand price for Linux in dollars per hour, and
// whether it is an estimate. ok is false where there is no price at all:
// the region is not in the table, or the type is offered by the host alone.
func (t *Type) OnDemandUSD(region string) (price float64, estimated, ok bool) {
	if p, ok := t.OnDemand[region]; ok {
		return p, false, true
	}
	p, ok := t.OnDemandEstimate[region]
	return p, ok, ok
}

// SpotUSD returns the average spot price in dollars per hour. Where none is
// published it is a share of the on-demand price, and marked as an estimate.
// ok is false for a type that is not offered as spot or has no price.
func (t *Type) SpotUSD(region string) (price float64, estimated, ok bool) {
	if !t.HasUsage("spot") {
		return 0, false, false
	}
	if p, ok := t.Spot[region]; ok {
		return p, false, true
	}
	p, _, ok := t.OnDemandUSD(region)
	if !ok {
		return 0, false, false
	}
	if t.Discontinued {
		return p * spotShareDiscontinued, true, true
	}
	return p * spotShare, true, true
}
