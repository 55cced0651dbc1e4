package topology

import "slices"

// View is a board for a few pods, out of one for many: it counts what rules of these few examine,
// as if no other pods were to be placed, and costs no more. Keys, domains and places keep their
// numbers; tallies do not. A view takes no more rules.
//
// Views and their board share the numbers of domains: only one of them may be used at a time.
type View struct {
	*Board
	of     *Board
	at     map[int]int       // by number of a tally there: its number here
	closed map[opening]int32 // how many places of it are vacated
}

// View returns a view for pods with these rules. To be called after Start.
func (b *Board) View(rules []*Rules) *View {
	out := *b
	out.tallies, out.filters, out.ruled = nil, nil, nil
	out.places, out.reaches = slices.Clip(b.places), slices.Clip(b.reaches)
	v := &View{Board: &out, of: b, at: map[int]int{}, closed: map[opening]int32{}}
	filters := map[int]int{}
	for _, r := range rules {
		for i := range r.spreads {
			v.include(r.spreads[i].tally, filters)
		}
		for i := range r.near {
			for _, t := range r.near[i].tallies {
				v.include(t, filters)
			}
		}
		for i := range r.apart {
			v.include(r.apart[i].tally, filters)
		}
		for _, t := range r.keptOff {
			v.include(t, filters)
		}
		for _, t := range r.owns {
			v.include(t, filters)
		}
	}
	return v
}

// include makes a tally one of the view's, with counts of its own.
func (v *View) include(tally int, filters map[int]int) {
	if _, known := v.at[tally]; known {
		return
	}
	at := len(v.tallies)
	v.at[tally] = at
	v.tallies = append(v.tallies, v.of.tallies[tally].clone())
	t := &v.tallies[at]
	if t.filter < 0 {
		return
	}
	f, known := filters[t.filter]
	if !known {
		f = len(v.filters)
		filters[t.filter] = f
		own := *v.of.filters[t.filter]
		own.at, own.sure, own.tallies, own.number = slices.Clone(own.at), slices.Clone(own.sure), nil, t.filter
		v.filters = append(v.filters, &own)
	}
	t.filter = f
	v.filters[f].tallies = append(v.filters[f].tallies, at)
}

// Rules returns rules of the other board as they stand here: of what pods are counted as, only what
// some rule here examines.
func (v *View) Rules(r *Rules) *Rules {
	out := &Rules{class: r.class, spreads: slices.Clone(r.spreads), apart: slices.Clone(r.apart)}
	for i := range out.spreads {
		out.spreads[i].tally = v.at[r.spreads[i].tally]
	}
	for i := range out.apart {
		out.apart[i].tally = v.at[r.apart[i].tally]
	}
	for _, n := range r.near {
		n.tallies = v.those(n.tallies)
		out.near = append(out.near, n)
	}
	out.keptOff, out.counted, out.owns = v.those(r.keptOff), v.those(r.counted), v.those(r.owns)
	v.fix(out)
	v.recordPairs(out)
	return out
}

// those are the numbers here of those tallies that are the view's.
func (v *View) those(list []int) []int {
	var out []int
	for _, t := range list {
		if at, known := v.at[t]; known {
			out = append(out, at)
		}
	}
	return out
}

// Leave takes one pod with these rules of the other board off a node.
func (v *View) Leave(r *Rules, place int, ending bool) {
	if len(v.tallies) > 0 {
		v.Put(&Rules{counted: v.those(r.counted), owns: v.those(r.owns)}, place, -1, ending)
	}
}

// Vacate makes a node one that goes: it makes no domain for spreads from now
// on, and pods that stay on it, with these rules of the other board, do not
// count for these.
func (v *View) Vacate(place int, stay []*Rules) {
	for _, f := range v.filters {
		if !f.at[place] {
			continue
		}
		for _, r := range stay {
			for _, t := range v.those(r.counted) {
				if slices.Contains(f.tallies, t) {
					v.tallies[t].put(v.places[place].spot[v.tallies[t].key], -1, nil)
				}
			}
		}
		f.at[place], f.sure[place] = false, false
		v.closeDomains(f, place)
	}
}

// closeDomains makes the domains of a place that the filter no longer examines ineligible, those in
// which all such places are vacated.
func (v *View) closeDomains(f *filter, place int) {
	var keys []int
	for _, t := range f.tallies {
		if key := v.tallies[t].key; !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	for _, key := range keys {
		d := v.places[place].spot[key]
		if d < 0 {
			continue
		}
		at := opening{f.number, key, d}
		if v.closed[at]++; v.closed[at] < v.of.openers(at) {
			continue
		}
		for _, t := range f.tallies {
			if v.tallies[t].key == key {
				v.tallies[t].close(d)
			}
		}
	}
}

// opening is a domain as one that a filter's spreads may examine.
type opening struct {
	filter, key int
	domain      int32
}

// openers is how many places make the domain eligible.
func (b *Board) openers(at opening) int32 {
	return b.openersBy(at.filter, at.key)[at.domain]
}

func (b *Board) openersBy(filter, key int) []int32 {
	known, ok := b.opened[[2]int{filter, key}]
	if ok {
		return known
	}
	f := b.filters[filter]
	for i := range b.places {
		if f.at[i] {
			known = b.countOpener(known, f, key, i)
		}
	}
	known = append(known, make([]int32, max(0, len(b.names[key])-len(known)))...)
	b.opened[[2]int{filter, key}] = known
	return known
}

func (b *Board) countOpener(known []int32, f *filter, key, place int) []int32 {
	for _, d := range b.opens(key, f, &b.places[place]) {
		for int(d) >= len(known) {
			known = append(known, 0)
		}
		known[d]++
	}
	return known
}

// RecordOpener counts a place that was added after Start among those that make
// domains eligible, for views.
func (b *Board) RecordOpener(place int) {
	for at, known := range b.opened {
		if f := b.filters[at[0]]; f.at[place] {
			b.opened[at] = b.countOpener(known, f, at[1], place)
		}
	}
}

// Vacate is View.Vacate for all that the board counts, for good.
func (b *Board) Vacate(place int, stay []*Rules) {
	for n, f := range b.filters {
		if !f.at[place] {
			continue
		}
		for _, r := range stay {
			for _, t := range r.counted {
				if b.tallies[t].filter == n {
					b.tallies[t].put(b.places[place].spot[b.tallies[t].key], -1, nil)
				}
			}
		}
		var keys []int
		for _, t := range f.tallies {
			key := b.tallies[t].key
			d := b.places[place].spot[key]
			if d < 0 {
				continue
			}
			if !slices.Contains(keys, key) {
				keys = append(keys, key)
				b.openersBy(n, key)[d]--
			}
			if b.openersBy(n, key)[d] == 0 {
				b.tallies[t].close(d)
			}
		}
		f.at[place], f.sure[place] = false, false
	}
}
