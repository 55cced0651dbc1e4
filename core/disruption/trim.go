package disruption

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/place"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
)

// spotKinds is how many instance types a spot instance that replaces a spot instance must leave the
// cloud to choose from, so that what is cheap today and gone tomorrow does not have pods moved
// every day. Source: behaviour of Karpenter v1, spot to spot consolidation.
const spotKinds = 15

// trim leaves of what the launches of a move may become only what is still worth
// the move: the cloud may choose any of it. It says why the move is none where too
// little is left.
func (x *economy) trim(c *candidate, a *place.Result, saves quantity.MicroUSDPerHour) string {
	// What is saved may be eaten up by more expensive instance types down to half of it.
	slack := saves / 2 / quantity.MicroUSDPerHour(max(1, len(a.Launches)))
	for i := range a.Launches {
		l := &a.Launches[i]
		pool, found := x.snapshot.Pool(l.Pool)
		if !found || pool.Catalogue == nil {
			return fmt.Sprintf("%s is gone", l.Pool)
		}
		fewest := 0
		if c.option() == cluster.Spot && l.Choice.Option == cluster.Spot {
			fewest = spotKinds
		}
		if why := narrow(l, pool, l.Choice.Price+slack, fewest); why != "" {
			return why
		}
	}
	return ""
}

// narrow restricts a launch to the capacity type that was chosen, to zones where the chosen
// instance type costs no more than the limit, and to instance types that do so in all of these.
func narrow(l *plan.Launch, pool *cluster.Pool, limit quantity.MicroUSDPerHour, fewest int) string {
	kinds := l.Requirements.Get(cluster.LabelInstanceType)
	var zones []string
	var fit []*cluster.InstanceType
	if instanceType := pool.Catalogue.InstanceType(l.Choice.Kind); instanceType != nil {
		for _, o := range instanceType.Offerings {
			within := o.Priced && o.Price <= limit && l.Requirements.Get(cluster.LabelZone).Allows(o.Zone)
			if within && l.MayBecome(&o) && o.Asked(l.Requirements) {
				zones = append(zones, o.Zone)
			}
		}
	}
	for k := range pool.Catalogue.InstanceTypes {
		instanceType := &pool.Catalogue.InstanceTypes[k]
		if !kinds.Allows(instanceType.Name) {
			continue
		}
		if worst, ok := mostExpensive(instanceType, l, zones); ok && worst <= limit {
			fit = append(fit, instanceType)
		}
	}
	if fewest > 0 && len(fit) < fewest {
		return fmt.Sprintf("there are %d instance types with cheaper spot offerings, and %d must be left to choose from", len(fit), fewest)
	}
	if r, breaks := broken(l, fit, zones); breaks && !l.Relaxed {
		return fmt.Sprintf("fewer than %d values of %s would be left among what is cheaper, which minValues asks for", r.MinValues, r.Key)
	}
	if fewest > 0 {
		slices.SortStableFunc(fit, func(a, b *cluster.InstanceType) int {
			x, _ := mostExpensive(a, l, zones)
			y, _ := mostExpensive(b, l, zones)
			return cmp.Compare(x, y)
		})
		fit = fit[:enough(l, fit, zones, fewest)]
	}
	if l.Relaxed {
		left := map[string]int{}
		for _, r := range l.Requirements {
			left[r.Key] = distinct(r.Key, fit, zones, l.Choice.Option)
		}
		l.Requirements = l.Requirements.LowerMinValues(left)
	}
	var names []string
	for _, instanceType := range fit {
		names = append(names, instanceType.Name)
	}
	l.Requirements = l.Requirements.
		And(constraint.Requirement{Key: cluster.LabelInstanceType, Set: constraint.Values(names...)}).
		And(constraint.Requirement{Key: cluster.LabelZone, Set: constraint.Values(zones...)}).
		And(constraint.Requirement{Key: cluster.LabelCapacityType, Set: constraint.Values(string(l.Choice.Option))})
	l.RunnersUp = slices.DeleteFunc(slices.Clone(l.RunnersUp), func(c plan.Choice) bool { return !slices.Contains(names, c.Kind) })
	return ""
}

// mostExpensive is the highest price of the instance type by the capacity type in the zones; ok is
// false where one of its offerings there has no known price, or it has none.
func mostExpensive(instanceType *cluster.InstanceType, l *plan.Launch, zones []string) (price quantity.MicroUSDPerHour, ok bool) {
	for i := range instanceType.Offerings {
		o := &instanceType.Offerings[i]
		if !l.MayBecome(o) || !o.Available || !o.Asked(l.Requirements) || !slices.Contains(zones, o.Zone) {
			continue
		}
		if !o.Priced {
			return 0, false
		}
		price, ok = max(price, o.Price), true
	}
	return price, ok
}

// broken returns a requirement of the launch with minValues that these instance types in these
// zones would not keep, if there is one.
func broken(l *plan.Launch, instanceTypes []*cluster.InstanceType, zones []string) (constraint.Requirement, bool) {
	for _, r := range l.Requirements {
		if r.MinValues > 0 && distinct(r.Key, instanceTypes, zones, l.Choice.Option) < r.MinValues {
			return r, true
		}
	}
	return constraint.Requirement{}, false
}

// enough is how many of the instance types are to be left, the first so many, for there to be the
// fewest and for minValues to be kept; all where they are not even then.
func enough(l *plan.Launch, instanceTypes []*cluster.InstanceType, zones []string, fewest int) int {
	for n := fewest; n < len(instanceTypes); n++ {
		if _, breaks := broken(l, instanceTypes[:n], zones); !breaks {
			return n
		}
	}
	return len(instanceTypes)
}

// distinct counts the values that the instance types and their offerings have for a key.
func distinct(key string, instanceTypes []*cluster.InstanceType, zones []string, option cluster.Option) int {
	seen := map[string]bool{}
	for _, instanceType := range instanceTypes {
		if v, ok := instanceType.Labels.Get(key); ok {
			seen[v] = true
		}
		for i := range instanceType.Offerings {
			o := &instanceType.Offerings[i]
			if v, ok := o.Labels.Get(key); ok && o.Option == option && slices.Contains(zones, o.Zone) {
				seen[v] = true
			}
		}
	}
	return len(seen)
}
