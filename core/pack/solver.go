package pack

import (
	"cmp"
	"math"
	"slices"

	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/bound"
)

// solver is one batch while instances are sought for it.
type solver struct {
	batch     *Batch
	offerings []offering // cheapest first
	needs     []int64    // of one pod, by group and resource
	classes   []int      // by group
	allowed   []bitset.Set
	worth     []float64   // of one unit of each resource, by the linear program
	byClass   [][]float64 // the same for each class, see reportClasses
	narrow    []bool      // by class: its groups may have few of the offerings that others may have
	parts     []float64   // of the offering that has most worth for its cost: which part of it one unit of each resource is
	chance    chance
	steps     int64
	pool      *pool   // nil: loads are not kept
	left      []int64 // by group: pods that an instance is sought for now
	limits    []int64 // what instances may still take
	filler    *filler
}

func newSolver(batch *Batch) *solver {
	positions := scarce(batch)
	classes, sets := classesOf(batch)
	batch = reachable(batch, classes, sets)
	s := &solver{batch: batch, offerings: worthwhile(batch, classes, sets, positions), classes: classes, left: make([]int64, len(batch.Groups)),
		limits: slices.Clone(batch.Limits)}
	for class := range sets {
		mine := bitset.New(len(s.offerings))
		for i, o := range s.offerings {
			if o.open.Has(class) {
				mine.Add(i)
			}
		}
		s.allowed = append(s.allowed, mine)
	}
	for i := range batch.Groups {
		s.needs = append(s.needs, pluck(batch.Groups[i].Need, positions)...)
	}
	s.worth = s.prices(len(positions))
	s.byClass, s.narrow = s.oneWorth(), s.narrows()
	s.parts = s.paragon()
	s.filler = newFiller(s)
	return s
}

func (s *solver) need(group int32) []int64 {
	n := len(s.worth)
	return s.needs[int(group)*n : (int(group)+1)*n]
}

func (s *solver) may(group int32, offering int) bool {
	return s.allowed[s.classes[group]].Has(offering)
}

// prices is what one unit of each resource is worth if pods could be cut at
// will.
func (s *solver) prices(resources int) []float64 {
	s.worth = make([]float64, resources)
	demand := make([]float64, resources)
	for i := range s.batch.Groups {
		for d, v := range s.need(int32(i)) {
			demand[d] += float64(float64(v) * float64(s.batch.Groups[i].Count))
		}
	}
	var columns []bound.Column
	for i := range s.offerings {
		if !s.limited(int32(i), demand) {
			columns = append(columns, s.column(i))
		}
	}
	if len(columns) == 0 {
		for i := range s.offerings {
			columns = append(columns, s.column(i))
		}
	}
	return bound.Cover(demand, columns).Worth
}

// limited reports whether limits keep instances of the offering from being enough: then it is for
// others what resources are worth.
func (s *solver) limited(offering int32, demand []float64) bool {
	n := s.affords(offering)
	if n == math.MaxInt64 {
		return false
	}
	for d, v := range s.offerings[offering].free {
		if demand[d] > 0 && float64(float64(n)*float64(v)) >= demand[d] {
			return false
		}
	}
	return true
}

func (s *solver) column(offering int) bound.Column {
	o := &s.offerings[offering]
	out := bound.Column{Price: o.cost, Has: make([]float64, len(o.free))}
	for d, v := range o.free {
		out.Has[d] = float64(max(0, v))
	}
	return out
}

// waiting makes all pods of the batch wait for an instance that some offering has room for.
func (s *solver) waiting() []int32 {
	var groups []int32
	for i := range s.batch.Groups {
		group := int32(i)
		if slices.ContainsFunc(s.offerings, func(o offering) bool { return o.open.Has(s.classes[i]) && holds(o.free, s.need(group)) }) {
			s.left[i] = s.batch.Groups[i].Count
			groups = append(groups, group)
		}
	}
	return groups
}

// take accounts for n instances of the offering, or for instances terminated where n is negative.
func (s *solver) take(offering int32, n int64) {
	for _, t := range s.offerings[offering].takes {
		s.limits[t.Limit] -= t.Amount * n
	}
}

// affords returns how many more instances of the offering limits allow.
func (s *solver) affords(offering int32) int64 {
	n := int64(math.MaxInt64)
	for _, t := range s.offerings[offering].takes {
		if t.Amount > 0 {
			n = min(n, s.limits[t.Limit]/t.Amount)
		}
	}
	return n
}

// instance is one that is to be launched. It is not changed once it is made.
type instance struct {
	offering int32
	parts    []part
	waste    float64 // share of its cost that its pods are not worth
}

type part struct {
	group int32
	n     int64
}

