package cluster

import (
	"slices"

	"github.com/daemok/daemok/core/quantity"
)

// Cover is a commitment, such as a Savings Plan, that pays for an instance of an offering, or a part of it. The zero
// value is none.
type Cover struct {
	By     string                   // the commitment's id
	Listed quantity.MicroUSDPerHour // the offering's price without it
}

// Covered reports whether a commitment pays for instances of the offering: its price is what is left to pay.
func (o *Offering) Covered() bool { return o.Cover.By != "" }

// PaidFor reports whether an instance of the offering is paid for already, whether it runs or not, and may be launched
// so many times only.
func (o *Offering) PaidFor() bool { return o.Option == Reserved || o.Covered() }

// ListPrice is the price of the offering without commitments.
func (o *Offering) ListPrice() quantity.MicroUSDPerHour {
	if o.Covered() {
		return o.Cover.Listed
	}
	return o.Price
}

// Uncovered is what an instance of the offering is taken from, commitments aside.
func (o *Offering) Uncovered() []ReservedCapacity {
	if !o.Covered() {
		return o.ReservedCapacities
	}
	return slices.DeleteFunc(slices.Clone(o.ReservedCapacities), ReservedCapacity.OfCommitment)
}
