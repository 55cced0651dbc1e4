package nodeclass

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
)

// Digest distinguishes classes by content.
type Digest [sha256.Size]byte

// Digest returns a hash over all of the class that matters for its instances, and over more
// values. Free addresses and their order do not matter. The error says that one of the
// values cannot be written as JSON.
func (c Class) Digest(more ...any) (Digest, error) {
	c.Resolved.Subnets = slices.Clone(c.Resolved.Subnets)
	for i := range c.Resolved.Subnets {
		c.Resolved.Subnets[i].Free = 0
	}
	slices.SortFunc(c.Resolved.Subnets, func(a, b Subnet) int { return cmp.Compare(a.ID, b.ID) })
	requirements := make([]string, len(c.Resolved.Images))
	for i, image := range c.Resolved.Images {
		requirements[i] = image.Requirements.String()
	}
	text, err := json.Marshal([]any{c, requirements, more})
	if err != nil {
		return Digest{}, fmt.Errorf("hash class %s: %w", c.Name, err)
	}
	return sha256.Sum256(text), nil
}
