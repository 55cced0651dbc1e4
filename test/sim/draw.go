package sim

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/test/sim/drawn"
)

// zones of every world.
var zones = []string{"a", "b", "c"}

// newWorld draws a world.
func newWorld(o Options) *World {
	w := emptyWorld(o)
	w.drawCatalogue()
	w.drawPools()
	w.drawDaemons()
	w.drawWorks()
	drawMinimums(w)
	drawCommitments(w)
	w.kept.draw()
	return w
}

// emptyWorld is one that has a controller and nothing to control.
func emptyWorld(o Options) *World {
	began := time.Date(2026, 11, 21, 4, 0, 0, 0, time.UTC)
	w := &World{Options: o, began: began, now: began}
	w.scheduler.world, w.kept.world, w.kept.quotas.world, w.kept.requests.world = w, w, w, w
	w.control = &controller{world: w, chance: w.chance("controller")}
	return w
}

// drawCatalogue draws what the cloud offers: sizes that double, at prices that do
// so more or less.
func (w *World) drawCatalogue() {
	r := w.chance("catalogue")
	w.cloud = cloud{world: w, chance: w.chance("cloud")}
	c := &cluster.Catalogue{Revision: 1}
	for _, family := range []struct {
		name   string
		memory int64 // GiB a core
	}{{"c", 2}, {"m", 4}, {"r", 8}} {
		for i, size := range []string{"large", "xlarge", "2xlarge", "4xlarge"} {
			name, cores := family.name+"."+size, int64(2<<i)
			has := quantity.Resources{CPU: quantity.MilliCPU(1000 * cores),
				Memory: quantity.Bytes(family.memory*cores) * quantity.GiB, Pods: 10 + 5*cores}
			k := cluster.InstanceType{Name: name, Capacity: has, Allocatable: has.Sub(quantity.Resources{CPU: 100, Memory: quantity.GiB / 2}),
				Labels: constraint.NewLabels(map[string]string{cluster.LabelInstanceType: name, cluster.LabelArch: "amd64"})}
			perCore := 30_000 + 4_000*family.memory + r.Int64N(4_000)
			for _, zone := range zones {
				for _, option := range []cluster.Option{cluster.OnDemand, cluster.Spot} {
					price := quantity.MicroUSDPerHour(perCore * cores)
					if option == cluster.Spot {
						price = price * quantity.MicroUSDPerHour(25+r.IntN(40)) / 100
					}
					k.Offerings = append(k.Offerings, cluster.Offering{Zone: zone, Option: option, Price: price, Priced: true, Available: true,
						Labels: constraint.NewLabels(map[string]string{cluster.LabelZone: zone, cluster.LabelCapacityType: string(option)})})
				}
			}
			c.InstanceTypes = append(c.InstanceTypes, k)
		}
	}
	w.cloud.catalogues = []*cluster.Catalogue{c}
}

// pool is a user's rules for nodes, as they are now.
type pool struct {
	cluster.Pool     // without what it owns and what of its budgets is left
	class        int // position of its catalogue
	expires      time.Duration
	grace        time.Duration                                   // terminationGracePeriod; 0: none
	budget       int64                                           // nodes, where positive
	percent      int64                                           // of its nodes, otherwise
	rules        func(nodes int64, now time.Time) cluster.Policy // in place of all that; nil: none
	opensAt      time.Time                                       // until then its schedule lets no node go
	revision     int                                             // grows when its template changes: nodes of earlier ones have drifted
	cpuMost      int64                                           // millicores; 0: no limit
	deletedAt    time.Time                                       // since when it is being deleted; zero: it is not
}

