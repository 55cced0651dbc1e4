package cluster

import "slices"

// WithoutDoubt returns the snapshot as if doubtful offerings could not be had, and whether there
// are any; without any it is the same snapshot. Cost: linear in the offerings.
func (s *Snapshot) WithoutDoubt() (out *Snapshot, any bool) {
	next, sure := *s, map[*Catalogue]*Catalogue{}
	next.Pools = slices.Clone(s.Pools)
	for i := range next.Pools {
		c := next.Pools[i].Catalogue
		if c == nil {
			continue
		}
		if sure[c] == nil {
			sure[c] = c.withoutDoubt()
		}
		next.Pools[i].Catalogue, any = sure[c], any || sure[c] != c
	}
	if !any {
		return s, false
	}
	return &next, true
}

// withoutDoubt returns the catalogue itself where nothing of it is doubtful.
func (c *Catalogue) withoutDoubt() *Catalogue {
	doubtful := func(o Offering) bool { return o.Available && o.Doubtful }
	return c.with(doubtful, func(o *Offering) {
		o.Available, o.Why = false, "insufficient capacity lately, for it or others of its family: it is retried"
	})
}
