package overlay

import (
	"cmp"
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/offering"
	"github.com/daemok/daemok/core/quantity"
)

// Apply has the pools of a snapshot that is not shared yet plan with what its overlays make of their catalogues.
func Apply(s *cluster.Snapshot) {
	if len(s.Overlays) == 0 {
		return
	}
	pools := make([]Pool, len(s.Pools))
	for i := range s.Pools {
		pools[i] = of(&s.Pools[i])
	}
	New(s.Overlays, pools, nil).Show(s)
}

// Show puts the overlays into a snapshot that is not shared yet, and has its pools plan with what they come to.
func (set *Set) Show(s *cluster.Snapshot) {
	for i := range s.Pools {
		s.Pools[i].Catalogue = set.Of(of(&s.Pools[i]))
	}
	s.Overlays = set.Overlays()
}

func of(p *cluster.Pool) Pool { return Pool{p.Labels, p.Catalogue.Listed()} }

// Listed is the snapshot as if its pools planned with what their classes offer; the same one where they do.
func Listed(s *cluster.Snapshot) *cluster.Snapshot {
	changed := func(p cluster.Pool) bool { return p.Catalogue != p.Catalogue.Listed() }
	if !slices.ContainsFunc(s.Pools, changed) {
		return s
	}
	out := *s
	out.Pools = slices.Clone(s.Pools)
	for i := range out.Pools {
		out.Pools[i].Catalogue = out.Pools[i].Catalogue.Listed()
	}
	return &out
}

// PriceBy names the overlay that sets the price of an offering for a pool of the snapshot; empty: none does.
//
// Cost: linear in the overlays.
func PriceBy(s *cluster.Snapshot, p *cluster.Pool, k *cluster.InstanceType, o *cluster.Offering) string {
	for i := range s.Overlays {
		by := &s.Overlays[i]
		sets := by.Price.How != cluster.PriceStays && by.NotApplied == ""
		if sets && meets(by.Requirements, o.Labels, k.Labels, p.Labels) {
			return by.Name
		}
	}
	return ""
}

// Setting is one resource of an instance type that an overlay sets.
type Setting struct {
	quantity.Extended
	By string // name of the overlay
}

// CapacityBy lists the resources of an instance type that overlays set for a pool of the snapshot, by name.
//
// Cost: linear in the overlays, times the offerings of the instance type.
func CapacityBy(s *cluster.Snapshot, p *cluster.Pool, k *cluster.InstanceType) []Setting {
	var out []Setting
	for i := range s.Overlays {
		by := &s.Overlays[i]
		matches := func(o cluster.Offering) bool { return meets(by.Requirements, o.Labels, k.Labels, p.Labels) }
		if len(by.Capacity) == 0 || by.NotApplied != "" || !slices.ContainsFunc(k.Offerings, matches) {
			continue
		}
		for _, e := range by.Capacity {
			known := func(s Setting) bool { return s.Name == e.Name }
			if !slices.ContainsFunc(out, known) {
				out = append(out, Setting{e, by.Name})
			}
		}
	}
	slices.SortFunc(out, func(a, b Setting) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// Changes is what overlays have changed of one offering.
type Changes struct {
	Price     bool     // it is another one than the cloud's
	Resources []string // of its instance type, by name
}

// ChangesOf compares an offering of a catalogue with what the class offers.
func ChangesOf(c *cluster.Catalogue, instance offering.Identity) (out Changes) {
	is, now, known := offering.Of(c, instance)
	was, before, _ := offering.Of(c.Listed(), instance)
	if !known || c == c.Listed() {
		return Changes{}
	}
	out.Price = now.Price != before.Price || now.Priced != before.Priced
	for _, name := range is.Capacity.Max(was.Capacity).Names() {
		if is.Capacity.Get(name) != was.Capacity.Get(name) {
			out.Resources = append(out.Resources, name)
		}
	}
	return out
}

// Reprices reports whether any of these offerings of a catalogue costs something else than the cloud says.
func Reprices(c *cluster.Catalogue, named []offering.Named) bool {
	return c != c.Listed() && slices.ContainsFunc(named, func(n offering.Named) bool {
		was := c.Base.InstanceType(n.Type.Name)
		for i := range n.Type.Offerings {
			if &n.Type.Offerings[i] == n.Offering {
				return was.Offerings[i].Price != n.Offering.Price || was.Offerings[i].Priced != n.Offering.Priced
			}
		}
		return false
	})
}

// Priced reports whether overlays set another price than the cloud's for the offering of a node with these labels;
// not without a pool, nil.
func Priced(p *cluster.Pool, node constraint.Labels) bool {
	if p == nil || p.Catalogue == p.Catalogue.Listed() {
		return false
	}
	name, _ := node.Get(cluster.LabelInstanceType)
	is, was := p.Catalogue.InstanceType(name), p.Catalogue.Listed().InstanceType(name)
	if is == nil {
		return false
	}
	now, before := is.Offering(node.Map()), was.Offering(node.Map())
	return now != nil && (now.Price != before.Price || now.Priced != before.Priced)
}
