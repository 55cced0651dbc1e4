package snapshot

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/daemok/daemok/core/cluster"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/snapshot/pods"
	"github.com/daemok/daemok/kube/snapshot/shapes"
	"github.com/daemok/daemok/kube/translate"
)

// recalled is what a cluster state began with of a saved snapshot, for which there
// are no objects. Pods and daemons are among those seen.
type recalled struct {
	rest      cluster.Snapshot // what is neither pod nor any of the following
	expected  []meant
	nodes     []recalledNode
	instances []recalledInstance
}

type recalledNode struct {
	is    cluster.Node // without pods
	meant []meant
	pods  int // that it had
}

type recalledInstance struct {
	is    cluster.Instance
	meant []meant
}

// meant is a pod that an instance was ordered for.
type meant struct {
	waiting types.NamespacedName // empty where the pod waited no longer
	pod     cluster.Pod          // that pod
	shaped  *shapes.Entry
}

// Recall returns a cluster state that begins with a saved snapshot instead of the
// objects of a cluster, at its moment. It promises that its first snapshot says
// the same. Of pods it knows those labels that the snapshot holds; of classes
// what pools of the snapshot launch from them; of claims, storage classes, limit
// ranges and runtime classes nothing until it sees them. The snapshot is not
// written.
func Recall(s *cluster.Snapshot) *ClusterState {
	k := New(func(ref karpv1.NodeClassReference) (*cluster.Catalogue, string) { return OfferedIn(s, ref) },
		func() time.Time { return s.Now })
	t := k.tables
	for _, shape := range s.Shapes() {
		t.shapes.RecallReaders(shape)
	}
	for _, p := range s.Waiting {
		p.Node = ""
		t.recallPod(p, "")
	}
	for _, n := range s.Nodes {
		for _, p := range n.Pods {
			t.recallPod(p, n.Name)
		}
	}
	waiting := map[types.NamespacedName]bool{}
	for _, p := range s.Waiting {
		waiting[types.NamespacedName{Namespace: p.Namespace, Name: p.Name}] = true
	}
	k.recalled.expected = t.recallMeant(s.Expected, nil)
	for _, n := range s.Nodes {
		node := recalledNode{is: n, meant: t.recallMeant(n.LaunchedFor, waiting), pods: len(n.Pods)}
		node.is.Pods, node.is.LaunchedFor = nil, nil
		k.recalled.nodes = append(k.recalled.nodes, node)
	}
	for _, m := range s.Instances {
		instance := recalledInstance{is: m, meant: t.recallMeant(m.LaunchedFor, waiting)}
		instance.is.LaunchedFor = nil
		k.recalled.instances = append(k.recalled.instances, instance)
	}
	t.pools.Recall(s.Pools)
	t.pools.RecallOverlays(s.Overlays)
	t.daemons.Recall(s.Daemons)
	t.buffers.Recall(s.Buffers)
	t.requests.Recall(s.Requested)
	t.quotas.Recall(s.Quotas)
	t.commitments.Recall(s.Commitments)
	t.claims.Recall(s.Nodes)
	t.pdbs.Recall(s.PDBs)
	k.recalled.rest = *s
	k.revision = s.Revision
	return k
}

// start is a snapshot without what the builder adds.
func (r *recalled) start() *cluster.Snapshot {
	out := r.rest
	out.Waiting, out.Expected, out.Nodes, out.Instances, out.Pools, out.Daemons = nil, nil, nil, nil, nil, nil
	out.Buffers, out.Requested, out.PDBs, out.Breakers = nil, nil, nil, slices.Clone(out.Breakers)
	out.Quotas = nil
	return &out
}

// OfferedIn is what a class offers by what the pools of a snapshot launch from it;
// nil with the reason where it offered nothing, or none of them names it, and without NodeOverlays. Pools
// written by hand do not say their class: it is any where all launch the same.
func OfferedIn(s *cluster.Snapshot, ref karpv1.NodeClassReference) (*cluster.Catalogue, string) {
	label, named := translate.ClassLabel(ref), false
	var unsaid []*cluster.Catalogue
	why := "no pool of the snapshot names class " + translate.ClassID(ref) + ", so it is not known what it offers"
	for i := range s.Pools {
		p := &s.Pools[i]
		name, says := p.Labels.Get(label)
		switch {
		case !says:
			if listed := p.Catalogue.Listed(); listed != nil && !slices.Contains(unsaid, listed) {
				unsaid = append(unsaid, listed)
			}
		case name == ref.Name && p.Catalogue != nil:
			return p.Catalogue.Listed(), ""
		case name == ref.Name:
			why = p.NotReady
			named = true
		default:
			named = true
		}
	}
	if !named && len(unsaid) == 1 {
		return unsaid[0], ""
	}
	return nil, why
}

func (t *tables) recallPod(p cluster.Pod, node string) {
	t.pods.Recall(p, node)
	t.namespaces.Assume(p.Namespace)
}

func (t *tables) recallMeant(list []cluster.Pod, waiting map[types.NamespacedName]bool) []meant {
	var out []meant
	for _, p := range list {
		name := types.NamespacedName{Namespace: p.Namespace, Name: p.Name}
		if waiting[name] {
			out = append(out, meant{waiting: name})
			continue
		}
		out = append(out, meant{pod: p, shaped: t.shapes.Recall(p.Shape, "", "")})
	}
	return out
}

// recall adds the nodes and instances of the snapshot that the cluster state began
// with.
func (b *builder) recall() {
	b.out.Expected = b.meant(b.recalled.expected)
	for _, n := range b.recalled.nodes {
		n.is.LaunchedFor = b.meant(n.meant)
		n.is.Price = b.tables.pools.Repriced(&n.is)
		b.addWithPods(n.is)
	}
	for _, m := range b.recalled.instances {
		m.is.LaunchedFor = b.meant(m.meant)
		b.out.Instances = append(b.out.Instances, m.is)
	}
}

// meant lists pods that an instance was ordered for, without those that have
// gone since.
func (b *builder) meant(list []meant) []cluster.Pod {
	var out []cluster.Pod
	for _, m := range list {
		p, shaped := m.pod, m.shaped
		if m.waiting.Name != "" {
			var still bool
			if p, shaped, still = b.pods.Find(m.waiting); !still {
				continue
			}
		}
		p.Shape = shaped.Shape()
		out = append(out, p)
	}
	return out
}

// left notes when pods last left recalled nodes of ours, where some did after
// the recall.
func (b *builder) left() {
	for _, r := range b.recalled.nodes {
		n := pods.NodeOf(b.out, r.is.Name)
		if n.Claim != "" && n.Initialized && len(n.Pods) < r.pods {
			n.QuietSince, n.ChangedAt = b.out.Now, b.out.Now
		}
	}
}
