package snapshot

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/daemok/daemok/core/cluster"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

// views are what snapshots show of each node, kept from one snapshot to the next: a
// pod that changes has one node looked at again. What is worked out of single objects
// is kept as long as these are the same; who changes what several say together says
// which nodes are old. What was shown once is never written.
type views struct {
	of    map[string]*view // by name; also of nodes that are not there and have pods
	shown []*view          // of nodes that are there, by name
	round uint64           // grows when all are to be looked at again, without their pods
}

// view is a node, with the pods that are bound to it and have not ended.
type view struct {
	name string
	node *corev1.Node      // nil: it is not there
	ours *karpv1.NodeClaim // of its machine, by the last round of orders; nil: none
	pods []*podEntry       // by name

	old      bool          // the pods or what they use have changed
	at       time.Time     // when the pods were listed
	until    time.Time     // when one of them is protected no longer; zero: never
	from     basis         // of what is shown now
	is       cluster.Node  // what is shown, without its pods
	listed   []cluster.Pod // these
	uprooted bool          // and they are shown so
	keeps    bool          // one of them asks to be kept while it is the last ready one of a Service, whatever its pool says
}

// basis is what a node is shown by, beside what is told by views.
type basis struct {
	node   *corev1.Node
	claim  *karpv1.NodeClaim
	awaits bool
	round  uint64
}

func newViews() views { return views{of: map[string]*view{}} }

func (vs *views) at(node string) *view {
	v := vs.of[node]
	if v == nil {
		v = &view{name: node}
		vs.of[node] = v
	}
	return v
}

// show takes in a node that is there.
func (vs *views) show(n *corev1.Node) {
	v := vs.at(n.Name)
	if v.node == nil {
		at, _ := slices.BinarySearchFunc(vs.shown, n.Name, byView)
		vs.shown = slices.Insert(vs.shown, at, v)
	}
	v.node = n
}

// hide takes in that a node is gone.
func (vs *views) hide(node string) {
	if at, found := slices.BinarySearchFunc(vs.shown, node, byView); found {
		vs.shown = slices.Delete(vs.shown, at, at+1)
		vs.of[node].node, vs.of[node].old = nil, true
		vs.leave(node)
	}
}

func byView(v *view, node string) int { return cmp.Compare(v.name, node) }

// leave forgets a node that is not there and has no pods.
func (vs *views) leave(node string) {
	if v := vs.of[node]; v.node == nil && len(v.pods) == 0 {
		delete(vs.of, node)
	}
}

// isOld has the node looked at again: its pods, or what they use, have changed.
func (vs *views) isOld(node string) {
	if v := vs.of[node]; v != nil {
		v.old = true
	}
}

// allAreOld has all nodes looked at again, without their pods.
func (vs *views) allAreOld() { vs.round++ }

// target takes in a pod that is bound to a node; one that has ended holds nothing.
func (vs *views) target(e *podEntry) {
	if e.ended {
		return
	}
	v := vs.at(e.pod.Node)
	v.old = true
	at, _ := slices.BinarySearchFunc(v.pods, e, byEntry)
	v.pods = slices.Insert(v.pods, at, e)
}

// unseat takes in that a pod is not as it was any more.
func (vs *views) unseat(e *podEntry) {
	v := vs.of[e.pod.Node]
	if v == nil {
		return
	}
	v.old = true // also where it has ended: it may have been the last to use a volume
	if at, found := slices.BinarySearchFunc(v.pods, e, byEntry); found && v.pods[at] == e {
		v.pods = slices.Delete(v.pods, at, at+1)
	}
	vs.leave(e.pod.Node)
}

func byEntry(a, b *podEntry) int { return byName(a.name, b.name) }

// pods returns the pods of a node as the snapshot shows them. Cost: linear in these where
// something has changed.
func (b *builder) pods(v *view, uprooted bool) []cluster.Pod {
	if !v.old && v.uprooted == uprooted && !b.out.Now.Before(v.at) && (v.until.IsZero() || v.until.After(b.out.Now)) {
		return v.listed
	}
	v.old, v.uprooted, v.at, v.listed, v.until, v.keeps = false, uprooted, b.out.Now, nil, time.Time{}, false
	if len(v.pods) > 0 {
		v.listed = make([]cluster.Pod, len(v.pods))
	}
	for i, e := range v.pods {
		v.listed[i], v.keeps = b.placed(e, uprooted), v.keeps || e.keeps.always
		if until := v.listed[i].ProtectedUntil; !until.IsZero() && (v.until.IsZero() || until.Before(v.until)) {
			v.until = until
		}
	}
	return v.listed
}

// placed is what the snapshot shows of a pod on a node.
func (b *builder) placed(e *podEntry, uprooted bool) cluster.Pod {
	p := b.pod(e)
	if p.PDBs != "" {
		p.Kept = p.KeptBy(b.k.pdbNamed(p.Namespace, p.PDBs))
	}
	p.Uprooted = uprooted && p.Protected()
	return p
}

// pod is what the snapshot shows of a pod, wherever it is.
func (b *builder) pod(e *podEntry) cluster.Pod {
	p := e.pod
	p.Shape, p.PDBs = e.subject.shape, e.subject.pdbs
	if !p.ProtectedUntil.After(b.out.Now) && !p.ProtectedUntil.IsZero() { // it has ended since the pod was seen
		p.DoNotDisrupt, p.ProtectedUntil = false, time.Time{}
	}
	if p.Node != "" {
		b.k.spreading.judge(&p, e)
		if now := &e.subject.rules.shape.Requests; !now.Equal(p.Shape.Requests) {
			p.Holds = now
		}
	}
	return p
}