// drawPools draws one to three pools.
func (w *World) drawPools() {
	r := w.chance("pools")
	for i := range 1 + r.IntN(3) {
		id := cluster.PoolID{Kind: "NodePool", Name: fmt.Sprintf("p%d", i)}
		options := [][]string{{"on-demand"}, {"on-demand", "spot"}, {"spot"}}[r.IntN(3)]
		if i == 0 {
			options = []string{"on-demand", "spot"}[:1+r.IntN(2)]
		}
		p := &pool{Pool: cluster.Pool{ID: id, Weight: 10 * (i % 2) * r.IntN(2), Labels: constraint.NewLabels(map[string]string{"karpenter.sh/nodepool": id.Name}),
			Requirements: constraint.NewRequirements(constraint.Requirement{Key: cluster.LabelCapacityType, Set: constraint.Values(options...)}),
			Policy: cluster.Policy{Consolidate: []cluster.Consolidation{"", "", "", cluster.WhenEmpty, cluster.Balanced}[r.IntN(5)],
				After: time.Duration(r.IntN(6)) * time.Minute, Never: r.IntN(12) == 0}}}
		if r.IntN(2) == 0 {
			p.percent = []int64{10, 25, 50, 100}[r.IntN(4)]
		} else {
			p.budget = 1 + r.Int64N(4)
		}
		if r.IntN(3) == 0 {
			p.expires = time.Duration(40+r.IntN(120)) * time.Minute
		}
		if r.IntN(3) == 0 {
			p.grace = time.Duration(2+r.IntN(10)) * time.Minute
		}
		if r.IntN(3) == 0 && i > 0 {
			p.cpuMost = 16_000 + 8_000*r.Int64N(6)
		}
		if r.IntN(4) == 0 {
			nodes := 6 + r.Int64N(10)
			p.Limits.Nodes = &nodes
		}
		w.pools = append(w.pools, p)
	}
}

// drawDaemons draws what runs on every node.
func (w *World) drawDaemons() {
	if r := w.chance("daemons"); r.IntN(2) == 0 && w.part("daemons") {
		shape := w.shape("agent", quantity.Resources{CPU: quantity.MilliCPU(50 * (1 + r.IntN(4))), Memory: quantity.GiB / 8, Pods: 1})
		shape.Tolerations = []constraint.Toleration{{Exists: true}}
		w.daemons = append(w.daemons, cluster.Daemon{Namespace: "default", Name: "agent", Shape: shape})
	}
}

func (w *World) shape(app string, requests quantity.Resources) *cluster.Shape {
	return &cluster.Shape{Namespace: "default", Labels: constraint.NewLabels(map[string]string{"app": app}), Requests: requests}
}

// drawWorks draws what people run.
func (w *World) drawWorks() {
	r := w.chance("works")
	for i := range 3 + r.IntN(5) {
		name := fmt.Sprintf("w%d", i)
		if one := w.drawWork(name, w.chance(name)); w.part(name) {
			w.works = append(w.works, one)
		}
	}
}

func (w *World) drawWork(name string, r *rand.Rand) *work {
	shape := w.shape(name, quantity.Resources{CPU: quantity.MilliCPU(250 * (1 + r.IntN(8))), Memory: quantity.Bytes(1+r.Int64N(8)) * quantity.GiB / 2, Pods: 1})
	x := &work{name: name, shape: shape, chance: r, most: 2 + r.IntN(10), startFor: time.Duration(1+r.IntN(40)) * time.Second, grace: time.Duration(r.IntN(30)) * time.Second}
	x.want = r.IntN(x.most + 1)
	mine := cluster.Selector{Requirements: constraint.NewRequirements(constraint.Requirement{Key: "app", Set: constraint.Values(name)})}
	switch r.IntN(8) {
	case 0:
		shape.Spread = []cluster.Spread{{Key: cluster.LabelZone, Selector: mine, MaxSkew: 1}}
	case 1:
		shape.Spread = []cluster.Spread{{Key: cluster.LabelHostname, Selector: mine, MaxSkew: int32(1 + r.IntN(2)), Soft: r.IntN(2) == 0}}
	case 2:
		shape.Neighbours = []cluster.Neighbours{{Apart: true, Key: cluster.LabelHostname, Selector: mine, Namespaces: []string{"default"}}}
		x.most = min(x.most, 5)
		x.want = min(x.want, x.most)
	case 3:
		shape.NodeTerms = []constraint.Requirements{constraint.NewRequirements(constraint.Requirement{Key: cluster.LabelZone, Set: constraint.Values(zones[r.IntN(3)])})}
	}
	x.oneOff = w.chance(name+" one-off").IntN(8) == 0
	if r.IntN(6) == 0 {
		shape.Priority = 1000
	}
	if r.IntN(8) == 0 {
		x.deletionCost = int32(r.IntN(1 << 27))
	}
	if r.IntN(2) == 0 {
		x.pdb = &pdb{name: name, least: -1, most: int64(1 + r.IntN(2)), unreadyToo: r.IntN(3) == 0}
		switch r.IntN(8) {
		case 0:
			x.pdb.most = 0 // never allows one
		case 1, 2:
			x.pdb.least = int64(r.IntN(1 + x.most))
		}
	}
	return x
}

