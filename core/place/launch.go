package place

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
)

// kindsMax is how many machine types a launch leaves open at most.
const kindsMax = 60

// together returns the options that every part of the load allows, within
// limits, whatever their size.
func (b *buyer) together(l *load) bitset.Set {
	out := b.within.Clone()
	var last *lot
	for _, p := range l.parts {
		if p.way.lot != last {
			out.And(p.way.options)
			last = p.way.lot
		}
	}
	return out
}

// holding returns the options that may have the whole load.
func (b *buyer) holding(l *load) bitset.Set {
	out := b.together(l)
	known := b.kindMarks()
	holds := make([]bool, len(known))
	for i := out.Next(0); i >= 0; i = out.Next(i + 1) {
		kind := b.Options[i].Kind
		if !known[kind] {
			known[kind], holds[kind] = true, fits(b.free[kind], l.sum) && b.run.bears(b, l, kind)
		}
		if !holds[kind] {
			out.Remove(i)
		}
	}
	return out
}

// listing is what machines with one load leave open, and how that is written
// down.
type listing struct {
	plan.Launch       // without name and pods
	kinds       []int // that are left open, cheapest first
	option      int   // bought first
	open        []openDomain
	options     bitset.Set // that are left open
}

// openDomain is where a machine may turn up, by a key of the board.
type openDomain struct {
	key    int
	domain int32
}

// list settles what a machine with the load may be.
func (r *run) list(b *buyer, l *load) listing {
	options, kinds := b.listed(l)
	out := listing{kinds: kinds, option: options.Next(0), Launch: plan.Launch{
		Pool:      b.ID,
		Choice:    b.choice(options.Next(0), ""),
		RunnersUp: b.runnersUp(options),
		Relaxed:   l.relaxed,
		Requests:  b.leastDaemons(kinds),
		Reason:    waitText(int(l.pods())),
	}}
	for _, p := range l.parts {
		out.Requests = out.Requests.Add(r.groups[p.group].shape.Requests.Times(p.n))
	}
	out.Requirements, out.Labels = b.requirements(l, options, kinds)
	out.Notes = r.notes(b, l, options)
	out.open, out.options = r.openIn(b, options), options
	return out
}

// openIn lists the domains, of keys that pods are spread over, in which the
// options leave open where a machine turns up.
func (r *run) openIn(b *buyer, options bitset.Set) []openDomain {
	var out []openDomain
	for _, k := range r.spreadKeys {
		if !b.Defines(r.board.Keys()[k]) {
			continue
		}
		from := len(out)
		domains := b.domains(r.board, k)
		for i := options.Next(0); i >= 0; i = options.Next(i + 1) {
			if d := (openDomain{k, domains[i]}); d.domain >= 0 && !slices.Contains(out[from:], d) {
				out = append(out, d)
			}
		}
		if len(out) == from+1 {
			out = out[:from]
		}
	}
	return out
}

// launch orders one machine with this load.
func (r *run) launch(b *buyer, l *load, as *listing) {
	out := as.Launch
	out.Name = fmt.Sprintf("new-%d", len(r.launched)+1)
	out.Pods = make([]cluster.Pod, 0, l.pods())
	for _, p := range l.parts {
		g := r.groups[p.group]
		pods := g.next(p.n)
		r.demand.take(g, p.n)
		g.touch()
		for _, w := range pods {
			out.Pods = append(out.Pods, *w.Pod)
		}
		r.place(g.of, pods, plan.OnLaunch, out.Name, nil)
		r.board.PutSomewhere(g.level.rules, p.n)
	}
	slices.SortFunc(out.Pods, byName)
	at := launched{buyer: b, open: as.open, options: as.options, kind: b.Options[as.option].Kind, free: b.leastFree(as.kinds)}
	take(at.free, l.sum, 1)
	if r.counted {
		at.labels = labelsOf(b, as.option, out.Labels, out.Name)
	}
	r.launched = append(r.launched, at)
	r.out.Launches = append(r.out.Launches, out)
	if b.limits != nil {
		b.limits.use(b.largest(as.kinds))
		b.narrow()
	}
}

func byName(a, b cluster.Pod) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

func waitText(pods int) string {
	if pods == 1 {
		return "1 pod waits"
	}
	return fmt.Sprintf("%d pods wait", pods)
}

// leastFree is what machines of any of the kinds have for pods.
func (b *buyer) leastFree(kinds []int) []int64 {
	out := slices.Clone(b.free[kinds[0]])
	for _, k := range kinds[1:] {
		for i, v := range b.free[k] {
			out[i] = min(out[i], v)
		}
	}
	return out
}

// listed returns what the launch leaves open: the options and their kinds,
// cheapest first. Where the pool has limits no kind is larger, in what is
// limited, than the cheapest, so that little is set aside in vain.
func (b *buyer) listed(l *load) (bitset.Set, []int) {
	options := b.holding(l)
	if b.limits != nil {
		if modest := b.modest(options); b.minValuesShort(modest, b.firstKinds(modest)) == nil {
			options = modest
		}
	}
	kinds := b.firstKinds(options)
	listed := b.kindMarks()
	for _, k := range kinds {
		listed[k] = true
	}
	for i := options.Next(0); i >= 0; i = options.Next(i + 1) {
		if !listed[b.Options[i].Kind] {
			options.Remove(i)
		}
	}
	return options, kinds
}

