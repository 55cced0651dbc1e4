package bench

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/quantity"
)

// overhead is what every instance keeps for itself.
var overhead = quantity.Resources{CPU: 100, Memory: 10 * quantity.MiB}

// catalogueType is one line of a catalogue file.
type catalogueType struct {
	Name      string `json:"name"`
	Arch      string `json:"arch"`
	CPUMilli  int64  `json:"cpuMilli"`
	MemMi     int64  `json:"memMi"`
	Pods      int64  `json:"pods"`
	Offerings []struct {
		Zone         string  `json:"zone"`
		CapacityType string  `json:"capacityType"`
		Price        float64 `json:"price"`
	} `json:"offerings"`
}

// check says what of a type makes no sense.
func (t *catalogueType) check() error {
	switch {
	case t.Name == "":
		return errors.New("name is empty")
	case t.CPUMilli <= 0 || t.MemMi <= 0 || t.Pods <= 0:
		return fmt.Errorf("cpuMilli is %d, memMi %d and pods %d: want more than 0 of each", t.CPUMilli, t.MemMi, t.Pods)
	}
	for _, o := range t.Offerings {
		switch {
		case o.Zone == "":
			return errors.New("an offering has no zone")
		case o.CapacityType != string(cluster.OnDemand) && o.CapacityType != string(cluster.Spot):
			return fmt.Errorf("an offering has the capacityType %q: use on-demand or spot", o.CapacityType)
		case !(o.Price >= 0):
			return fmt.Errorf("an offering in zone %s has the price %v: want 0 or more dollars per hour", o.Zone, o.Price)
		}
	}
	return nil
}

// catalogueOf reads a catalogue file, or makes up the one of the mixes.
func catalogueOf(path string) (*cluster.Catalogue, error) {
	if path == "" {
		return madeUp(), nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read catalogue: %w", err)
	}
	var types []catalogueType
	if err := json.Unmarshal(data, &types); err != nil {
		return nil, fmt.Errorf("read catalogue %s: %w", path, err)
	}
	if len(types) == 0 {
		return nil, fmt.Errorf("read catalogue %s: it lists no instance type", path)
	}
	out := &cluster.Catalogue{Revision: 1}
	for i, t := range types {
		if err := t.check(); err != nil {
			return nil, fmt.Errorf("read catalogue %s: type %d, %s: %w", path, i+1, t.Name, err)
		}
		k := instanceType(t.Name, t.Arch, quantity.Resources{CPU: quantity.MilliCPU(t.CPUMilli), Memory: quantity.Bytes(t.MemMi) * quantity.MiB, Pods: t.Pods})
		for _, o := range t.Offerings {
			k.Offerings = append(k.Offerings, offering(o.Zone, cluster.Option(o.CapacityType), o.Price))
		}
		out.InstanceTypes = append(out.InstanceTypes, k)
	}
	slices.SortFunc(out.InstanceTypes, func(a, b cluster.InstanceType) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// madeUp returns 400 types: the n-th has n cores, 2n GiB and 10n pod slots, is
// offered on demand in three zones and as spot in two, and costs 0.1 dollars for
// each core and GiB.
func madeUp() *cluster.Catalogue {
	out := &cluster.Catalogue{Revision: 1}
	for n := int64(1); n <= 400; n++ {
		k := instanceType(fmt.Sprintf("type-%03d", n), "amd64",
			quantity.Resources{CPU: quantity.MilliCPU(1000 * n), Memory: quantity.Bytes(2*n) * quantity.GiB, Pods: 10 * n})
		price := 0.1*float64(n) + 0.1*float64(2*n)
		for _, zone := range []string{"zone-1", "zone-2", "zone-3"} {
			k.Offerings = append(k.Offerings, offering(zone, cluster.OnDemand, price))
			if zone != "zone-3" {
				k.Offerings = append(k.Offerings, offering(zone, cluster.Spot, price))
			}
		}
		out.InstanceTypes = append(out.InstanceTypes, k)
	}
	return out
}

func instanceType(name, arch string, capacity quantity.Resources) cluster.InstanceType {
	return cluster.InstanceType{Name: name, Capacity: capacity, Allocatable: capacity.Sub(overhead),
		Labels: constraint.NewLabels(map[string]string{
			cluster.LabelInstanceType: name, cluster.LabelArch: arch, "kubernetes.io/os": "linux"})}
}

func offering(zone string, option cluster.Option, price float64) cluster.Offering {
	return cluster.Offering{Zone: zone, Option: option, Price: quantity.USDPerHour(price), Priced: true, Available: true,
		Labels: constraint.NewLabels(map[string]string{cluster.LabelZone: zone, cluster.LabelCapacityType: string(option)})}
}

// typeNames returns n types of the catalogue, evenly from the smallest to the
// largest, or all where there are no more.
func typeNames(c *cluster.Catalogue, n int) []string {
	instanceTypes := slices.Clone(c.InstanceTypes)
	slices.SortStableFunc(instanceTypes, func(a, b cluster.InstanceType) int {
		return cmp.Or(cmp.Compare(a.Capacity.CPU, b.Capacity.CPU), cmp.Compare(a.Capacity.Memory, b.Capacity.Memory))
	})
	var out []string
	for _, k := range thinned(instanceTypes, max(2, n)) {
		out = append(out, k.Name)
	}
	return out
}
