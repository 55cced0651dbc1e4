package sim

import "github.com/daemok/daemok/core/cluster"

// pdb is a PodDisruptionBudget over the pods of one work.
type pdb struct {
	name       string
	most       int64 // that may be unavailable
	least      int64 // that must be available, if not negative; it counts in place of most then
	unreadyToo bool
}

// needs is how many pods must be ready.
func (g *pdb) needs(x *work) int64 {
	if g.least >= 0 {
		return g.least
	}
	return max(0, int64(x.want)-g.most)
}

// readyOf is how many pods of a work are ready.
func (w *World) readyOf(x *work) (n int64) {
	for _, p := range w.running(x) {
		if p.at != nil && !p.Unready {
			n++
		}
	}
	return n
}

// allowed is how many evictions the budget allows now, as its controller counts.
func (w *World) allowed(x *work) int64 { return max(0, w.readyOf(x)-x.pdb.needs(x)) }

// letsUnreadyGo reports whether pods that are not ready may be evicted.
func (w *World) letsUnreadyGo(x *work) bool {
	needs := x.pdb.needs(x)
	return x.pdb.unreadyToo || needs > 0 && w.readyOf(x) >= needs
}

// pdbs lists what every budget says now.
func (w *World) pdbs() []cluster.PodDisruptionBudget {
	var out []cluster.PodDisruptionBudget
	for _, x := range w.works {
		if x.pdb != nil {
			out = append(out, *w.pdbOf(x))
		}
	}
	return out
}

// pdbOf is what the budget of the work says now.
func (w *World) pdbOf(x *work) *cluster.PodDisruptionBudget {
	g := x.pdb
	never := g.least < 0 && g.most == 0 || g.least >= 0 && g.least >= int64(x.want)
	return &cluster.PodDisruptionBudget{Namespace: "default", Name: g.name, Allowed: w.allowed(x), Never: never, UnreadyToo: w.letsUnreadyGo(x)}
}

// moves reports whether the pod needs another place when its node goes.
func (w *World) moves(p *pod) bool {
	return p.OneOff == "" && !p.DoNotDisrupt && (p.work.pdb == nil || !p.KeptBy(w.pdbOf(p.work)))
}

// mayEvict is the answer of the eviction API.
func (w *World) mayEvict(p *pod) bool {
	g := p.work.pdb
	return g == nil || p.Pending || p.Unready && w.letsUnreadyGo(p.work) || w.allowed(p.work) > 0
}
