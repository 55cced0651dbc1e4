package feasibility

import (
	"cmp"
	"maps"
	"slices"

	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/parallel"
	"github.com/daemok/daemok/core/quantity"
)

// Pool answers for one pool what its machines can be. It is computed once per
// decision and not written afterwards, but for a memory of answers, so it
// must not be shared between goroutines.
type Pool struct {
	*cluster.Pool
	Options []Option // every offer that the pool's own rules and floor allow, in the order of buying
	places  []int32  // by option: its position among all that the catalogue offers
	Kinds   []Space  // what machines have for pods, by Option.Kind
	*shelf
	rules    constraint.Requirements // the pool's requirements and labels on defined keys
	every    bitset.Set              // all options
	usual    bitset.Set              // those that are bought whether or not they are asked for
	special  []special               // the others
	terms    map[*cluster.Shape]answer
	matches  map[string]bitset.Set
	columns  map[string]*cluster.Column // by label, Of by option
	values   map[string][]string        // likewise, see valuesOf
	nearKeys map[string]string          // by key: the one that was probably meant; empty for none
	free     map[string][]int64         // by resource and kind, see freeOf
	calm     bitset.Set                 // options that daemon pods leave something of; nil: not asked for yet
	onSale   bitset.Set                 // what Available returns; likewise
	daemons  []cluster.Daemon           // that there are, for the names of those in the way
}

// Option is one offer that the pool may buy, by the position of its kind among
// Pool.Kinds.
type Option = cluster.OfferAt

// Space is what a machine of one kind has for pods.
type Space struct {
	Free    quantity.Resources // allocatable less daemon pods
	Daemons quantity.Resources // the daemon pods
	Ports   []cluster.Port     // of the host, that daemon pods take
	Pods    []*cluster.Shape   // the daemon pods, one of each
	Cramped bool               // they leave less to pods than the pool's floor asks for
	Of      int                // position in the catalogue: several have one where other daemon pods come by some of its offers
}

// ForPool prepares the answers for a pool. Options are ordered as they should
// be bought: reserved capacity, then by price, what has no price last, ties by
// kind, zone and option.
func ForPool(p *cluster.Pool, daemons []cluster.Daemon) *Pool {
	return forPool(p, newShelf(p.Catalogue), daemons)
}

// ForPools is ForPool for each of the pools, in their order. What pools with
// one catalogue have in common is computed once.
func ForPools(pools []cluster.Pool, daemons []cluster.Daemon) []*Pool {
	shelves := map[*cluster.Catalogue]*shelf{}
	out := make([]*Pool, len(pools))
	for i := range pools {
		c := pools[i].Catalogue
		if shelves[c] == nil {
			shelves[c] = newShelf(c)
		}
		out[i] = forPool(&pools[i], shelves[c], daemons)
	}
	return out
}

func forPool(p *cluster.Pool, from *shelf, daemons []cluster.Daemon) *Pool {
	out := &Pool{Pool: p, shelf: from, daemons: daemons}
	out.keepAnswers()
	out.rules = out.ownRules()
	may := from.within(out.rules, p.Floor.Size)
	out.Options, out.places = make([]Option, 0, may.Count()), make([]int32, 0, may.Count())
	for i := may.Next(0); i >= 0; i = may.Next(i + 1) {
		out.Options, out.places = append(out.Options, from.options[i]), append(out.places, int32(i))
	}
	out.every = bitset.Full(len(out.Options))
	out.keepSpecial()
	out.settleDaemons()
	return out
}

// special is the options that are bought for those alone who rule a label out.
type special struct {
	unless  constraint.Label
	options bitset.Set
}

// keepSpecial sets apart what is not for everyone. What the pool itself asks for is.
func (p *Pool) keepSpecial() {
	p.usual = p.every.Clone()
	for i, o := range p.Options {
		offer := p.Offer(o)
		if offer.Asked(p.rules) {
			continue
		}
		at := slices.IndexFunc(p.special, func(s special) bool { return s.unless == offer.Unless })
		if at < 0 {
			at = len(p.special)
			p.special = append(p.special, special{offer.Unless, bitset.New(len(p.Options))})
		}
		p.special[at].options.Add(i)
		p.usual.Remove(i)
	}
}

// open returns the options that may be bought for who rules out those labels. It is
// not to be written.
func (p *Pool) open(rulesOut func(constraint.Label) bool) bitset.Set {
	out, own := p.usual, false
	for _, s := range p.special {
		if !rulesOut(s.unless) {
			continue
		}
		if !own {
			out, own = out.Clone(), true
		}
		out.Or(s.options)
	}
	return out
}

// openFor is open for who requires this.
func (p *Pool) openFor(r constraint.Requirements) bitset.Set {
	return p.open(func(l constraint.Label) bool { return !r.Get(l.Key).Allows(l.Value) })
}

// shelf is what all pools with one catalogue share.
type shelf struct {
	kinds   []cluster.Kind
	defined []string // label keys that kinds and offers decide, sorted
	offers  []string // those of them that offers have, sorted
	options []Option // all offers in the order of buying
	columns map[string]*parallel.Once[cluster.Column]
}

func newShelf(c *cluster.Catalogue) *shelf {
	if c == nil {
		return &shelf{}
	}
	index := c.Index.Get(func() *cluster.Index { return indexOf(c) })
	return &shelf{kinds: c.Kinds, defined: index.Keys, offers: index.OfferKeys, options: index.Offers, columns: index.Columns}
}

