package snapshot

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemok/daemok/core/cluster"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

// recalled is what a cluster state began with of a saved snapshot, for which there
// are no objects. Pods and daemons are among those seen.
type recalled struct {
	rest     cluster.Snapshot // what is neither pod nor any of the following
	expected []meant
	nodes    []recalledNode
	machines []recalledMachine
	pools    []cluster.Pool
}

type recalledNode struct {
	is    cluster.Node // without pods
	meant []meant
	pods  int // that it had
}

type recalledMachine struct {
	is    cluster.Machine
	meant []meant
}

// meant is a pod that a machine was ordered for.
type meant struct {
	waiting types.NamespacedName // empty where the pod waited no longer
	pod     cluster.Pod          // that pod
	subject *subject
}

// Recall returns a cluster state that begins with a saved snapshot instead of the
// objects of a cluster, at its moment. It promises that its first snapshot says
// the same. Of pods it knows those labels that the snapshot tells; of classes
// what pools of the snapshot launch from them; of claims, storage classes, limit
// ranges and runtime classes nothing until it sees them. The snapshot is not
// written.
func Recall(s *cluster.Snapshot) *ClusterState {
	k := New(func(ref karpv1.NodeClassReference) (*cluster.Catalogue, string) { return OfferedIn(s, ref) },
		func() time.Time { return s.Now })
	for _, shape := range s.Shapes() {
		k.recallReaders(shape)
	}
	for _, p := range s.Waiting {
		p.Node = ""
		k.recallPod(p, "")
	}
	for _, n := range s.Nodes {
		for _, p := range n.Pods {
			k.recallPod(p, n.Name)
		}
	}
	waiting := map[types.NamespacedName]bool{}
	for _, p := range s.Waiting {
		waiting[types.NamespacedName{Namespace: p.Namespace, Name: p.Name}] = true
	}
	k.recalled.expected = k.recallMeant(s.Expected, nil)
	for _, n := range s.Nodes {
		node := recalledNode{is: n, meant: k.recallMeant(n.LaunchedFor, waiting), pods: len(n.Pods)}
		node.is.Pods, node.is.LaunchedFor = nil, nil
		k.recalled.nodes = append(k.recalled.nodes, node)
	}
	for _, m := range s.Machines {
		machine := recalledMachine{is: m, meant: k.recallMeant(m.LaunchedFor, waiting)}
		machine.is.LaunchedFor = nil
		k.recalled.machines = append(k.recalled.machines, machine)
	}
	k.recalled.pools = slices.Clone(s.Pools)
	for _, d := range s.Daemons {
		k.daemons[types.NamespacedName{Namespace: d.Namespace, Name: d.Name}] = daemonEntry{template: k.recallSubject(d.Shape, "")}
	}
	k.recalled.rest = *s
	k.revision = s.Revision
	return k
}

// start is a snapshot without what the builder adds.
func (r *recalled) start() *cluster.Snapshot {
	out := r.rest
	out.Waiting, out.Expected, out.Nodes, out.Machines, out.Pools, out.Daemons = nil, nil, nil, nil, nil, nil
	out.PDBs, out.Breakers = nil, slices.Clone(out.Breakers)
	return &out
}

// OfferedIn is what a class offers by what the pools of a snapshot launch from it;
// nil with the reason where it offered nothing, or none of them names it. Pools
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
			if p.Catalogue != nil && !slices.Contains(unsaid, p.Catalogue) {
				unsaid = append(unsaid, p.Catalogue)
			}
		case name == ref.Name && p.Catalogue != nil:
			return p.Catalogue, ""
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

// recallReaders counts the labels that a shape tells as labels that somebody
// reads: somebody did, or they would not be told.
func (k *ClusterState) recallReaders(s *cluster.Shape) {
	keys := k.rules.readers[s.Namespace]
	if keys == nil {
		keys = map[string]int{}
		k.rules.readers[s.Namespace] = keys
	}
	for _, l := range s.Labels {
		keys[l.Key]++
	}
}

func (k *ClusterState) recallPod(p cluster.Pod, node string) {
	entry := &podEntry{pod: p, subject: k.recallSubject(p.Shape, node), waiting: p.Node == "", nominated: node, saved: true, cost: p.DeletionCost}
	entry.pod.Shape, entry.subject.pdbs, entry.subject.reportedPDBs = nil, p.PDBs, p.PDBs
	if p.Node != "" {
		entry.pod.Node, entry.nominated = node, ""
	}
	name := types.NamespacedName{Namespace: p.Namespace, Name: p.Name}
	for _, taken := k.pods[name]; taken; _, taken = k.pods[name] {
		name.Name += "!" // written by hand; no pod has such a name
	}
	entry.name = name
	k.put(entry)
	if _, known := k.namespaces[p.Namespace]; !known {
		k.namespaces[p.Namespace] = map[string]string{corev1.LabelMetadataName: p.Namespace}
	}
}

func (k *ClusterState) recallSubject(shape *cluster.Shape, node string) *subject {
	labels := map[string]string{}
	for _, l := range shape.Labels {
		labels[l.Key] = l.Value
	}
	s := subject{namespace: shape.Namespace, node: node, labels: labels, reported: slices.Clone(shape.Labels)}
	out, _ := k.become(nil, s, translate.RulesOfShape(shape))
	return out
}

func (k *ClusterState) recallMeant(list []cluster.Pod, waiting map[types.NamespacedName]bool) []meant {
	var out []meant
	for _, p := range list {
		name := types.NamespacedName{Namespace: p.Namespace, Name: p.Name}
		if waiting[name] {
			out = append(out, meant{waiting: name})
			continue
		}
		out = append(out, meant{pod: p, subject: k.recallSubject(p.Shape, "")})
	}
	return out
}

// recall adds the nodes and machines of the snapshot that the cluster state began
// with.
func (b *builder) recall() {
	b.out.Expected = b.meant(b.k.recalled.expected)
	for _, n := range b.k.recalled.nodes {
		n.is.LaunchedFor = b.meant(n.meant)
		if v := b.k.views.of[n.is.Name]; v != nil {
			n.is.Pods = b.pods(v, n.is.Uproots(b.out.Now))
			b.keeps = b.keeps || v.keeps
		}
		b.out.Nodes = append(b.out.Nodes, n.is)
	}
	for _, m := range b.k.recalled.machines {
		m.is.LaunchedFor = b.meant(m.meant)
		b.out.Machines = append(b.out.Machines, m.is)
	}
}

// meant lists pods that a machine was ordered for, without those that have
// gone since.
func (b *builder) meant(list []meant) []cluster.Pod {
	var out []cluster.Pod
	for _, m := range list {
		p, s := m.pod, m.subject
		if m.waiting.Name != "" {
			e, still := b.k.pods[m.waiting]
			if !still {
				continue
			}
			p, s = e.pod, e.subject
		}
		p.Shape = s.shape
		out = append(out, p)
	}
	return out
}

// left notes when pods last left recalled nodes of ours, where some did after
// the recall.
func (b *builder) left() {
	for _, r := range b.k.recalled.nodes {
		n := b.at(r.is.Name)
		if n.Claim != "" && n.Initialized && len(n.Pods) < r.pods {
			n.QuietSince, n.ChangedAt = b.out.Now, b.out.Now
		}
	}
}
