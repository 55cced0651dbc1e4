package place

import (
	"slices"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/supply"
	"github.com/daemok/daemok/core/topology"
)

// guests is what pods on one instance hold beside amounts: ports of the host,
// volumes that they share, and, on an instance that is yet to be ordered, their
// places beside each other.
type guests struct {
	ports  []cluster.Port
	claims []string       // attached already
	host   *topology.Host // nil for what is there: the board counts it
}

func (g *guests) reset() {
	g.ports, g.claims = g.ports[:0], g.claims[:0]
	if g.host != nil {
		g.host.Reset()
	}
}

// room is how many pods of the pod class may join, as far as guests decide.
func (g *guests) room(k *podClass, lv *level) int64 {
	n := topology.Unlimited
	if len(k.ports) > 0 {
		if supply.Conflict(k.ports, g.ports) {
			return 0
		}
		n = 1
	}
	if g.host != nil && lv.rules != nil {
		n = min(n, g.host.Room(lv.rules))
	}
	return n
}

func (g *guests) add(k *podClass, lv *level, n int64) {
	g.ports = append(g.ports, k.ports...)
	for _, v := range k.shared {
		if !slices.Contains(g.claims, v.Claim) {
			g.claims = append(g.claims, v.Claim)
		}
	}
	if g.host != nil && lv.rules != nil {
		g.host.Put(lv.rules, n)
	}
}

// drop takes the ports of one pod back. Volumes stay attached: others may use
// them.
func (g *guests) drop(k *podClass) {
	for _, p := range k.ports {
		if at := slices.Index(g.ports, p); at >= 0 {
			g.ports = slices.Delete(g.ports, at, at+1)
		}
	}
}

// within returns how many pods of the group fit into what is free, and what
// the first of them takes beyond its own amounts: attachments of shared
// volumes that are not there yet.
func (there *guests) within(d amount.Dims, free []int64, g *group) (n int64, first []int64) {
	if first = there.attaches(d, g); first == nil {
		return amount.Count(free, g.need), nil
	}
	left := slices.Clone(free)
	amount.Take(left, first, 1)
	for i, v := range left {
		if v < 0 && first[i] > 0 {
			return 0, nil
		}
	}
	return amount.Count(left, g.need), first
}

// attaches returns what the first pod of the group takes beyond its own
// amounts; nil for nothing.
func (there *guests) attaches(d amount.Dims, g *group) (first []int64) {
	for _, v := range g.podClass.shared {
		if v.Driver == "" || slices.Contains(there.claims, v.Claim) {
			continue
		}
		if first == nil {
			first = make([]int64, d.Len())
		}
		if at, known := d.Driver(v.Driver); known {
			first[at]++
		}
	}
	return first
}
