package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/commitment"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/test/sim/drawn"
)

// busyFor is how long people and faults are at it; then all stands still.
const busyFor = 90 * time.Minute

// between draws a length of time.
func between(r *rand.Rand, from, to time.Duration) time.Duration {
	return from + time.Duration(r.Int64N(int64(to-from)))
}

// disturbed notes that something happened from outside: what was sensible
// before need not be so any more.
func (w *World) disturbed() { w.checks.disturbedAt = w.now }

// trouble has something happen again and again while the world is busy, each
// time after a length of time between the two, if the seed draws it at all.
func (w *World) trouble(name string, oneIn int, from, to time.Duration, do func(r *rand.Rand)) {
	r := w.chance(name)
	if r.IntN(oneIn) > 0 || !w.part(name) {
		return
	}
	w.every(between(r, 0, to), func() (time.Duration, bool) {
		if w.still {
			return 0, false
		}
		w.disturbed()
		do(r)
		return between(r, from, to), true
	})
}

// people begin to want things, and to change their minds.
func (w *World) people() {
	for _, x := range w.works {
		w.reconcile(x)
		w.trouble("scale "+x.name, 1, 4*time.Minute, 40*time.Minute, func(r *rand.Rand) { w.scale(x, r.IntN(x.most+1)) })
		w.trouble("roll "+x.name, 3, 10*time.Minute, time.Hour, func(r *rand.Rand) { w.roll(x, between(r, 3*time.Second, 20*time.Second)) })
		w.trouble("protect "+x.name, 5, 10*time.Minute, 30*time.Minute, func(r *rand.Rand) { w.protect(x, !x.protected && r.IntN(2) == 0) })
		if x.pdb != nil {
			w.trouble("pdb "+x.name, 4, 10*time.Minute, 40*time.Minute, func(r *rand.Rand) {
				x.pdb.most, x.pdb.least = r.Int64N(3), -1
				w.changed()
			})
		}
	}
	for _, p := range w.pools {
		w.trouble("template "+p.ID.Name, 3, 30*time.Minute, busyFor, func(*rand.Rand) {
			w.say("the template of %s changes", p.ID)
			p.revision++
			w.changed()
		})
		w.trouble("schedule "+p.ID.Name, 3, 15*time.Minute, 40*time.Minute, func(r *rand.Rand) {
			p.opensAt = w.now.Add(between(r, time.Minute, 15*time.Minute))
			w.changed()
			w.after(p.opensAt.Sub(w.now), w.changed)
		})
		w.trouble("budget "+p.ID.Name, 4, 15*time.Minute, 40*time.Minute, func(r *rand.Rand) {
			p.budget, p.percent = r.Int64N(3), 10*r.Int64N(4)
			w.changed()
		})
	}
	for _, p := range w.pools {
		w.trouble("delete "+p.ID.Name, 4, 20*time.Minute, busyFor, func(r *rand.Rand) { w.deletePool(p, between(r, 5*time.Minute, 30*time.Minute)) })
	}
	mindsOnDemand(w)
	w.trouble("freeze", 6, 20*time.Minute, busyFor, func(r *rand.Rand) {
		w.frozen = "a release is on"
		w.changed()
		w.after(between(r, time.Minute, 15*time.Minute), func() { w.frozen = ""; w.changed() })
	})
	w.trouble("keep a node", 4, 10*time.Minute, 30*time.Minute, func(r *rand.Rand) {
		if m := w.any(r, (*instance).started); m != nil {
			m.doNotDisrupt = !m.doNotDisrupt
			w.changed()
		}
	})
	w.trouble("delete a node", 4, 20*time.Minute, busyFor, func(r *rand.Rand) {
		if m := w.any(r, (*instance).started); m != nil {
			w.delete(m, false)
		}
	})
}

// mindsOnDemand has people change minimums of on-demand nodes, and commitments.
func mindsOnDemand(w *World) {
	for _, p := range w.pools {
		if p.OnDemand.Any() {
			w.trouble("change minimum "+p.ID.Name, 2, 15*time.Minute, 40*time.Minute, func(r *rand.Rand) {
				p.OnDemand = drawn.Minimum(r)
				w.say("the minimum of %s is %s", p.ID, p.OnDemand)
				w.changed()
			})
		}
	}
	if w.cloud.commitments.Any() {
		w.trouble("change commitments", 2, 20*time.Minute, 40*time.Minute, func(r *rand.Rand) {
			w.cloud.commitments = commitment.Commitments{}
			if r.IntN(3) > 0 {
				w.cloud.commitments = drawn.Commitments(r, w.cloud.catalogues[0])
			}
			w.say("commitments are %+v", w.cloud.commitments)
			w.changed()
		})
	}
}

// deletePool deletes a pool, and makes another of its name after a while, of which
// what is left then are nodes of an earlier template.
func (w *World) deletePool(p *pool, length time.Duration) {
	if !p.deletedAt.IsZero() {
		return
	}
	w.say("%s is deleted", p.ID)
	p.deletedAt = w.now
	w.changed()
	w.after(length, func() {
		if w.still {
			return
		}
		w.say("%s is created again", p.ID)
		p.deletedAt = time.Time{}
		p.revision++
		w.changed()
	})
}

