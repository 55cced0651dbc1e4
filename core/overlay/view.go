package overlay

import (
	"slices"

	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
)

// view is a catalogue as overlays see it, and what they have made of it. What is worked out once is kept.
type view struct {
	of      *cluster.Catalogue
	first   []int                         // by instance type: the number of its first offering
	count   int                           // of offerings
	columns map[string]*column            // by label; nil: no instance type and no offering has it
	asked   map[string]*asked             // by overlay
	made    map[string]*cluster.Catalogue // by what was applied
	before  map[string]*cluster.Catalogue // by earlier overlays; what of it is needed moves to made
	found   int                           // how many matches there are
}

// column is what offerings say of one label, in their order: a position among values; -1: neither the offering
// nor its instance type has the label.
type column struct {
	values []string
	of     []int32
}

// asked is what an overlay asks of a catalogue.
type asked struct {
	ofPools constraint.Requirements // on labels that pools alone have
	others  constraint.Requirements
	matches map[string]*match // by what pools say of the labels of others; nil: nothing matches
}

// match is what an overlay matches of a catalogue.
type match struct {
	number    int        // among those of its view, from 1
	offerings bitset.Set // by number
	types     bitset.Set // by position: those of which some offering matches
}

func newView(c *cluster.Catalogue) *view {
	v := &view{of: c, columns: map[string]*column{}, asked: map[string]*asked{}}
	v.made = map[string]*cluster.Catalogue{}
	for k := range c.InstanceTypes {
		v.first = append(v.first, v.count)
		v.count += len(c.InstanceTypes[k].Offerings)
	}
	return v
}

// next is the view for other overlays, of which known are the keys. The view itself must not be used any more.
func (v *view) next(known []string) *view {
	out := *v
	out.asked, out.made, out.before = map[string]*asked{}, map[string]*cluster.Catalogue{}, v.made
	for _, key := range known {
		if v.asked[key] != nil {
			out.asked[key] = v.asked[key]
		}
	}
	return &out
}

// column is that of a label; nil: no instance type and no offering has it.
func (v *view) column(key string) *column {
	c, known := v.columns[key]
	if !known {
		c = v.read(key)
		v.columns[key] = c
	}
	return c
}

func (v *view) read(key string) *column {
	out, at, some := &column{of: make([]int32, 0, v.count)}, map[string]int32{}, false
	for k := range v.of.InstanceTypes {
		ofType, typed := v.of.InstanceTypes[k].Labels.Get(key)
		for i := range v.of.InstanceTypes[k].Offerings {
			value, has := v.of.InstanceTypes[k].Offerings[i].Labels.Get(key)
			if !has {
				value, has = ofType, typed
			}
			id := int32(-1)
			if has {
				var known bool
				if id, known = at[value]; !known {
					id = int32(len(out.values))
					at[value], out.values = id, append(out.values, value)
				}
			}
			out.of, some = append(out.of, id), some || has
		}
	}
	if !some {
		return nil
	}
	return out
}

// match is what the overlay, known by its key, matches for a pool with these labels; nil: nothing. A node of an
// offering has the labels of the offering, else those of its instance type, else those of the pool: what these
// say of labels that no offering has decides for all at once, so that most pools have matches in common.
func (v *view) match(o *cluster.Overlay, key string, pool constraint.Labels) *match {
	a := v.asked[key]
	if a == nil {
		a = v.ask(o.Requirements)
		v.asked[key] = a
	}
	if !meets(a.ofPools, pool) {
		return nil
	}
	same := ""
	for _, r := range a.others {
		if value, has := pool.Get(r.Key); has {
			same += r.Key + "\x00" + value + "\x00"
		}
	}
	m, known := a.matches[same]
	if !known {
		m = v.find(a.others, pool)
		a.matches[same] = m
	}
	return m
}

func (v *view) ask(all constraint.Requirements) *asked {
	out := &asked{matches: map[string]*match{}}
	for _, r := range all {
		if v.column(r.Key) == nil {
			out.ofPools = append(out.ofPools, r)
		} else {
			out.others = append(out.others, r)
		}
	}
	return out
}

// find is what meets requirements; nil: nothing.
func (v *view) find(all constraint.Requirements, pool constraint.Labels) *match {
	offerings := bitset.Full(v.count)
	for _, r := range all {
		c := v.column(r.Key)
		absent, allowed := meets(constraint.Requirements{r}, pool), make([]bool, len(c.values))
		for i, value := range c.values {
			allowed[i] = r.Set.Allows(value)
		}
		for i, id := range c.of {
			if id < 0 && !absent || id >= 0 && !allowed[id] {
				offerings.Remove(i)
			}
		}
	}
	types, some := bitset.New(len(v.of.InstanceTypes)), false
	for k := range v.of.InstanceTypes {
		for i := range v.of.InstanceTypes[k].Offerings {
			if offerings.Has(v.first[k] + i) {
				types.Add(k)
				some = true
				break
			}
		}
	}
	if !some {
		return nil
	}
	v.found++
	return &match{v.found, offerings, types}
}

// meets reports whether labels meet requirements: of several with one key the first counts.
func meets(all constraint.Requirements, labels ...constraint.Labels) bool {
	for _, r := range all {
		var value string
		has := false
		for i := 0; i < len(labels) && !has; i++ {
			value, has = labels[i].Get(r.Key)
		}
		if has && !r.Set.Allows(value) || !has && !r.Set.AllowsAbsent() {
			return false
		}
	}
	return true
}

// applied is an overlay that changes a catalogue.
type applied struct {
	*cluster.Overlay
	*match
}

// overlaid is the catalogue with overlays, in the order in which they count; same stands for them.
func (v *view) overlaid(same string, list []applied) *cluster.Catalogue {
	if v.made[same] == nil {
		v.made[same] = v.before[same]
	}
	if v.made[same] == nil {
		v.made[same] = v.over(list)
	}
	return v.made[same]
}

// over makes the catalogue: of each price and each resource of an instance type the first overlay decides.
func (v *view) over(list []applied) *cluster.Catalogue {
	c := v.of
	out := &cluster.Catalogue{Revision: c.Revision, Disk: c.Disk, Base: c}
	out.InstanceTypes = slices.Clone(c.InstanceTypes)
	for k := range out.InstanceTypes {
		v.overType(&out.InstanceTypes[k], k, list)
	}
	return out
}

func (v *view) overType(to *cluster.InstanceType, k int, list []applied) {
	var set []string
	var priced bitset.Set
	for _, a := range list {
		if !a.types.Has(k) {
			continue
		}
		for _, e := range a.Capacity {
			if !slices.Contains(set, e.Name) {
				set = append(set, e.Name)
				to.Capacity = to.Capacity.With(e.Name, e.Amount)
				to.Allocatable = to.Allocatable.With(e.Name, e.Amount)
			}
		}
		if a.Price.How == cluster.PriceStays {
			continue
		}
		if priced == nil {
			priced = bitset.New(len(to.Offerings))
			to.Offerings = slices.Clone(to.Offerings)
		}
		for i := range to.Offerings {
			if o := &to.Offerings[i]; a.offerings.Has(v.first[k]+i) && !priced.Has(i) {
				priced.Add(i)
				o.Price, o.Priced = a.Price.Of(o)
			}
		}
	}
}
