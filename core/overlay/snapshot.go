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

// PriceBy is the overlay that sets the price of what has these labels, of several with one key the first: those of an
// offering, its instance type and its pool, or of a node. It is nil where none does.
//
// Cost: linear in the overlays.
func PriceBy(s *cluster.Snapshot, labels ...constraint.Labels) *cluster.Overlay {
	for i := range s.Overlays {
		o := &s.Overlays[i]
		if o.Price.How != cluster.PriceStays && o.NotApplied == "" && meets(o.Requirements, labels...) {
			return o
		}
	}
	return nil
}

// ListPrice is what overlays make of the list price of a node with these labels, where its offering is not known.
func ListPrice(s *cluster.Snapshot, price quantity.MicroUSDPerHour, node constraint.Labels) quantity.MicroUSDPerHour {
	if by := PriceBy(s, node); by != nil {
		price, _ = by.Price.Of(&cluster.Offering{Price: price, Priced: true})
	}
	return price
}

// Concern lists the applied overlays that may change something for a pool, by its labels and requirements, in the
// order in which they count.
func Concern(s *cluster.Snapshot, p *cluster.Pool) (out []*cluster.Overlay) {
	for i := range s.Overlays {
		o := &s.Overlays[i]
		may := func(r constraint.Requirement) bool {
			if value, has := p.Labels.Get(r.Key); has {
				return r.Set.Allows(value)
			}
			return p.Requirements.Get(r.Key).Intersects(r.Set)
		}
		mayNot := func(r constraint.Requirement) bool { return !may(r) }
		if o.NotApplied == "" && !slices.ContainsFunc(o.Requirements, mayNot) {
			out = append(out, o)
		}
	}
	return out
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

// Counts is of how many offerings an overlay sets the price, and of how many instance types it sets resources.
type Counts struct{ Offerings, Types int }

// SetBy counts what an overlay of the snapshot sets for a pool; of what others set that come before it, nothing.
//
// Cost: linear in the overlays, times the offerings of the pool.
func SetBy(s *cluster.Snapshot, p *cluster.Pool, o *cluster.Overlay) (out Counts) {
	c := p.Catalogue.Listed()
	if c == nil {
		return out
	}
	for k := range c.InstanceTypes {
		t := &c.InstanceTypes[k]
		for i := range t.Offerings {
			if PriceBy(s, t.Offerings[i].Labels, t.Labels, p.Labels) == o {
				out.Offerings++
			}
		}
		if slices.ContainsFunc(CapacityBy(s, p, t), func(set Setting) bool { return set.By == o.Name }) {
			out.Types++
		}
	}
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

// Reorders reports whether overlays put offerings of a catalogue, of one capacity type, into another order than the
// prices of the cloud do, or alone give one a price: then the cloud must not choose among them by its own prices.
//
// Cost: that of sorting them.
func Reorders(c *cluster.Catalogue, named []offering.Named) bool {
	if c == c.Listed() {
		return false
	}
	type prices struct{ was, is quantity.MicroUSDPerHour }
	all := map[cluster.Option][]prices{}
	for _, n := range named {
		was, is := listedAs(c, n), n.Offering
		if was.Priced != is.Priced {
			return true
		}
		if is.Priced {
			all[is.Option] = append(all[is.Option], prices{was.Price, is.Price})
		}
	}
	for _, list := range all {
		slices.SortFunc(list, func(a, b prices) int {
			return cmp.Or(cmp.Compare(a.was, b.was), cmp.Compare(a.is, b.is))
		})
		for i := 1; i < len(list); i++ {
			a, b := list[i-1], list[i]
			if a.is > b.is || a.was == b.was && a.is != b.is {
				return true
			}
		}
	}
	return false
}

// listedAs is an offering of a catalogue as the class offers it.
func listedAs(c *cluster.Catalogue, n offering.Named) *cluster.Offering {
	was := c.Listed().InstanceType(n.Type.Name)
	for i := range n.Type.Offerings {
		if &n.Type.Offerings[i] == n.Offering {
			return &was.Offerings[i]
		}
	}
	return n.Offering
}

// With is the snapshot with other overlays, by which its nodes cost what offerings like theirs do.
func With(s *cluster.Snapshot, overlays []cluster.Overlay) *cluster.Snapshot {
	out := *Listed(s)
	out.Pools, out.Nodes, out.Overlays = slices.Clone(out.Pools), slices.Clone(out.Nodes), slices.Clone(overlays)
	Apply(&out)
	for i := range out.Nodes {
		n := &out.Nodes[i]
		for j := range out.Pools {
			if out.Pools[j].ID == n.Pool {
				n.Price = Repriced(n, s.Pools[j].Catalogue, out.Pools[j].Catalogue)
			}
		}
	}
	return &out
}

// Repriced is what a node costs once its pool has another catalogue, of the same class: what it did, unless its
// offering costs something else.
func Repriced(n *cluster.Node, was, is *cluster.Catalogue) quantity.MicroUSDPerHour {
	if was == is {
		return n.Price
	}
	before, now := offeringOf(was, n.Labels), offeringOf(is, n.Labels)
	switch {
	case before == nil || now == nil || before.Price == now.Price && before.Priced == now.Priced:
		return n.Price
	case !now.Priced:
		return 0
	}
	return now.Price
}

// offeringOf is the offering of a node with these labels; nil: there is none.
func offeringOf(c *cluster.Catalogue, node constraint.Labels) *cluster.Offering {
	name, _ := node.Get(cluster.LabelInstanceType)
	if k := c.InstanceType(name); k != nil {
		return k.Offering(node.Map())
	}
	return nil
}
