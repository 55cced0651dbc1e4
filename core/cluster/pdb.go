package cluster

import "strings"

// PodDisruptionBudget is a PodDisruptionBudget.
type PodDisruptionBudget struct {
	Namespace, Name string
	Allowed         int64  // evictions that it allows now
	Never           bool   // as it is written, or as its status says, it never allows one
	Why             string // that is so, and the way out
	UnreadyToo      bool   // pods that are not ready may be evicted, whatever it allows
}

// Keep marks the pods that PodDisruptionBudgets keep on their nodes until these change: no room is
// made for them elsewhere, and a node that leaves and has such a pod does not go. It also marks
// those that are uprooted: on an instance that is about to be taken away nothing keeps a pod. A
// caller that lists pods and budgets again calls it then; one that keeps pods from one snapshot to
// the next asks KeptBy and Uproots of those that changed.
func (s *Snapshot) Keep() {
	byName := make(map[[2]string]*PodDisruptionBudget, len(s.PDBs))
	for i := range s.PDBs {
		g := &s.PDBs[i]
		byName[[2]string{g.Namespace, g.Name}] = g
	}
	for i := range s.Nodes {
		uproots := s.Nodes[i].Uproots(s.Now)
		for j := range s.Nodes[i].Pods {
			p := &s.Nodes[i].Pods[j]
			if p.PDBs != "" {
				p.Kept = p.KeptBy(byName[[2]string{p.Namespace, p.PDBs}])
			}
			p.Uprooted = uproots && p.Protected()
		}
	}
}

// KeptBy reports whether no eviction of the pod is ever allowed as things are
// written. The budget is the one that selects it; where several do, the eviction
// API refuses every eviction and it is nil.
func (p *Pod) KeptBy(g *PodDisruptionBudget) bool {
	switch {
	case !p.Evictable() || p.Pending: // the eviction API asks no budget about a pod in that phase
		return false
	case g == nil:
		return strings.Contains(p.PDBs, ",")
	}
	return g.Never && g.Allowed <= 0 && !(g.UnreadyToo && p.Unready)
}