// indexOf sorts the offers of a catalogue, which takes long: thousands are usual.
func indexOf(c *cluster.Catalogue) *cluster.Index {
	s := &shelf{kinds: c.Kinds}
	s.defined, s.offers = definedKeys(c.Kinds)
	for k := range c.Kinds {
		for i := range c.Kinds[k].Offers {
			s.options = append(s.options, Option{Kind: k, Offer: i})
		}
	}
	ranks := s.ranks()
	slices.SortStableFunc(s.options, func(a, b Option) int { return s.compare(a, b, ranks) })
	columns := make(map[string]*parallel.Once[cluster.Column], len(s.defined))
	for _, key := range s.defined {
		columns[key] = &parallel.Once[cluster.Column]{}
	}
	return &cluster.Index{Keys: s.defined, OfferKeys: s.offers, Offers: s.options, Columns: columns}
}

// ranks returns by which price each offer is bought: spot offers by their own and
// what interruptions are likely to cost; one on demand after every spot offer that
// is cheaper, however likely that is to be interrupted.
func (p *shelf) ranks() map[Option]quantity.MicroUSDPerHour {
	out, most := map[Option]quantity.MicroUSDPerHour{}, quantity.MicroUSDPerHour(0)
	if !slices.ContainsFunc(p.options, func(o Option) bool { return p.Offer(o).Ranked() != p.Offer(o).Price }) {
		return nil
	}
	byPrice := slices.Clone(p.options)
	slices.SortFunc(byPrice, func(a, b Option) int {
		one, other := p.Offer(a), p.Offer(b)
		return cmp.Or(cmp.Compare(one.Price, other.Price), cmp.Compare(other.Option, one.Option)) // spot after on-demand
	})
	for _, o := range byPrice {
		offer := p.Offer(o)
		switch out[o] = offer.Ranked(); {
		case !offer.Priced:
		case offer.Option == cluster.OnDemand:
			out[o] = max(out[o], most)
		case offer.Option == cluster.Spot:
			most = max(most, out[o])
		}
	}
	return out
}

// Kind returns the kind of an option.
func (p *shelf) Kind(o Option) *cluster.Kind { return &p.kinds[o.Kind] }

// KindAt returns the kind at a position among Pool.Kinds.
func (p *shelf) KindAt(k int) *cluster.Kind { return &p.kinds[k] }

// Offer returns the offer of an option.
func (p *shelf) Offer(o Option) *cluster.Offer { return &p.kinds[o.Kind].Offers[o.Offer] }

// Label returns the value that machines bought by the option have for a key
// which kinds and offers decide.
func (p *shelf) Label(o Option, key string) (string, bool) {
	if value, ok := p.Offer(o).Labels.Get(key); ok {
		return value, true
	}
	return p.Kind(o).Labels.Get(key)
}

// Available returns the options that can be had now.
func (p *Pool) Available() bitset.Set {
	out := bitset.New(len(p.Options))
	for i, o := range p.Options {
		if p.Offer(o).Available {
			out.Add(i)
		}
	}
	return out
}

func (p *shelf) meets(o Option, r constraint.Requirement) bool {
	value, present := p.Label(o, r.Key)
	return present && r.Set.Allows(value) || !present && r.Set.AllowsAbsent()
}

// compare orders offers by the ranks, where there are any, else by price.
func (p *shelf) compare(a, b Option, ranks map[Option]quantity.MicroUSDPerHour) int {
	x, y := p.Offer(a), p.Offer(b)
	return cmp.Or(
		cmp.Compare(tier(x), tier(y)),
		cmp.Compare(ranks[a], ranks[b]),
		cmp.Compare(x.Price, y.Price),
		cmp.Compare(p.Kind(a).Name, p.Kind(b).Name),
		cmp.Compare(x.Zone, y.Zone),
		cmp.Compare(x.Option, y.Option))
}

// tier orders offers before their price does: what is paid for already first,
// what has no known price last.
func tier(o *cluster.Offer) int {
	switch {
	case o.Option == cluster.Reserved:
		return 0
	case o.Priced:
		return 1
	}
	return 2
}

// ownRules returns the requirements that the pool itself puts on kinds and
// offers: a label of the pool on such a key is one too.
func (p *Pool) ownRules() constraint.Requirements {
	var out constraint.Requirements
	for _, r := range p.Requirements {
		if p.Defines(r.Key) {
			out = out.And(r)
		}
	}
	for _, l := range p.Labels {
		if p.Defines(l.Key) {
			out = out.And(constraint.Requirement{Key: l.Key, Set: constraint.Values(l.Value)})
		}
	}
	return out
}

// Defines reports whether kinds and offers of the catalogue decide the label.
func (p *shelf) Defines(key string) bool {
	_, found := slices.BinarySearch(p.defined, key)
	return found
}

// ofOffers reports whether offers have the label.
func (p *shelf) ofOffers(key string) bool {
	_, found := slices.BinarySearch(p.offers, key)
	return found
}

// definedKeys lists the keys of the labels that kinds or offers have, and those
// that offers have.
func definedKeys(kinds []cluster.Kind) (all, offers []string) {
	ofKinds, ofOffers := map[string]bool{}, map[string]bool{}
	for k := range kinds {
		for _, l := range kinds[k].Labels {
			ofKinds[l.Key] = true
		}
		for i := range kinds[k].Offers {
			for _, l := range kinds[k].Offers[i].Labels {
				ofOffers[l.Key] = true
			}
		}
	}
	offers = slices.Sorted(maps.Keys(ofOffers))
	maps.Copy(ofKinds, ofOffers)
	return slices.Sorted(maps.Keys(ofKinds)), offers
}
