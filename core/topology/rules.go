package topology

import (
	"slices"
	"sort"
	"strings"

	"github.com/daemok/daemok/core/cluster"
)

// Preference is the rules about other pods that one pod must keep. Preferences that
// are to hold for now stand among the required ones.
type Preference struct {
	Shape      *cluster.Shape // whose pods these are: labels, namespace, node terms
	Spread     []cluster.Spread
	Neighbours []cluster.Neighbours
}

// Rules is a Preference made ready for one board.
type Rules struct {
	class   *class
	spreads []spreadRule
	near    []nearRule
	apart   []apartRule
	keptOff []int // tallies of pods that do not want such a pod near
	counted []int // tallies that count its pods
	owns    []int // tallies that count its pods as keeping others away

	fixed   []int // keys beside the host name on which it matters where it is
	host    bool  // some rule is about the host
	perHost []int // of counted and owns: those about the host
	seeks   []Seek
	sought  []int
}

type spreadRule struct {
	tally      int
	maxSkew    int64
	minDomains int32
	self       bool // its own pods are counted
}

// nearRule is pods that must be there: those that all terms of the pod choose.
type nearRule struct {
	tallies []int // one for each key
	selfish bool  // its own pods are such pods
	volume  bool  // because of a volume that they share and that is yet to be made
}

type apartRule struct {
	tally int
	self  bool
}

