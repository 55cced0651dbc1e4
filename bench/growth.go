package bench

import (
	"fmt"
	"math"
	"slices"
)

// Growth says how the time of one kind of work grows with one number.
type Growth struct {
	Of         string    `json:"of"` // pods, nodes, pools or types
	Mix        string    `json:"mix"`
	Sizes      []int     `json:"sizes"`
	Seconds    []float64 `json:"seconds"`    // medians, by size
	CPUSeconds []float64 `json:"cpuSeconds"` // likewise
	// Exponent e says that the time grows as size^e: the slope of the straight line through
	// the logarithms, by least squares. It is that of the seconds of all processors, which
	// other load on the instance disturbs the least.
	Exponent        float64 `json:"exponent"`
	ExponentSeconds float64 `json:"exponentSeconds"` // of the seconds that passed
	LargestBy       float64 `json:"largestBy"`       // cpuSeconds of the largest size over those of the smallest
}

// series is work of which one number is to grow.
type series struct {
	work  Options
	of    string
	sizes []int
}

// grown lists what MeasureGrowth measures.
var grown = []series{
	{Options{Mix: "plain"}, "pods", []int{5000, 10000, 20000, 40000}},
	{Options{Mix: "diverse"}, "pods", []int{5000, 10000, 20000, 40000}},
	{Options{Mix: "antiaffinity"}, "pods", []int{4000, 8000, 16000, 32000}},
	{Options{Mix: "preferences"}, "pods", []int{4000, 8000, 16000, 32000}},
	{Options{Mix: "chains"}, "pods", []int{1250, 2500, 5000, 10000}},
	{Options{Mix: "ports"}, "pods", []int{1250, 2500, 5000, 10000}},
	{Options{Mix: "strangers"}, "pods", []int{1250, 2500, 5000, 10000}},
	{Options{Generate: "uniform"}, "pods", []int{2500, 5000, 10000, 20000}},
	{Options{Generate: "deployspread"}, "pods", []int{5000, 10000, 20000, 40000}},
	{Options{Mix: "existing", Nodes: 3000, Pools: 50}, "pods", []int{12500, 25000, 50000, 100000}},
	{Options{Mix: "existing", Pods: 50000, Pools: 50}, "nodes", []int{500, 1000, 2000, 4000}},
	{Options{Mix: "existing", Pods: 2000, Pools: 10}, "nodes", []int{1000, 2000, 4000, 8000}},
	{Options{Mix: "existing", Pods: 50000, Nodes: 1000}, "pools", []int{25, 50, 100, 200}},
	{Options{Mix: "diverse", Pods: 5000}, "pools", []int{1, 4, 16, 64}},
	{Options{Mix: "diverse", Pods: 5000}, "types", []int{6, 400}},
	{Options{Generate: "uniform", Pods: 5000}, "types", []int{6, 400}},
	{Options{Generate: "realistic", Pods: 5000}, "types", []int{6, 400}},
}

// GrowthOf lists what can be made to grow, in the order of measuring.
func GrowthOf() []string { return []string{"pods", "nodes", "pools", "types"} }

// MeasureGrowth measures how time grows with pods, nodes, pools and instance types, or with
// one of them, and hands on each answer as soon as it is there. Of the options, Catalog,
// Capacity, Daemons, Seed and Runs count. Every plan is verified, and pods that found no
// place are an error.
func MeasureGrowth(o Options, of string, each func(Growth) error) error {
	if of != "" && !slices.Contains(GrowthOf(), of) {
		return fmt.Errorf("growth of %s is not measured: use one of %v", of, GrowthOf())
	}
	for _, x := range grown {
		if of != "" && of != x.of {
			continue
		}
		x.work.Catalog, x.work.Capacity, x.work.Daemons, x.work.Seed, x.work.Runs = o.Catalog, o.Capacity, o.Daemons, o.Seed, o.Runs
		g, err := x.measure()
		if err != nil {
			return err
		}
		if err := each(g); err != nil {
			return err
		}
	}
	return nil
}

func (x series) measure() (Growth, error) {
	out := Growth{Of: x.of}
	for _, size := range x.sizes {
		o := x.work.with(x.of, size)
		r, err := Place(o)
		if err == nil && r.Unplaced > 0 {
			err = fmt.Errorf("%d pods found no place", r.Unplaced)
		}
		if err != nil {
			return Growth{}, fmt.Errorf("%s with %d %s: %w", r.Mix, size, x.of, err)
		}
		out.Mix, out.Sizes = r.Mix, append(out.Sizes, size)
		out.Seconds, out.CPUSeconds = append(out.Seconds, r.Seconds), append(out.CPUSeconds, r.CPUSeconds)
	}
	out.Exponent, out.ExponentSeconds = exponent(out.Sizes, out.CPUSeconds), exponent(out.Sizes, out.Seconds)
	out.LargestBy = out.CPUSeconds[len(out.Sizes)-1] / out.CPUSeconds[0]
	return out, nil
}

// with returns the options with one number set.
func (o Options) with(of string, size int) Options {
	switch of {
	case "pods":
		o.Pods = size
	case "nodes":
		o.Nodes = size
	case "pools":
		o.Pools = size
	case "types":
		o.Types = size
	}
	return o
}

// exponent is the slope of the line nearest to the points on logarithmic
// axes, by the least squares of what they are off in height.
func exponent(sizes []int, seconds []float64) float64 {
	var sx, sy, sxx, sxy float64
	n := float64(len(sizes))
	for i := range sizes {
		x, y := math.Log(float64(sizes[i])), math.Log(seconds[i])
		sx, sy, sxx, sxy = sx+x, sy+y, sxx+x*x, sxy+x*y
	}
	return (n*sxy - sx*sy) / (n*sxx - sx*sx)
}
