package bench

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
)

// Known is the cheapest plan that was ever found for some work.
type Known struct {
	Catalog           string  `json:"catalog"` // name of the file
	Capacity          string  `json:"capacity"`
	Generate          string  `json:"generate"`
	Pods              int     `json:"pods"`
	Seed              uint64  `json:"seed"`
	LowerBoundPerHour float64 `json:"lowerBoundPerHour"` // reports whether pods and prices are still the same
	CostPerHour       float64 `json:"costPerHour"`
}

// is reports whether the entry names the work.
func (k *Known) is(o Options) bool {
	capacity := o.Capacity
	if capacity == "" {
		capacity = "on-demand"
	}
	return k.Generate == o.Generate && k.Pods == o.Pods && k.Seed == o.Seed && k.Capacity == capacity && k.Catalog == filepath.Base(o.Catalog)
}

// best returns what the file knows of the work, nil where that is nothing.
func best(o Options, bound float64) (*Known, error) {
	if o.Best == "" {
		return nil, nil
	}
	data, err := os.ReadFile(o.Best)
	if err != nil {
		return nil, fmt.Errorf("read best costs: %w", err)
	}
	var all []Known
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, fmt.Errorf("read best costs %s: %w", o.Best, err)
	}
	for i := range all {
		k := &all[i]
		if !k.is(o) {
			continue
		}
		if math.Abs(k.LowerBoundPerHour-bound) > 1e-6*bound {
			return nil, fmt.Errorf("best costs %s: %s of seed %d is for a bound of %g, this is %g: other pods or prices", o.Best, o.Generate, o.Seed, k.LowerBoundPerHour, bound)
		}
		return k, nil
	}
	return nil, nil
}
