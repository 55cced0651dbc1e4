// Package amount holds what pods request and nodes have, as vectors of plain numbers that compare
// quickly.
//
// It knows no rules except those of amounts, and stores nothing. It adds and multiplies vectors
// without checks: no number in one is large enough to overflow.
package amount

import (
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/quantity"
)

// Dims names what some pods request in amounts: resources, and volumes that each driver attaches. Every
// vector has one number for each of them.
type Dims struct {
	Resources []string
	Drivers   []string // sorted; their positions follow
}

// The positions of cpu and memory in every vector, and of what not all instances have.
const (
	CPU = iota
	Memory
	_       // pods
	_       // disk
	Devices // and whatever else pods ask for
)

// unbounded is what there is of something that nothing limits.
const unbounded = int64(1) << 40

// Beyond is more than any instance has of anything: a pebibyte of memory, for example. A larger request
// counts as this much, so that such a pod fits nowhere.
const Beyond = int64(1) << 50

// Of returns what the pods ask for.
func Of(pods []cluster.Pod) Dims {
	out := Dims{Resources: []string{quantity.NameCPU, quantity.NameMemory, quantity.NamePods, quantity.NameEphemeralStorage}}
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
				out.Drivers = append(out.Drivers, v.Driver)
			}
		}
	}
	slices.Sort(names)
	out.Resources = append(out.Resources, slices.Compact(names)...)
	slices.Sort(out.Drivers)
	out.Drivers = slices.Compact(out.Drivers)
	return out
}

// Len is how many numbers a vector has.
func (d Dims) Len() int { return len(d.Resources) + len(d.Drivers) }

// Need is what one pod of the shape requests, without volumes that several pods may share.
func (d Dims) Need(s *cluster.Shape) []int64 {
	out := make([]int64, d.Len())
	for i, name := range d.Resources {
		out[i] = min(s.Requests.Get(name), Beyond)
	}
	for _, v := range s.Volumes {
		if at, known := d.Driver(v.Driver); known && v.Claim == "" {
			out[at]++
		}
	}
	return out
}

// Driver is the position of a driver's volumes, and whether they are counted.
func (d Dims) Driver(name string) (at int, known bool) {
	at, known = slices.BinarySearch(d.Drivers, name)
	return len(d.Resources) + at, known
}

// Vector is what a node or instance has. A driver that attachable does not name has no limit.
func (d Dims) Vector(r quantity.Resources, attachable []cluster.Attachable) []int64 {
	out := make([]int64, d.Len())
	for i, name := range d.Resources {
		out[i] = min(max(r.Get(name), -Beyond), Beyond-1)
	}
	for i := range d.Drivers {
		out[len(d.Resources)+i] = unbounded
	}
	for _, a := range attachable {
		if at, known := d.Driver(a.Driver); known {
			out[at] = a.Count
		}
	}
	return out
}

// Fits reports whether need fits in free.
func Fits(free, need []int64) bool {
	for i, v := range need {
		if v > free[i] && v > 0 {
			return false
		}
	}
	return true
}
