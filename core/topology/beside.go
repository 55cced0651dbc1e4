package topology

import (
	"slices"

	"github.com/daemok/daemok/core/cluster"
)

// Seek is a class of pods that must be on the same host, or in the same domain of another key, by
// the number of the tally that counts them.
type Seek struct {
	Tally int
	Own   bool // pods with the rules are such pods: the first of them needs none
}

// Seeks lists which pods must be on the host of pods with the rules.
func (r *Rules) Seeks() []Seek { return r.seeks }

// Sought lists, by their tallies, the preferences about hosts by which other pods seek pods with
// the rules.
func (r *Rules) Sought() []int { return r.sought }

// Anywhere reports whether any pod of the tally has a place.
func (b *Board) Anywhere(tally int) bool { return b.tallies[tally].total > 0 }

// Comes reports whether new instances may bring pods of the tally by themselves.
func (b *Board) Comes(tally int) bool { return b.tallies[tally].brought }

// Has reports whether a pod of the tally is on the host.
func (h *Host) Has(tally int) bool { return h.counts[tally] > 0 }

// recordPairs lists what pods with the rules seek on their host, and which pods seek them there.
func (b *Board) recordPairs(r *Rules) {
	r.seeks, r.sought = nil, nil
	host, known := b.keyAt[cluster.LabelHostname]
	if !known {
		return
	}
	for _, n := range r.near {
		for _, at := range n.tallies {
			if b.tallies[at].key == host {
				r.seeks = append(r.seeks, Seek{at, n.selfish})
			}
		}
	}
	for _, at := range r.counted {
		if t := &b.tallies[at]; t.key == host && t.wanted {
			r.sought = append(r.sought, at)
		}
	}
}

// Nears lists, over any key, which pods must be near pods with the rules.
func (r *Rules) Nears() []Seek {
	var out []Seek
	for _, n := range r.near {
		for _, at := range n.tallies {
			out = append(out, Seek{at, n.selfish})
		}
	}
	return out
}

// Astray reports whether a volume that pods with the rules share would be made where its domain is
// not known.
func (b *Board) Astray(r *Rules, at Spot) bool {
	return slices.ContainsFunc(r.near, func(n nearRule) bool {
		return n.volume && slices.ContainsFunc(n.tallies, func(t int) bool { return at[b.tallies[t].key] == None })
	})
}

// Led lists the tallies, over any key, by which other pods must be near pods with the rules.
func (b *Board) Led(r *Rules) []int {
	var out []int
	for _, at := range r.counted {
		if b.tallies[at].wanted {
			out = append(out, at)
		}
	}
	return out
}

// KeyOf returns the key of a tally.
func (b *Board) KeyOf(tally int) int { return b.tallies[tally].key }

// Only returns a tally of which a host may have one pod at most, where pods
// with the rules are such pods and must not be beside any other of them; false
// if there is none.
func (b *Board) Only(r *Rules) (tally int, ok bool) {
	host := b.hostKey()
	for _, a := range r.apart {
		if a.self && b.tallies[a.tally].key == host {
			return a.tally, true
		}
	}
	return 0, false
}