// Rules adds the rules of a preference to the board, and what its pods keep away
// from themselves wherever they are. To be called before Start, also for shapes
// of running pods: these preference for nothing more, but they count.
func (b *Board) Rules(w Preference) *Rules {
	r := &Rules{class: b.classOf(w.Shape)}
	var keys []int
	for i := range w.Spread {
		if !w.Spread[i].Soft {
			keys = append(keys, b.key(w.Spread[i].Key))
		}
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	for i := range w.Spread {
		r.spreads = append(r.spreads, b.spread(w.Shape, &w.Spread[i], keys))
	}
	b.neighbours(r, w)
	for i := range w.Shape.Neighbours {
		if n := &w.Shape.Neighbours[i]; n.Apart && n.Weight == 0 {
			r.owns = append(r.owns, b.owner(w.Shape, n))
		}
	}
	b.ruled = append(b.ruled, r)
	return r
}

func (b *Board) spread(s *cluster.Shape, spread *cluster.Spread, keys []int) spreadRule {
	who := chosen{selector: spread.Selector, namespaces: []string{s.Namespace}, virtual: s.Virtual}
	if at := b.key(spread.Key); !slices.Contains(keys, at) {
		keys = append(slices.Clone(keys), at) // one that may give way takes no domains from the others
	}
	f := b.filterFor(s, spread, keys)
	key := b.key(spread.Key)
	at := b.tally("spread "+b.filters[f].text()+" ", key, []chosen{who}, f)
	return spreadRule{
		tally: at, maxSkew: int64(spread.MaxSkew), minDomains: spread.MinDomains,
		self: who.matches(b.classOf(s)),
	}
}

func (b *Board) neighbours(r *Rules, w Preference) {
	for i := range w.Neighbours {
		if n := &w.Neighbours[i]; n.Apart {
			who := ofNeighbours(w.Shape, n)
			at := b.tally("", b.key(n.Key), []chosen{who}, -1)
			r.apart = append(r.apart, apartRule{at, who.matches(r.class)})
		}
	}
	b.near(r, w, false)
	b.near(r, w, true)
}

// near adds what must be near by the pod's own terms or by its volumes. A pod
// counts for the own terms only if all of them choose it.
func (b *Board) near(r *Rules, w Preference, volume bool) {
	var who []chosen
	for i := range w.Neighbours {
		if n := &w.Neighbours[i]; !n.Apart && n.Volume == volume {
			who = append(who, ofNeighbours(w.Shape, n))
		}
	}
	rule := nearRule{selfish: len(who) > 0 && allMatch(who, r.class), volume: volume}
	for i := range w.Neighbours {
		if n := &w.Neighbours[i]; !n.Apart && n.Volume == volume {
			at := b.tally("", b.key(n.Key), who, -1)
			b.tallies[at].wanted, b.tallies[at].volume = true, volume
			b.wanted[b.tallies[at].key] = true
			if !slices.Contains(rule.tallies, at) {
				rule.tallies = append(rule.tallies, at)
			}
		}
	}
	if len(who) > 0 {
		r.near = append(r.near, rule)
	}
}

func (b *Board) owner(s *cluster.Shape, n *cluster.Neighbours) int {
	at := b.tally("owners ", b.key(n.Key), []chosen{awayFrom(s, n)}, -1)
	b.tallies[at].owners = true
	return at
}

// tally returns the number of the tally that counts this.
func (b *Board) tally(kind string, key int, who []chosen, filter int) int {
	var text strings.Builder
	text.WriteString(kind + b.keys[key])
	for i := range who {
		text.WriteString(" and " + who[i].text())
	}
	if at, known := b.known[text.String()]; known {
		return at
	}
	at := len(b.tallies)
	b.tallies = append(b.tallies, tally{key: key, who: who, filter: filter})
	b.known[text.String()] = at
	if filter >= 0 {
		b.filters[filter].tallies = append(b.filters[filter].tallies, at)
	}
	return at
}

// join finds out which rules count and which keep off pods with these rules.
func (b *Board) join(r *Rules) {
	r.counted, r.keptOff = nil, nil
	for _, at := range b.countedBy(r.class) {
		if b.tallies[at].owners {
			r.keptOff = append(r.keptOff, at)
		} else {
			r.counted = append(r.counted, at)
		}
	}
	b.fix(r)
	b.recordPairs(r)
}

// fix notes on which keys it matters where the pods are.
func (b *Board) fix(r *Rules) {
	host, hostKnown := b.keyAt[cluster.LabelHostname]
	r.fixed, r.host = nil, false
	note := func(at int, rule bool) {
		key := b.tallies[at].key
		if hostKnown && key == host {
			r.host = r.host || rule
			return
		}
		if !slices.Contains(r.fixed, key) {
			r.fixed = append(r.fixed, key)
		}
	}
	for _, s := range r.spreads {
		note(s.tally, true)
	}
	for _, n := range r.near {
		for _, at := range n.tallies {
			note(at, true)
		}
	}
	for _, a := range r.apart {
		note(a.tally, true)
	}
	for _, at := range r.keptOff {
		note(at, true)
	}
	for _, at := range r.counted {
		note(at, false)
	}
	for _, at := range r.owns {
		note(at, false)
	}
	sort.Ints(r.fixed)
	r.perHost = r.perHost[:0]
	for _, list := range [][]int{r.counted, r.owns} {
		for _, at := range list {
			if hostKnown && b.tallies[at].key == host {
				r.perHost = append(r.perHost, at)
			}
		}
	}
}

// Fixed lists the keys, beside the host name, whose domain must be decided
// before a pod is placed, because a rule of it or of others counts there.
func (r *Rules) Fixed() []int { return r.fixed }

// Free reports whether it does not matter where the pods are.
func (r *Rules) Free() bool {
	return len(r.fixed) == 0 && !r.host && len(r.perHost) == 0
}

// AboutHosts reports whether some rule is about single hosts.
func (r *Rules) AboutHosts() bool { return r.host }

// Follows reports whether the pods must be where certain other pods are, which
// may have to be placed first.
func (r *Rules) Follows() bool {
	return slices.ContainsFunc(r.near, func(n nearRule) bool { return !n.selfish })
}

// Spreads reports whether pods are to be spread among pods of their own class.
func (r *Rules) Spreads() bool {
	return slices.ContainsFunc(r.spreads, func(s spreadRule) bool { return s.self })
}

// Counts reports whether it matters to any rule where the pods are.
func (r *Rules) Counts() bool { return len(r.counted)+len(r.owns) > 0 }

// Near reports whether the pods must be near certain pods, their own class included.
func (r *Rules) Near() bool { return len(r.near) > 0 }
