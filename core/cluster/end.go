package cluster

import "time"

// endMargin is what is left between the end of the last pod and that of its instance: for checks a
// second apart, and for clocks that differ.
const endMargin = 15 * time.Second

// uprootsFor is how long before the end of an instance the pods that may not be evicted from it are
// given other places: as long as an instance is waited for that does not join. Had they places days
// before, the instances for them would stand empty so long.
const uprootsFor = 15 * time.Minute

// UprootsAt is when the node begins to uproot its pods; zero where its instance is not taken away.
func (n *Node) UprootsAt() time.Time {
	if n.EndsAt.IsZero() {
		return time.Time{}
	}
	return n.EndsAt.Add(-uprootsFor)
}

// Uproots reports whether the instance goes so soon that all its pods need other places, those too
// that are not evicted: the cloud takes it away, or it is being terminated.
func (n *Node) Uproots(now time.Time) bool {
	return n.InstanceEnds || !n.EndsAt.IsZero() && !now.Before(n.UprootsAt())
}

// EvictBy is the latest moment at which pods are evicted from an instance that is taken away, so
// that the one that may take longest to end has that time; zero where it is not taken away. Daemons
// and pods that may not be disturbed do not count: they end with the instance.
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

// Protected reports whether something forbids to evict the pod, for as long as this does not
// change: its annotation, or budgets as they are written.
func (p *Pod) Protected() bool { return p.DoNotDisrupt || p.Kept }

// Held reports whether the pod may stay on an instance that is taken away until there is room for
// it elsewhere, or until the last moment where no other comes in its place: it would be evicted.
func (p *Pod) Held() bool { return p.works() && !p.DoNotDisrupt && p.Evictable() }
