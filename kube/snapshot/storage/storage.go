// Package storage is the table of what volumes of pods depend on. These are PersistentVolumeClaims,
// PersistentVolumes, StorageClasses, and the CSI drivers and attached volumes of nodes.
package storage

import (
	"iter"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/component-helpers/storage/volume"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/translate/podspec"
)

// users are the pods that use claims of volumes.
type users interface {
	Claims() iter.Seq[types.NamespacedName]              // that any pod uses
	NodesOf(claim types.NamespacedName) iter.Seq[string] // of each pod that uses it; empty for one without a node
	ClaimChanged(claim types.NamespacedName) (any bool)  // these pods are looked at again; reports whether there are any
}

// nodes are to be looked at again when what they can attach has changed.
type nodes interface{ Changed(name string) }

// Table holds the objects. It is not safe for concurrent use. Build it with New.
type Table struct {
	users users
	nodes nodes

	objects     podspec.Storage
	bound       index[types.NamespacedName] // claims by volume
	csiNodes    map[string]*storagev1.CSINode
	attachments map[string]map[string]attachment // by node and name
	attachedTo  index[string]                    // nodes by volume
}

// attachment is a volume that is attached to a node, or is to be.
type attachment struct{ driver, volume string }

// New returns an empty table.
func New(users users, nodes nodes) *Table {
	return &Table{
		users: users, nodes: nodes, bound: index[types.NamespacedName]{}, attachedTo: index[string]{},
		objects: podspec.Storage{
			Claims:  map[types.NamespacedName]*corev1.PersistentVolumeClaim{},
			Volumes: map[string]*corev1.PersistentVolume{},
			Classes: map[string]*storagev1.StorageClass{},
			Shared:  func(claim types.NamespacedName) bool { return isShared(users, claim) },
		},
		csiNodes: map[string]*storagev1.CSINode{}, attachments: map[string]map[string]attachment{},
	}
}

// isShared reports whether several pods use a claim.
func isShared(users users, claim types.NamespacedName) bool {
	n := 0
	for range users.NodesOf(claim) {
		if n++; n > 1 {
			return true
		}
	}
	return false
}

// WaiterChanged takes in that a pod without a node that uses the claim has come, gone, or found its node: where
// the volume is attached, its place may count otherwise.
func (t *Table) WaiterChanged(claim types.NamespacedName) {
	if c := t.objects.Claims[claim]; c != nil {
		for node := range t.attachedTo[c.Spec.VolumeName] {
			t.nodes.Changed(node)
		}
	}
}

// AddVolumes adds to a shape what the volumes of a pod ask of its node.
func (t *Table) AddVolumes(shape *cluster.Shape, uses []podspec.VolumeUse) {
	t.objects.AddVolumes(shape, uses)
}

// HasVolume reports whether a PersistentVolume has been seen.
func (t *Table) HasVolume(name string) bool { return t.objects.Volumes[name] != nil }

// HasClaim reports whether a PersistentVolumeClaim has been seen.
func (t *Table) HasClaim(name types.NamespacedName) bool { return t.objects.Claims[name] != nil }

// ClaimSeen takes in a PersistentVolumeClaim, which must not be written any more. As all that follow it reports
// whether pods are concerned.
func (t *Table) ClaimSeen(c *corev1.PersistentVolumeClaim) bool {
	name := nameOf(c)
	before := t.objects.Claims[name]
	t.objects.Claims[name] = c
	return (before == nil || !sameClaim(before, c)) && t.claimChanged(name, before, c)
}

// ClaimGone takes in that a PersistentVolumeClaim was deleted.
func (t *Table) ClaimGone(c *corev1.PersistentVolumeClaim) bool {
	name := nameOf(c)
	before := t.objects.Claims[name]
	delete(t.objects.Claims, name)
	return t.claimChanged(name, before, nil)
}

func (t *Table) claimChanged(name types.NamespacedName, before, after *corev1.PersistentVolumeClaim) bool {
	if before != nil {
		t.bound.drop(before.Spec.VolumeName, name)
	}
	if after != nil {
		t.bound.put(after.Spec.VolumeName, name)
	}
	for node := range t.users.NodesOf(name) {
		t.nodes.Changed(node) // the pod may use another volume now
	}
	for _, c := range []*corev1.PersistentVolumeClaim{before, after} {
		if c != nil {
			for node := range t.attachedTo[c.Spec.VolumeName] {
				t.nodes.Changed(node)
			}
		}
	}
	return t.users.ClaimChanged(name)
}

// VolumeSeen takes in a PersistentVolume. It must not be written any more.
func (t *Table) VolumeSeen(v *corev1.PersistentVolume) bool {
	before := t.objects.Volumes[v.Name]
	t.objects.Volumes[v.Name] = v
	if before == nil {
		return t.volumeChanged(v)
	}
	if sameVolume(before, v) {
		return false
	}
	was, is := t.volumeChanged(before), t.volumeChanged(v)
	return was || is
}

// VolumeGone takes in that a PersistentVolume was deleted.
func (t *Table) VolumeGone(v *corev1.PersistentVolume) bool {
	before := t.objects.Volumes[v.Name]
	if before == nil {
		return false
	}
	delete(t.objects.Volumes, v.Name)
	return t.volumeChanged(before)
}

// volumeChanged has the pods looked at again that use a volume or, where it is free or may
// have been, could come to use it.
func (t *Table) volumeChanged(v *corev1.PersistentVolume) bool {
	used := false
	for claim := range t.bound[v.Name] {
		used = t.users.ClaimChanged(claim) || used
	}
	if class := t.objects.Classes[volume.GetPersistentVolumeClass(v)]; class != nil && podspec.MadeByHand(class) {
		for claim := range t.users.Claims() {
			if c := t.objects.Claims[claim]; c != nil && c.Spec.VolumeName == "" {
				used = t.users.ClaimChanged(claim) || used
			}
		}
	}
	return used
}

// StorageClassSeen takes in a StorageClass. It must not be written any more.
func (t *Table) StorageClassSeen(c *storagev1.StorageClass) bool {
	before := t.objects.Classes[c.Name]
	t.objects.Classes[c.Name] = c
	return (before == nil || !sameClass(before, c)) && t.classesChanged()
}

// StorageClassGone takes in that a StorageClass was deleted.
func (t *Table) StorageClassGone(c *storagev1.StorageClass) bool {
	delete(t.objects.Classes, c.Name)
	return t.classesChanged()
}

// classesChanged has all pods looked at again that wait for a volume: the default class
// may be another too. Classes change seldom.
func (t *Table) classesChanged() bool {
	used := false
	for claim := range t.users.Claims() {
		c := t.objects.Claims[claim]
		if c == nil || !metav1.HasAnnotation(c.ObjectMeta, volume.AnnBindCompleted) || t.objects.Volumes[c.Spec.VolumeName] == nil {
			used = t.users.ClaimChanged(claim) || used
		}
	}
	return used
}
