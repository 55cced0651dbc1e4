package demand

import (
	"slices"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/supply"
	"github.com/daemok/daemok/core/topology"
)

// Guests is what pods on one node or instance hold besides amounts: ports of the host, volumes that they share and,
// on an instance that is not launched yet, what counts for rules about pods on one host.
type Guests struct {
	Ports  []cluster.Port
	Claims []string       // attached already
	Host   *topology.Host // nil for a target: the board counts its pods
}

// Reset takes all of them off.
func (g *Guests) Reset() {
	g.Ports, g.Claims = g.Ports[:0], g.Claims[:0]
	if g.Host != nil {
		g.Host.Reset()
	}
}

// Room is how many pods of the pod class may join, as far as ports and other pods decide.
func (g *Guests) Room(k *PodClass, lv *Level) int64 {
	n := topology.Unlimited
	if len(k.Ports) > 0 {
		if supply.Conflict(k.Ports, g.Ports) {
			return 0
		}
		n = 1
	}
	if g.Host != nil && lv.Rules != nil {
		n = min(n, g.Host.Room(lv.Rules))
	}
	return n
}

// Add adds n pods of the class.
func (g *Guests) Add(k *PodClass, lv *Level, n int64) {
	g.Ports = append(g.Ports, k.Ports...)
	for _, v := range k.Shared {
		if !slices.Contains(g.Claims, v.Claim) {
			g.Claims = append(g.Claims, v.Claim)
		}
	}
	if g.Host != nil && lv.Rules != nil {
		g.Host.Put(lv.Rules, n)
	}
}

// Drop releases the ports of one pod. Volumes stay attached, because other pods may use them.
func (g *Guests) Drop(k *PodClass) {
	for _, p := range k.Ports {
		if at := slices.Index(g.Ports, p); at >= 0 {
			g.Ports = slices.Delete(g.Ports, at, at+1)
		}
	}
}

// Within returns how many pods of the group fit into what is free, and what
// the first of them takes beyond its own amounts: attachments of shared
// volumes that are not there yet.
func (g *Guests) Within(d amount.Dims, free []int64, of *Group) (n int64, first []int64) {
	if first = g.Attaches(d, of); first == nil {
		return amount.Count(free, of.Need), nil
	}
	left := slices.Clone(free)
	amount.Take(left, first, 1)
	for i, v := range left {
		if v < 0 && first[i] > 0 {
			return 0, nil
		}
	}
	return amount.Count(left, of.Need), first
}

// Attaches returns what the first pod of the group takes beyond its own
// amounts; nil for nothing.
func (g *Guests) Attaches(d amount.Dims, of *Group) (first []int64) {
	for _, v := range of.PodClass.Shared {
		if v.Driver == "" || slices.Contains(g.Claims, v.Claim) {
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

// StartOn makes the guests those of a new instance of the instance type: its daemon pods.
func (g *Guests) StartOn(b *supply.Candidate, kind int) {
	g.Reset()
	g.Ports = append(g.Ports, b.Kinds[kind].Ports...)
	b.Bring(g.Host, kind)
}
