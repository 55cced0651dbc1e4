package shadow

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/kube/api"
)

// How managed node groups of EKS say that their nodes are spot instances.
const (
	labelGroupCapacity = "eks.amazonaws.com/capacityType"
	groupSpot          = "SPOT"
)

// Taints of the Cluster Autoscaler.
const (
	taintGoing     = "ToBeDeletedByClusterAutoscaler"
	taintCandidate = "DeletionCandidateOfClusterAutoscaler"
)

// selector selects nodes by their labels.
type selector interface {
	Matches(labels.Labels) bool
}

// Groups has nodes of node groups, which have no NodeClaim, count as if they were of NodePools.
type Groups struct {
	Nodes selector // which nodes

	first map[string]time.Time // since when each is seen that is there, by instance: its age for consolidateAfter
}

// adopt shows each selected node as one of the pool that suits it best: whose labels and taints it has, and whose
// requirements it meets; of several the one with most labels, then weight, then by name. A node that suits none
// stays outside. One that the Cluster Autoscaler terminates counts as one that is being deleted; its taints are left
// out, since Daemok decides by itself.
func (g *Groups) adopt(s *cluster.Snapshot) *cluster.Snapshot {
	if g == nil || g.Nodes == nil || len(s.Pools) == 0 {
		return s
	}
	before := g.first
	g.first = map[string]time.Time{}
	out := *s
	out.Nodes = slices.Clone(s.Nodes)
	for i := range out.Nodes {
		n := &out.Nodes[i]
		if n.Claim != "" || !g.Nodes.Matches(labels.Set(n.Labels.Map())) {
			continue
		}
		g.first[instanceOf(n)] = s.Now
		if at, seen := before[instanceOf(n)]; seen {
			g.first[instanceOf(n)] = at
		}
		n.Deleting = n.Deleting || slices.ContainsFunc(n.Taints, func(t constraint.Taint) bool { return t.Key == taintGoing })
		n.Taints = without(n.Taints, func(key string) bool { return key == taintGoing || key == taintCandidate })
		best := -1
		for j := range s.Pools {
			if suits(&s.Pools[j], n) && (best < 0 || better(&s.Pools[j], &s.Pools[best])) {
				best = j
			}
		}
		if best >= 0 {
			g.join(n, &s.Pools[best])
		}
	}
	return &out
}

// instanceOf names the instance of a node: names of nodes come again.
func instanceOf(n *cluster.Node) string { return cmp.Or(n.InstanceID, n.Name) }

func better(a, b *cluster.Pool) bool {
	byLabels, byWeight := cmp.Compare(len(b.Labels), len(a.Labels)), cmp.Compare(b.Weight, a.Weight)
	return cmp.Or(byLabels, byWeight, cmp.Compare(a.ID.Name, b.ID.Name)) < 0
}

// known are the labels of a node with those that an instance of its type would have in the pool; ok is false where
// the pool's class offers no such type.
func known(p *cluster.Pool, n *cluster.Node) (all constraint.Labels, ok bool) {
	name, _ := n.Labels.Get(cluster.LabelInstanceType)
	instanceType := p.Catalogue.InstanceType(name)
	if instanceType == nil {
		return nil, false
	}
	option := string(cluster.OnDemand)
	if capacity, _ := n.Labels.Get(labelGroupCapacity); capacity == groupSpot {
		option = string(cluster.Spot)
	}
	capacity := constraint.NewLabels(map[string]string{cluster.LabelCapacityType: option})
	return instanceType.Labels.Merge(capacity).Merge(n.Labels), true
}

// lacked reports whether nodes of groups lack a label since it names a NodePool or its class.
func lacked(key string) bool { return key == api.LabelNodePool || key == classLabel }

const classLabel = api.GroupAWS + "/ec2nodeclass"

// suits reports whether the node could be one of the pool.
func suits(p *cluster.Pool, n *cluster.Node) bool {
	all, ok := known(p, n)
	if !ok {
		return false
	}
	for _, l := range p.Labels {
		if has, _ := all.Get(l.Key); !lacked(l.Key) && has != l.Value {
			return false
		}
	}
	for _, taint := range p.Taints {
		if !slices.Contains(n.Taints, taint) {
			return false
		}
	}
	_, ok = p.Requirements.Allow(all)
	return ok
}

// join shows the node as one of the pool.
func (g *Groups) join(n *cluster.Node, p *cluster.Pool) {
	all, _ := known(p, n)
	n.Claim, n.Pool, n.Labels = n.Name, p.ID, all
	n.QuietSince, n.ChangedAt = g.first[instanceOf(n)], g.first[instanceOf(n)]
	name, _ := n.Labels.Get(cluster.LabelInstanceType)
	instanceType := p.Catalogue.InstanceType(name)
	if o := instanceType.Offering(n.Labels.Map()); o != nil && o.Priced {
		n.Price = o.Price
	}
}

// without is the list without taints of some keys; the list itself stays as it is.
func without(list []constraint.Taint, keys func(string) bool) []constraint.Taint {
	return slices.DeleteFunc(slices.Clone(list), func(t constraint.Taint) bool { return keys(t.Key) })
}
