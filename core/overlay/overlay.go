// Package overlay applies NodeOverlays: it makes of what classes offer what pools plan with, at the prices and
// with the extended resources that users say.
//
// It promises that an overlay in conflict with another one changes nothing anywhere, that pools which no overlay
// changes keep the catalogue of their class, and that pools which overlays change alike share one. It writes no
// catalogue that it is given, and does not judge whether overlays are well formed.
package overlay

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/quantity"
)

// Pool is what overlays are applied to: the labels that every node of a pool gets, its name included, and what
// its class offers; nil: nothing yet.
type Pool struct {
	Labels constraint.Labels
	Listed *cluster.Catalogue
}

// Set is overlays and what they come to. It is not safe for concurrent use.
type Set struct {
	overlays []cluster.Overlay
	keys     []string // of overlays: equal for those that say the same
	views    map[*cluster.Catalogue]*view
}

// New resolves the conflicts of overlays, whose NotApplied does not matter, over all pools: of two of the same
// weight that set the price of one offering, or the same resource of one instance type, in one pool, the later
// one is not applied. What before has made of the same catalogues is used again, so that they stay the same
// values; nil: nothing was made. before must not be used any more.
//
// Cost: linear in the overlays, times the pools, or times the instance types where these are more.
func New(overlays []cluster.Overlay, pools []Pool, before *Set) *Set {
	s := &Set{overlays: slices.Clone(overlays), views: map[*cluster.Catalogue]*view{}}
	slices.SortFunc(s.overlays, cluster.Overlay.Compare)
	for i := range s.overlays {
		o := &s.overlays[i]
		o.NotApplied = ""
		s.keys = append(s.keys, fmt.Sprint(o.Name, " ", o.Requirements, " ", o.Price, o.Capacity))
	}
	if len(s.overlays) == 0 {
		return s
	}
	for _, p := range pools {
		if p.Listed == nil || s.views[p.Listed] != nil {
			continue
		}
		if before != nil && before.views[p.Listed] != nil {
			s.views[p.Listed] = before.views[p.Listed].next(s.keys)
		} else {
			s.views[p.Listed] = newView(p.Listed)
		}
	}
	s.resolve(pools)
	return s
}

// Overlays lists the overlays in the order in which they count, with why they are not applied. It must not be
// written.
func (s *Set) Overlays() []cluster.Overlay { return s.overlays }

// NotApplied is why the overlay of that name is not applied; empty: it is, or there is none.
func (s *Set) NotApplied(name string) string {
	if at := slices.IndexFunc(s.overlays, func(o cluster.Overlay) bool { return o.Name == name }); at >= 0 {
		return s.overlays[at].NotApplied
	}
	return ""
}

// resolve finds the overlays that are in conflict with one before them.
func (s *Set) resolve(pools []Pool) {
	type of struct {
		listed *cluster.Catalogue
		same   string
	}
	var groups []*group
	known := map[of]bool{}
	for _, p := range pools {
		if p.Listed == nil {
			continue
		}
		if matches, same := s.matches(p); !known[of{p.Listed, same}] {
			known[of{p.Listed, same}] = true
			groups = append(groups, &group{matches: matches})
		}
	}
	for i := range s.overlays {
		o := &s.overlays[i]
		for _, g := range groups {
			if with, what := g.conflict(s.overlays, i); with != "" {
				o.NotApplied = fmt.Sprintf("conflict with NodeOverlay %s: both have weight %d and set %s; "+
					"give them different weights", with, o.Weight, what)
				break
			}
		}
		if o.NotApplied == "" {
			for _, g := range groups {
				g.apply(s.overlays, i)
			}
		}
	}
}

// group is pools of which the same overlays match the same offerings, while conflicts are resolved. What is set
// is that of the applied overlays of one weight.
type group struct {
	matches []*match // by overlay; nil: none
	weight  int
	prices  bitset.Set            // offerings
	amounts map[string]bitset.Set // instance types, by resource
}

// conflict names the applied overlay that the i-th one is in conflict with, and what both set.
func (g *group) conflict(overlays []cluster.Overlay, i int) (with, what string) {
	o, m := &overlays[i], g.matches[i]
	if m == nil || g.weight != o.Weight {
		return "", ""
	}
	before := func(sets func(j int) bool) string {
		for j := i - 1; j >= 0 && overlays[j].Weight == o.Weight; j-- {
			if overlays[j].NotApplied == "" && g.matches[j] != nil && sets(j) {
				with = overlays[j].Name
			}
		}
		return with
	}
	if o.Price.How != cluster.PriceStays && g.prices != nil && m.offerings.Intersects(g.prices) {
		return before(func(j int) bool {
			return overlays[j].Price.How != cluster.PriceStays && g.matches[j].offerings.Intersects(m.offerings)
		}), "the price of an offering"
	}
	for _, amount := range o.Capacity {
		if set := g.amounts[amount.Name]; set != nil && m.types.Intersects(set) {
			return before(func(j int) bool {
				named := func(e quantity.Extended) bool { return e.Name == amount.Name }
				return slices.ContainsFunc(overlays[j].Capacity, named) && g.matches[j].types.Intersects(m.types)
			}), amount.Name + " of an instance type"
		}
	}
	return "", ""
}

// apply notes what the i-th overlay sets.
func (g *group) apply(overlays []cluster.Overlay, i int) {
	o, m := &overlays[i], g.matches[i]
	if m == nil {
		return
	}
	if g.weight != o.Weight || g.amounts == nil {
		g.weight, g.prices, g.amounts = o.Weight, nil, map[string]bitset.Set{}
	}
	if o.Price.How != cluster.PriceStays {
		g.prices = union(g.prices, m.offerings)
	}
	for _, amount := range o.Capacity {
		g.amounts[amount.Name] = union(g.amounts[amount.Name], m.types)
	}
}

func union(a, b bitset.Set) bitset.Set {
	if a == nil {
		return b.Clone()
	}
	a.Or(b)
	return a
}

// Of is what a pool plans with of what a class offers. Equal questions have one value as their answer.
func (s *Set) Of(p Pool) *cluster.Catalogue {
	if p.Listed == nil || len(s.overlays) == 0 {
		return p.Listed
	}
	matches, _ := s.matches(p)
	var list []applied
	var same strings.Builder
	for i, m := range matches {
		if m != nil && s.overlays[i].NotApplied == "" {
			list = append(list, applied{&s.overlays[i], m})
			same.WriteString(s.keys[i] + "\x00" + strconv.Itoa(m.number) + "\x00")
		}
	}
	if len(list) == 0 {
		return p.Listed
	}
	return s.view(p.Listed).overlaid(same.String(), list)
}

// matches are what each overlay matches of a pool, nil where nothing, and what is equal for pools of one
// catalogue with the same.
func (s *Set) matches(p Pool) (out []*match, same string) {
	v, numbers := s.view(p.Listed), make([]byte, 0, 2*len(s.overlays))
	out = make([]*match, len(s.overlays))
	for i := range s.overlays {
		number := uint64(0)
		if out[i] = v.match(&s.overlays[i], s.keys[i], p.Labels); out[i] != nil {
			number = uint64(out[i].number)
		}
		numbers = binary.AppendUvarint(numbers, number)
	}
	return out, string(numbers)
}

func (s *Set) view(c *cluster.Catalogue) *view {
	if s.views[c] == nil {
		s.views[c] = newView(c)
	}
	return s.views[c]
}
