package disruption

import (
	"fmt"
	"slices"

	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/place"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/core/removal"
)

// What cheaper instances in place of a node must save, as a share of what it costs. Room beside a node's pods is no waste
// where pods come, and each replacement evicts all pods of a node. Source: daemok simulate. Half a week of openb costs 18.1,
// 20.4 and 18.9 % more than the bound (seeds 1 to 3), and 21.9, 20.8 and 22.7 % when 70 % had to be saved while pods came,
// with 30 % more evictions; half days of services-b 16.2 and 17.5 %, and 15.6 and 15.5 % (seeds 1 and 2).
const (
	smallerShare = 0.3  // where room is given up
	leastShare   = 0.15 // where an instance with as much cpu and memory costs so much less
)

// replacement asks for cheaper instances that hold all pods of the node; why says why there are none.
func (x *consolidator) replacement(c *candidate) (a *place.Result, why string) {
	if !x.economy.replaceable(c) {
		return nil, noSpotForSpot
	}
	share := x.economy.share(c)
	cost := x.economy.cost(c)
	q := removal.Question{Leave: []int{c.at}, Open: bitset.New(len(x.snapshot.Nodes)), Preferences: c.preferences, Below: cost - max(1, quantity.MicroUSDPerHour(float64(cost)*share))}
	if x.current().Hopeless(c.at, q.Below) {
		return nil, x.economy.tooExpensive(c, share)
	}
	if a = x.ask(q); no(a) {
		return nil, x.economy.tooExpensive(c, share)
	}
	return a, ""
}

// tooExpensive says that nothing saves the share.
func (x *economy) tooExpensive(c *candidate, share float64) string {
	if share == 0 {
		return "no instances for its pods are cheaper"
	}
	why := ""
	if x.payback(c).LeastShare > 0 {
		why = ", which its user asks for"
	}
	return fmt.Sprintf("no instances for its pods save %.0f %% of its price%s", 100*share, why)
}

// share is which part of what the node costs an instance in its place must save. What its user asks for counts alone.
func (x *economy) share(c *candidate) float64 {
	switch p := x.payback(c); {
	case p.Off:
		return 0
	case p.LeastShare > 0:
		return p.LeastShare
	case slices.ContainsFunc(x.snapshot.Pools, func(p cluster.Pool) bool { return x.undersells(&p, c) }):
		return leastShare
	}
	return smallerShare
}

// expensive reports whether its own pool undersells the node.
func (x *economy) expensive(c *candidate) bool { return x.replaceable(c) && x.undersells(c.pool, c) }

// undersells reports whether the pool may launch an instance now that has no less cpu and memory than the node, and costs
// so much less that the node is to be replaced.
func (x *economy) undersells(pool *cluster.Pool, c *candidate) bool {
	if pool.Catalogue == nil || pool.NotReady != "" {
		return false
	}
	most := quantity.MicroUSDPerHour(float64(x.cost(c)-c.pool.PerInstance()) * (1 - leastShare))
	for i := range pool.Catalogue.InstanceTypes {
		k := &pool.Catalogue.InstanceTypes[i]
		if k.Allocatable.CPU >= c.Allocatable.CPU && k.Allocatable.Memory >= c.Allocatable.Memory && offered(pool, k, most) {
			return true
		}
	}
	return false
}

// offered reports whether the pool can have the instance type for so much now. What is reserved, or covered by a
// commitment, is paid for already, and had so few times that it counts for nothing here.
func offered(pool *cluster.Pool, instanceType *cluster.InstanceType, most quantity.MicroUSDPerHour) bool {
	offered := slices.ContainsFunc(instanceType.Offerings, func(o cluster.Offering) bool {
		return o.Priced && o.Price <= most && o.Available && !o.PaidFor() &&
			allows(pool.Requirements, o.Labels) && o.Asked(pool.Requirements)
	})
	return offered && allows(pool.Requirements, instanceType.Labels) && allows(pool.Floor.Size, instanceType.Labels)
}

func allows(r constraint.Requirements, labels constraint.Labels) bool {
	return !slices.ContainsFunc(labels, func(l constraint.Label) bool { return !r.Get(l.Key).Allows(l.Value) })
}

// replaceable reports whether instances that are paid for by the hour may be launched in place of the node, or what is
// paid for already.
func (x *economy) replaceable(c *candidate) bool {
	return c.option() != cluster.Spot || x.options.SpotToSpot || x.hasReserved()
}

// noSpotForSpot is why a spot instance stays for which another could be launched.
const noSpotForSpot = "spot instances may not replace spot instances"

// spotForSpot says why the instances of an answer may not be launched: what is paid for already takes the place of any.
func (x *economy) spotForSpot(c *candidate, a *place.Result) string {
	paidFor := !slices.ContainsFunc(a.Launches, func(l plan.Launch) bool { return !l.Choice.PaidFor() })
	if paidFor || c.option() != cluster.Spot || x.options.SpotToSpot {
		return ""
	}
	return noSpotForSpot
}

// hasReserved reports whether a pool can have an instance that is paid for already.
func (x *economy) hasReserved() bool {
	if x.reserved == nil {
		x.reserved = new(slices.ContainsFunc(x.snapshot.Pools, offersReserved))
	}
	return *x.reserved
}

func offersReserved(p cluster.Pool) bool {
	return p.Catalogue != nil && p.NotReady == "" && slices.ContainsFunc(p.Catalogue.InstanceTypes, func(k cluster.InstanceType) bool {
		return slices.ContainsFunc(k.Offerings, func(o cluster.Offering) bool { return o.PaidFor() && o.Available })
	})
}

func (c *candidate) option() cluster.Option {
	option, _ := c.Labels.Get(cluster.LabelCapacityType)
	return cluster.Option(option)
}
