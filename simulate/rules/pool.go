package rules

import (
	"slices"
	"strings"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/feasibility"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
)

// pool is a NodePool with what its instance types have for pods.
type pool struct {
	*feasibility.Pool
	free      [][]int64 // by position of the type among Pool.Kinds
	available bitset.Set
}

// holding removes options whose types have too little for the sum, or ports that
// their daemon pods take.
func (p *pool) holding(options bitset.Set, sum []int64, ports []cluster.Port) {
	holds := make([]int8, len(p.free))
	for i := options.Next(0); i >= 0; i = options.Next(i + 1) {
		k := p.Options[i].Kind
		if holds[k] == 0 {
			holds[k] = -1
			if amount.Fits(p.free[k], sum) && !conflict(ports, p.Kinds[k].Ports) {
				holds[k] = 1
			}
		}
		if holds[k] < 0 {
			options.Remove(i)
		}
	}
}

// keepsValues reports whether the options have as many values as minValues asks for.
func (p *pool) keepsValues(options bitset.Set) bool {
	for _, r := range p.Requirements {
		column := p.Column(r.Key)
		if r.MinValues <= 0 || column == nil {
			continue
		}
		values := map[int32]bool{}
		for i := options.Next(0); i >= 0; i = options.Next(i + 1) {
			values[column.Of[i]] = true
		}
		delete(values, -1)
		if len(values) < r.MinValues {
			return false
		}
	}
	return true
}

// decided is the value of a label that no type has and the pool knows.
func (p *pool) decided(r constraint.Requirement) (value string, ok bool) {
	if value, ok = p.Labels.Get(r.Key); !ok && p.Requirements.Has(r.Key) {
		value, ok = r.Set.Any()
	}
	return value, ok
}

func (p *pool) choice(option int) plan.Choice {
	o := p.Options[option]
	offering := p.Offering(o)
	return plan.Choice{Kind: p.InstanceType(o).Name, Zone: offering.Zone, Option: offering.Option, Price: offering.Price, Priced: offering.Priced, Beside: p.PerInstance()}
}

// types lists the types of the options, the cheapest first.
func (p *pool) types(options bitset.Set) []string {
	return p.values(options, cluster.LabelInstanceType)
}

// values lists the values of a label of the options, that of the cheapest first.
func (p *pool) values(options bitset.Set, key string) (out []string) {
	seen := map[string]bool{}
	for i := options.Next(0); i >= 0; i = options.Next(i + 1) {
		if value, ok := p.Label(p.Options[i], key); ok && !seen[value] {
			seen[value] = true
			out = append(out, value)
		}
	}
	return out
}

// varied reports whether the pool asks for minValues.
func (p *pool) varied() bool {
	return slices.ContainsFunc(p.Requirements, func(r constraint.Requirement) bool { return r.MinValues > 0 })
}

// without returns the options for which no does not hold.
func (p *pool) without(options bitset.Set, no func(option int) bool) bitset.Set {
	out := options.Clone()
	for i := out.Next(0); i >= 0; i = out.Next(i + 1) {
		if no(i) {
			out.Remove(i)
		}
	}
	return out
}

// rank is the order of capacity types, the first choice first.
func rank(o cluster.Option) int {
	return slices.Index([]cluster.Option{cluster.Reserved, cluster.Spot, cluster.OnDemand}, o)
}

// ofOneCapacityType keeps the options of the first capacity type that there is.
func (p *pool) ofOneCapacityType(options bitset.Set) bitset.Set {
	first, cheapest := len(p.Options), quantity.MicroUSDPerHour(-1)
	for i := options.Next(0); i >= 0; i = options.Next(i + 1) {
		offering := p.Offering(p.Options[i])
		first = min(first, rank(offering.Option))
		if offering.Option == cluster.OnDemand && offering.Priced && (cheapest < 0 || offering.Price < cheapest) {
			cheapest = offering.Price
		}
	}
	out := p.without(options, func(i int) bool { return rank(p.Offering(p.Options[i]).Option) != first })
	sane := p.without(out, func(i int) bool { return cheapest >= 0 && p.Offering(p.Options[i]).Price > cheapest })
	if first == rank(cluster.Spot) && !p.varied() && sane.Next(0) >= 0 {
		return sane
	}
	return out
}

// exotic reports whether the option is bare metal or has accelerators.
func (p *pool) exotic(option int) bool {
	instanceType := p.InstanceType(p.Options[option])
	return instanceType.LastResort || strings.Contains(instanceType.Name, ".metal") || slices.ContainsFunc([]string{"nvidia.com/gpu", "amd.com/gpu", "aws.amazon.com/neuron", "habana.ai/gaudi"}, func(name string) bool {
		return instanceType.Capacity.Get(name) > 0
	})
}
