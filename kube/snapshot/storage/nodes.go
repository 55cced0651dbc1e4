package storage

import (
	"reflect"

	storagev1 "k8s.io/api/storage/v1"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/translate/podspec"
)

// CSINodeSeen takes in what drivers say of a node. It must not be written any
// more.
func (t *Table) CSINodeSeen(n *storagev1.CSINode) bool {
	before := t.csiNodes[n.Name]
	t.csiNodes[n.Name] = n
	t.nodes.Changed(n.Name)
	return before == nil || !reflect.DeepEqual(before.Spec, n.Spec)
}

// CSINodeGone takes in that nothing is said of a node's drivers any more.
func (t *Table) CSINodeGone(n *storagev1.CSINode) {
	delete(t.csiNodes, n.Name)
	t.nodes.Changed(n.Name)
}

// AttachmentSeen takes in that a volume is attached to a node. Which one never
// changes.
func (t *Table) AttachmentSeen(a *storagev1.VolumeAttachment) bool {
	if a.Spec.Source.PersistentVolumeName == nil {
		return false
	}
	on := t.attachments[a.Spec.NodeName]
	if on == nil {
		on = map[string]attachment{}
		t.attachments[a.Spec.NodeName] = on
	}
	if _, known := on[a.Name]; known {
		return false
	}
	on[a.Name] = attachment{driver: a.Spec.Attacher, volume: *a.Spec.Source.PersistentVolumeName}
	t.attachedTo.put(*a.Spec.Source.PersistentVolumeName, a.Spec.NodeName)
	t.nodes.Changed(a.Spec.NodeName)
	return true
}

// AttachmentGone takes in that a volume was detached.
func (t *Table) AttachmentGone(a *storagev1.VolumeAttachment) {
	node := a.Spec.NodeName
	if v := t.attachments[node][a.Name].volume; v != "" {
		t.attachedTo.drop(v, node)
	}
	if delete(t.attachments[node], a.Name); len(t.attachments[node]) == 0 {
		delete(t.attachments, node)
	}
	t.nodes.Changed(node)
}

// Attachable is how many volumes a node takes by what its drivers say; expected is what
// one of its instance type takes, and counts until a driver has registered.
func (t *Table) Attachable(node string, expected []cluster.Attachable) []cluster.Attachable {
	registered := t.csiNodes[node]
	var out []cluster.Attachable
	if registered != nil {
		out = podspec.Attachable(registered)
		for i := range out {
			out[i].Count -= t.leftBehind(node, out[i].Driver)
		}
	}
	if expected == nil {
		return out
	}
	return podspec.Expect(out, registered, expected)
}

// leftBehind is how many volumes of a driver are attached to a node although no pod on it uses them, and none that
// waits: the scheduler counts these too. One of a pod that waits belongs to that pod: its binding to this node, which the
// volume was attached for, may not have been seen yet, and the volume must not be counted twice then. Where the pod
// waits for another node the volume is detached within seconds.
func (t *Table) leftBehind(node, driver string) int64 {
	left := int64(0)
	for _, a := range t.attachments[node] {
		if a.driver == driver && !t.used(a.volume, node) {
			left++
		}
	}
	return left
}

// used reports whether a pod on the node, or one that waits, uses the volume.
func (t *Table) used(volume, node string) bool {
	for claim := range t.bound[volume] {
		for at := range t.users.NodesOf(claim) {
			if at == node || at == "" {
				return true
			}
		}
	}
	return false
}
