package offering

import (
	"slices"
	"strings"

	"github.com/daemok/daemok/core/quantity"
)

// partOfGPU is the number of GPUs, by its label, of a type that has a part of one: no pod
// can ask for it as a resource.
const partOfGPU = "0"

// withoutUnasked drops bare metal and instances with accelerators that no pod asks for,
// unless nothing else is left.
func (c *chooser) withoutUnasked(list []Named) []Named {
	plain := func(n *Named) bool {
		if count, _ := n.Type.Labels.Get(labelGPUCount); count == partOfGPU || strings.Contains(n.Type.Name, "metal") {
			return false
		}
		return !slices.ContainsFunc(n.Type.Capacity.Extended, func(e quantity.Extended) bool {
			return isAccelerator(e.Name) && c.ask.Requests.Get(e.Name) == 0
		})
	}
	if !slices.ContainsFunc(list, func(n Named) bool { return plain(&n) }) {
		return list
	}
	return c.keep(list, UnaskedHardware, plain)
}

func isAccelerator(resource string) bool {
	switch resource {
	case "nvidia.com/gpu", "amd.com/gpu", "aws.amazon.com/neuron", "aws.amazon.com/neuroncore", "habana.ai/gaudi":
		return true
	}
	return false
}
