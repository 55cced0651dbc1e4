package device

import (
	"fmt"
	"slices"
	"strings"

	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/constraint"
)

// Bundle is what has to be allocated at once: one device, or requests that a constraint joins.
type Bundle struct {
	Name string // equal for equal content: a user may read it
	Claim
}

// Counted is so many bundles.
type Counted struct {
	*Bundle
	N int64
}

// Bundles divides a claim into what can be allocated apart. selectors names the selectors, by number: different
// ones differently. shared are those that shared devices meet: one request gets each of these at most once.
func Bundles(c Claim, selectors []string, shared bitset.Set) (out []Counted) {
	for _, part := range joined(c) {
		n, r := int64(1), part.Requests[0]
		if len(part.Requests) == 1 && len(part.Constraints) == 0 && len(r.Alternatives) == 1 {
			if ask := r.Alternatives[0]; ask.Count > 1 && !(ask.Selector < 64*len(shared) && shared.Has(ask.Selector)) {
				n, ask.Count = ask.Count, 1
				part.Requests = []Request{{Name: r.Name, Alternatives: []Ask{ask}}}
			}
		}
		b := &Bundle{Name: nameOf(part, selectors), Claim: part}
		out = append(out, Counted{b, n})
	}
	return out
}

// joined divides a claim into parts that no constraint joins. It stays whole where not all of its alternatives can be
// allocated at once, for they are too many devices.
func joined(c Claim) (out []Claim) {
	if (&Bundle{Claim: c}).most(nil) > DevicesMax {
		return []Claim{c}
	}
	part := make([]int, len(c.Requests))
	for i := range part {
		part[i] = i
	}
	names := func(k *Constraint, r *Request) bool {
		return slices.ContainsFunc(r.Alternatives, func(a Ask) bool { return k.concerns(r, &a) })
	}
	for i := range c.Constraints {
		first := -1
		for r := range c.Requests {
			switch {
			case !names(&c.Constraints[i], &c.Requests[r]):
			case first < 0:
				first = r
			default:
				from, to := part[r], part[first]
				for k := range part {
					if part[k] == from {
						part[k] = to
					}
				}
			}
		}
	}
	for i := range c.Requests {
		var in Claim
		for r := range c.Requests {
			if part[r] == i {
				in.Requests = append(in.Requests, c.Requests[r])
			}
		}
		for k := range c.Constraints {
			if slices.ContainsFunc(in.Requests, func(r Request) bool { return names(&c.Constraints[k], &r) }) {
				in.Constraints = append(in.Constraints, c.Constraints[k])
			}
		}
		if len(in.Requests) > 0 {
			out = append(out, in)
		}
	}
	return out
}

// nameOf describes a part of a claim: "gpu.nvidia.com", or "2*gpu.example.com+nic.example.com with one
// resource.kubernetes.io/pcieRoot". Names of requests are left out where they distinguish nothing.
func nameOf(c Claim, selectors []string) string {
	var words []string
	for i := range c.Requests {
		var alternatives []string
		for _, a := range c.Requests[i].Alternatives {
			alternatives = append(alternatives, a.text(selectors))
		}
		words = append(words, strings.Join(alternatives, "|"))
	}
	out := strings.Join(words, "+")
	for i := range c.Constraints {
		k, of := &c.Constraints[i], ""
		how := " with one "
		if k.Distinct {
			how = " each with another "
		}
		if !k.all(&c) {
			of = " of " + strings.Join(k.positions(&c), ",")
		}
		out += how + k.Attribute + of
	}
	return out
}

// all reports whether the constraint holds for every device of a claim.
func (k *Constraint) all(c *Claim) bool {
	for i := range c.Requests {
		for j := range c.Requests[i].Alternatives {
			if !k.concerns(&c.Requests[i], &c.Requests[i].Alternatives[j]) {
				return false
			}
		}
	}
	return true
}

// positions are those of the requests, and of their alternatives, that the constraint holds for, from 1.
func (k *Constraint) positions(c *Claim) (out []string) {
	for i := range c.Requests {
		for j := range c.Requests[i].Alternatives {
			if k.concerns(&c.Requests[i], &c.Requests[i].Alternatives[j]) {
				out = append(out, fmt.Sprintf("%d.%d", i+1, j+1))
			}
		}
	}
	return out
}

func (a *Ask) text(selectors []string) string {
	out := selectors[a.Selector]
	switch {
	case a.Count == 0:
		out = "all*" + out
	case a.Count > 1:
		out = fmt.Sprintf("%d*%s", a.Count, out)
	}
	for _, c := range a.Capacity {
		out += fmt.Sprintf("{%s>=%d}", c.Name, c.Amount)
	}
	for _, t := range a.Tolerations {
		out += fmt.Sprintf("{tolerates %s=%s:%s %v}", t.Key, t.Value, t.Effect, t.Exists)
	}
	return out
}

// most is how many devices of the inventories one bundle takes at most.
func (b *Bundle) most(inventories []*Inventory) (n int64) {
	for i := range b.Requests {
		least := int64(0)
		for _, a := range b.Requests[i].Alternatives {
			count := a.Count
			for _, inv := range inventories {
				if a.Count == 0 {
					count = max(count, inv.meeting(a.Selector))
				}
			}
			least = max(least, count)
		}
		n += least
	}
	return max(1, n)
}

// meeting counts the devices that meet a selector.
func (inv *Inventory) meeting(selector int) (n int64) {
	for i := range inv.Devices {
		if inv.Devices[i].meets(selector) {
			n++
		}
	}
	return n
}

// OfAll reports whether a request of the bundle, or an alternative, is for all devices.
func (b *Bundle) OfAll() bool {
	all := func(a Ask) bool { return a.Count == 0 }
	return slices.ContainsFunc(b.Requests, func(r Request) bool { return slices.ContainsFunc(r.Alternatives, all) })
}

// MayUse reports whether a bundle may use a device.
func (b *Bundle) MayUse(d *Device) bool {
	for i := range b.Requests {
		for _, a := range b.Requests[i].Alternatives {
			if d.meets(a.Selector) {
				return true
			}
		}
	}
	return false
}

// single is the one device that the bundle is, whichever that suits it; nil: it is something else.
func (b *Bundle) single() *Ask {
	if len(b.Requests) != 1 || len(b.Constraints) > 0 || len(b.Requests[0].Alternatives) != 1 {
		return nil
	}
	if ask := &b.Requests[0].Alternatives[0]; ask.Count == 1 && len(ask.Capacity) == 0 {
		return ask
	}
	return nil
}

// suits reports whether the device does for a request for one device.
func (d *Device) suits(ask *Ask) bool {
	_, tainted := constraint.Untolerated(d.Taints, ask.Tolerations)
	return d.meets(ask.Selector) && !tainted && !d.Taken
}
