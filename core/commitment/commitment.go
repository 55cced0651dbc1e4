// Package commitment divides Reserved Instances and Savings Plans among the instances that run, by AWS's rules.
//
// It promises the same bill for the same instances, in whatever order they are given. What is committed is paid for in
// any event, so that it is no part of the bill. It knows the instances that it is given, of one account and Region, and
// the others of Commitments, and none else that may use the commitments.
//
// The rules are those of AWS's pages on how Reserved Instances are applied and on how Savings Plans apply to usage:
//
//   - Reserved Instances come first: those of a zone for their type there, then those of the Region for their type,
//     then those that are flexible for any size of their family, from the smallest to the largest. These may cover a
//     part of an instance.
//   - Savings Plans cover what is left: EC2 Instance Savings Plans first, then Compute Savings Plans, each the usage
//     with the greatest discount first and, of equal ones, that with the lowest rate. They may cover a part too.
package commitment

import (
	"cmp"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/daemok/daemok/core/quantity"
)

// Commitments are what an account has committed itself to pay.
type Commitments struct {
	Reserved []ReservedInstances
	Plans    []SavingsPlan
	// Others are instances that use them too: of the account, and none of those that are given.
	Others []Usage
}

// Any reports whether there are any.
func (c *Commitments) Any() bool { return len(c.Reserved)+len(c.Plans) > 0 }

// MayPay reports whether one of them may pay for an instance like this: whether that is left or not.
func (c *Commitments) MayPay(u *Usage) bool {
	for i := range c.Reserved {
		if c.Reserved[i].mayPay(u) {
			return true
		}
	}
	for i := range c.Plans {
		if _, ok := c.Plans[i].rate(u); ok {
			return true
		}
	}
	return false
}

// ReservedInstances are one purchase of Reserved Instances.
type ReservedInstances struct {
	ID           string
	InstanceType string
	Zone         string // of zonal ones; empty: they are of the Region
	Count        int64
	Elsewhere    int64 // of Count: what instances use that are not given, such as those of other clusters
	Flexible     bool  // of the Region, for Linux with default tenancy, of a family for which AWS allows it: any size
	Account      bool  // AWS said so; else a user listed them
}

// SavingsPlan is one purchase of a Savings Plan.
type SavingsPlan struct {
	ID         string
	Family     string // of an EC2 Instance Savings Plan, such as m5; empty: it is a Compute Savings Plan
	Commitment quantity.MicroUSDPerHour
	Elsewhere  quantity.MicroUSDPerHour            // of Commitment: as of Reserved Instances
	Rates      map[string]quantity.MicroUSDPerHour // by instance type
	// Discount is the share of the price on demand that types without a rate save; 0: they are not covered.
	Discount float64
	Account  bool // as of Reserved Instances
}

// units is how much of them is for the instances that are given, in quarters of normalized units, or in instances.
func (r *ReservedInstances) units() int64 {
	return max(0, r.Count-r.Elsewhere) * weight(r.InstanceType)
}

// dollars is how much of it is for the instances that are given.
func (p *SavingsPlan) dollars() quantity.MicroUSDPerHour { return max(0, p.Commitment-p.Elsewhere) }

// rate is what an hour of the instance costs by the plan; ok is false where it does not cover it.
func (p *SavingsPlan) rate(u *Usage) (rate quantity.MicroUSDPerHour, ok bool) {
	if p.Family != "" && p.Family != familyOf(u.InstanceType) {
		return 0, false
	}
	if rate, ok = p.Rates[u.InstanceType]; ok || p.Discount == 0 {
		return rate, ok
	}
	return quantity.MicroUSDPerHour(float64(u.OnDemand) * (1 - p.Discount)), true
}

// Usage is an on-demand instance that runs, or several that are alike.
type Usage struct {
	Name         string
	InstanceType string
	Zone         string
	OnDemand     quantity.MicroUSDPerHour // of each
	Count        int64                    // how many there are; 0: one
}

// Whole is what all of them cost on demand.
func (u *Usage) Whole() quantity.MicroUSDPerHour {
	return u.OnDemand * quantity.MicroUSDPerHour(max(1, u.Count))
}

// Bill is what commitments leave.
type Bill struct {
	Cost   quantity.MicroUSDPerHour // of what no commitment covers of the instances that are given, on demand
	Others quantity.MicroUSDPerHour // the same of Commitments.Others
	Unused []Unused                 // commitments that are not used up, Reserved Instances first, in the order given
}

