package pack

import (
	"cmp"
	"math"
	"slices"

	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/bound"
	"github.com/daemok/daemok/core/place"
)

// solver is one batch while machines are sought for it.
type solver struct {
	batch   *place.Batch
	offers  []offer // cheapest first
	needs   []int64 // of one pod, by row and resource
	classes []int   // by row
	allowed []bitset.Set
	worth   []float64   // of one unit of each resource, by the linear program
	byClass [][]float64 // the same for each class, see tellClasses
	narrow  []bool      // by class: its rows may have few of the offers that others may have
	parts   []float64   // of the offer that has most worth for its cost: which part of it one unit of each resource is
	chance  chance
	steps   int64
	pool    *pool   // nil: loads are not kept
	left    []int64 // by row: pods that a machine is sought for now
	limits  []int64 // what machines may still take
	filler  *filler
}

func newSolver(batch *place.Batch) *solver {
	positions := scarce(batch)
	classes, sets := classesOf(batch)
	batch = reachable(batch, classes, sets)
	s := &solver{batch: batch, offers: worthwhile(batch, classes, sets, positions), classes: classes, left: make([]int64, len(batch.Rows)),
		limits: slices.Clone(batch.Limits)}
	for class := range sets {
		mine := bitset.New(len(s.offers))
		for i, o := range s.offers {
			if o.open.Has(class) {
				mine.Add(i)
			}
		}
		s.allowed = append(s.allowed, mine)
	}
	for i := range batch.Rows {
		s.needs = append(s.needs, pluck(batch.Rows[i].Need, positions)...)
	}
	s.worth = s.prices(len(positions))
	s.byClass, s.narrow = s.oneWorth(), s.narrows()
	s.parts = s.paragon()
	s.filler = newFiller(s)
	return s
}

func (s *solver) need(row int32) []int64 {
	n := len(s.worth)
	return s.needs[int(row)*n : (int(row)+1)*n]
}

func (s *solver) may(row int32, offer int) bool { return s.allowed[s.classes[row]].Has(offer) }

// prices is what one unit of each resource is worth if pods could be cut at
// will.
func (s *solver) prices(resources int) []float64 {
	s.worth = make([]float64, resources)
	demand := make([]float64, resources)
	for i := range s.batch.Rows {
		for d, v := range s.need(int32(i)) {
			demand[d] += float64(float64(v) * float64(s.batch.Rows[i].Count))
		}
	}
	var columns []bound.Column
	for i := range s.offers {
		if !s.limited(int32(i), demand) {
			columns = append(columns, s.column(i))
		}
	}
	if len(columns) == 0 {
		for i := range s.offers {
			columns = append(columns, s.column(i))
		}
	}
	return bound.Cover(demand, columns).Worth
}

// limited reports whether limits keep machines of the offer from being enough:
// then it is for others what resources are worth.
func (s *solver) limited(offer int32, demand []float64) bool {
	n := s.affords(offer)
	if n == math.MaxInt64 {
		return false
	}
	for d, v := range s.offers[offer].free {
		if demand[d] > 0 && float64(float64(n)*float64(v)) >= demand[d] {
			return false
		}
	}
	return true
}

func (s *solver) column(offer int) bound.Column {
	o := &s.offers[offer]
	out := bound.Column{Price: o.cost, Has: make([]float64, len(o.free))}
	for d, v := range o.free {
		out.Has[d] = float64(max(0, v))
	}
	return out
}

// waiting makes all pods of the batch wait for a machine that some offer has room
// for.
func (s *solver) waiting() []int32 {
	var rows []int32
	for i := range s.batch.Rows {
		row := int32(i)
		if slices.ContainsFunc(s.offers, func(o offer) bool { return o.open.Has(s.classes[i]) && holds(o.free, s.need(row)) }) {
			s.left[i] = s.batch.Rows[i].Count
			rows = append(rows, row)
		}
	}
	return rows
}

// take accounts for n machines of the offer, or for machines given back where
// n is negative.
func (s *solver) take(offer int32, n int64) {
	for _, t := range s.offers[offer].takes {
		s.limits[t.Limit] -= t.Amount * n
	}
}

// affords returns how many more machines of the offer limits allow.
func (s *solver) affords(offer int32) int64 {
	n := int64(math.MaxInt64)
	for _, t := range s.offers[offer].takes {
		if t.Amount > 0 {
			n = min(n, s.limits[t.Limit]/t.Amount)
		}
	}
	return n
}

// machine is one that is to be bought. It is not changed once it is made.
type machine struct {
	offer int32
	parts []part
	waste float64 // share of its cost that its pods are not worth
}

