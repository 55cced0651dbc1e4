package topology

// Even lets instances that are yet to be launched have as many pods of a spread over hosts as the
// hosts that are there allow: maxSkew more than the least of these has. kube-scheduler puts so many
// on each if all of them fill evenly, since one that is behind holds back the others. Otherwise
// instances are compared with empty ones. To be called before the board is cloned.
func (b *Board) Even() { b.even = true }

// Expect notes that instances are to be launched for n pods with these rules, so that they are
// shared out evenly among no more instances than they need by their spreads over hosts.
func (b *Board) Expect(r *Rules, n int64) {
	for _, at := range r.perHost {
		if t := &b.tallies[at]; t.filter >= 0 {
			t.expected += n
		}
	}
}

// MayEven reports whether Even could let a new instance have more of n pods with these rules.
func (b *Board) MayEven(r *Rules, n int64) bool {
	for i := range r.spreads {
		s := &r.spreads[i]
		if t := &b.tallies[s.tally]; t.key == b.hostKey() && s.self && n > s.maxSkew && t.ground(s.minDomains) > 0 {
			return true
		}
	}
	return false
}

// mostOnHost is how many pods that the spread over hosts counts may be on an instance that is yet
// to be launched.
func (b *Board) mostOnHost(s *spreadRule) int64 {
	if !b.even {
		return s.maxSkew
	}
	t := &b.tallies[s.tally]
	most := t.ground(s.minDomains) + s.maxSkew
	if t.expected == 0 {
		return most
	}
	instances := (t.expected + most - 1) / most
	return max(s.maxSkew, min(most, (t.expected+instances-1)/instances))
}

// ground is the least count of the domains that are there; 0 where there is
// none.
func (t *tally) ground(minDomains int32) int64 {
	if t.domains == 0 {
		return 0
	}
	return t.minimum(minDomains)
}
