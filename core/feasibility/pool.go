package feasibility

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/parallel"
	"github.com/daemok/daemok/core/quantity"
)

// Pool answers for one pool what its instances can be. It is computed once per decision and not
// written afterwards, but for a memory of answers, so it must not be shared between goroutines.
type Pool struct {
	*cluster.Pool
	Options []Option // every offering that the pool's own rules and floor allow, in the order of launching
	places  []int32  // by option: its position among all offerings of the catalogue
	Kinds   []Space  // what instances have for pods, by Option.Kind
	*catalogueIndex
	rules      constraint.Requirements // the pool's requirements and labels on defined keys
	every      bitset.Set              // all options
	usual      bitset.Set              // those that are launched whether or not they are asked for
	special    []special               // the others
	terms      map[*cluster.Shape]answer
	matches    map[string]bitset.Set
	columns    map[string]*cluster.Column // by label, Of by option
	values     map[string][]string        // likewise, see valuesOf
	nearKeys   map[string]string          // by key: the one that was probably meant; empty for none
	free       map[string][]int64         // by resource and instance type, see freeOf
	hospitable bitset.Set                 // options that daemon pods leave something of; nil: not asked for yet
	onSale     bitset.Set                 // what Available returns; likewise
	daemons    []cluster.Daemon           // that there are, for the names of those in the way
}

// Option is one offering that the pool may launch, by the position of its instance type among
// Pool.Kinds.
type Option = cluster.OfferingAt

// Space is what an instance of one instance type has for pods.
type Space struct {
	Free    quantity.Resources // allocatable less daemon pods
	Daemons quantity.Resources // the daemon pods
	Ports   []cluster.Port     // of the host, that daemon pods take
	Pods    []*cluster.Shape   // the daemon pods, one of each
	Cramped bool               // they leave less to pods than the pool's floor asks for
	Of      int                // position in the catalogue: several have one where other daemon pods come by some of its offerings
}

// noPods says why pods never add to a static pool.
func (p *Pool) noPods() string {
	return "it" + strings.TrimPrefix(p.Keeps(), p.ID.String()) + ", and pods never add any"
}

// ForPool prepares the answers for a pool. Options are launched as they should be launched:
// reserved capacity, then by price, what has no price last, ties by instance type, zone and option.
func ForPool(p *cluster.Pool, daemons []cluster.Daemon) *Pool {
	return forPool(p, newCatalogueIndex(p.Catalogue), daemons)
}

// ForPools is ForPool for each of the pools, in their order. What pools with
// one catalogue have in common is computed once.
func ForPools(pools []cluster.Pool, daemons []cluster.Daemon) []*Pool {
	indexes := map[*cluster.Catalogue]*catalogueIndex{}
	out := make([]*Pool, len(pools))
	for i := range pools {
		c := pools[i].Catalogue
		if indexes[c] == nil {
			indexes[c] = newCatalogueIndex(c)
		}
		out[i] = forPool(&pools[i], indexes[c], daemons)
	}
	return out
}

func forPool(p *cluster.Pool, from *catalogueIndex, daemons []cluster.Daemon) *Pool {
	out := &Pool{Pool: p, catalogueIndex: from, daemons: daemons}
	out.keepAnswers()
	out.rules = out.ownRules()
	may := from.within(out.rules, p.Floor.Size)
	out.Options, out.places = make([]Option, 0, may.Count()), make([]int32, 0, may.Count())
	for i := may.Next(0); i >= 0; i = may.Next(i + 1) {
		out.Options, out.places = append(out.Options, from.options[i]), append(out.places, int32(i))
	}
	out.every = bitset.Full(len(out.Options))
	out.keepSpecial()
	out.placeDaemons()
	return out
}

// special is the options that are launched only for pods that rule a label out.
type special struct {
	unless  constraint.Label
	options bitset.Set
}

// keepSpecial sets apart what is not for every pod. What the pool itself asks for is.
func (p *Pool) keepSpecial() {
	p.usual = p.every.Clone()
	for i, o := range p.Options {
		offering := p.Offering(o)
		if offering.Asked(p.rules) {
			continue
		}
		at := slices.IndexFunc(p.special, func(s special) bool { return s.unless == offering.Unless })
		if at < 0 {
			at = len(p.special)
			p.special = append(p.special, special{offering.Unless, bitset.New(len(p.Options))})
		}
		p.special[at].options.Add(i)
		p.usual.Remove(i)
	}
}

// open returns the options that may be launched for pods that rule out those labels. It is not to
// be written.
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

// openFor is open for pods with these requirements.
func (p *Pool) openFor(r constraint.Requirements) bitset.Set {
	return p.open(func(l constraint.Label) bool { return !r.Get(l.Key).Allows(l.Value) })
}

// catalogueIndex holds the options that all pools with one catalogue share.
type catalogueIndex struct {
	instanceTypes []cluster.InstanceType
	defined       []string // label keys that instance types and offerings decide, sorted
	offerings     []string // those of them that offerings have, sorted
	options       []Option // all offerings in the order of launching
	columns       map[string]*parallel.Once[cluster.Column]
}

func newCatalogueIndex(c *cluster.Catalogue) *catalogueIndex {
	if c == nil {
		return &catalogueIndex{}
	}
	index := c.Index.Get(func() *cluster.Index { return indexOf(c) })
	return &catalogueIndex{instanceTypes: c.InstanceTypes, defined: index.Keys, offerings: index.OfferingKeys, options: index.Offerings, columns: index.Columns}
}