func (x *kept) draw() {
	x.drawBuffers()
	x.drawStatic()
	x.drawOverlays()
	x.quotas.draw()
}

// drawBuffers draws CapacityBuffers, some of them for pods of a work.
func (x *kept) drawBuffers() {
	w := x.world
	r := w.chance("buffers")
	if r.IntN(3) > 0 {
		return
	}
	for i := range 1 + r.IntN(2) {
		name := fmt.Sprintf("buffer%d", i)
		cpu := quantity.MilliCPU(250 * (1 + r.IntN(8)))
		shape := w.shape(name, quantity.Resources{CPU: cpu, Memory: quantity.GiB, Pods: 1})
		if n := r.IntN(2 * max(1, len(w.works))); n < len(w.works) {
			shape = w.works[n].shape
		}
		one := cluster.Buffer{Namespace: "default", Name: name, Shape: shape, Pods: 1 + r.Int64N(6)}
		if w.part(name) {
			x.buffers = append(x.buffers, one)
		}
	}
}

// drawStatic draws a pool that keeps nodes.
func (x *kept) drawStatic() {
	w := x.world
	r := w.chance("static")
	if r.IntN(4) > 0 {
		return
	}
	id, n := cluster.PoolID{Kind: "NodePool", Name: "kept"}, r.Int64N(4)
	onDemand := constraint.Requirement{Key: cluster.LabelCapacityType, Set: constraint.Values("on-demand")}
	p := &pool{budget: 1 + r.Int64N(3), Pool: cluster.Pool{ID: id, Replicas: &n,
		Labels:       constraint.NewLabels(map[string]string{"karpenter.sh/nodepool": id.Name}),
		Requirements: constraint.NewRequirements(onDemand)}}
	if r.IntN(3) == 0 {
		p.expires = time.Duration(40+r.IntN(120)) * time.Minute
	}
	if r.IntN(2) == 0 {
		most := 1 + r.Int64N(4)
		p.Limits.Nodes = &most
	}
	if w.part("static") {
		w.pools = append(w.pools, p)
	}
}

// drawOverlays draws NodeOverlays that change prices.
func (x *kept) drawOverlays() {
	w := x.world
	if r := w.chance("overlays"); r.IntN(3) == 0 && w.part("overlays") {
		for i := range 1 + r.IntN(3) {
			x.overlays = append(x.overlays, drawn.Overlay(r, zones, fmt.Sprintf("overlay%d", i)))
		}
	}
}

// draw draws up to two quotas, and a limit on what the nodes of a pool may cost.
func (x *quotas) draw() {
	w := x.world
	r := w.chance("quotas")
	if r.IntN(3) == 0 {
		for i := range 1 + r.IntN(2) {
			if one := drawn.Quota(r, zones, fmt.Sprintf("quota%d", i)); w.part(one.Name) {
				x.list = append(x.list, one)
			}
		}
	}
	if most := drawn.Cost(r); r.IntN(4) == 0 && w.part("cost limit") {
		w.pools[0].Limits.Cost = &most
	}
}

// drawMinimums draws how many nodes of pools, and how many pods of works, are to be on demand.
func drawMinimums(w *World) {
	for _, p := range w.pools {
		both := p.Requirements.Get(cluster.LabelCapacityType).Allows(string(cluster.Spot))
		if r := w.chance("minimum " + p.ID.Name); both && r.IntN(3) == 0 && w.part("minimum "+p.ID.Name) {
			p.OnDemand = drawn.Minimum(r)
		}
	}
	for _, x := range w.works {
		if r := w.chance("minimum " + x.name); r.IntN(6) == 0 && w.part("minimum "+x.name) {
			x.shape.OnDemand = drawn.Minimum(r)
		}
	}
}

// drawCommitments draws Reserved Instances and Savings Plans, and a pool that plans without them.
func drawCommitments(w *World) {
	r := w.chance("commitments")
	if r.IntN(3) > 0 || !w.part("commitments") {
		return
	}
	w.cloud.commitments = drawn.Commitments(r, w.cloud.catalogues[0])
	if p := w.pools[r.IntN(len(w.pools))]; r.IntN(4) == 0 {
		p.Uncommitted = true
	}
}
