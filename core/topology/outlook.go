package topology

import (
	"math"
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
)

// place is a node, an instance being launched or one that a plan launches.
type place struct {
	Outlook
	taints []constraint.Taint
	goes   bool
	spot   Spot
}

// Outlook is what a place may turn out to be.
type Outlook struct {
	Ways []constraint.Labels // its labels in each way in which it may turn out, at least one
	Host string              // its host name in all of them; empty where that is among the labels
	Open []string            // keys that may get any value
}

// AddPlace adds a place with its labels and the taints that last, and returns
// its number. A place added after Start is a domain of its own from then on;
// it has no pods yet. One that goes makes no domain for spreads.
func (b *Board) AddPlace(labels constraint.Labels, taints []constraint.Taint, goes bool) int {
	return b.add(place{Outlook: Outlook{Ways: []constraint.Labels{labels}}, taints: taints, goes: goes})
}

// AddOutlook is AddPlace for a place of which it is not decided yet what it
// will be. Rules then reckon with everything that it may be.
func (b *Board) AddOutlook(o Outlook, taints []constraint.Taint) int {
	return b.add(place{Outlook: o, taints: taints})
}

func (b *Board) add(p place) int {
	p.spot = make(Spot, len(b.keys)+1)
	p.spot[len(b.keys)] = math.MinInt32 + int32(len(b.places))
	for k, key := range b.keys {
		p.spot[k] = b.where(&p, key, k)
	}
	b.places = append(b.places, p)
	at := len(b.places) - 1
	if b.index != nil {
		b.open(at)
	}
	return at
}

// where returns the domain of the place, or what stands for all in which it may
// turn up.
func (b *Board) where(p *place, key string, k int) int32 {
	if slices.Contains(p.Open, key) {
		return Unknown
	}
	var reach []int32
	for way := range p.Ways {
		d := None
		if value, ok := p.label(way, key); ok {
			d = b.Domain(k, value)
		}
		if !slices.Contains(reach, d) {
			reach = append(reach, d)
		}
	}
	if len(reach) == 1 {
		return reach[0]
	}
	slices.Sort(reach)
	at := -1
	if !b.wanted[k] { // else it stands for the domain of this place alone: pods on it are near each other wherever it is
		at = slices.IndexFunc(b.reaches, func(known []int32) bool { return slices.Equal(known, reach) })
	}
	if at < 0 {
		at = len(b.reaches)
		b.reaches = append(b.reaches, reach)
	}
	return Unknown - 1 - int32(at)
}

// Domains lists where the place may be by a key, as far as that can be listed.
func (b *Board) Domains(place, key int) []int32 {
	d := b.places[place].spot[key]
	if d > Unknown {
		return []int32{d}
	}
	return slices.DeleteFunc(slices.Clone(b.reach(d)), func(d int32) bool { return d == None })
}

// reach lists the domains that one of a spot stands for, None if there may be
// none; nil if it may be any.
func (b *Board) reach(domain int32) []int32 {
	if domain >= Unknown {
		return nil
	}
	return b.reaches[Unknown-1-domain]
}

func (p *place) label(way int, key string) (string, bool) {
	if key == cluster.LabelHostname && p.Host != "" {
		return p.Host, true
	}
	return p.Ways[way].Get(key)
}

// openDomains makes those eligible in which the place is when a spread examines it, or may examine
// it.
func (b *Board) openDomains(t *tally, f *filter, p *place) {
	if d := p.spot[t.key]; d > Unknown {
		t.open(d)
		return
	}
	for _, d := range b.opens(t.key, f, p) {
		t.open(d)
	}
}

// opens lists these domains, each once.
func (b *Board) opens(key int, f *filter, p *place) []int32 {
	if d := p.spot[key]; d >= 0 {
		return []int32{d}
	}
	var out []int32
	for way := range p.Ways {
		if value, ok := p.label(way, b.keys[key]); ok && f.admits(b, p, way) != no {
			if d := b.Domain(key, value); !slices.Contains(out, d) {
				out = append(out, d)
			}
		}
	}
	return out
}

// Looked lists the labels of places that some rule examines.
func (b *Board) Looked() []string {
	out := slices.Clone(b.keys)
	for _, f := range b.filters {
		for _, t := range f.terms {
			for _, r := range t {
				out = append(out, r.Key)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
