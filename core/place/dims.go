package place

import (
	"math"
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/quantity"
)

// dims is what waiting pods ask for in amounts: resources, and volumes to be
// attached by each driver. Amounts are vectors over them while places are
// sought: plain numbers at fixed positions.
type dims struct {
	resources []string
	drivers   []string // their positions follow
}

// The positions of cpu and memory in every vector, and of what not all machines
// have.
const (
	dimCPU = iota
	dimMemory
	_          // pods
	_          // disk
	dimDevices // and whatever else pods ask for
)

// unbounded is what there is of something that nothing limits.
const unbounded = int64(1) << 40

func dimsOf(pods []cluster.Pod) dims {
	out := dims{resources: []string{quantity.NameCPU, quantity.NameMemory, quantity.NamePods, quantity.NameEphemeralStorage}}
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
		for _, v := range last.Volumes {
			if v.Driver != "" {
				out.drivers = append(out.drivers, v.Driver)
			}
		}
	}
	slices.Sort(names)
	out.resources = append(out.resources, slices.Compact(names)...)
	slices.Sort(out.drivers)
	out.drivers = slices.Compact(out.drivers)
	return out
}

func (d dims) len() int { return len(d.resources) + len(d.drivers) }

// need is what one pod of the shape asks for, volumes that it shares with
// others aside.
func (d dims) need(s *cluster.Shape) []int64 {
	out := d.vector(s.Requests, nil)
	for i := range d.drivers {
		out[len(d.resources)+i] = 0
	}
	for _, v := range s.Volumes {
		if v.Claim == "" && v.Driver != "" {
			out[d.driver(v.Driver)]++
		}
	}
	return out
}

func (d dims) driver(name string) int {
	at, _ := slices.BinarySearch(d.drivers, name)
	return len(d.resources) + at
}

// knows reports whether volumes of the driver are counted.
func (d dims) knows(driver string) bool {
	_, found := slices.BinarySearch(d.drivers, driver)
	return found
}

// vector is what a place has.
func (d dims) vector(r quantity.Resources, attachable []cluster.Attachable) []int64 {
	out := make([]int64, d.len())
	for i, name := range d.resources {
		out[i] = r.Get(name)
	}
	for i := range d.drivers {
		out[len(d.resources)+i] = unbounded
	}
	for _, a := range attachable {
		if d.knows(a.Driver) {
			out[d.driver(a.Driver)] = a.Count
		}
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