// indexOf sorts the offerings of a catalogue, which takes long: thousands are usual.
func indexOf(c *cluster.Catalogue) *cluster.Index {
	s := &catalogueIndex{instanceTypes: c.InstanceTypes}
	s.defined, s.offerings = definedKeys(c.InstanceTypes)
	for k := range c.InstanceTypes {
		for i := range c.InstanceTypes[k].Offerings {
			s.options = append(s.options, Option{Kind: k, Offering: i})
		}
	}
	ranks := s.ranks()
	slices.SortStableFunc(s.options, func(a, b Option) int { return s.compare(a, b, ranks) })
	columns := make(map[string]*parallel.Once[cluster.Column], len(s.defined))
	for _, key := range s.defined {
		columns[key] = &parallel.Once[cluster.Column]{}
	}
	return &cluster.Index{Keys: s.defined, OfferingKeys: s.offerings, Offerings: s.options, Columns: columns}
}

// ranks returns by which price each offering is launched: spot offerings by their own and
// what interruptions are likely to cost; one on demand after every spot offering that
// is cheaper, however likely that is to be interrupted.
func (p *catalogueIndex) ranks() map[Option]quantity.MicroUSDPerHour {
	out, most := map[Option]quantity.MicroUSDPerHour{}, quantity.MicroUSDPerHour(0)
	if !slices.ContainsFunc(p.options, func(o Option) bool { return p.Offering(o).Ranked() != p.Offering(o).Price }) {
		return nil
	}
	byPrice := slices.Clone(p.options)
	slices.SortFunc(byPrice, func(a, b Option) int {
		one, other := p.Offering(a), p.Offering(b)
		return cmp.Or(cmp.Compare(one.Price, other.Price), cmp.Compare(other.Option, one.Option)) // spot after on-demand
	})
	for _, o := range byPrice {
		offering := p.Offering(o)
		switch out[o] = offering.Ranked(); {
		case !offering.Priced:
		case offering.Option == cluster.OnDemand:
			out[o] = max(out[o], most)
		case offering.Option == cluster.Spot:
			most = max(most, out[o])
		}
	}
	return out
}

// InstanceType returns the instance type of an option.
func (p *catalogueIndex) InstanceType(o Option) *cluster.InstanceType {
	return &p.instanceTypes[o.Kind]
}

// InstanceTypeAt returns the instance type at a position among Pool.Kinds.
func (p *catalogueIndex) InstanceTypeAt(k int) *cluster.InstanceType { return &p.instanceTypes[k] }

// Offering returns the offering of an option.
func (p *catalogueIndex) Offering(o Option) *cluster.Offering {
	return &p.instanceTypes[o.Kind].Offerings[o.Offering]
}

// Label returns the value that instances launched by the option have for a key which instance types
// and offerings decide.
func (p *catalogueIndex) Label(o Option, key string) (string, bool) {
	if value, ok := p.Offering(o).Labels.Get(key); ok {
		return value, true
	}
	return p.InstanceType(o).Labels.Get(key)
}

// Available returns the options that can be had now.
func (p *Pool) Available() bitset.Set {
	out := bitset.New(len(p.Options))
	for i, o := range p.Options {
		if p.Offering(o).Available {
			out.Add(i)
		}
	}
	return out
}

func (p *catalogueIndex) meets(o Option, r constraint.Requirement) bool {
	value, present := p.Label(o, r.Key)
	return present && r.Set.Allows(value) || !present && r.Set.AllowsAbsent()
}

// compare sorts offerings by the ranks, where there are any, else by price.
func (p *catalogueIndex) compare(a, b Option, ranks map[Option]quantity.MicroUSDPerHour) int {
	x, y := p.Offering(a), p.Offering(b)
	return cmp.Or(
		cmp.Compare(tier(x), tier(y)),
		cmp.Compare(ranks[a], ranks[b]),
		cmp.Compare(x.Price, y.Price),
		cmp.Compare(p.InstanceType(a).Name, p.InstanceType(b).Name),
		cmp.Compare(x.Zone, y.Zone),
		cmp.Compare(x.Option, y.Option))
}

// tier sorts offerings before their price does: what is paid for already first, what has no known
// price last.
func tier(o *cluster.Offering) int {
	switch {
	case o.Option == cluster.Reserved:
		return 0
	case o.Priced:
		return 1
	}
	return 2
}

// ownRules returns the requirements that the pool itself puts on instance types and offerings: a
// label of the pool on such a key is one too.
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

// Defines reports whether instance types and offerings of the catalogue decide the label.
func (p *catalogueIndex) Defines(key string) bool {
	_, found := slices.BinarySearch(p.defined, key)
	return found
}

// ofOfferings reports whether offerings have the label.
func (p *catalogueIndex) ofOfferings(key string) bool {
	_, found := slices.BinarySearch(p.offerings, key)
	return found
}

// definedKeys lists the keys of the labels that instance types or offerings have, and those that
// offerings have.
func definedKeys(instanceTypes []cluster.InstanceType) (all, offerings []string) {
	ofKinds, ofOfferings := map[string]bool{}, map[string]bool{}
	for k := range instanceTypes {
		for _, l := range instanceTypes[k].Labels {
			ofKinds[l.Key] = true
		}
		for i := range instanceTypes[k].Offerings {
			for _, l := range instanceTypes[k].Offerings[i].Labels {
				ofOfferings[l.Key] = true
			}
		}
	}
	offerings = slices.Sorted(maps.Keys(ofOfferings))
	maps.Copy(ofKinds, ofOfferings)
	return slices.Sorted(maps.Keys(ofKinds)), offerings
}
