package place

import (
	"math"
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/quantity"
)

// dims is the resources that some waiting pod asks for. Amounts are vectors
// over them while places are sought: plain numbers at fixed positions.
type dims []string

// dimCPU is the position of cpu in every vector.
const dimCPU = 0

func dimsOf(pods []cluster.Pod) dims {
	out := dims{quantity.NameCPU, quantity.NameMemory, quantity.NamePods, quantity.NameEphemeralStorage}
	var last *cluster.Shape
	var names []string
	for i := range pods {
		if pods[i].Shape == last {
			continue
		}
		last = pods[i].Shape
		for _, e := range last.Requests.Extended {
			names = append(names, e.Name)
		}
	}
	slices.Sort(names)
	return append(out, slices.Compact(names)...)
}

func (d dims) vector(r quantity.Resources) []int64 {
	out := make([]int64, len(d))
	for i, name := range d {
		out[i] = r.Get(name)
	}
	return out
}

// count returns how many times need fits in free.
func count(free, need []int64) int64 {
	n := int64(math.MaxInt64)
	for i, v := range need {
		if v > 0 {
			n = min(n, free[i]/v)
		}
	}
	return max(0, n)
}

func fits(free, need []int64) bool {
	for i, v := range need {
		if v > free[i] && v > 0 {
			return false
		}
	}
	return true
}

func take(free, need []int64, n int64) {
	for i, v := range need {
		free[i] -= v * n
	}
}

// value is what an amount is worth; negative amounts are worth nothing.
func value(worth []float64, amount []int64) float64 {
	sum := 0.0
	for i, w := range worth {
		sum += float64(w * float64(max(0, amount[i])))
	}
	return sum
}
