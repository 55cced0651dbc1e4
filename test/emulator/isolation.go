package emulator

import (
	"slices"
	"time"

	"github.com/daemok/daemok/cloud/aws/ec2data"
	"github.com/daemok/daemok/test/emulator/wire"
)

// enclaveOptions says whether an instance can have Nitro Enclaves.
type enclaveOptions struct {
	Enabled bool `xml:"enabled"`
}

func readEnclave(n *wire.Node) *enclaveOptions {
	if n == nil {
		return nil
	}
	return &enclaveOptions{Enabled: n.Bool("Enabled")}
}

// cpuFeature is what the options of a launch say of a feature that not all processors have.
type cpuFeature struct{ parameter, feature, value string }

// features are those that there are options for; c may be nil.
func (c *cpuOptions) features() []cpuFeature {
	if c == nil {
		return nil
	}
	return []cpuFeature{{"amdSevSnp", ec2data.FeatureSEVSNP, c.SEVSNP}, {"nestedVirtualization", ec2data.FeatureNested, c.Nested}}
}

// check refuses what is no word for a feature; c may be nil.
func (c *cpuOptions) check() error {
	for _, f := range c.features() {
		if !slices.Contains([]string{"", "enabled", "disabled"}, f.value) {
			return wire.Errorf("InvalidParameterValue", "Value (%s) for parameter cpuOptions.%s is invalid. Valid values are enabled and disabled.", f.value, f.parameter)
		}
	}
	return nil
}

// resolveIsolation refuses enclaves and processor features that the type does not have.
func (s *Server) resolveIsolation(l *launch, _ time.Time) error {
	if e := l.data.Enclave; e != nil && e.Enabled && !l.kind.Enclaves() {
		return wire.Errorf("InvalidParameterCombination", "The instance type '%s' does not support Nitro Enclaves.", l.kind.Name)
	}
	for _, f := range l.data.CPU.features() {
		if f.value == "enabled" && !slices.Contains(l.kind.ProcessorFeatures(), f.feature) {
			return wire.Errorf("InvalidParameterCombination", "The instance type '%s' does not have the processor feature %s, which cpuOptions.%s enables.",
				l.kind.Name, f.feature, f.parameter)
		}
	}
	return nil
}
