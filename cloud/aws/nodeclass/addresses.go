package nodeclass

import (
	"fmt"
	"strings"
)

// prefixAddresses is how many addresses of IPv4 a prefix takes.
const prefixAddresses = 16

// Addresses is how many free addresses of IPv4 a subnet must have for one instance: its
// own, and those of prefixes that it starts with.
func (s *Spec) Addresses(ipv6 bool) int64 {
	if s.IPPrefixes == nil || ipv6 {
		return 1
	}
	return 1 + prefixAddresses*int64(*s.IPPrefixes)
}

// TooFewAddresses names subnets in which an instance, which needs so many, finds too few
// free addresses, with how many are missing; empty for none.
func TooFewAddresses(subnets []Subnet, need int64) string {
	words := make([]string, len(subnets))
	for i, s := range subnets {
		words[i] = fmt.Sprintf("%s of %s (%d free, a node takes %d", s.ID, s.Zone, s.Free, need)
		if missing := need - s.Free; missing > 0 {
			words[i] += fmt.Sprintf(": %d missing", missing)
		}
		words[i] += ")"
	}
	if len(words) == 0 {
		return ""
	}
	return "too few free addresses in " + strings.Join(words, ", ")
}
