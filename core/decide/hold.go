package decide

import (
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/demand"
	"github.com/daemok/daemok/core/plan"
)

// stayFor returns the pods of nodes whose instances the cloud takes away that stay for now: those
// whose place is on an instance that has not started, and those without a place. What has room on
// nodes that are up goes at once, so that budgets which let one pod go at a time have all the time
// there is.
func stayFor(s *cluster.Snapshot, placements []plan.Placement) []plan.Hold {
	var out []plan.Hold
	var starting map[[2]string]string // by pod: what it waits for; empty: nothing
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if !n.Deleting || n.InstanceEnds || !s.Now.Before(n.EvictBy()) {
			continue
		}
		if starting == nil {
			starting = awaited(s, placements)
		}
		h := plan.Hold{Node: n.Name, Until: n.EvictBy()}
		for _, p := range n.Pods {
			on, placed := starting[demand.PodKey(&p)]
			switch {
			case !p.Held() || placed && on == "":
				continue
			case placed:
				h.For = append(h.For, on)
			}
			h.Pods = append(h.Pods, p)
		}
		if len(h.Pods) > 0 {
			slices.Sort(h.For)
			h.For = slices.Compact(h.For)
			out = append(out, h)
		}
	}
	return out
}

// awaited reports every pod that has a place what must start before it can go there; empty where it
// is up.
func awaited(s *cluster.Snapshot, placements []plan.Placement) map[[2]string]string {
	up := map[string]bool{}
	for i := range s.Nodes {
		if n := &s.Nodes[i]; n.Initialized && n.Ready {
			up[n.Name] = true
		}
	}
	out := map[[2]string]string{}
	for i := range placements {
		p := &placements[i]
		on := p.Target
		if p.On == plan.OnNode && up[p.Target] {
			on = ""
		}
		out[demand.PodKey(&p.Pod)] = on
	}
	return out
}
