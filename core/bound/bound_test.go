package bound_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/daemok/daemok/core/bound"
)

func TestCoverOfKnownProblems(t *testing.T) {
	tests := map[string]struct {
		demand    []float64
		columns   []bound.Column
		cost      float64
		uncovered int
	}{
		"nothing costs nothing":            {[]float64{0, 0}, nil, 0, 0},
		"one resource takes the best rate": {[]float64{10}, []bound.Column{{3, []float64{2}}, {5, []float64{4}}}, 12.5, 0},
		"two resources mix two machines":   {[]float64{4, 4}, []bound.Column{{1, []float64{2, 0}}, {1, []float64{0, 2}}}, 4, 0},
		"a balanced machine beats the mix": {[]float64{4, 4}, []bound.Column{{1, []float64{2, 0}}, {1, []float64{0, 2}}, {1.5, []float64{2, 2}}}, 3, 0},
		"what nobody has is left out":      {[]float64{4, 1}, []bound.Column{{1, []float64{2, 0}}}, 2, 1},
		"what is free costs nothing":       {[]float64{4}, []bound.Column{{0, []float64{2}}}, 0, 0},
		"a resource in plenty has no say":  {[]float64{10, 1}, []bound.Column{{1, []float64{1, 1}}}, 10, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := bound.Cover(tt.demand, tt.columns)
			if math.Abs(got.Cost-tt.cost) > 1e-6 || len(got.Uncovered) != tt.uncovered {
				t.Errorf("Cover(%v, %v) = %+v; want %v, %d uncovered", tt.demand, tt.columns, got, tt.cost, tt.uncovered)
			}
		})
	}
}

// TestCoverAgainstAllCorners compares with the best corner of the problem that
// worth solves: for two resources a corner is where two rules are tight.
func TestCoverAgainstAllCorners(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		demand := []float64{r.Float64() * 100, r.Float64() * 100}
		columns := make([]bound.Column, 1+r.IntN(12))
		for j := range columns {
			columns[j] = bound.Column{Price: 0.1 + r.Float64(), Has: []float64{0.1 + r.Float64()*8, 0.1 + r.Float64()*8}}
		}
		got, want := bound.Cover(demand, columns), corners(demand, columns)
		if math.Abs(got.Cost-want) > 1e-6*want {
			t.Fatalf("Cover(%v, %v) = %v, want %v", demand, columns, got.Cost, want)
		}
		for _, c := range columns {
			if worth := got.Worth[0]*c.Has[0] + got.Worth[1]*c.Has[1]; worth > c.Price*(1+1e-12) {
				t.Fatalf("%v is worth %v", c, worth)
			}
		}
	}
}

// corners returns the most that the demand can be worth while no column is
// worth more than its price.
func corners(demand []float64, columns []bound.Column) float64 {
	type rule struct{ a, b, price float64 }
	rules := []rule{{-1, 0, 0}, {0, -1, 0}}
	for _, c := range columns {
		rules = append(rules, rule{c.Has[0], c.Has[1], c.Price})
	}
	best := 0.0
	for i, p := range rules {
		for _, q := range rules[i+1:] {
			det := p.a*q.b - p.b*q.a
			if math.Abs(det) < 1e-12 {
				continue
			}
			x, y := (p.price*q.b-p.b*q.price)/det, (p.a*q.price-p.price*q.a)/det
			feasible := true
			for _, c := range rules {
				feasible = feasible && c.a*x+c.b*y <= c.price+1e-9
			}
			if feasible {
				best = max(best, x*demand[0]+y*demand[1])
			}
		}
	}
	return best
}