// Unused is what of a commitment no instance uses.
type Unused struct {
	ID         string
	Instances  float64                  // of the type of Reserved Instances; a part where another size uses a part
	Commitment quantity.MicroUSDPerHour // of a Savings Plan
}

// Divide computes the bill of the instances. Of an instance that is given and another that is alike it is the former
// that commitments pay for. Cost: usages x commitments.
func Divide(c Commitments, running []Usage) (out Bill) {
	d := divide(&c, running)
	for i, left := range d.reserved {
		instances := float64(left) / float64(weight(c.Reserved[i].InstanceType))
		out.Unused = append(out.Unused, Unused{ID: c.Reserved[i].ID, Instances: instances})
	}
	for i, left := range d.plans {
		out.Unused = append(out.Unused, Unused{ID: c.Plans[i].ID, Commitment: left})
	}
	for _, u := range d.all {
		if u.other {
			out.Others += u.cost
		} else {
			out.Cost += u.cost
		}
	}
	out.Unused = slices.DeleteFunc(out.Unused, func(x Unused) bool { return x.Instances == 0 && x.Commitment == 0 })
	return out
}

// division is what instances are covered by, and what is left of each commitment.
type division struct {
	all      []*usage
	reserved []int64 // in quarters of normalized units, or in instances
	plans    []quantity.MicroUSDPerHour
}

func divide(c *Commitments, running []Usage) *division {
	all := usages(running, c.Others)
	d := &division{all, make([]int64, len(c.Reserved)), make([]quantity.MicroUSDPerHour, len(c.Plans))}
	for i := range c.Reserved {
		d.reserved[i] = c.Reserved[i].units()
	}
	for _, step := range []scope{ofZone, ofType, ofFamily} {
		for i := range c.Reserved {
			if r := &c.Reserved[i]; r.joins(step) {
				d.reserved[i] = reserve(r, step, d.reserved[i], d.all)
			}
		}
	}
	for _, ofFamily := range []bool{true, false} {
		for i := range c.Plans {
			if p := &c.Plans[i]; (p.Family != "") == ofFamily {
				d.plans[i] = p.cover(d.all)
			}
		}
	}
	return d
}

// usage is instances that are alike, with what of them nothing covers yet.
type usage struct {
	Usage
	other bool
	each  int64 // of one, in quarters of normalized units; 1 where its size has no factor
	left  int64 // of all, in the same
	cost  quantity.MicroUSDPerHour
}

// usages sorts instances by content, so that bills do not depend on the order in which they are given. Of those that
// are alike others come last. Others that are in order, as Sort puts them, take time linear in their number.
func usages(running, others []Usage) []*usage {
	running = slices.Clone(running)
	slices.SortStableFunc(running, func(a, b Usage) int { return cmp.Or(compare(a, b), cmp.Compare(a.Name, b.Name)) })
	if !slices.IsSortedFunc(others, compare) {
		others = slices.Clone(others)
		Sort(others)
	}
	all := make([]usage, len(running)+len(others))
	out := make([]*usage, len(all))
	for i := range all {
		next, other := &running, len(running) == 0 || len(others) > 0 && compare(others[0], running[0]) < 0
		if other {
			next = &others
		}
		u := (*next)[0]
		*next = (*next)[1:]
		w := weight(u.InstanceType)
		all[i] = usage{u, other, w, w * max(1, u.Count), u.Whole()}
		out[i] = &all[i]
	}
	return out
}

// Sort puts instances in the order in which they are divided: the smallest first, those that are alike as they are.
func Sort(all []Usage) { slices.SortStableFunc(all, compare) }

func compare(a, b Usage) int {
	if a.InstanceType != b.InstanceType {
		return cmp.Or(cmp.Compare(weight(a.InstanceType), weight(b.InstanceType)),
			cmp.Compare(a.InstanceType, b.InstanceType))
	}
	return cmp.Or(cmp.Compare(a.Zone, b.Zone), cmp.Compare(a.OnDemand, b.OnDemand))
}

// cover takes so much of what is left of the instances.
func (u *usage) cover(units int64) {
	u.left -= units
	u.cost = quantity.MicroUSDPerHour(share(int64(u.OnDemand), u.left, u.each))
}

