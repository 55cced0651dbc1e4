package launch

import (
	"slices"

	"github.com/daemok/daemok/test/emulator/wire"
)

// checkUnheard refuses what EC2 would go by in a fleet and the emulator does not, so that none takes
// its instances for what he asked for: units other than instances, two launch options at once, one kind or one
// zone for all, a price for all, and types by their attributes.
func (r fleetRequest) checkUnheard(p *wire.Node) error {
	refuse := func(what string) error {
		return wire.Errorf("UnsupportedOperation", "The emulator's fleets do not go by %s", what)
	}
	capacity, other := p.At("TargetCapacitySpecification"), "SpotTargetCapacity"
	if r.spot {
		other = "OnDemandTargetCapacity"
	}
	if n, err := capacity.Int(other, 0); err != nil || n > 0 {
		return refuse(other + " beside the default target capacity type")
	}
	if unit := capacity.String("TargetCapacityUnitType"); unit != "" && unit != "units" {
		return refuse("TargetCapacityUnitType " + unit)
	}
	for _, group := range []string{"OnDemandOptions", "SpotOptions"} {
		options := p.At(group)
		for _, name := range []string{"SingleInstanceType", "SingleAvailabilityZone"} {
			if options.Bool(name) {
				return refuse(group + "." + name)
			}
		}
		for _, name := range []string{"MaxTotalPrice", "InstancePoolsToUseCount"} {
			if options.Has(name) {
				return refuse(group + "." + name)
			}
		}
	}
	for _, config := range r.configs {
		for _, o := range config.List("Overrides") {
			switch weight := o.String("WeightedCapacity"); {
			case o.Has("InstanceRequirements"):
				return refuse("InstanceRequirements: name instance types")
			case !slices.Contains([]string{"", "1", "1.0"}, weight):
				return refuse("WeightedCapacity " + weight)
			}
		}
	}
	return nil
}
