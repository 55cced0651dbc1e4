package catalog

import (
	"slices"
	"strings"

	"github.com/daemok/daemok/cloud/aws/nodeclass"
)

// supports reports whether a type has what the class's settings need: EC2
// would refuse to launch it otherwise.
func (t Type) supports(class nodeclass.Class) bool {
	spec := class.Spec
	switch group := class.Resolved.Placement; {
	case (spec.Placement == nil) != (group == nil), group != nil && !slices.Contains(t.Placements, group.Strategy):
		return false
	case t.Blocks && !t.OnDemand && !t.Spot && !slices.ContainsFunc(class.Resolved.Reservations, func(r nodeclass.Reservation) bool { return r.Kind == t.Name }):
		return false // it is had from a capacity block alone
	case (spec.Tracking != nil || spec.IPPrefixes != nil && *spec.IPPrefixes > 0) && !t.Nitro:
		return false
	case spec.EffectiveFamily() == nodeclass.AL2023 && strings.HasPrefix(t.Name, "a1."): // its kernel needs a later arm64 than Graviton's first
		return false
	case t.PlainVolumes && slices.ContainsFunc(spec.Volumes(), isEncrypted):
		return false
	case spec.NestedVirtual == "enabled" && !t.NestedVirtual:
		return false
	}
	return t.holds(spec.Interfaces)
}

func isEncrypted(d nodeclass.BlockDevice) bool {
	return d.EBS != nil && d.EBS.Encrypted != nil && *d.EBS.Encrypted
}

// holds reports whether the network cards have room for the interfaces.
func (t Type) holds(list []nodeclass.Interface) bool {
	perCard := map[int32]int64{}
	efas := int64(0)
	for _, i := range list {
		perCard[i.Card]++
		if i.Type == "efa-only" {
			efas++
		}
		if int(i.Card) >= len(t.CardENIs) || perCard[i.Card] > t.CardENIs[i.Card] {
			return false
		}
	}
	return efas <= t.EFAs
}
