package emulator

import (
	"fmt"
	"slices"
	"strings"
)

// Outage cuts a zone off, or ends that: meanwhile nothing can be launched there, its instances
// fail both status checks, and DescribeAvailabilityZones calls it impaired. What runs there runs
// on. Watchers are told of each instance concerned.
func (s *Server) Outage(zone string, out bool) error {
	s.mu.Lock()
	var names []string
	for _, z := range s.st.Zones {
		names = append(names, z.Name)
	}
	s.mu.Unlock()
	if !slices.Contains(names, zone) {
		return fmt.Errorf("the account has no zone %q: want one of %s", zone, strings.Join(names, ", "))
	}
	s.market.SetOutage(zone, out)
	return nil
}