func (s *solver) cost(instances []instance) float64 {
	sum := 0.0
	for i := range instances {
		sum += s.offerings[instances[i].offering].cost
	}
	return sum
}

// open adds instances to the list for all pods that are left of the groups, the hardest first.
// Where they would cost enough or more in all, or limits do not suffice, it gives up and says so.
// No pods are left then either way.
func (s *solver) open(list []instance, groups []int32, l *look, enough float64) ([]instance, bool) {
	first, ok := len(list), true
	s.filler.arrange(groups, l)
	cost := 0.0
	for _, seed := range s.seeds(l) {
		for ok && s.left[seed] > 0 {
			list, ok = s.openFor(list, seed, l)
			cost += s.cost(list[first:])
			first, ok = len(list), ok && cost < enough
		}
	}
	for _, group := range groups {
		s.left[group] = 0
	}
	return list, ok
}

// seeds are the groups in the order in which instances are opened for them.
func (s *solver) seeds(l *look) []int32 {
	if !l.apart {
		return s.filler.byWorth
	}
	out := slices.Clone(s.filler.byWorth)
	slices.SortStableFunc(out, func(a, b int32) int {
		return cmp.Compare(min(1, len(s.batch.Groups[b].Caps)), min(1, len(s.batch.Groups[a].Caps)))
	})
	return out
}

// openFor adds instances for some pods of the seed and others beside them: as many equal ones as
// there are pods for.
func (s *solver) openFor(list []instance, seed int32, l *look) ([]instance, bool) {
	f := s.filler
	offering := f.tournament(seed, l)
	if offering < 0 {
		return list, false
	}
	f.polish(offering)
	repeats := max(1, s.affords(offering))
	for _, p := range f.best {
		repeats = min(repeats, s.left[p.group]/f.taken[p.group])
	}
	m := s.instanceOf(offering, f.best)
	for range repeats {
		list = append(list, m)
	}
	for _, p := range f.best {
		s.left[p.group] -= p.n * repeats
	}
	s.take(offering, repeats)
	f.forgetPlaced()
	return list, true
}

func (s *solver) instanceOf(offering int32, parts []part) instance {
	worth := 0.0
	for _, p := range parts {
		worth += float64(float64(p.n) * value(s.byClass[s.classes[p.group]], s.need(p.group)))
	}
	cost := s.offerings[offering].cost
	return instance{offering: offering, parts: slices.Clone(parts), waste: max(0, 1-worth/cost)}
}

// value is what amounts are worth.
func value(worth []float64, amounts []int64) float64 {
	sum := 0.0
	for d, w := range worth {
		sum += float64(w * float64(amounts[d]))
	}
	return sum
}

// look is a way of ranking offerings while instances are opened.
type look struct {
	worth   []float64   // of one unit of each resource
	byClass [][]float64 // the same for each class
	yield   []float64   // by offering: worth of all it has room for, by its cost
	order   []int32     // offerings by falling yield
	tries   int         // how many are filled to find the best one
	skip    float64     // share of the pods that are passed over in a fill
	apart   bool        // instances are opened first for groups of which a host takes so many

	narrowFirst bool // instances are filled with narrow groups first

	// Instances are filled so that all resources are used up together, whatever they are worth, or
	// those first that are worth most. The former is what leaves pods that go together well where
	// several resources are nearly scarce: the linear program has no price for the others of these.
	even   bool
	weight []float64 // of one unit of each resource, to find which one a pod takes most of
}

func (s *solver) look(worth []float64, tries int, skip float64) *look {
	l := &look{worth: worth, byClass: s.likewise(worth), yield: make([]float64, len(s.offerings)), order: make([]int32, len(s.offerings)), tries: tries, skip: skip, weight: worth}
	for i, o := range s.offerings {
		l.yield[i], l.order[i] = value(s.most(l.byClass, i), o.free)/o.cost, int32(i)
	}
	slices.SortStableFunc(l.order, func(a, b int32) int { return cmp.Compare(l.yield[b], l.yield[a]) })
	s.steps += int64(4 * len(s.offerings))
	return l
}

// evenly makes the look one that uses up all resources together.
func (s *solver) evenly(l *look) *look {
	l.even, l.weight = true, s.parts
	return l
}

// paragon returns which part one unit of each resource is of the offering that has
// most worth for its cost.
func (s *solver) paragon() []float64 {
	out, most := make([]float64, len(s.worth)), -1.0
	for i := range s.offerings {
		o := &s.offerings[i]
		yield := value(s.worth, o.free) / o.cost
		if yield <= most {
			continue
		}
		most = yield
		for d, v := range o.free {
			out[d] = 1 / float64(max(1, v))
		}
	}
	return out
}
