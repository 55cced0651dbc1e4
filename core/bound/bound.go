// Package bound computes a lower bound on the cost of instances, and the marginal price of each
// resource.
//
// It promises a true lower bound: it scales the answer until it is proven feasible, so rounding can
// make it smaller and never larger. It knows no rules except those of amounts, and does not find
// instances: core/place does.
package bound

import "math"

// Column is one thing that can be launched any number of times.
type Column struct {
	Price float64   // zero or more
	Has   []float64 // of each resource, zero or more
}

// Answer is the solution of the covering problem.
type Answer struct {
	Cost      float64   // no set of columns that covers the demand is cheaper
	Worth     []float64 // of one unit of each resource; zero where it is not scarce
	Uncovered []int     // resources in demand that no column has, in order; left out of Cost
}

// small is what counts as zero after the rows are scaled to a demand of one.
const small = 1e-9

// Cover finds the least sum of price times count such that counts of columns,
// fractions allowed, cover the demand. The same input gives the same bits on
// every processor.
//
// Cost: about resources x columns for each of some ten rounds.
func Cover(demand []float64, columns []Column) Answer {
	t := newTableau(demand, columns)
	var out Answer
	// Each round makes one resource covered; the bound only stops cycling.
	for range 50 * (len(demand) + 1) {
		row := t.mostShort()
		if row < 0 {
			break
		}
		column := t.entering(row)
		if column < 0 {
			t.rhs[row] = 0
			continue
		}
		t.pivot(row, column)
	}
	out.Worth = t.worth(demand, columns)
	for i, d := range demand {
		out.Cost += float64(d * out.Worth[i])
		if d > 0 && !offered(columns, i) {
			out.Uncovered = append(out.Uncovered, i)
		}
	}
	return out
}

// tableau is the dual simplex method's: it starts with nothing launched, which
// is cheap enough but covers nothing, and launches until all is covered. Columns
// beyond those given stand for what is launched too much of one resource.
type tableau struct {
	rows [][]float64
	rhs  []float64
	cost []float64
}

func newTableau(demand []float64, columns []Column) *tableau {
	m, n := len(demand), len(columns)
	t := &tableau{rows: make([][]float64, m), rhs: make([]float64, m), cost: make([]float64, n+m)}
	for j, c := range columns {
		t.cost[j] = c.Price
	}
	for i, d := range demand {
		t.rows[i] = make([]float64, n+m)
		t.rows[i][n+i] = 1
		if d <= 0 || !offered(columns, i) {
			continue
		}
		t.rhs[i] = -1
		for j, c := range columns {
			t.rows[i][j] = -c.Has[i] / d
		}
	}
	return t
}

// mostShort returns the row that is furthest from being covered, or -1.
func (t *tableau) mostShort() int {
	best, row := -small, -1
	for i, v := range t.rhs {
		if v < best {
			best, row = v, i
		}
	}
	return row
}

// entering returns the column that covers the row at the least extra cost.
func (t *tableau) entering(row int) int {
	best, column := math.Inf(1), -1
	for j, v := range t.rows[row] {
		if v < -small {
			if ratio := t.cost[j] / -v; ratio < best {
				best, column = ratio, j
			}
		}
	}
	return column
}

func (t *tableau) pivot(row, column int) {
	pivot := t.rows[row]
	scale := pivot[column]
	for j := range pivot {
		pivot[j] /= scale
	}
	t.rhs[row] /= scale
	for i := range t.rows {
		if f := t.rows[i][column]; i != row && f != 0 {
			subtract(t.rows[i], pivot, f)
			t.rhs[i] -= float64(f * t.rhs[row])
		}
	}
	subtract(t.cost, pivot, t.cost[column])
}

func subtract(row, pivot []float64, f float64) {
	for j, v := range pivot {
		row[j] -= float64(f * v)
	}
}

// worth reads the prices of the resources and lowers them together until no
// column is worth more than its price.
func (t *tableau) worth(demand []float64, columns []Column) []float64 {
	out := make([]float64, len(demand))
	for i, d := range demand {
		if d > 0 {
			out[i] = max(0, t.cost[len(columns)+i]) / d
		}
	}
	keep := 1.0
	for _, c := range columns {
		value := 0.0
		for i, w := range out {
			value += float64(w * c.Has[i])
		}
		if value > c.Price {
			keep = min(keep, c.Price/value)
		}
	}
	for i := range out {
		out[i] *= keep
	}
	return out
}

func offered(columns []Column, i int) bool {
	for _, c := range columns {
		if c.Has[i] > 0 {
			return true
		}
	}
	return false
}
