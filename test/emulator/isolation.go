package emulator

import (
	"slices"
	"time"

	"github.com/daemok/daemok/test/emulator/wire"
)

// resolveIsolation refuses enclaves and processor features that the type does not have.
func (s *Server) resolveIsolation(l *launch, _ time.Time) error {
	if e := l.data.Enclave; e != nil && e.Enabled && !l.kind.Enclaves() {
		return wire.Errorf("InvalidParameterCombination", "The instance type '%s' does not support Nitro Enclaves.", l.kind.Name)
	}
	for _, f := range l.data.CPU.Features() {
		if f.Value == "enabled" && !slices.Contains(l.kind.ProcessorFeatures(), f.Feature) {
			return wire.Errorf("InvalidParameterCombination", "The instance type '%s' does not have the processor feature %s, which cpuOptions.%s enables.",
				l.kind.Name, f.Feature, f.Parameter)
		}
	}
	return nil
}
