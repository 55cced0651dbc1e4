package overlay_test

import (
	"fmt"
	"testing"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/overlay"
)

// large is a catalogue of the size that a Region has: 900 instance types of 100 families in three zones, with 30
// labels each.
func large() *cluster.Catalogue {
	c := &cluster.Catalogue{Revision: 1}
	for n := range 900 {
		name := fmt.Sprintf("f%02d.s%d", n/9, n%9)
		all := map[string]string{cluster.LabelInstanceType: name, "family": name[:3], "size": fmt.Sprint(n % 9)}
		for i := range 27 {
			all[fmt.Sprintf("karpenter.k8s.aws/instance-property-%02d", i)] = fmt.Sprint(n * i)
		}
		k := cluster.InstanceType{Name: name, Labels: constraint.NewLabels(all)}
		for _, zone := range []string{"a", "b", "c"} {
			for _, option := range []cluster.Option{cluster.OnDemand, cluster.Spot} {
				its := labels(cluster.LabelCapacityType+"="+string(option), cluster.LabelZone+"="+zone)
				k.Offerings = append(k.Offerings, cluster.Offering{
					Zone: zone, Option: option, Price: 100_000, Priced: true, Available: true, Labels: its})
			}
		}
		c.InstanceTypes = append(c.InstanceTypes, k)
	}
	return c
}

// BenchmarkOverlays applies 100 overlays to 100 pools of one class: 10,000 matches.
func BenchmarkOverlays(b *testing.B) {
	listed := large()
	pools := make([]overlay.Pool, 100)
	for i := range pools {
		own := labels(fmt.Sprintf("pool=p%d", i), fmt.Sprintf("team=t%d", i%10))
		pools[i] = overlay.Pool{Labels: own, Listed: listed}
	}
	only := func(key, value string) constraint.Requirement {
		return constraint.Requirement{Key: key, Set: constraint.Values(value)}
	}
	family := func(i int) constraint.Requirement { return only("family", fmt.Sprintf("f%02d", i)) }
	cases := map[string]func(i int) constraint.Requirements{
		"of a family each": func(i int) constraint.Requirements { return constraint.NewRequirements(family(i)) },
		"of a pool and a family each": func(i int) constraint.Requirements {
			return constraint.NewRequirements(family(i), only("pool", fmt.Sprintf("p%d", i)))
		},
		"of all spot of a team each": func(i int) constraint.Requirements {
			team := only("team", fmt.Sprintf("t%d", i%10))
			return constraint.NewRequirements(only(cluster.LabelCapacityType, "spot"), team)
		},
	}
	for name, of := range cases {
		b.Run(name, func(b *testing.B) {
			var all []cluster.Overlay
			for i := range 100 {
				all = append(all, cluster.Overlay{Name: fmt.Sprintf("o%d", i), Weight: i, Requirements: of(i),
					Price: cluster.PriceChange{How: cluster.PriceGrows, Percent: 5}})
			}
			for b.Loop() {
				set := overlay.New(all, pools, nil)
				changed := 0
				for _, p := range pools {
					if set.Of(p) != listed {
						changed++
					}
				}
				if changed != len(pools) {
					b.Fatalf("overlays change %d pools of %d", changed, len(pools))
				}
			}
		})
	}
}
