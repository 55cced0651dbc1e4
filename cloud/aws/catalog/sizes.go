package catalog

import (
	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/internal/expression"
)

// sizes works out what a class says of the kubelet for types.
type sizes struct {
	spec     *nodeclass.Spec
	sizing   nodeclass.Sizing
	err      error // of expressions that are none
	settings Settings
}

func sizesFor(spec nodeclass.Spec, s Settings) sizes {
	sizing, err := spec.Kubelet.Sizing()
	return sizes{&spec, sizing, err, s}
}

// of returns the spec with the kubelet's amounts for a type: the class's own
// where they are the same for all.
func (z sizes) of(t *Type) (*nodeclass.Spec, error) {
	if z.err != nil {
		return nil, z.err
	}
	if z.sizing.Fixed() {
		return z.spec, nil
	}
	out := *z.spec
	kubelet, err := z.sizing.For(expression.Variables{
		InstanceType: t.Name, VCPUs: t.CPUs, MemoryMiB: t.MemoryMiB, DefaultENIs: t.ENIs, IPsPerENI: t.AddressesByENI,
		MaxPods: podsByNetwork(*t, *z.spec, z.settings),
	})
	out.Kubelet = kubelet
	return &out, err
}

// unsized counts a type, of which the first by name is reported.
func unsized(u *nodeclass.Unsized, name string, why error) {
	if u.Types == 0 || name < u.First {
		u.First, u.Why = name, why
	}
	u.Types++
}
