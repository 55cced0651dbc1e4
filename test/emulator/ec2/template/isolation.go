package template

import (
	"slices"

	"github.com/daemok/daemok/cloud/aws/ec2data"
	"github.com/daemok/daemok/test/emulator/wire"
)

// EnclaveOptions says whether an instance can have Nitro Enclaves.
type EnclaveOptions struct {
	Enabled bool `xml:"enabled"`
}

func readEnclave(n *wire.Node) *EnclaveOptions {
	if n == nil {
		return nil
	}
	return &EnclaveOptions{Enabled: n.Bool("Enabled")}
}

// CPUFeature is what the options of a launch say of a feature that not all processors have.
type CPUFeature struct{ Parameter, Feature, Value string }

// Features are those that there are options for; c may be nil.
func (c *CPUOptions) Features() []CPUFeature {
	if c == nil {
		return nil
	}
	return []CPUFeature{{"amdSevSnp", ec2data.FeatureSEVSNP, c.SEVSNP}, {"nestedVirtualization", ec2data.FeatureNested, c.Nested}}
}

// check refuses what is no word for a feature; c may be nil.
func (c *CPUOptions) check() error {
	for _, f := range c.Features() {
		if !slices.Contains([]string{"", "enabled", "disabled"}, f.Value) {
			return wire.Errorf("InvalidParameterValue", "Value (%s) for parameter cpuOptions.%s is invalid. Valid values are enabled and disabled.", f.Value, f.Parameter)
		}
	}
	return nil
}
