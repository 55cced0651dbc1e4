package nodeclass

import (
	"fmt"
	"strings"
)

// Alias is a parsed image alias: a family and a version, which is "latest" or
// one of the family's own.
type Alias struct {
	Family  Family
	Version string
}

var aliasFamilies = map[string]Family{
	"al2": AL2, "al2023": AL2023, "bottlerocket": Bottlerocket,
	"windows2019": Windows2019, "windows2022": Windows2022, "windows2025": Windows2025,
	"ubuntu": Ubuntu, // admission refuses it to an EC2NodeClass
}

// ParseAlias reads "family@version". A leading v of a version is kept away,
// so that "v1.2.3" and "1.2.3" are the same.
func ParseAlias(text string) (Alias, error) {
	name, version, ok := strings.Cut(text, "@")
	version = strings.TrimPrefix(version, "v")
	family, known := aliasFamilies[strings.ToLower(name)]
	if !ok || !known || version == "" {
		return Alias{}, fmt.Errorf("image alias %q is not family@version with a family of "+
			"al2, al2023, bottlerocket, windows2019, windows2022, windows2025", text)
	}
	if family.Windows() && version != Latest {
		return Alias{}, fmt.Errorf("image alias %q: Windows images exist as %s@latest only", text, name)
	}
	return Alias{family, version}, nil
}

// Latest is the version of an alias that moves with time.
const Latest = "latest"

// AliasOf is the alias of a family's latest images; empty for one that has none.
func AliasOf(f Family) string {
	for name, family := range aliasFamilies {
		if family == f {
			return name + "@" + Latest
		}
	}
	return ""
}
