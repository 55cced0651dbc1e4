package cluster

import "slices"

// WithoutDoubt returns the snapshot as if doubtful offers could not be had, and whether there
// are any; without any it is the same snapshot. Cost: linear in the offers.
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
	doubtful := func(o Offer) bool { return o.Available && o.Doubtful }
	out := &Catalogue{Revision: c.Revision, Disk: c.Disk}
	for k := range c.Kinds {
		if !slices.ContainsFunc(c.Kinds[k].Offers, doubtful) {
			continue
		}
		if out.Kinds == nil {
			out.Kinds = slices.Clone(c.Kinds)
		}
		offers := slices.Clone(c.Kinds[k].Offers)
		for i := range offers {
			if o := &offers[i]; doubtful(*o) {
				o.Available, o.Why = false, "insufficient capacity lately, for it or others of its family: it is retried"
			}
		}
		out.Kinds[k].Offers = offers
	}
	if out.Kinds == nil {
		return c
	}
	return out
}