func (w *World) scale(x *work, want int) {
	w.say("%s is scaled to %d pods", x.name, want)
	x.want = want
	w.reconcile(x)
	w.changed()
}

// roll replaces the pods of a work one by one.
func (w *World) roll(x *work, pause time.Duration) {
	w.say("%s is rolled", x.name)
	for i, p := range w.running(x) {
		w.after(time.Duration(i)*pause, func() { w.endPod(p) })
	}
}

// protect lets pods of a work carry do-not-disrupt, or no longer.
func (w *World) protect(x *work, yes bool) {
	w.say("%s has do-not-disrupt: %v", x.name, yes)
	x.protected = yes
	for _, p := range w.running(x) {
		p.DoNotDisrupt = yes
	}
	w.changed()
}

// any draws an instance that there is a condition for; nil where none is.
func (w *World) any(r *rand.Rand, which func(*instance) bool) *instance {
	var all []*instance
	for _, m := range w.instances {
		if which(m) && !m.deleted() {
			all = append(all, m)
		}
	}
	draw := r.IntN(max(1, len(all)))
	if len(all) == 0 {
		return nil
	}
	return all[draw]
}

// stand lets everything stand still: none wants anything else, nothing fails,
// and no clock makes nodes due.
func (w *World) stand() {
	w.say("the workloads stop changing")
	w.disturbed()
	w.still, w.frozen, w.deaf = true, "", false
	w.cloud.short, w.cloud.slow = nil, false
	w.control.lag, w.control.frail = 0, 0
	for _, p := range w.pools {
		p.opensAt, p.expires, p.deletedAt = time.Time{}, 0, time.Time{}
	}
	w.kept.requests.stand()
	for _, m := range w.instances {
		m.expiresAt = time.Time{}
		if m.started() {
			m.ready = true
		}
	}
	w.changed()
}

// change has people want other numbers, and other prices.
func (x *kept) change() {
	x.quotas.change()
	x.requests.change()
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
			x.overlays[i] = drawn.Overlay(r, zones, x.overlays[i].Name)
			w.say("%s says %v for %s", x.overlays[i].Name, x.overlays[i].Price, x.overlays[i].Requirements)
			w.changed()
		})
	}
}

// change has people change the limits of quotas.
func (x *quotas) change() {
	for i := range x.list {
		q := &x.list[i]
		x.world.trouble("change "+q.Name, 3, 15*time.Minute, 40*time.Minute, func(r *rand.Rand) {
			q.Limits = drawn.Quota(r, zones, q.Name).Limits
			x.changedAt = x.world.now
			x.world.say("%s limits %v", q, q.Limits.List())
			x.world.changed()
		})
	}
}

// change has people submit requests, where the seed draws that.
func (x *requests) change() {
	x.world.trouble("requests", 3, 8*time.Minute, 30*time.Minute, x.submit)
}

func (x *requests) submit(r *rand.Rand) {
	w := x.world
	x.made++
	one := &request{ProvisioningRequest: cluster.ProvisioningRequest{Namespace: "default",
		Name: fmt.Sprintf("request%d", x.made), CreatedAt: w.now, Launches: r.IntN(4) > 0}}
	for i := range 1 + r.IntN(2) {
		cpu := quantity.MilliCPU(500 * (1 + r.IntN(8)))
		shape := w.shape(fmt.Sprintf("%s-%d", one.Name, i), quantity.Resources{CPU: cpu, Memory: quantity.GiB, Pods: 1})
		one.Sets = append(one.Sets, cluster.PodSet{Shape: shape, Pods: 1 + r.Int64N(6)})
		one.done = append(one.done, 0)
	}
	x.all = append(x.all, one)
	w.say("%s asks for %d pods, launches: %v", one, one.Total(), one.Launches)
	w.changed()
	comes, in := r.IntN(4) > 0, between(r, 5*time.Second, 2*time.Minute)
	length := between(r, 2*time.Minute, 25*time.Minute)
	w.every(time.Second, func() (time.Duration, bool) {
		if !slices.Contains(x.all, one) || one.provisionedAt.IsZero() {
			return time.Second, slices.Contains(x.all, one)
		}
		if comes {
			w.after(in, func() { x.start(one, length) })
		}
		return 0, false
	})
	w.after(between(r, 30*time.Minute, 2*time.Hour), func() {
		if one.provisionedAt.IsZero() {
			x.end(one, "it is not wanted any more")
		}
	})
}

// start makes the pods of a request.
func (x *requests) start(r *request, length time.Duration) {
	w := x.world
	for i := range r.Sets {
		for k := range r.Sets[i].Pods {
			job := &work{name: fmt.Sprintf("%s-%d-%d", r.Name, i, k), shape: r.Sets[i].Shape,
				startFor: time.Second, length: length, consumes: r, set: i}
			w.works = append(w.works, job)
			w.scale(job, 1)
		}
	}
	w.checks.meter.Consumed++
}

// stand has people withdraw what has no capacity.
func (x *requests) stand() {
	x.all = slices.DeleteFunc(x.all, func(r *request) bool { return r.provisionedAt.IsZero() })
}
