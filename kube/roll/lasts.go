package roll

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/daemok/daemok/core/cluster"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

// What a node takes beside the start of the instance in its place and the end of its pods, for the
// second check and draining; and both where nothing is known of them.
const (
	drains      = 20 * time.Second
	bootUnseen  = 2 * time.Minute
	graceUnseen = corev1.DefaultTerminationGracePeriodSeconds * time.Second
)

// Draining returns the same for a pool that is being deleted: nothing comes in the place of its
// nodes there, so that budgets in percent let fewer go the fewer there are.
func Draining(s *cluster.Snapshot, o translate.PoolObject) Progress {
	out := Of(s, o.ID)
	longest, given := o.Template.Spec.TerminationGracePeriod.Value()
	out.Lasts = out.lasts(terms(s, o.ID, func(grace time.Duration) time.Duration {
		if given {
			return min(grace, longest)
		}
		return grace
	}), func(left int64) int64 {
		return translate.Allowed(o.Disruption.Budgets, karpv1.ReasonDrifted, left, s.Now).Most
	})
	return out
}

// term is how long nodes of a pool take to go.
type term struct{ usual, most time.Duration }

// terms works that out of what instances take to start and pods to end, where bound bounds how long
// those of a node may.
func terms(s *cluster.Snapshot, id cluster.PoolID, bound func(time.Duration) time.Duration) term {
	fixed := drains + bootUnseen
	if pool, found := s.Pool(id); found && pool.Boot > 0 {
		fixed = drains + pool.Boot
	}
	var sum, most time.Duration
	nodes := time.Duration(0)
	for i := range s.Nodes {
		if n := &s.Nodes[i]; goes(n, id) {
			grace := bound(graceOf(n))
			sum, most, nodes = sum+grace, max(most, grace), nodes+1
		}
	}
	return term{usual: fixed + sum/max(nodes, 1), most: fixed + most}
}

// goes reports whether the node is one of the pool that is to go or goes.
func goes(n *cluster.Node, id cluster.PoolID) bool {
	return n.Pool == id && n.Claim != "" && !n.InstanceEnds && (n.Deleting || n.Drifted != "")
}

// graceOf is how long the pods on a node may take to end.
func graceOf(n *cluster.Node) time.Duration {
	if n.Pods == nil {
		return graceUnseen
	}
	longest := time.Duration(0)
	for i := range n.Pods {
		if p := &n.Pods[i]; p.Held() {
			longest = max(longest, p.Grace)
		}
	}
	return longest
}

// lasts is how long it takes until no node is left, where budgets say how many may go at
// once while so many are left; 0: nothing is left, or nothing may go.
func (p Progress) lasts(t term, budgets func(left int64) int64) time.Duration {
	atOnce := p.Allowed + p.Going
	if atOnce == 0 || p.Left+p.Going == 0 {
		return 0
	}
	waves := time.Duration(0)
	for left := p.Left + p.Going; left > 0; waves++ {
		left -= max(1, min(atOnce, budgets(left)))
	}
	return max(waves*t.usual, t.most)
}