type part struct {
	row int32
	n   int64
}

func (s *solver) cost(machines []machine) float64 {
	sum := 0.0
	for i := range machines {
		sum += s.offers[machines[i].offer].cost
	}
	return sum
}

// open adds machines to the list for all pods that are left of the rows, the
// hardest first. Where they would cost enough or more in all, or limits do not
// suffice, it gives up and says so. No pods are left then either way.
func (s *solver) open(list []machine, rows []int32, l *look, enough float64) ([]machine, bool) {
	first, ok := len(list), true
	s.filler.arrange(rows, l)
	cost := 0.0
	for _, seed := range s.seeds(l) {
		for ok && s.left[seed] > 0 {
			list, ok = s.openFor(list, seed, l)
			cost += s.cost(list[first:])
			first, ok = len(list), ok && cost < enough
		}
	}
	for _, row := range rows {
		s.left[row] = 0
	}
	return list, ok
}

// seeds are the rows in the order in which machines are opened for them.
func (s *solver) seeds(l *look) []int32 {
	if !l.apart {
		return s.filler.byWorth
	}
	out := slices.Clone(s.filler.byWorth)
	slices.SortStableFunc(out, func(a, b int32) int {
		return cmp.Compare(min(1, len(s.batch.Rows[b].Caps)), min(1, len(s.batch.Rows[a].Caps)))
	})
	return out
}

// openFor adds machines for some pods of the seed and others beside them: as
// many equal ones as there are pods for.
func (s *solver) openFor(list []machine, seed int32, l *look) ([]machine, bool) {
	f := s.filler
	offer := f.tournament(seed, l)
	if offer < 0 {
		return list, false
	}
	f.polish(offer)
	repeats := max(1, s.affords(offer))
	for _, p := range f.best {
		repeats = min(repeats, s.left[p.row]/f.taken[p.row])
	}
	m := s.machineOf(offer, f.best)
	for range repeats {
		list = append(list, m)
	}
	for _, p := range f.best {
		s.left[p.row] -= p.n * repeats
	}
	s.take(offer, repeats)
	f.forgetPlaced()
	return list, true
}

func (s *solver) machineOf(offer int32, parts []part) machine {
	worth := 0.0
	for _, p := range parts {
		worth += float64(float64(p.n) * value(s.byClass[s.classes[p.row]], s.need(p.row)))
	}
	cost := s.offers[offer].cost
	return machine{offer: offer, parts: slices.Clone(parts), waste: max(0, 1-worth/cost)}
}

// value is what amounts are worth.
func value(worth []float64, amounts []int64) float64 {
	sum := 0.0
	for d, w := range worth {
		sum += float64(w * float64(amounts[d]))
	}
	return sum
}

// look is a way of looking at offers while machines are opened.
type look struct {
	worth   []float64   // of one unit of each resource
	byClass [][]float64 // the same for each class
	yield   []float64   // by offer: worth of all it has room for, by its cost
	order   []int32     // offers by falling yield
	tries   int         // how many are filled to find the best one
	skip    float64     // share of the pods that are passed over in a fill
	apart   bool        // machines are opened first for rows of which a host takes so many

	narrowFirst bool // machines are filled with narrow rows first

	// Machines are filled so that all resources are used up together, whatever
	// they are worth, or those first that are worth most. The former is what
	// leaves pods that go together well where several resources are nearly
	// scarce: the linear program has no price for the others of these.
	even   bool
	weight []float64 // of one unit of each resource, to tell which one a pod takes most of
}

func (s *solver) look(worth []float64, tries int, skip float64) *look {
	l := &look{worth: worth, byClass: s.likewise(worth), yield: make([]float64, len(s.offers)), order: make([]int32, len(s.offers)), tries: tries, skip: skip, weight: worth}
	for i, o := range s.offers {
		l.yield[i], l.order[i] = value(s.most(l.byClass, i), o.free)/o.cost, int32(i)
	}
	slices.SortStableFunc(l.order, func(a, b int32) int { return cmp.Compare(l.yield[b], l.yield[a]) })
	s.steps += int64(4 * len(s.offers))
	return l
}

// evenly makes the look one that uses up all resources together.
func (s *solver) evenly(l *look) *look {
	l.even, l.weight = true, s.parts
	return l
}

// paragon returns which part one unit of each resource is of the offer that has
// most worth for its cost.
func (s *solver) paragon() []float64 {
	out, most := make([]float64, len(s.worth)), -1.0
	for i := range s.offers {
		o := &s.offers[i]
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
