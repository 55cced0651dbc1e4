// Package device turns devices and what ResourceClaims request of them into amounts, so that plans count
// devices as they count any other resource (dynamic resource allocation, DRA).
//
// A Bundle is what has to be allocated at once: one device, or the requests of a claim that a constraint joins.
// For each bundle that is in use there is one amount, how many of it fit where only it is allocated, and one
// for all bundles that compete for the same devices. What fits by these amounts can be allocated, whatever the
// mix: see Dimensions. A search that follows kube-scheduler's allocator finds the amounts.
//
// The package evaluates no CEL: devices say which selectors they meet, by number.
package device

import (
	"slices"

	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/quantity"
)

// Device is one device that a driver publishes, or would.
type Device struct {
	Driver, Pool, Name string
	Meets              bitset.Set          // the selectors that it meets, by number
	Fails              bitset.Set          // the selectors that cannot be evaluated for it
	Attributes         []Attribute         // by which constraints compare devices; sorted by name
	Taints             []constraint.Taint  // those that keep claims off
	Consumes           []quantity.Extended // of the counters of its inventory
	Taken              bool                // it is allocated: nothing else gets it, nor all devices with it
	Shared             bool                // it takes many allocations, as far as its capacity allows
	Capacity           []Capacity          // sorted by name
}

// Attribute is one attribute of a device.
type Attribute struct {
	Name  string // with its domain: resource.kubernetes.io/pcieRoot
	Value string // equal for equal values of one type
}

// Attribute returns the value of an attribute.
func (d *Device) Attribute(name string) (value string, has bool) {
	for _, a := range d.Attributes {
		if a.Name == name {
			return a.Value, true
		}
	}
	return "", false
}

// Capacity is one capacity of a device.
type Capacity struct {
	Name   string
	Amount int64
	Used   int64  // of a shared device: by allocations that there are
	Policy Policy // of a shared device
}

// Policy says how much of a capacity a request consumes. The zero value: what it asks for, or all there is.
type Policy struct {
	Default  int64   // consumed by requests that do not say; 0: all
	Values   []int64 // ascending: one of these is consumed; none: any amount
	Min, Max int64   // of a request; 0: none
	Step     int64   // above Min, in which amounts grow; 0: any amount
}

// consumed is how much a request for so much consumes, 0 for one that does not say; ok is false where the
// policy allows no amount that is large enough.
func (c *Capacity) consumed(asked int64) (amount int64, ok bool) {
	p := c.Policy
	switch {
	case asked == 0 && p.Default > 0:
		return p.Default, true
	case asked == 0:
		return c.Amount, true
	case len(p.Values) > 0:
		for _, v := range p.Values {
			if v >= asked {
				return v, true
			}
		}
		return 0, false
	}
	amount = max(asked, p.Min)
	if p.Step > 0 {
		if over := (amount - p.Min) % p.Step; over > 0 {
			amount += p.Step - over
		}
	}
	return amount, p.Max == 0 || amount <= p.Max
}

// Inventory is the devices of one node, or of instances of one type.
type Inventory struct {
	Devices  []Device            // in the order in which kube-scheduler tries them
	Counters []quantity.Extended // that partitions of devices consume
	Partial  bool                // a pool of it is not complete, or not valid: requests for all devices have to wait
}

// Free counts the devices that are free and meet a selector, tainted ones aside.
func (inv *Inventory) Free(selector int) (n int64) {
	for i := range inv.Devices[:inv.evaluated(selector)] {
		if inv.Devices[i].suits(&Ask{Selector: selector}) {
			n++
		}
	}
	return n
}

// evaluated is how many devices come before the first free one for which a selector cannot be evaluated. kube-scheduler
// gives up there.
func (inv *Inventory) evaluated(selector int) int {
	for i := range inv.Devices {
		if d := &inv.Devices[i]; !d.Taken && d.fails(selector) {
			return i
		}
	}
	return len(inv.Devices)
}

// Failing is the device for which a selector of a bundle cannot be evaluated before the bundle is allocated; nil: there
// is none. kube-scheduler then places no pod with the bundle, be it on this node or on another one.
func (inv *Inventory) Failing(b *Bundle) *Device {
	ask := b.single()
	for _, r := range b.Requests {
		for _, a := range r.Alternatives {
			first := inv.evaluated(a.Selector)
			suits := func(d Device) bool { return d.suits(ask) }
			if first < len(inv.Devices) && (ask == nil || !slices.ContainsFunc(inv.Devices[:first], suits)) {
				return &inv.Devices[first]
			}
		}
	}
	return nil
}

// Claim is what a ResourceClaim requests.
type Claim struct {
	Requests    []Request
	Constraints []Constraint
}

// Request is one request of a claim. One of its alternatives is met; the first of several is preferred.
type Request struct {
	Name         string
	Alternatives []Ask
}

// Ask is so many devices that meet a selector.
type Ask struct {
	Name        string // of a subrequest
	Selector    int    // number of the selector
	Count       int64  // 0: all that meet it, at least one
	Tolerations []constraint.Toleration
	Capacity    []quantity.Extended // that each of them must have, or have left where it is shared; sorted by name
}

// Constraint joins requests: their devices have the same value of an attribute, or each another one.
type Constraint struct {
	Requests  []string // names of requests, or request/subrequest; none: all
	Attribute string
	Distinct  bool
}

// concerns reports whether the constraint holds for devices of an alternative.
func (c *Constraint) concerns(r *Request, a *Ask) bool {
	for _, name := range c.Requests {
		if name == r.Name || a.Name != "" && name == r.Name+"/"+a.Name {
			return true
		}
	}
	return len(c.Requests) == 0
}

// DevicesMax is how many devices kube-scheduler allocates for one claim at most.
const DevicesMax = 32
