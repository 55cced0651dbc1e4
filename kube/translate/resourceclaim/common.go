package resourceclaim

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/daemok/daemok/core/device"
)

// Common is devices that the same nodes can use, several of them.
type Common struct {
	From *corev1.NodeSelector // those nodes; nil: all
	device.Inventory
}

// Commons lists the devices that several nodes can use, with what is allocated of them, by the nodes, in the order in
// which kube-scheduler tries them. Left out are pools that are not complete, and those whose devices are of different
// nodes but share counters.
func (r *Reader) Commons(pools []Pool, allocated Allocated) (out []Common) {
	at := map[string]int{}
	for i := range pools {
		p := &pools[i]
		if !p.Complete || !p.IsCommon() {
			continue
		}
		counters := p.counters()
		if len(counters) > 0 && p.reaches() > 1 {
			continue
		}
		for _, s := range p.Slices {
			for k, d := range r.devices(s) {
				from, common := commonTo(s, &s.Spec.Devices[k])
				if !common {
					continue
				}
				key := from.String()
				if _, known := at[key]; !known {
					at[key] = len(out)
					out = append(out, Common{From: from})
				}
				allocated.take(&d, counters)
				out[at[key]].Devices = append(out[at[key]].Devices, d)
			}
		}
		if len(counters) > 0 {
			c := &out[len(out)-1]
			for k := range out {
				if slices.ContainsFunc(out[k].Devices, p.has) {
					c = &out[k]
				}
			}
			c.Counters = append(c.Counters, counters...)
		}
	}
	return out
}

func (p *Pool) has(d device.Device) bool { return d.Driver == p.Driver && d.Pool == p.Name }

// IsCommon reports whether several nodes can use any device of the pool.
func (p Pool) IsCommon() bool {
	return slices.ContainsFunc(p.Slices, func(s *resourcev1.ResourceSlice) bool {
		return slices.ContainsFunc(s.Spec.Devices, func(d resourcev1.Device) bool {
			_, common := commonTo(s, &d)
			return common
		})
	})
}

// reaches counts the sets of nodes that devices of the pool are of.
func (p *Pool) reaches() int {
	all := map[string]bool{}
	for _, s := range p.Slices {
		for i := range s.Spec.Devices {
			from, _ := commonTo(s, &s.Spec.Devices[i])
			all[nodeOf(s, &s.Spec.Devices[i])+" "+from.String()] = true
		}
	}
	return len(all)
}

// commonTo is the nodes that can use a device, nil for all; common is false where it is bound to one node.
func commonTo(s *resourcev1.ResourceSlice, d *resourcev1.Device) (from *corev1.NodeSelector, common bool) {
	is := func(b *bool) bool { return b != nil && *b }
	switch {
	case s.Spec.NodeSelector != nil:
		return s.Spec.NodeSelector, true
	case is(s.Spec.AllNodes):
		return nil, true
	case !is(s.Spec.PerDeviceNodeSelection):
		return nil, false
	case d.NodeSelector != nil:
		return d.NodeSelector, true
	}
	return nil, is(d.AllNodes)
}

// CommonTo finds which nodes can use an allocated device; common is false where it is bound to one node, or unknown.
func CommonTo(pools []Pool, of resourcev1.DeviceRequestAllocationResult) (from *corev1.NodeSelector, common bool) {
	for i := range pools {
		if pools[i].Driver != of.Driver || pools[i].Name != of.Pool {
			continue
		}
		for _, s := range pools[i].Slices {
			for k := range s.Spec.Devices {
				if s.Spec.Devices[k].Name == of.Device {
					return commonTo(s, &s.Spec.Devices[k])
				}
			}
		}
	}
	return nil, false
}
