package bound

import (
	"cmp"
	"math/bits"
	"slices"
)

// ClassesMax is how many classes Divide distinguishes at most.
const ClassesMax = 64

// Offering is a column that is open to some classes of pods only.
type Offering struct {
	Column
	Open uint64 // a bit for each class
}

// Divided is the solution where classes of pods may not use all columns.
type Divided struct {
	Cost  float64     // no set of offerings that covers the demands is cheaper
	Worth [][]float64 // of one unit of each resource to each class
}

// How Divide searches.
const (
	roundsMax = 60   // each adds ways to use offerings
	addMost   = 24   // ways that are added in one round
	enough    = 1e-6 // share by which an offering may be worth more than its price until all are scaled
)

// Divide is Cover for several classes of pods, each with a demand of its own and offerings that are
// open to it. Instances are shared: every resource of an instance goes to the classes that it is
// open to, however it is cut.
//
// No offering is worth more than its price when each of its resources goes to the class to which it
// is worth most, which is what makes the bound a true one. The ways to use an offering are as many
// as there are classes for each of its resources, so they are found as they are needed.
//
// Cost: that of Cover with classes x resources rows and a few times as many columns, for each of
// some twenty rounds.
func Divide(demands [][]float64, offerings []Offering) Divided {
	d := newDivision(demands, offerings)
	for range roundsMax {
		d.spread(Cover(d.demand, d.columns).Worth)
		if !d.widen() {
			break
		}
	}
	d.scale()
	out := Divided{Worth: d.worth}
	for k, demand := range demands {
		for i, v := range demand {
			out.Cost += float64(v * d.worth[k][i])
		}
	}
	return out
}

// division is the problem while ways to use offerings are added to it. Row class x resources +
// resource is what a class needs of a resource.
type division struct {
	resources int
	demand    []float64
	offerings []Offering
	columns   []Column
	worth     [][]float64
}

func newDivision(demands [][]float64, offerings []Offering) *division {
	d := &division{offerings: worthwhile(offerings)}
	for _, demand := range demands {
		d.resources = len(demand)
		d.demand = append(d.demand, demand...)
		d.worth = append(d.worth, make([]float64, len(demand)))
	}
	for row, need := range d.demand {
		if at := d.cheapest(row); need > 0 && at >= 0 {
			class := row / d.resources
			d.use(&d.offerings[at], func(int) int { return class })
		}
	}
	return d
}

// worthwhile leaves out offerings to which another is preferable: no more expensive, open to the
// same classes at least, and with as much of everything.
func worthwhile(offerings []Offering) []Offering {
	byPrice := slices.Clone(offerings)
	slices.SortStableFunc(byPrice, func(a, b Offering) int { return cmp.Compare(a.Price, b.Price) })
	var out []Offering
	for _, o := range byPrice {
		if o.Open != 0 && !slices.ContainsFunc(out, func(known Offering) bool { return known.preferable(&o) }) {
			out = append(out, o)
		}
	}
	return out
}

// preferable reports whether an offering that is no more expensive does in place of the
// other.
func (o *Offering) preferable(other *Offering) bool {
	if other.Open&^o.Open != 0 {
		return false
	}
	for i, v := range other.Has {
		if o.Has[i] < v {
			return false
		}
	}
	return true
}

// cheapest returns the offering that has most for its price of what a row is
// about, or -1.
func (d *division) cheapest(row int) int {
	best, at := 0.0, -1
	for j := range d.offerings {
		o := &d.offerings[j]
		has := o.Has[row%d.resources]
		if o.Open>>(row/d.resources)&1 == 1 && has > 0 && (at < 0 || o.Price < float64(best*has)) {
			best, at = o.Price/has, j
		}
	}
	return at
}

// use adds a way to use an offering: each resource for one class.
func (d *division) use(o *Offering, class func(resource int) int) {
	has := make([]float64, len(d.demand))
	for i, v := range o.Has {
		has[class(i)*d.resources+i] = v
	}
	d.columns = append(d.columns, Column{o.Price, has})
}

// spread takes the worth of all rows apart by class.
func (d *division) spread(worth []float64) {
	for k := range d.worth {
		copy(d.worth[k], worth[k*d.resources:])
	}
}

// best returns the class that the offering is open to and to which the resource
// is worth most.
func (d *division) best(o *Offering, resource int) int {
	out := bits.TrailingZeros64(o.Open)
	for k := out + 1; k < len(d.worth); k++ {
		if o.Open>>k&1 == 1 && d.worth[k][resource] > d.worth[out][resource] {
			out = k
		}
	}
	return out
}

// value is what all of an offering is worth where it is worth most.
func (d *division) value(o *Offering) float64 {
	sum := 0.0
	for i, v := range o.Has {
		sum += float64(v * d.worth[d.best(o, i)][i])
	}
	return sum
}

// widen adds the best ways to use the offerings that are worth most for their
// price, and reports whether there were any worth more than that.
func (d *division) widen() bool {
	type find struct {
		at    int
		ratio float64
	}
	var found []find
	for j := range d.offerings {
		o := &d.offerings[j]
		if o.Price <= 0 {
			continue
		}
		if ratio := d.value(o) / o.Price; ratio > 1+enough {
			found = append(found, find{j, ratio})
		}
	}
	slices.SortStableFunc(found, func(a, b find) int { return cmp.Compare(b.ratio, a.ratio) })
	for _, f := range found[:min(len(found), addMost)] {
		o := &d.offerings[f.at]
		d.use(o, func(resource int) int { return d.best(o, resource) })
	}
	return len(found) > 0
}

// scale lowers all prices together until no offering is worth more than its own.
func (d *division) scale() {
	keep := 1.0
	for j := range d.offerings {
		o := &d.offerings[j]
		if value := d.value(o); value > o.Price {
			keep = min(keep, o.Price/value)
		}
	}
	for k := range d.worth {
		for i := range d.worth[k] {
			d.worth[k][i] *= keep
		}
	}
}
