package catalog

import "github.com/daemok/daemok/cloud/aws/nodeclass"

// Fabric is which network cards of an instance get an Elastic Fabric Adapter: so many, from
// the first of these on. It has none where the class says which interfaces there are.
type Fabric struct{ First, Count int64 }

// fabricOf gives each card one. Where there are more cards than adapters the first card
// is the one that has none, as on P6-B300.
func fabricOf(t Type, spec nodeclass.Spec) Fabric {
	if len(spec.Interfaces) > 0 || t.EFAs == 0 {
		return Fabric{}
	}
	return Fabric{First: max(0, int64(len(t.CardENIs))-t.EFAs), Count: t.EFAs}
}

// onRequest is what an instance has only where the fabric is asked for.
func (f Fabric) onRequest() []string {
	if f.Count == 0 {
		return nil
	}
	return []string{ResourceEFA}
}

// adapters is how many an instance has: those of the fabric, or those that the class lists.
func (f Fabric) adapters(spec nodeclass.Spec) int64 {
	n := f.Count
	for _, i := range spec.Interfaces {
		if i.Type == "efa-only" {
			n++
		}
	}
	return n
}

// Interfaces are those that an instance is launched with for the fabric.
func (f Fabric) Interfaces() []nodeclass.Interface {
	var out []nodeclass.Interface
	if f.First > 0 || f.Count == 0 {
		out = append(out, nodeclass.Interface{Type: "interface"})
	}
	for card := f.First; card < f.First+f.Count; card++ {
		adapter := nodeclass.Interface{Card: int32(card), Device: 1, Type: "efa"}
		if card == 0 {
			adapter.Device = 0 // it is the instance's first interface too
		}
		out = append(out, adapter)
	}
	return out
}
