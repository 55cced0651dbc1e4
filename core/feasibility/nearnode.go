package feasibility

import (
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/quantity"
)

// NearestOnNode returns the fewest changes by which the node would admit pods
// of the shape, amounts and other pods aside.
func NearestOnNode(s *cluster.Shape, n *cluster.Node) (out Changes) {
	if s.Unable != "" {
		return Changes{NewChange(Unable, "", 0, s.Unable)}
	}
	if n.Deleting {
		return Changes{NewChange(Deleting, "", 0, "it is being deleted")}
	}
	for _, t := range LastingTaints(n) {
		out = append(out, toTolerate(t, s.Tolerations)...)
	}
	var best Changes
	for i, w := range preferencesOf(s) {
		var c Changes
		for _, r := range w.all {
			if why := wants("node", r, n.Labels); !why.OK() {
				c = append(c, NewChange(Label, r.Key, 0, why.Text+w.blame(r.Key)))
			}
		}
		if i == 0 || c.Effort() < best.Effort() {
			best = c
		}
	}
	return append(out, best...)
}

// Missing says that a place has too little of something left for one pod.
func Missing(name string, need, free int64) Change {
	c := NewChange(Resource, name, need-free, name+": need "+quantity.FormatAmount(name, need-free)+" more")
	c.effort += int(float64(efforts-1) * min(1, float64(need-max(0, free))/float64(need)))
	return c
}

// PortName prints a host port for a reason: "TCP 8080".
func PortName(p cluster.Port) string { return portName(p) }
