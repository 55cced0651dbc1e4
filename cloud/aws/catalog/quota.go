package catalog

import "strings"

// quotaGroups are the families of types whose vCPUs AWS limits together, by the
// letters that their names begin with: one limit for machines on demand, another for
// spot ones (https://docs.aws.amazon.com/ec2/latest/instancetypes/ec2-instance-quotas.html).
var quotaGroups = map[string]string{
	"a": "Standard", "c": "Standard", "d": "Standard", "h": "Standard", "i": "Standard", "im": "Standard", "is": "Standard",
	"m": "Standard", "r": "Standard", "t": "Standard", "z": "Standard",
	"g": "G and VT", "gr": "G and VT", "vt": "G and VT",
	"p": "P", "f": "F", "x": "X", "u": "High Memory", "hpc": "HPC", "inf": "Inf", "trn": "Trn", "dl": "DL",
}

// quotaOf names the limit that a type counts against. A family that is not known
// counts alone.
func quotaOf(kind string) string {
	family, _, _ := strings.Cut(kind, ".")
	category, _, ok := splitFamily(family)
	if group, known := quotaGroups[category]; ok && known {
		return group
	}
	return family
}
