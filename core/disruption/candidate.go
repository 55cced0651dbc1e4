package disruption

import (
	"fmt"
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/demand"
	"github.com/daemok/daemok/core/plan"
)

// candidate is a node of ours that a reason may be found for to let it go.
type candidate struct {
	*cluster.Node
	at        int // position in the snapshot
	pool      *cluster.Pool
	moving    []*cluster.Pod // pods that need another place
	ratio     float64        // what it costs for each unit of disruption
	expensive bool           // instances with as much cost far less
	// Of its pods, where they have no room on other nodes: those that have none, in words, and which of their preferences count.
	stranded    string
	short       string // else: why its pool would have too few on-demand nodes
	preferences demand.Counting

	by  plan.KeptBy // what keeps it from being consolidated
	why string      // what that is, as far as it was examined
}

// candidates lists the nodes that are neither going already nor on their way
// to us, with a pool that is known.
func candidates(s *cluster.Snapshot) []*candidate {
	pools := map[cluster.PoolID]*cluster.Pool{}
	for i := range s.Pools {
		pools[s.Pools[i].ID] = &s.Pools[i]
	}
	var out []*candidate
	for i := range s.Nodes {
		n := &s.Nodes[i]
		pool := pools[n.Pool]
		if n.Claim == "" || n.Deleting || !n.Initialized || pool == nil {
			continue
		}
		out = append(out, newCandidate(n, i, pool))
	}
	return out
}

func newCandidate(n *cluster.Node, at int, pool *cluster.Pool) *candidate {
	c := &candidate{Node: n, at: at, pool: pool}
	for j := range n.Pods {
		if p := &n.Pods[j]; p.Moves() {
			c.moving = append(c.moving, p)
		}
	}
	return c
}

// saving is the reason for which the node would go to save money.
func (c *candidate) saving() plan.RemovalReason {
	if IsEmpty(c.Node) {
		return plan.Empty
	}
	return plan.Underutilized
}

// unwilling says why its pool never lets the node go to save money, as it is now;
// empty: it does.
func (c *candidate) unwilling() string {
	switch policy := &c.pool.Policy; {
	case c.pool.Static():
		return c.pool.Keeps() + ", whatever runs on them"
	case policy.Never:
		return c.Pool.String() + " consolidates no node: " + c.inItsWords("its consolidateAfter is Never", "it has neither ttlSecondsAfterEmpty nor consolidation")
	case policy.Consolidate == cluster.WhenEmpty && !IsEmpty(c.Node):
		return c.Pool.String() + " consolidates no node with pods: " + c.inItsWords("its consolidationPolicy is WhenEmpty", "it has ttlSecondsAfterEmpty and no consolidation")
	}
	return ""
}

// inItsWords is what is said of its pool: older for one of the older API generation.
func (c *candidate) inItsWords(newer, older string) string {
	if c.Pool.Kind == "Provisioner" {
		return older
	}
	return newer
}

// unconsolidated reports whether the node is not to go to save money, by its own
// word, which does not say that it is to stay empty for longer than its pool keeps
// empty nodes.
func (c *candidate) unconsolidated() bool {
	return c.DoNotConsolidate && c.pool.Policy.Consolidate != cluster.WhenEmpty
}

// copies returns the pods that need another place, as plans list them.
func (c *candidate) copies() []cluster.Pod {
	out := slices.Grow([]cluster.Pod(nil), len(c.moving))
	for _, p := range c.moving {
		out = append(out, *p)
	}
	return out
}

// hindrance says why the node may not be disturbed now; empty: it may. Where
// its claim gives pods a term (terminationGracePeriod), they do not keep a node
// that goes in any event, as a drifted one does. To save money no node goes whose
// pods' work would end for good.
func (c *candidate) hindrance(s *cluster.Snapshot, g PDBs, reason plan.RemovalReason) string {
	switch {
	case s.Freeze != "":
		return s.Freeze
	case c.DoNotDisrupt:
		return "it carries do-not-disrupt"
	case c.Rests != "":
		return c.Rests
	case len(c.LaunchedFor) > 0:
		p := c.LaunchedFor[0]
		return fmt.Sprintf("pod %s/%s is about to run on it", p.Namespace, p.Name)
	case !SavesMoney(reason) && c.HasGrace:
		return ""
	}
	if of := c.booked(); len(of) > 0 {
		return "capacity is kept on it for " + plan.VirtualText(of)
	}
	for i := range c.Pods {
		if why := g.Hold(&c.Pods[i]); why != "" {
			return why
		}
	}
	if SavesMoney(reason) {
		return EndsWork(c.Pods)
	}
	return ""
}

// booked lists the requests whose capacity is kept on the node.
func (c *candidate) booked() []plan.VirtualPods {
	return slices.DeleteFunc(plan.VirtualPodsOf(c.Pods), func(x plan.VirtualPods) bool { return !x.Booked() })
}

// heldByBuffers reports whether the node would be empty but for virtual pods of buffers.
func (c *candidate) heldByBuffers() bool {
	if len(c.booked()) > 0 {
		return false
	}
	real := slices.ContainsFunc(c.Pods, func(p cluster.Pod) bool { return holds(&p) && !p.Shape.Virtual })
	return !real && !IsEmpty(c.Node)
}

// needsPlaces reports whether a pod of the node needs another place once it has gone.
func (c *candidate) needsPlaces() bool {
	return slices.ContainsFunc(c.Pods, func(p cluster.Pod) bool { return p.Returns })
}
