package cost

import (
	"fmt"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/disruption"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
)

// Cause is why a part of a node is idle, named by what would release it.
type Cause string

// The causes. A node has the first of Leaving, Unmanaged, Headroom, DoNotDisrupt, PDB, Work and Policy that
// it has a reason for, and Fragmentation where there is none. Room for pods that are expected is Headroom.
const (
	Headroom      Cause = "headroom"       // of launches under way: it is filled in a moment, or released
	Leaving       Cause = "leaving"        // it is being drained or terminated
	Unmanaged     Cause = "unmanaged"      // it is of no NodePool: another one decides
	DoNotDisrupt  Cause = "do-not-disrupt" // an annotation of the node or of a pod holds it
	PDB           Cause = "pdb"            // a PodDisruptionBudget allows no eviction of a pod
	Work          Cause = "work"           // a pod's work would end, or it is the last ready one of a Service
	Policy        Cause = "policy"         // its NodePool does not let it go, or a freeze
	Fragmentation Cause = "fragmentation"  // nothing holds it: free room in pieces
)

// Causes lists all causes in the order in which they are reported.
func Causes() []Cause {
	return []Cause{Headroom, Leaving, Unmanaged, DoNotDisrupt, PDB, Work, Policy, Fragmentation}
}

// judge finds causes.
type judge struct {
	s     *cluster.Snapshot
	pools map[cluster.PoolID]*cluster.Pool
	pdbs  disruption.PDBs
}

// idle is why what no pod has requested of a node is there.
func (j *judge) idle(n *cluster.Node) (Cause, string) {
	switch {
	case n.InstanceEnds:
		return Leaving, "its instance is being terminated"
	case n.Deleting:
		return Leaving, "it is being drained"
	case n.Claim == "":
		return Unmanaged, "it belongs to no NodePool"
	case !n.Initialized:
		return Headroom, "it has joined the cluster and is not initialized yet"
	case n.DoNotDisrupt:
		return DoNotDisrupt, "it carries do-not-disrupt"
	case n.DoNotConsolidate:
		return DoNotDisrupt, "it carries do-not-consolidate"
	}
	if cause, why := j.held(n); cause != "" {
		return cause, why
	}
	if why := j.policy(n); why != "" {
		return Policy, why
	}
	return Fragmentation, ""
}

// held is what holds a node because of its pods: an annotation before a PodDisruptionBudget before anything else.
func (j *judge) held(n *cluster.Node) (cause Cause, why string) {
	for i := range n.Pods {
		p := &n.Pods[i]
		text := j.pdbs.Hold(p)
		switch {
		case text == "":
		case p.DoNotDisrupt:
			return DoNotDisrupt, text
		case p.LastOf != "":
			if cause == "" {
				cause, why = Work, text
			}
		case cause != PDB:
			cause, why = PDB, text
		}
	}
	if cause == "" {
		if text := disruption.EndsWork(n.Pods); text != "" {
			return Work, text
		}
	}
	return cause, why
}

// policy is why the pool of a node does not let it go to save money; empty: it does.
func (j *judge) policy(n *cluster.Node) string {
	if j.s.Freeze != "" {
		return j.s.Freeze
	}
	pool := j.pools[n.Pool]
	if pool == nil {
		return ""
	}
	empty := disruption.IsEmpty(n)
	reason := plan.Underutilized
	if empty {
		reason = plan.Empty
	}
	switch policy := &pool.Policy; {
	case pool.Static():
		return pool.Keeps()
	case policy.Never:
		return n.Pool.String() + " consolidates no node"
	case policy.Consolidate == cluster.WhenEmpty && !empty:
		return n.Pool.String() + " consolidates no node with pods (WhenEmpty)"
	case !n.QuietSince.IsZero() && n.QuietSince.Add(policy.After).After(j.s.Now):
		return fmt.Sprintf("consolidateAfter %v of %s is not over", policy.After, n.Pool)
	default:
		if allowed := disruption.Allowance(policy, reason); allowed.Most == 0 {
			return disruption.Share{Nodes: 1}.Against(n.Pool, allowed)
		}
	}
	return ""
}

// ByCause is what is idle, by its cause.
func (a *Allocation) ByCause() map[Cause]quantity.MicroUSDPerHour {
	out := map[Cause]quantity.MicroUSDPerHour{}
	for i := range a.Nodes {
		for _, idle := range a.Nodes[i].Idle {
			out[idle.Cause] += idle.Cost
		}
	}
	return out
}
