package catalog

import (
	"strings"

	"github.com/daemok/daemok/core/cluster"
)

// Quota names the limits of vCPUs that instances of a type count against: AWS limits spot
// instances apart.
type Quota struct{ OnDemand, Spot string }

// By is the limit that counts instances launched by the option.
func (q Quota) By(option cluster.Option) string {
	if option == cluster.Spot {
		return q.Spot
	}
	return q.OnDemand
}

// spotQuotas are the generations of P whose spot instances AWS limits together; it limits
// those on demand all together.
var spotQuotas = map[string]string{"2": "P2 to P4", "3": "P2 to P4", "4": "P2 to P4", "5": "P5"}

// quotaGroups are the families of types whose vCPUs AWS limits together, by the letters that
// their names begin with: one limit for instances on demand, another for spot ones
// (https://docs.aws.amazon.com/ec2/latest/instancetypes/ec2-instance-quotas.html).
var quotaGroups = map[string]string{
	"a": "Standard", "c": "Standard", "d": "Standard", "h": "Standard", "i": "Standard", "im": "Standard", "is": "Standard",
	"m": "Standard", "r": "Standard", "t": "Standard", "z": "Standard",
	"g": "G and VT", "gr": "G and VT", "vt": "G and VT",
	"p": "P", "f": "F", "x": "X", "u": "High Memory", "hpc": "HPC", "inf": "Inf", "trn": "Trn", "dl": "DL",
}

// quotaOf names the limits that a type counts against. A family that is not known
// counts alone.
func quotaOf(kind string) Quota {
	family, _, _ := strings.Cut(kind, ".")
	category, generation, ok := splitFamily(family)
	group, known := quotaGroups[category]
	switch {
	case !ok || !known:
		return Quota{family, family}
	case category != "p":
		return Quota{group, group}
	case spotQuotas[generation] == "":
		return Quota{group, family}
	}
	return Quota{group, spotQuotas[generation]}
}
