// Package topology counts pods by where they are, for topology spread, pod affinity and pod
// anti-affinity.
//
// A Board is set up in three steps: Rules for every shape that is to be placed, AddPlace for every
// node and instance being launched, Start. From then on Room answers how many more pods a place may
// take by these rules alone, in constant time for each rule, and Put counts pods. It follows
// kube-scheduler's plugins PodTopologySpread and InterPodAffinity. It knows nothing about resources
// and labels: core/feasibility answers whether a pod may run somewhere at all.
package topology

import (
	"slices"

	"github.com/daemok/daemok/core/cluster"
)

// Domains as they stand in a Spot beside the numbers from 0 on.
const (
	None    int32 = -1 // the place has no such label
	Fresh   int32 = -2 // a host that does not exist yet
	Unknown int32 = -3 // it will be decided when the instance is there, and may be any; less than this: one of a list
)

// Spot is where a pod might be: its domain for each key of the board, and last,
// where that is a single place, what stands for the place alone.
type Spot []int32

// own is what stands for the place alone, None where the spot is no single one.
func (at Spot) own(keys int) int32 {
	if len(at) <= keys {
		return None
	}
	return at[keys]
}

// Unlimited is more room than there are pods.
const Unlimited = int64(1) << 40

// Board is the counts of pods by domain. Not safe for concurrent use.
type Board struct {
	keys    []string
	keyAt   map[string]int
	values  []map[string]int32 // by key: the domain of a label value
	names   [][]string         // by key: the label value of a domain
	tallies []tally
	known   map[string]int // tallies by what they count
	filters []*filter
	byText  map[string]int            // filters by what they examine
	classes map[*cluster.Shape]*class // of shapes seen
	byClass map[string]*class
	index   *chosenIndex // of all tallies, once started
	places  []place
	ruled   []*Rules
	reaches [][]int32          // domains in which places may turn up; see Unknown
	daring  bool               // see Dare
	even    bool               // see Even
	wanted  map[int]bool       // keys over which some pod must be near others
	opened  map[[2]int][]int32 // by filter, key and domain: places that make it eligible, once asked for
}

// NewBoard returns an empty board.
func NewBoard() *Board {
	return &Board{
		keyAt: map[string]int{}, known: map[string]int{}, byText: map[string]int{},
		classes: map[*cluster.Shape]*class{}, byClass: map[string]*class{}, wanted: map[int]bool{}, opened: map[[2]int][]int32{},
	}
}

// Empty reports whether no rule examines other pods, so that nothing need be counted.
func (b *Board) Empty() bool { return len(b.tallies) == 0 }

// Keys lists the topology keys of all rules; a Spot has one domain for each.
func (b *Board) Keys() []string { return b.keys }

func (b *Board) key(name string) int {
	at, known := b.keyAt[name]
	if !known {
		at = len(b.keys)
		b.keyAt[name] = at
		b.keys = append(b.keys, name)
		b.values = append(b.values, map[string]int32{})
		b.names = append(b.names, nil)
	}
	return at
}

// Domain returns the number of a label value under a key of the board.
func (b *Board) Domain(key int, value string) int32 {
	d, known := b.values[key][value]
	if !known {
		d = int32(len(b.names[key]))
		b.values[key][value] = d
		b.names[key] = append(b.names[key], value)
	}
	return d
}

// Spot returns where the place is.
func (b *Board) Spot(place int) Spot { return b.places[place].spot }

// Start ends the set-up: which pods are counted by what is known from now on.
func (b *Board) Start() {
	b.index = newChosenIndex(b.tallies)
	for _, r := range b.ruled {
		b.join(r)
	}
	for at := range b.places {
		b.open(at)
	}
}

// open makes the place's domains eligible for the spreads whose nodes it is
// among.
func (b *Board) open(at int) {
	p := &b.places[at]
	for _, f := range b.filters {
		may, sure := f.looks(b, p)
		f.at, f.sure = append(f.at, may), append(f.sure, sure)
		if !may {
			continue
		}
		for _, t := range f.tallies {
			b.openDomains(&b.tallies[t], f, p)
		}
	}
}

// Open makes domains eligible for the spreads of the rules although no node is there yet, because
// instances can be had there.
func (b *Board) Open(r *Rules, at Spot) {
	for _, s := range r.spreads {
		t := &b.tallies[s.tally]
		if d := at[t.key]; d >= 0 {
			t.open(d)
		}
	}
}

// Clone returns a board with counts of its own. Rules and places so far are
// shared; places added later are not.
func (b *Board) Clone() *Board {
	out := *b
	out.tallies = slices.Clone(b.tallies)
	for i := range out.tallies {
		out.tallies[i] = out.tallies[i].clone()
	}
	out.filters = make([]*filter, len(b.filters))
	for i, f := range b.filters {
		g := *f
		g.at, g.sure = slices.Clip(f.at), slices.Clip(f.sure)
		out.filters[i] = &g
	}
	out.places = slices.Clip(b.places)
	return &out
}

// Value returns the label value of a domain.
func (b *Board) Value(key int, domain int32) string { return b.names[key][domain] }
