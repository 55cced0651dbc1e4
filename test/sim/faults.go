package sim

import (
	"math/rand/v2"
	"time"

	"github.com/daemok/daemok/core/cluster"
)

// faults begin to befall the world.
func (w *World) faults() {
	w.cloudFaults()
	w.nodeFaults()
	w.controllerFaults()
}

func (w *World) cloudFaults() {
	w.trouble("shortage", 2, 5*time.Minute, 30*time.Minute, func(r *rand.Rand) {
		w.cloud.short = nil
		oneIn, zone := 2+r.IntN(4), zones[r.IntN(len(zones))]
		for _, k := range w.cloud.catalogues[0].InstanceTypes {
			for _, o := range k.Offerings {
				if o.Option == cluster.Spot && oneIn == 2 || o.Zone == zone && oneIn < 4 || r.IntN(oneIn) == 0 {
					w.cloud.short = append(w.cloud.short, choice{k, o})
				}
			}
		}
	})
	w.trouble("slow boots", 4, 10*time.Minute, 30*time.Minute, func(*rand.Rand) { w.cloud.slow = !w.cloud.slow })
	w.trouble("interruption", 2, 8*time.Minute, 30*time.Minute, func(r *rand.Rand) {
		if m := w.any(r, func(m *instance) bool { return m.launched() && m.offering.Option == cluster.Spot }); m != nil {
			w.cloud.interrupt(m)
		}
	})
}

func (w *World) nodeFaults() {
	w.trouble("lost instance", 4, 15*time.Minute, busyFor, func(r *rand.Rand) {
		if m := w.any(r, (*instance).joined); m != nil {
			w.remove(m)
		}
	})
	w.trouble("node not ready", 3, 8*time.Minute, 40*time.Minute, func(r *rand.Rand) {
		m := w.any(r, (*instance).started)
		if m == nil {
			return
		}
		w.ready(m, false)
		w.after(between(r, 20*time.Second, 8*time.Minute), func() { w.ready(m, true) })
	})
	w.trouble("dying pod", 2, 5*time.Minute, 20*time.Minute, func(r *rand.Rand) {
		if len(w.pods) == 0 {
			return
		}
		if p := w.pods[r.IntN(len(w.pods))]; p.work != nil && p.at != nil {
			w.say("%s dies", p.Name)
			w.lose(p)
		}
	})
}

func (w *World) ready(m *instance, yes bool) {
	if m.gone || m.ready == yes {
		return
	}
	w.say("%s is ready: %v", m.claim, yes)
	m.ready = yes
	for _, p := range w.podsOn(m) {
		p.Unready = !yes
	}
	w.disturbed()
	w.changed()
}

func (w *World) controllerFaults() {
	w.trouble("late watches", 2, 3*time.Minute, 20*time.Minute, func(r *rand.Rand) {
		w.control.lag = 0
		if r.IntN(2) == 0 {
			w.control.lag = between(r, 0, time.Minute)
		}
	})
	w.trouble("deaf server", 4, 10*time.Minute, busyFor, func(r *rand.Rand) {
		w.deaf = true
		w.after(between(r, 5*time.Second, 12*time.Minute), func() { w.deaf = false })
	})
	w.trouble("death", 2, 5*time.Minute, 40*time.Minute, func(*rand.Rand) { w.control.die() })
	w.trouble("death at a write", 2, time.Minute, busyFor/3, func(r *rand.Rand) { w.control.frail = 0.2 * r.Float64() })
}
