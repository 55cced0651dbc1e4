// Package chance makes small random clusters, for tests of what must hold in every cluster.
//
// It promises that one source of randomness makes one cluster, and that every rule that the core has
// for pods occurs in some of them. The clusters are valid, and as odd as real ones may be: pods that
// fit nowhere, pools that may launch nothing, unavailable offerings, nodes that never started.
package chance

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/quantity"
)

// at is the moment of every world.
var at = time.Date(2026, 11, 21, 4, 0, 0, 0, time.UTC)

var zones = []string{"a", "b", "c"}

// Crowded is a world in which up to 59 pods wait, and which has few nodes with few
// pods, or none.
func Crowded(r *rand.Rand) *cluster.Snapshot {
	s, shapes := begin(r, size{milliCPU: 3000, memory: 6000, waiting: 60})
	for i := range r.IntN(6) {
		n := node(r, i, s)
		n.Initialized, n.Deleting, n.QuietSince = r.IntN(4) > 0, r.IntN(5) == 0, at.Add(-time.Minute)
		for j := range r.IntN(3) {
			n.Pods = append(n.Pods, cluster.Pod{Namespace: "d", Name: fmt.Sprintf("on-%d-%d", i, j), Node: n.Name, Shape: shapes[r.IntN(len(shapes))], Returns: true})
		}
		s.Nodes = append(s.Nodes, n)
	}
	addDaemon(r, s, "k")
	s.Sort()
	return s
}

// Inhabited is a world with two to eight nodes and what may be found on them: pods that
// end or must not be disturbed, daemon pods, devices, taints. Few pods wait.
func Inhabited(r *rand.Rand) *cluster.Snapshot {
	s, shapes := begin(r, size{milliCPU: 1500, memory: 4000, waiting: 10, rare: true})
	shapes = append(shapes, addDaemon(r, s, "d")...)
	for i := range 2 + r.IntN(7) {
		n := node(r, i, s)
		n.Initialized, n.Ready, n.Deleting = r.IntN(8) > 0, r.IntN(12) > 0, r.IntN(8) == 0
		if r.IntN(6) == 0 {
			n.Taints = []constraint.Taint{{Key: "rather-not", Effect: constraint.PreferNoSchedule}}
		}
		if r.IntN(6) == 0 {
			n.Allocatable = n.Allocatable.With("example.com/gpu", 1)
			n.Capacity = n.Allocatable
		}
		inhabit(r, i, &n, s, shapes)
		s.Nodes = append(s.Nodes, n)
	}
	for i := range r.IntN(2) {
		s.Instances = append(s.Instances, cluster.Instance{Claim: fmt.Sprintf("m%d", i), Pool: s.Pools[0].ID, CreatedAt: at, Allocatable: room})
	}
	s.Sort()
	return s
}

// size is how large pods are at most, and how many wait: fewer than so many.
type size struct {
	milliCPU, memory, waiting int
	rare                      bool // there are pods that share volumes, want devices or a least number of domains
}

// begin makes all but nodes and daemons, and the shapes that pods have.
func begin(r *rand.Rand, z size) (s *cluster.Snapshot, shapes []*cluster.Shape) {
	s = &cluster.Snapshot{Revision: 1, Now: at}
	c := catalogue(r)
	for range 1 + r.IntN(12) {
		shapes = append(shapes, shape(r, z))
	}
	for i := range r.IntN(z.waiting) {
		s.Waiting = append(s.Waiting, cluster.Pod{Namespace: "d", Name: fmt.Sprintf("p%03d", i), Shape: shapes[r.IntN(len(shapes))], Returns: true})
	}
	for i := range 1 + r.IntN(3) {
		s.Pools = append(s.Pools, pool(r, i, c))
	}
	return s, shapes
}

// addDaemon gives half of the worlds a DaemonSet, which other pods may check in their
// namespace.
func addDaemon(r *rand.Rand, s *cluster.Snapshot, namespace string) []*cluster.Shape {
	if r.IntN(2) > 0 {
		return nil
	}
	shape := &cluster.Shape{Namespace: namespace, Labels: constraint.NewLabels(map[string]string{"app": "3"}), Requests: quantity.Resources{CPU: 100, Pods: 1}}
	s.Daemons = append(s.Daemons, cluster.Daemon{Namespace: namespace, Name: "proxy", Shape: shape})
	return []*cluster.Shape{shape}
}

func catalogue(r *rand.Rand) *cluster.Catalogue {
	c := &cluster.Catalogue{Revision: 1}
	for i := range 1 + r.IntN(15) {
		cores := 1 << r.IntN(5)
		k := cluster.InstanceType{Name: fmt.Sprintf("t%02d", i), Labels: constraint.NewLabels(map[string]string{
			cluster.LabelInstanceType: fmt.Sprintf("t%02d", i), cluster.LabelArch: []string{"amd64", "arm64"}[r.IntN(2)]})}
		k.Capacity = quantity.Resources{CPU: quantity.MilliCPU(1000 * cores), Memory: quantity.Bytes(cores*(1+r.IntN(8))) * quantity.GiB, Pods: int64(4 + r.IntN(30))}
		k.Allocatable = k.Capacity.Sub(quantity.Resources{CPU: 80, Memory: 100 * quantity.MiB})
		for _, zone := range zones {
			for _, option := range []cluster.Option{cluster.OnDemand, cluster.Spot} {
				k.Offerings = append(k.Offerings, cluster.Offering{Zone: zone, Option: option, Priced: r.IntN(20) > 0, Available: r.IntN(6) > 0,
					Price: quantity.MicroUSDPerHour(10000 * cores * (1 + r.IntN(5))), Labels: constraint.NewLabels(map[string]string{
						cluster.LabelZone: zone, cluster.LabelCapacityType: string(option)})})
			}
		}
		c.InstanceTypes = append(c.InstanceTypes, k)
	}
	return c
}

func pool(r *rand.Rand, i int, c *cluster.Catalogue) cluster.Pool {
	p := cluster.Pool{ID: cluster.PoolID{Kind: "NodePool", Name: fmt.Sprintf("p%d", i)}, Weight: 10 * r.IntN(3), Catalogue: c,
		Policy: cluster.Policy{Empty: cluster.Allowance{Most: int64(r.IntN(3))}}}
	if r.IntN(3) == 0 {
		p.Taints = []constraint.Taint{{Key: "dedicated", Value: "x", Effect: constraint.NoSchedule}}
	}
	if r.IntN(3) == 0 {
		p.Requirements = p.Requirements.And(constraint.Requirement{Key: "team", Set: constraint.Values("0", "1", "2")})
	}
	if r.IntN(3) == 0 {
		any, _ := constraint.NewSet(constraint.Exists)
		p.Requirements = p.Requirements.And(constraint.Requirement{Key: cluster.LabelInstanceType, Set: any, MinValues: 1 + r.IntN(3)})
	}
	if r.IntN(2) == 0 {
		p.Limits.Amounts = []quantity.Extended{{Name: quantity.NameCPU, Amount: int64(1000 * r.IntN(60))}}
	}
	if r.IntN(4) == 0 {
		n := int64(r.IntN(4))
		p.Limits.Nodes = &n
	}
	return p
}
