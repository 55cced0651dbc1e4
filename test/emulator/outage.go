package emulator

import (
	"fmt"
	"strings"
)

// Outage cuts a zone off, or ends that: meanwhile nothing can be launched there, its instances
// fail both status checks, and DescribeAvailabilityZones calls it impaired. What runs there runs
// on. Watchers are told of each instance concerned.
func (s *Server) Outage(zone string, out bool) error {
	s.mu.Lock()
	_, err := s.st.zoneCalled(zone)
	s.mu.Unlock()
	if err != nil {
		return err
	}
	s.market.SetOutage(zone, out)
	return nil
}

// zoneCalled finds a zone by its name, or says which there are.
func (s *state) zoneCalled(name string) (zone, error) {
	var names []string
	for _, z := range s.Zones {
		if z.Name == name {
			return z, nil
		}
		names = append(names, z.Name)
	}
	return zone{}, fmt.Errorf("the account has no zone %q: want one of %s", name, strings.Join(names, ", "))
}
