package provisioning

import (
	"fmt"
	"github.com/daemok/daemok/core/pack"
)

// MinValues says what happens when too few values stay open for minValues.
type MinValues string

// The policies. The zero value is Strict.
const (
	Strict     MinValues = ""           // nothing is launched
	BestEffort MinValues = "BestEffort" // as many as there are will do
)

// Set makes it the policy of that name, as settings have it.
func (m *MinValues) Set(name string) error {
	switch name {
	case "Strict":
		*m = Strict
	case string(BestEffort):
		*m = BestEffort
	default:
		return fmt.Errorf("%q: want Strict or BestEffort", name)
	}
	return nil
}

// Packer chooses instances for a batch. What it leaves out, and what turns out to
// break a rule that the batch does not hold, is placed one instance after another.
type Packer interface {
	Pack(batch pack.Batch) []pack.Instance
}
