package bound_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/daemok/daemok/core/bound"
)

func offer(price float64, open uint64, has ...float64) bound.Offer {
	return bound.Offer{Column: bound.Column{Price: price, Has: has}, Open: open}
}

func TestDivideOfKnownProblems(t *testing.T) {
	tests := map[string]struct {
		demands [][]float64
		offers  []bound.Offer
		cost    float64
	}{
		"nothing":                                       {nil, nil, 0},
		"one class is as without classes":               {[][]float64{{4, 4}}, []bound.Offer{offer(1, 1, 2, 0), offer(1, 1, 0, 2), offer(1.5, 1, 2, 2)}, 3},
		"each class has its own machines":               {[][]float64{{4}, {6}}, []bound.Offer{offer(1, 1, 2), offer(3, 2, 2)}, 11},
		"what is open to both is shared":                {[][]float64{{1, 0}, {0, 1}}, []bound.Offer{offer(1, 3, 1, 1)}, 1},
		"the expensive class leaves room for the other": {[][]float64{{4, 1}, {0, 3}}, []bound.Offer{offer(3, 1, 1, 1), offer(5, 2, 1, 1), offer(3, 2, 0, 1)}, 21},
		"and here the other may use it":                 {[][]float64{{4, 1}, {0, 3}}, []bound.Offer{offer(3, 3, 1, 1), offer(5, 2, 1, 1), offer(3, 2, 0, 1)}, 12},
		"what nobody sells to a class is left out":      {[][]float64{{4}, {6}}, []bound.Offer{offer(1, 1, 2)}, 2},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := bound.Divide(tt.demands, tt.offers); math.Abs(got.Cost-tt.cost) > 1e-5 {
				t.Errorf("Divide = %+v; want %v", got, tt.cost)
			}
		})
	}
}

// The bound never exceeds what it costs to serve pods by some plan of whole
// machines, is never below the bound that knows no classes, and no machine is
// worth more than its price whichever classes its resources go to.
func TestDivideIsATrueBound(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	tighter := 0
	for range 500 {
		classes, resources := 1+r.IntN(4), 1+r.IntN(3)
		offers := make([]bound.Offer, 1+r.IntN(15))
		columns := make([]bound.Column, len(offers))
		for j := range offers {
			has := make([]float64, resources)
			for i := range has {
				has[i] = 1 + r.Float64()*8
			}
			offers[j] = offer(0.1+r.Float64(), 1+r.Uint64N(1<<classes-1), has...)
			columns[j] = offers[j].Column
		}
		demands, cost := bought(r, classes, resources, offers)
		got := bound.Divide(demands, offers)
		if got.Cost > cost*(1+1e-9) {
			t.Fatalf("the bound is %v, and %v buys it: %v of %+v", got.Cost, cost, demands, offers)
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
		for _, o := range offers {
			if worth := most(o, got.Worth); worth > o.Price*(1+1e-9) {
				t.Fatalf("%+v is worth %v", o, worth)
			}
		}
	}
	if tighter < 100 {
		t.Errorf("classes make the bound tighter in %d of 500 cases only", tighter)
	}
}

// bought makes up machines and what they are used for, to the last unit.
func bought(r *rand.Rand, classes, resources int, offers []bound.Offer) (demands [][]float64, cost float64) {
	demands = make([][]float64, classes)
	for k := range demands {
		demands[k] = make([]float64, resources)
	}
	for range 1 + r.IntN(12) {
		o := offers[r.IntN(len(offers))]
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

func most(o bound.Offer, worth [][]float64) float64 {
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
