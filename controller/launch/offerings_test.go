package launch

import (
	"fmt"
	"strings"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/kube/api"
)

// kind builds an instance types with offers "zone option price", in tenths of a
// cent an hour; "-" for an unknown price, a leading ! for not available.
func kind(name string, cpu quantity.MilliCPU, offerings ...string) cluster.InstanceType {
	k := cluster.InstanceType{Name: name, Allocatable: quantity.Resources{CPU: cpu, Memory: 8 * quantity.GiB}}
	k.Labels = constraint.NewLabels(map[string]string{api.LabelInstanceType: name, api.LabelArch: "amd64"})
	for _, text := range offerings {
		var zone, option, price string
		text, offered := strings.CutPrefix(text, "!")
		fmt.Sscan(text, &zone, &option, &price)
		o := cluster.Offering{Zone: zone, Option: cluster.Option(option), Available: !offered}
		if price != "-" {
			var tenths int64
			fmt.Sscan(price, &tenths)
			o.Price, o.Priced = quantity.MicroUSDPerHour(tenths*1000), true
		}
		o.Labels = constraint.NewLabels(map[string]string{api.LabelZone: zone, api.LabelCapacityType: option})
		k.Offerings = append(k.Offerings, o)
	}
	return k
}

func want(key string, op constraint.Operator, values ...string) constraint.Requirement {
	set, err := constraint.NewSet(op, values...)
	if err != nil {
		panic(err)
	}
	return constraint.Requirement{Key: key, Set: set}
}
