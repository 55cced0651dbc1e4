package emulator

// Outage cuts a zone off, or ends that: meanwhile nothing can be launched there, its instances
// fail both status checks, and DescribeAvailabilityZones calls it impaired. What runs there runs
// on. Watchers are told of each instance concerned.
func (s *Server) Outage(zone string, out bool) error {
	s.Mu.Lock()
	_, err := s.ZoneCalled(zone)
	s.Mu.Unlock()
	if err != nil {
		return err
	}
	s.Market().SetOutage(zone, out)
	return nil
}
