package pods

import (
	"slices"
	"time"

	"github.com/daemok/daemok/core/cluster"
)

// onNode has the pods that are bound to a node and have not ended, and what snapshots show of them, kept from one
// snapshot to the next. The node need not be there. What was shown once is never written.
type onNode struct {
	pods []*Pod // by name

	old      bool          // they, or what they use, have changed
	at       time.Time     // when they were listed
	until    time.Time     // when one of them is protected no longer; zero: never
	listed   []cluster.Pod // as they are shown
	uprooted bool          // and they are shown so
	keeps    bool          // one of them asks to be kept while it is the last ready one of a Service, whatever its pool says
}

// Changed has the pods of a node looked at again.
func (t *Table) Changed(node string) {
	if on := t.onNodes[node]; on != nil {
		on.old = true
	}
}

// bind takes in a pod that is bound to a node; one that has ended holds nothing.
func (t *Table) bind(p *Pod) {
	if p.ended {
		return
	}
	on := t.onNodes[p.pod.Node]
	if on == nil {
		on = &onNode{}
		t.onNodes[p.pod.Node] = on
	}
	on.old = true
	t.Nodes.Changed(p.pod.Node)
	at, _ := slices.BinarySearchFunc(on.pods, p, byEntry)
	on.pods = slices.Insert(on.pods, at, p)
}

// unbind takes in that a pod is not as it was any more.
func (t *Table) unbind(p *Pod) {
	t.Nodes.Changed(p.pod.Node) // also where it has ended: it may have been the last to use a volume
	on := t.onNodes[p.pod.Node]
	if on == nil {
		return
	}
	on.old = true
	if at, found := slices.BinarySearchFunc(on.pods, p, byEntry); found && on.pods[at] == p {
		on.pods = slices.Delete(on.pods, at, at+1)
	}
	if len(on.pods) == 0 {
		delete(t.onNodes, p.pod.Node)
	}
}

// On returns the pods of a node as the snapshot shows them, and whether one of them asks to be kept while it is the
// last ready one of a Service, whatever its pool says. uprooted is whether those that are protected must leave
// nevertheless. Cost: linear in the pods where something has changed.
func (t *Table) On(node string, uprooted bool, now time.Time) (list []cluster.Pod, keeps bool) {
	on := t.onNodes[node]
	if on == nil {
		return nil, false
	}
	if !on.old && on.uprooted == uprooted && !now.Before(on.at) && (on.until.IsZero() || on.until.After(now)) {
		return on.listed, on.keeps
	}
	on.old, on.uprooted, on.at, on.until, on.keeps = false, uprooted, now, time.Time{}, false
	on.listed = make([]cluster.Pod, len(on.pods))
	for i, p := range on.pods {
		on.listed[i], on.keeps = t.placed(p, uprooted, now), on.keeps || p.keeps.always
		if until := on.listed[i].ProtectedUntil; !until.IsZero() && (on.until.IsZero() || until.Before(on.until)) {
			on.until = until
		}
	}
	return on.listed, on.keeps
}

// placed is what the snapshot shows of a pod on a node.
func (t *Table) placed(p *Pod, uprooted bool, now time.Time) cluster.Pod {
	out := t.show(p, now)
	if out.PDBs != "" {
		out.Kept = out.KeptBy(t.PDBs.Named(out.Namespace, out.PDBs))
	}
	out.Uprooted = uprooted && out.Protected()
	return out
}

// show is what the snapshot shows of a pod, wherever it is.
func (t *Table) show(p *Pod, now time.Time) cluster.Pod {
	out := p.pod
	out.Shape, out.PDBs = p.shaped.Shape(), p.shaped.PDBs()
	if !out.ProtectedUntil.After(now) && !out.ProtectedUntil.IsZero() { // it has ended since the pod was seen
		out.DoNotDisrupt, out.ProtectedUntil = false, time.Time{}
	}
	if out.Node != "" {
		t.judge(&out, p)
		if holds := p.shaped.Holds(); holds != nil {
			out.Holds = holds
		}
	}
	return out
}