// share is amount x part / whole, which may be larger than an int64 before it is divided.
func share(amount, part, whole int64) int64 {
	high, low := bits.Mul64(uint64(amount), uint64(part))
	out, _ := bits.Div64(high, low, uint64(whole))
	return int64(out)
}

// scope is which instances Reserved Instances are for; each step leaves them fewer rules.
type scope int

const (
	ofZone   scope = iota // their type in their zone
	ofType                // their type in the Region
	ofFamily              // any size of their family in the Region
)

// joins reports whether they take part in a step: zonal ones in the first alone.
func (r *ReservedInstances) joins(step scope) bool {
	_, normalized := factor(sizeOf(r.InstanceType))
	switch step {
	case ofZone:
		return r.Zone != ""
	case ofType:
		return r.Zone == ""
	}
	return r.Zone == "" && r.Flexible && normalized
}

// covers reports whether they are for the instance in a step.
func (r *ReservedInstances) covers(u *Usage, step scope) bool {
	switch step {
	case ofZone:
		return r.Zone == u.Zone && r.InstanceType == u.InstanceType
	case ofType:
		return r.InstanceType == u.InstanceType
	}
	_, normalized := factor(sizeOf(u.InstanceType))
	return normalized && familyOf(r.InstanceType) == familyOf(u.InstanceType)
}

// mayPay reports whether they are for the instance in any step.
func (r *ReservedInstances) mayPay(u *Usage) bool {
	for _, step := range []scope{ofZone, ofType, ofFamily} {
		if r.joins(step) && r.covers(u, step) {
			return true
		}
	}
	return false
}

// reserve covers instances with what is left of Reserved Instances, and returns what is left then.
func reserve(r *ReservedInstances, step scope, left int64, all []*usage) int64 {
	for _, u := range all {
		if left > 0 && u.left > 0 && r.covers(&u.Usage, step) {
			n := min(left, u.left)
			u.cover(n)
			left -= n
		}
	}
	return left
}

// cover covers instances with the plan, and returns what of its commitment is left.
func (p *SavingsPlan) cover(all []*usage) (left quantity.MicroUSDPerHour) {
	type at struct {
		*usage
		rate quantity.MicroUSDPerHour
	}
	var covered []at
	for _, u := range all {
		if rate, ok := p.rate(&u.Usage); ok && u.cost > 0 {
			covered = append(covered, at{u, rate})
		}
	}
	slices.SortStableFunc(covered, func(a, b at) int {
		// The share of the price that is left to pay is rate/price: compared without dividing.
		return cmp.Or(cmp.Compare(a.rate*b.OnDemand, b.rate*a.OnDemand), cmp.Compare(a.rate, b.rate))
	})
	left = p.dollars()
	for _, u := range covered {
		// At the plan's rate, for what is not covered yet:
		needs := quantity.MicroUSDPerHour(share(int64(u.rate), int64(u.cost), int64(u.OnDemand)))
		if needs <= left {
			left, u.cost = left-needs, 0
			continue
		}
		u.cost -= quantity.MicroUSDPerHour(share(int64(u.cost), int64(left), int64(needs)))
		left = 0
	}
	return left
}

// weight is the normalization factor of the type's size in quarters; 1 where it has none.
func weight(instanceType string) int64 {
	if f, ok := factor(sizeOf(instanceType)); ok {
		return f
	}
	return 1
}

func familyOf(instanceType string) string {
	family, _, _ := strings.Cut(instanceType, ".")
	return family
}

func sizeOf(instanceType string) string {
	_, size, _ := strings.Cut(instanceType, ".")
	return size
}

// factor is the normalization factor of a size, in quarters: 1 for nano, 16 for large, 32 for xlarge, and 32 x n for
// <n>xlarge, as AWS's page on Reserved Instances lists them. ok is false for sizes that have none there, such as metal.
func factor(size string) (quarters int64, ok bool) {
	switch size {
	case "nano":
		return 1, true
	case "micro":
		return 2, true
	case "small":
		return 4, true
	case "medium":
		return 8, true
	case "large":
		return 16, true
	case "xlarge":
		return 32, true
	}
	n, err := strconv.ParseInt(strings.TrimSuffix(size, "xlarge"), 10, 32)
	if err != nil || n < 1 || !strings.HasSuffix(size, "xlarge") {
		return 0, false
	}
	return 32 * n, true
}
