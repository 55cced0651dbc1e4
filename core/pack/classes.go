package pack

import (
	"slices"

	"github.com/daemok/daemok/core/bound"
)

// Groups that may be in one zone alone, or on one processor, have prices of their
// own: what is cheap elsewhere is of no use to them.

// classesMax is for how many classes such prices are sought.
const classesMax = 16

// oneWorth makes resources worth the same to all classes.
func (s *solver) oneWorth() [][]float64 {
	out := make([][]float64, len(s.allowed))
	for class := range out {
		out[class] = s.worth
	}
	return out
}

// reportClasses seeks what resources are worth to each class, by the linear program in which a
// class may use its own offerings alone. Without it an instance in an expensive zone seems a waste,
// however well it is used.
func (s *solver) reportClasses() {
	s.byClass = s.oneWorth()
	if n := len(s.allowed); n < 2 || n > classesMax {
		return
	}
	demands := make([][]float64, len(s.allowed))
	for class := range demands {
		demands[class] = make([]float64, len(s.worth))
	}
	for i := range s.batch.Groups {
		for d, v := range s.need(int32(i)) {
			demands[s.classes[i]][d] += float64(float64(v) * float64(s.batch.Groups[i].Count))
		}
	}
	offerings := make([]bound.Offering, len(s.offerings))
	for i := range offerings {
		offerings[i].Column = s.column(i)
		for class := range s.allowed {
			if s.allowed[class].Has(i) {
				offerings[i].Open |= 1 << class
			}
		}
	}
	for class, worth := range bound.Divide(demands, offerings).Worth {
		if value(worth, s.offerings[len(s.offerings)-1].free) > 0 {
			s.byClass[class] = worth
		}
	}
}

// likewise returns what resources are worth to each class where prices differ
// from the linear program's: by the same factors.
func (s *solver) likewise(worth []float64) [][]float64 {
	out := make([][]float64, len(s.byClass))
	for class, mine := range s.byClass {
		if &mine[0] == &s.worth[0] {
			out[class] = worth
			continue
		}
		out[class] = make([]float64, len(worth))
		for d, w := range worth {
			if s.worth[d] > 0 {
				out[class][d] = float64(mine[d] * (w / s.worth[d]))
			} else {
				out[class][d] = mine[d] + w
			}
		}
	}
	return out
}

// most returns what resources are worth at most to classes that may have the offering.
func (s *solver) most(byClass [][]float64, offering int) []float64 {
	if len(byClass) == 1 {
		return byClass[0]
	}
	out := make([]float64, len(s.worth))
	for class, worth := range byClass {
		if !s.allowed[class].Has(offering) {
			continue
		}
		for d, w := range worth {
			out[d] = max(out[d], w)
		}
	}
	return out
}

// narrows reports each class whether it may have at most half as many offerings as the one that may
// have most; nil where none is so.
func (s *solver) narrows() []bool {
	out, most := make([]bool, len(s.allowed)), 0
	for _, mine := range s.allowed {
		most = max(most, mine.Count())
	}
	for class, mine := range s.allowed {
		out[class] = 2*mine.Count() <= most
	}
	if !slices.Contains(out, true) {
		return nil
	}
	return out
}
