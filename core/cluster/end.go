package cluster

import "time"

// endMargin is what is left between the end of the last pod and that of its machine:
// for looks a second apart, and for clocks that differ.
const endMargin = 15 * time.Second

// Ends reports whether the cloud takes the node's machine away, or it is being given
// back.
func (n *Node) Ends() bool { return n.MachineEnds || !n.EndsAt.IsZero() }

// EvictBy is the latest moment at which pods are evicted from a machine that is taken
// away, so that the one that may take longest to end has that time; zero where nobody
// takes it away. Daemons and pods that may not be disturbed do not count: they end with
// the machine.
func EvictBy(endsAt time.Time, pods []Pod) time.Time {
	if endsAt.IsZero() {
		return time.Time{}
	}
	var grace time.Duration
	for i := range pods {
		if p := &pods[i]; p.Held() {
			grace = max(grace, p.Grace)
		}
	}
	return endsAt.Add(-grace - endMargin)
}

// EvictBy is that moment for the node.
func (n *Node) EvictBy() time.Time { return EvictBy(n.EndsAt, n.Pods) }

// Held reports whether the pod may stay on a machine that is taken away until there is
// room for it elsewhere: it would be evicted, and need another place.
func (p *Pod) Held() bool { return p.Moves() && p.Evictable() }
