package resourceclaim

import (
	"cmp"
	"maps"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemok/daemok/core/device"
	"github.com/daemok/daemok/core/quantity"
)

// PoolID names a pool of devices.
type PoolID struct{ Driver, Name string }

// Pool is the newest generation of a pool of devices, as its driver publishes it.
type Pool struct {
	PoolID
	Slices   []*resourcev1.ResourceSlice // sorted by name
	Complete bool                        // all slices are there, and no two devices have one name
}

// Pools groups slices, in any order. Those of older generations are left out.
func Pools(all map[string]*resourcev1.ResourceSlice) (out []Pool) {
	by := map[PoolID]*Pool{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		s := all[name]
		id := PoolID{s.Spec.Driver, s.Spec.Pool.Name}
		p := by[id]
		if p == nil {
			p = &Pool{PoolID: id}
			by[id] = p
		}
		switch {
		case len(p.Slices) == 0 || s.Spec.Pool.Generation == p.Slices[0].Spec.Pool.Generation:
			p.Slices = append(p.Slices, s)
		case s.Spec.Pool.Generation > p.Slices[0].Spec.Pool.Generation:
			p.Slices = []*resourcev1.ResourceSlice{s}
		}
	}
	for _, p := range by {
		p.Complete = int64(len(p.Slices)) == p.Slices[0].Spec.Pool.ResourceSliceCount && !repeats(p.Slices)
		out = append(out, *p)
	}
	slices.SortFunc(out, func(a, b Pool) int {
		return cmp.Or(cmp.Compare(a.Driver, b.Driver), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// repeats reports whether two devices of a pool have one name.
func repeats(list []*resourcev1.ResourceSlice) bool {
	seen := map[string]bool{}
	for _, s := range list {
		for i := range s.Spec.Devices {
			if seen[s.Spec.Devices[i].Name] {
				return true
			}
			seen[s.Spec.Devices[i].Name] = true
		}
	}
	return false
}

// IsEmpty reports whether the pool has no device.
func (p *Pool) IsEmpty() bool {
	return !slices.ContainsFunc(p.Slices, func(s *resourcev1.ResourceSlice) bool { return len(s.Spec.Devices) > 0 })
}

// Nodes names the nodes that devices of the pool are bound to, sorted. Devices that several nodes can reach are on
// none.
func (p *Pool) Nodes() []string {
	names := map[string]bool{}
	for _, s := range p.Slices {
		for i := range s.Spec.Devices {
			if node := nodeOf(s, &s.Spec.Devices[i]); node != "" {
				names[node] = true
			}
		}
		if s.Spec.NodeName != nil {
			names[*s.Spec.NodeName] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// nodeOf is the node that a device is bound to; empty: none.
func nodeOf(s *resourcev1.ResourceSlice, d *resourcev1.Device) string {
	switch {
	case s.Spec.NodeName != nil:
		return *s.Spec.NodeName
	case s.Spec.PerDeviceNodeSelection != nil && *s.Spec.PerDeviceNodeSelection && d.NodeName != nil:
		return *d.NodeName
	}
	return ""
}

// DeviceID names one device.
type DeviceID struct{ Driver, Pool, Device string }

// Allocated is what claims have of devices.
type Allocated struct {
	times    map[DeviceID]int
	consumed map[DeviceID]map[string]int64
}

// AllocatedTo counts what claims have.
func AllocatedTo(claims map[types.NamespacedName]*resourcev1.ResourceClaim) Allocated {
	out := Allocated{map[DeviceID]int{}, map[DeviceID]map[string]int64{}}
	for _, c := range claims {
		if c.Status.Allocation == nil {
			continue
		}
		for _, d := range c.Status.Allocation.Devices.Results {
			if d.AdminAccess != nil && *d.AdminAccess {
				continue
			}
			id := DeviceID{d.Driver, d.Pool, d.Device}
			out.times[id]++
			for name, amount := range d.ConsumedCapacity {
				if out.consumed[id] == nil {
					out.consumed[id] = map[string]int64{}
				}
				out.consumed[id][string(name)] += amount.Value()
			}
		}
	}
	return out
}

// AddPool adds to an inventory the devices of a complete pool on a node, with what is allocated of them. Another pool
// makes the inventory partial.
func (r *Reader) AddPool(to *device.Inventory, p *Pool, node string, allocated Allocated) {
	if !p.Complete {
		to.Partial = true
		return
	}
	to.Counters = append(to.Counters, p.counters()...)
	for _, s := range p.Slices {
		for i, d := range r.devices(s) {
			allocated.take(&d, to.Counters)
			if nodeOf(s, &s.Spec.Devices[i]) == node {
				to.Devices = append(to.Devices, d)
			}
		}
	}
}

// counters are those that devices of the pool consume.
func (p *Pool) counters() (out []quantity.Extended) {
	for _, s := range p.Slices {
		out = append(out, countersOf(p.Driver, p.Name, s.Spec.SharedCounters)...)
	}
	return out
}

// take takes what claims have off a device and off the counters that it consumes.
func (a Allocated) take(d *device.Device, counters []quantity.Extended) {
	id := DeviceID{d.Driver, d.Pool, d.Name}
	if a.times[id] == 0 {
		return
	}
	for _, c := range d.Consumes {
		for i := range counters {
			if counters[i].Name == c.Name {
				counters[i].Amount -= c.Amount
			}
		}
	}
	d.Capacity = slices.Clone(d.Capacity)
	for i := range d.Capacity {
		d.Capacity[i].Used += a.consumed[id][d.Capacity[i].Name]
	}
	d.Taken, d.Consumes = !d.Shared, nil // which is drawn already
}

func countersOf(driver, pool string, sets []resourcev1.CounterSet) (out []quantity.Extended) {
	for _, set := range sets {
		for _, name := range slices.Sorted(maps.Keys(set.Counters)) {
			value := set.Counters[name].Value
			out = append(out, quantity.Extended{Name: counterName(driver, pool, set.Name, name), Amount: value.Value()})
		}
	}
	return out
}
