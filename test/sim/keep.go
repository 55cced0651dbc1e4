package sim

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/overlay"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
)

// kept is what people want whether pods need it or not: room for pods that may come, nodes, and their own prices.
type kept struct {
	world    *World
	buffers  []cluster.Buffer
	overlays []cluster.Overlay
	set      *overlay.Set // of overlays, as last asked for
}

func (x *kept) draw() {
	x.drawBuffers()
	x.drawStatic()
	x.drawOverlays()
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
			x.overlays = append(x.overlays, drawOverlay(r, fmt.Sprintf("overlay%d", i)))
		}
	}
}

func drawOverlay(r *rand.Rand, name string) cluster.Overlay {
	on := []constraint.Requirement{
		{Key: cluster.LabelZone, Set: constraint.Values(zones[r.IntN(len(zones))])},
		{Key: cluster.LabelCapacityType, Set: constraint.Values([]string{"on-demand", "spot"}[r.IntN(2)])},
		{Key: "karpenter.sh/nodepool", Set: constraint.Values(fmt.Sprintf("p%d", r.IntN(3)))},
	}[r.IntN(3)]
	out := cluster.Overlay{Name: name, Weight: r.IntN(3), Requirements: constraint.NewRequirements(on)}
	switch r.IntN(3) {
	case 0:
		out.Price = cluster.PriceChange{How: cluster.PriceGrows, Percent: float64(r.IntN(120) - 60)}
	case 1:
		out.Price.How, out.Price.Amount = cluster.PriceAdds, quantity.MicroUSDPerHour(r.Int64N(100_000)-30_000)
	default:
		out.Price.How, out.Price.Amount = cluster.PriceIs, quantity.MicroUSDPerHour(20_000+r.Int64N(500_000))
	}
	return out
}

// change has people want other numbers, and other prices.
func (x *kept) change() {
	w := x.world
	for i := range x.buffers {
		b := &x.buffers[i]
		w.trouble("scale "+b.Name, 1, 10*time.Minute, 40*time.Minute, func(r *rand.Rand) {
			b.Pods = r.Int64N(8)
			w.say("%s is for %d pods", b, b.Pods)
			w.changed()
		})
	}
	for _, p := range w.pools {
		if p.Static() {
			w.trouble("replicas "+p.ID.Name, 1, 10*time.Minute, 40*time.Minute, func(r *rand.Rand) {
				n := r.Int64N(5)
				w.say("%s is to keep %d nodes", p.ID, n)
				p.Replicas = &n
				w.changed()
			})
		}
		w.trouble("hours "+p.ID.Name, 5, 10*time.Minute, 40*time.Minute, func(r *rand.Rand) {
			p.Hours = cluster.Hours{}
			if n := r.Int64N(5); n > 0 {
				p.Hours.Nodes = &n
				w.say("the hours of %s say %d nodes", p.ID, n)
			}
			w.changed()
		})
	}
	if len(x.overlays) > 0 {
		w.trouble("prices", 2, 20*time.Minute, busyFor, func(r *rand.Rand) {
			i := r.IntN(len(x.overlays))
			x.overlays[i] = drawOverlay(r, x.overlays[i].Name)
			w.say("%s says %v for %s", x.overlays[i].Name, x.overlays[i].Price, x.overlays[i].Requirements)
			w.changed()
		})
	}
}

// applied is what the overlays come to, by all pools.
func (x *kept) applied() *overlay.Set {
	w := x.world
	var all []overlay.Pool
	for _, p := range w.pools {
		all = append(all, overlay.Pool{Labels: p.Labels, Listed: w.cloud.catalogues[p.class]})
	}
	x.set = overlay.New(x.overlays, all, x.set)
	return x.set
}

// offers is what the cloud offers to the pool, at the prices that overlays say.
func (x *kept) offers(p *pool) *cluster.Catalogue {
	w := x.world
	listed := w.cloud.catalogues[p.class]
	if len(x.overlays) == 0 {
		return listed
	}
	return x.applied().Of(overlay.Pool{Labels: p.Labels, Listed: listed})
}

// priceOf is what the node of an instance costs now.
func (x *kept) priceOf(m *instance) quantity.MicroUSDPerHour {
	if k := x.offers(m.pool).InstanceType(m.instanceType.Name); k != nil {
		if o := k.Offering(m.offering.Labels.Map()); o != nil {
			return o.Price
		}
	}
	return m.offering.Price
}

// stable looks whether in the end there is what people keep, or a reason why not.
func (x *kept) stable(s *cluster.Snapshot, p *plan.Plan) {
	for i := range s.Buffers {
		want, found := s.Buffers[i].Pods, false
		for j := range p.Buffers {
			b := &p.Buffers[j]
			all := b.Fits()+b.Missing == want && (b.Missing == 0 || len(b.Reasons) > 0)
			found = found || b.Name == s.Buffers[i].Name && all
		}
		if !found {
			x.world.broken("settling", s, p, "%s keeps no capacity for its %d pods, and no reason is given",
				&s.Buffers[i], want)
		}
	}
	for i := range s.Pools {
		pool := &s.Pools[i]
		most, bounded := pool.Most()
		if !bounded {
			continue
		}
		n := s.Running(pool.ID)
		reported := false
		for j := range p.Short {
			reported = reported || p.Short[j].Pool == pool.ID && len(p.Short[j].Reasons) > 0
		}
		switch {
		case n > most:
			x.world.broken("settling", s, p, "%s, and has %d in the end", pool.Keeps(), n)
		case n < most && pool.Static() && !reported:
			x.world.broken("settling", s, p, "%s, has %d in the end, and no reason is given",
				pool.Keeps(), n)
		}
	}
}

// keepsTo looks whether a plan launches more nodes for a pool than it may keep.
func (x *kept) keepsTo(s *cluster.Snapshot, p *plan.Plan) {
	for i := range s.Pools {
		pool := &s.Pools[i]
		most, bounded := pool.Most()
		if !bounded {
			continue
		}
		launched := int64(0)
		for j := range p.Launches {
			if p.Launches[j].Pool == pool.ID {
				launched++
			}
		}
		if n := s.Running(pool.ID) + launched; launched > 0 && n > most {
			x.world.broken("decision", s, p, "%s, and the plan makes them %d", pool.Keeps(), n)
		}
	}
}
