package v1

import "strings"

// aliasFamilies maps the part of an alias before @ to its family.
var aliasFamilies = map[string]AMIFamily{
	"al2":          FamilyAL2,
	"al2023":       FamilyAL2023,
	"bottlerocket": FamilyBottlerocket,
	"windows2019":  FamilyWindows2019,
	"windows2022":  FamilyWindows2022,
	"windows2025":  FamilyWindows2025,
}

// Alias returns the alias the class names its images by, if it does.
func (c *EC2NodeClass) Alias() (family AMIFamily, version string, ok bool) {
	for _, term := range c.Spec.AMISelectorTerms {
		if name, version, found := strings.Cut(term.Alias, "@"); found {
			family, ok = aliasFamilies[name]
			return family, version, ok
		}
	}
	return "", "", false
}

// Family returns the family nodes are set up as: the one the class names, or
// else that of its alias. It is Custom for a class with neither, which
// admission refuses.
func (c *EC2NodeClass) Family() AMIFamily {
	if c.Spec.AMIFamily != nil {
		return *c.Spec.AMIFamily
	}
	if family, _, ok := c.Alias(); ok {
		return family
	}
	return FamilyCustom
}

// IsWindows reports whether the family is a Windows.
func (f AMIFamily) IsWindows() bool { return strings.HasPrefix(string(f), "Windows") }
