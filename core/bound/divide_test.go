package bound_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/daemok/daemok/core/bound"
)

func offering(price float64, open uint64, has ...float64) bound.Offering {
	return bound.Offering{Column: bound.Column{Price: price, Has: has}, Open: open}
}

func TestDivideOfKnownProblems(t *testing.T) {
	tests := map[string]struct {
		demands   [][]float64
		offerings []bound.Offering
		cost      float64
	}{
		"nothing":                                       {nil, nil, 0},
		"one class is as without classes":               {[][]float64{{4, 4}}, []bound.Offering{offering(1, 1, 2, 0), offering(1, 1, 0, 2), offering(1.5, 1, 2, 2)}, 3},
		"each class has its own machines":               {[][]float64{{4}, {6}}, []bound.Offering{offering(1, 1, 2), offering(3, 2, 2)}, 11},
		"what is open to both is shared":                {[][]float64{{1, 0}, {0, 1}}, []bound.Offering{offering(1, 3, 1, 1)}, 1},
		"the expensive class leaves room for the other": {[][]float64{{4, 1}, {0, 3}}, []bound.Offering{offering(3, 1, 1, 1), offering(5, 2, 1, 1), offering(3, 2, 0, 1)}, 21},
		"and here the other may use it":                 {[][]float64{{4, 1}, {0, 3}}, []bound.Offering{offering(3, 3, 1, 1), offering(5, 2, 1, 1), offering(3, 2, 0, 1)}, 12},
		"what nobody sells to a class is left out":      {[][]float64{{4}, {6}}, []bound.Offering{offering(1, 1, 2)}, 2},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := bound.Divide(tt.demands, tt.offerings); math.Abs(got.Cost-tt.cost) > 1e-5 {
				t.Errorf("Divide = %+v; want %v", got, tt.cost)
			}
		})
	}
}

// The bound never exceeds what it costs to serve pods by some plan of whole instances, is never
// below the bound that knows no classes, and no instance is worth more than its price whichever
// classes its resources go to.
func TestDivideIsATrueBound(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	tighter := 0
	for range 500 {
		classes, resources := 1+r.IntN(4), 1+r.IntN(3)
		offerings := make([]bound.Offering, 1+r.IntN(15))
		columns := make([]bound.Column, len(offerings))
		for j := range offerings {
			has := make([]float64, resources)
			for i := range has {
				has[i] = 1 + r.Float64()*8
			}
			offerings[j] = offering(0.1+r.Float64(), 1+r.Uint64N(1<<classes-1), has...)
			columns[j] = offerings[j].Column
		}
		demands, cost := launched(r, classes, resources, offerings)
		got := bound.Divide(demands, offerings)
		if got.Cost > cost*(1+1e-9) {
			t.Fatalf("the bound is %v, and %v buys it: %v of %+v", got.Cost, cost, demands, offerings)
		}
		all := make([]float64, resources)
		for _, d := range demands {
			for i, v := range d {
				all[i] += v
			}
		}
		plain := bound.Cover(all, columns).Cost
		if got.Cost < plain*(1-1e-4) {
			t.Fatalf("the bound is %v with classes and %v without", got.Cost, plain)
		}
		if got.Cost > plain*1.01 {
			tighter++
		}
		for _, o := range offerings {
			if worth := most(o, got.Worth); worth > o.Price*(1+1e-9) {
				t.Fatalf("%+v is worth %v", o, worth)
			}
		}
	}
	if tighter < 100 {
		t.Errorf("classes make the bound tighter in %d of 500 cases only", tighter)
	}
}

// launched makes up instances and what they are used for, to the last unit.
func launched(r *rand.Rand, classes, resources int, offerings []bound.Offering) (demands [][]float64, cost float64) {
	demands = make([][]float64, classes)
	for k := range demands {
		demands[k] = make([]float64, resources)
	}
	for range 1 + r.IntN(12) {
		o := offerings[r.IntN(len(offerings))]
		cost += o.Price
		for i, v := range o.Has {
			for k := range demands {
				if o.Open>>k&1 == 1 {
					part := v * r.Float64()
					demands[k][i] += part
					v -= part
				}
			}
		}
	}
	return demands, cost
}

func most(o bound.Offering, worth [][]float64) float64 {
	sum := 0.0
	for i, v := range o.Has {
		best := 0.0
		for k := range worth {
			if o.Open>>k&1 == 1 {
				best = max(best, worth[k][i])
			}
		}
		sum += v * best
	}
	return sum
}