func (b *buyer) modest(options bitset.Set) bitset.Set {
	out := options.Clone()
	first := b.Kind(b.Options[options.Next(0)]).Capacity
	for i := out.Next(0); i >= 0; i = out.Next(i + 1) {
		if !b.limits.noLarger(b.Kind(b.Options[i]).Capacity, first) {
			out.Remove(i)
		}
	}
	return out
}

func (b *buyer) largest(kinds []int) quantity.Resources {
	var out quantity.Resources
	for _, k := range kinds {
		out = out.Max(b.Catalogue.Kinds[k].Capacity)
	}
	return out
}

func (b *buyer) leastDaemons(kinds []int) quantity.Resources {
	out := b.Kinds[kinds[0]].Daemons
	for _, k := range kinds[1:] {
		out = out.Min(b.Kinds[k].Daemons)
	}
	return out
}

func (b *buyer) choice(option int, whyNot string) plan.Choice {
	o := b.Options[option]
	offer := b.Offer(o)
	return plan.Choice{Kind: b.Kind(o).Name, Zone: offer.Zone, Option: offer.Option, Price: offer.Price,
		Priced: offer.Priced, WhyNot: whyNot}
}

// runnersUp returns the next two kinds with what speaks against them.
func (b *buyer) runnersUp(options bitset.Set) []plan.Choice {
	first := options.Next(0)
	seen := []int{b.Options[first].Kind}
	var out []plan.Choice
	for i := options.Next(first); i >= 0 && len(out) < 2; i = options.Next(i + 1) {
		if kind := b.Options[i].Kind; !slices.Contains(seen, kind) {
			seen = append(seen, kind)
			out = append(out, b.choice(i, whyNot(b.Offer(b.Options[i]), b.Offer(b.Options[first]))))
		}
	}
	return out
}

func whyNot(o, best *cluster.Offer) string {
	switch {
	case best.Option == cluster.Reserved && o.Option != cluster.Reserved:
		return "not paid for already"
	case !o.Priced && best.Priced:
		return "its price is not known"
	case o.Price == best.Price:
		return "the same price, later by name"
	}
	return (o.Price - best.Price).String() + " dearer"
}

// requirements writes down what the machine must be, and the labels on custom
// keys that are decided now.
func (b *buyer) requirements(l *load, options bitset.Set, kinds []int) (constraint.Requirements, constraint.Labels) {
	out := b.Requirements
	for _, p := range l.parts {
		for _, r := range p.way.term.Requirements {
			if b.Requirements.Has(r.Key) || b.Defines(r.Key) {
				out = out.And(r)
			}
		}
	}
	var labels constraint.Labels
	for _, r := range slices.Clone(out) {
		if b.Defines(r.Key) {
			continue
		}
		value, ok := b.Pool.Labels.Get(r.Key)
		if !ok {
			value, ok = r.Set.Any()
		}
		if ok {
			labels = labels.With(r.Key, value)
			out = out.And(constraint.Requirement{Key: r.Key, Set: constraint.Values(value)})
		}
	}
	out = out.And(constraint.Requirement{Key: cluster.LabelInstanceType, Set: constraint.Values(b.kindNames(kinds)...)})
	var zones, ways []string
	for i := options.Next(0); i >= 0; i = options.Next(i + 1) {
		o := b.Offer(b.Options[i])
		zones, ways = withValue(zones, o.Zone), withValue(ways, string(o.Option))
	}
	out = out.And(constraint.Requirement{Key: cluster.LabelZone, Set: constraint.Values(zones...)})
	return out.And(constraint.Requirement{Key: cluster.LabelCapacityType, Set: constraint.Values(ways...)}), labels
}

// kindNames lists the names of the kinds in their order.
func (b *buyer) kindNames(kinds []int) []string {
	if b.nameRank == nil {
		b.nameRank = ranks(len(b.Kinds), func(x, y int) int { return cmp.Compare(b.Catalogue.Kinds[x].Name, b.Catalogue.Kinds[y].Name) })
	}
	sorted := slices.Clone(kinds)
	slices.SortFunc(sorted, func(x, y int) int { return b.nameRank[x] - b.nameRank[y] })
	out := make([]string, len(sorted))
	for i, k := range sorted {
		out[i] = b.Catalogue.Kinds[k].Name
	}
	return out
}

// ranks returns the position of each of the first n numbers in their order.
func ranks(n int, compare func(x, y int) int) []int {
	order, out := make([]int, n), make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, compare)
	for at, i := range order {
		out[i] = at
	}
	return out
}

// withValue adds a value to a short list that lacks it.
func withValue(list []string, value string) []string {
	if slices.Contains(list, value) {
		return list
	}
	return append(list, value)
}
