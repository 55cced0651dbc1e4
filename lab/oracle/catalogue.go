package oracle

import (
	"fmt"
	"math/rand/v2"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/kube/api"
)

// dice draws the parts of a world.
type dice struct{ *rand.Rand }

// one is true once in n times.
func (d dice) one(n int) bool { return d.IntN(n) == 0 }

// pick returns one of the choices.
func pick[T any](d dice, choices ...T) T { return choices[d.IntN(len(choices))] }

// some returns one or more of the choices, in their order.
func some[T any](d dice, choices ...T) []T {
	out := []T{}
	for _, c := range choices {
		if d.one(2) {
			out = append(out, c)
		}
	}
	if len(out) == 0 {
		out = append(out, pick(d, choices...))
	}
	return out
}

// What worlds are made of.
const (
	driverEBS = "ebs.csi.aws.com"
	driverEFS = "efs.csi.aws.com"
	gpu       = "nvidia.com/gpu"
	labelRack = "example.com/rack"
	labelTeam = "team"
	classKind = "EC2NodeClass"
	className = "main"
)

// catalogue draws up to eight instance types in up to three zones.
func (d dice) catalogue() *cluster.Catalogue {
	zones := []string{"zone-a", "zone-b", "zone-c"}[:1+d.IntN(3)]
	out := &cluster.Catalogue{Revision: 1}
	for i := range 2 + d.IntN(7) {
		out.InstanceTypes = append(out.InstanceTypes, d.instanceType(fmt.Sprintf("m%d.large", i), zones))
	}
	return out
}

func (d dice) instanceType(name string, zones []string) cluster.InstanceType {
	cores := pick(d, 2, 4, 4, 8, 16)
	k := cluster.InstanceType{
		Name: name,
		Labels: constraint.NewLabels(map[string]string{
			api.LabelInstanceType: name, api.LabelArch: pick(d, "amd64", "amd64", "arm64"), api.LabelOS: "linux",
			api.LabelCPU: fmt.Sprint(cores),
		}),
		Capacity: quantity.Resources{
			CPU: quantity.MilliCPU(1000 * cores), Memory: quantity.Bytes(cores*pick(d, 2, 4, 8)) * quantity.GiB, Pods: int64(pick(d, 8, 29, 58)),
		},
	}
	if d.one(4) {
		k.Capacity = k.Capacity.With(gpu, int64(pick(d, 1, 4)))
	}
	k.Allocatable = k.Capacity.Sub(quantity.Resources{CPU: 80, Memory: 600 * quantity.MiB})
	if !d.one(3) {
		k.Attachable = []cluster.Attachable{{Driver: driverEBS, Count: int64(pick(d, 2, 5, 24))}}
	}
	for _, zone := range zones {
		for _, option := range []cluster.Option{cluster.OnDemand, cluster.Spot} {
			if d.one(5) {
				continue
			}
			k.Offerings = append(k.Offerings, cluster.Offering{
				Zone: zone, Option: option, Priced: !d.one(20), Available: !d.one(6),
				Price: quantity.MicroUSDPerHour(10_000 * cores * (3 + d.IntN(5))),
				Labels: constraint.NewLabels(map[string]string{
					api.LabelZone: zone, api.LabelCapacityType: string(option),
				}),
			})
		}
	}
	return k
}
