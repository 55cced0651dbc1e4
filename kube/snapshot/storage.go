package snapshot

import (
	"reflect"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/component-helpers/storage/volume"

	"github.com/daemok/daemok/kube/translate"
)

// NamespaceSeen takes in a namespace. It must not be written any more.
func (k *ClusterState) NamespaceSeen(n *corev1.Namespace) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.namespaces[n.Name] = n.Labels
	k.chooseAgain()
}

// NamespaceGone takes in that a namespace was deleted.
func (k *ClusterState) NamespaceGone(name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.namespaces, name)
	k.chooseAgain()
}

func (k *ClusterState) chooseAgain() {
	if k.rules.chooseAgain(&k.subjects, k.chosen) {
		k.bump()
	}
}

// chosen lists the namespaces whose labels a selector chooses.
func (k *ClusterState) chosen(by labels.Selector) []string {
	var out []string
	for name, l := range k.namespaces {
		if by.Matches(labels.Set(l)) {
			out = append(out, name)
		}
	}
	return out
}

// ClaimOfVolumeSeen takes in a volume claim. It must not be written any more.
func (k *ClusterState) ClaimOfVolumeSeen(c *corev1.PersistentVolumeClaim) {
	k.mu.Lock()
	defer k.mu.Unlock()
	name := types.NamespacedName{Namespace: c.Namespace, Name: c.Name}
	before := k.storage.Claims[name]
	k.storage.Claims[name] = c
	if before == nil || !sameClaim(before, c) {
		k.claimOfVolumeChanged(name, before, c)
	}
}

// ClaimOfVolumeGone takes in that a volume claim was deleted.
func (k *ClusterState) ClaimOfVolumeGone(namespace, name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	key := types.NamespacedName{Namespace: namespace, Name: name}
	before := k.storage.Claims[key]
	delete(k.storage.Claims, key)
	k.claimOfVolumeChanged(key, before, nil)
}

func (k *ClusterState) claimOfVolumeChanged(name types.NamespacedName, before, after *corev1.PersistentVolumeClaim) {
	if before != nil {
		k.claimOf.drop(before.Spec.VolumeName, name)
	}
	if after != nil {
		k.claimOf.put(after.Spec.VolumeName, name)
	}
	for s := range k.subjects.claimUsers[name] {
		k.views.isOld(s.node) // it may use another volume now
	}
	if k.subjects.claimChanged(name) {
		k.bump()
	}
}

func sameClaim(a, b *corev1.PersistentVolumeClaim) bool {
	return a.Status.Phase == b.Status.Phase && (a.DeletionTimestamp == nil) == (b.DeletionTimestamp == nil) &&
		reflect.DeepEqual(a.Spec, b.Spec) && reflect.DeepEqual(a.Annotations, b.Annotations) && reflect.DeepEqual(a.OwnerReferences, b.OwnerReferences)
}

// claimsOf lists the claims bound to each volume.
type claimsOf map[string]map[types.NamespacedName]struct{}

func (c claimsOf) put(volume string, claim types.NamespacedName) {
	if volume == "" {
		return
	}
	if c[volume] == nil {
		c[volume] = map[types.NamespacedName]struct{}{}
	}
	c[volume][claim] = struct{}{}
}

func (c claimsOf) drop(volume string, claim types.NamespacedName) {
	delete(c[volume], claim)
	if len(c[volume]) == 0 {
		delete(c, volume)
	}
}

// VolumeSeen takes in a persistent volume. It must not be written any more.
func (k *ClusterState) VolumeSeen(v *corev1.PersistentVolume) {
	k.mu.Lock()
	defer k.mu.Unlock()
	before := k.storage.Volumes[v.Name]
	k.storage.Volumes[v.Name] = v
	if before == nil {
		k.volumeChanged(v)
	} else if !sameVolume(before, v) {
		k.volumeChanged(before)
		k.volumeChanged(v)
	}
}

// VolumeGone takes in that a persistent volume was deleted.
func (k *ClusterState) VolumeGone(name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if before := k.storage.Volumes[name]; before != nil {
		delete(k.storage.Volumes, name)
		k.volumeChanged(before)
	}
}

func sameVolume(a, b *corev1.PersistentVolume) bool {
	return a.Status.Phase == b.Status.Phase && (a.DeletionTimestamp == nil) == (b.DeletionTimestamp == nil) &&
		reflect.DeepEqual(a.Spec, b.Spec) && reflect.DeepEqual(a.Labels, b.Labels) && reflect.DeepEqual(a.Annotations, b.Annotations)
}

// volumeChanged looks again at who uses a volume or, where it is free or may
// have been, could come to use it.
func (k *ClusterState) volumeChanged(v *corev1.PersistentVolume) {
	used := false
	for claim := range k.claimOf[v.Name] {
		used = k.subjects.claimChanged(claim) || used
	}
	if class := k.storage.Classes[volume.GetPersistentVolumeClass(v)]; class != nil && translate.MadeByHand(class) {
		for claim := range k.subjects.claimUsers {
			if c := k.storage.Claims[claim]; c != nil && c.Spec.VolumeName == "" {
				used = k.subjects.claimChanged(claim) || used
			}
		}
	}
	if used {
		k.bump()
	}
}

// StorageClassSeen takes in a storage class. It must not be written any more.
func (k *ClusterState) StorageClassSeen(c *storagev1.StorageClass) {
	k.mu.Lock()
	defer k.mu.Unlock()
	before := k.storage.Classes[c.Name]
	k.storage.Classes[c.Name] = c
	if before == nil || !reflect.DeepEqual(before.Annotations, c.Annotations) || !reflect.DeepEqual(before.AllowedTopologies, c.AllowedTopologies) ||
		before.Provisioner != c.Provisioner || !reflect.DeepEqual(before.VolumeBindingMode, c.VolumeBindingMode) {
		k.classesChanged()
	}
}

// StorageClassGone takes in that a storage class was deleted.
func (k *ClusterState) StorageClassGone(name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.storage.Classes, name)
	k.classesChanged()
}

// classesChanged looks again at whoever waits for a volume: the default class
// may be another too. Classes change seldom.
func (k *ClusterState) classesChanged() {
	used := false
	for claim := range k.subjects.claimUsers {
		c := k.storage.Claims[claim]
		if c == nil || !metav1.HasAnnotation(c.ObjectMeta, volume.AnnBindCompleted) || k.storage.Volumes[c.Spec.VolumeName] == nil {
			used = k.subjects.claimChanged(claim) || used
		}
	}
	if used {
		k.bump()
	}
}

// CSINodeSeen takes in what drivers say of a node. It must not be written any
// more.
func (k *ClusterState) CSINodeSeen(n *storagev1.CSINode) {
	k.mu.Lock()
	defer k.mu.Unlock()
	before := k.csiNodes[n.Name]
	k.csiNodes[n.Name] = n
	k.views.isOld(n.Name)
	if before == nil || !reflect.DeepEqual(before.Spec, n.Spec) {
		k.bump()
	}
}

// CSINodeGone takes in that nothing is said of a node's drivers any more.
func (k *ClusterState) CSINodeGone(name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.csiNodes, name)
	k.views.isOld(name)
	k.bump()
}

// attachment is a volume that is attached to a node, or is to be.
type attachment struct{ driver, volume string }

// AttachmentSeen takes in that a volume is attached to a node. Which one never
// changes.
func (k *ClusterState) AttachmentSeen(a *storagev1.VolumeAttachment) {
	if a.Spec.Source.PersistentVolumeName == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	on := k.attachments[a.Spec.NodeName]
	if on == nil {
		on = map[string]attachment{}
		k.attachments[a.Spec.NodeName] = on
	}
	if _, known := on[a.Name]; known {
		return
	}
	on[a.Name] = attachment{driver: a.Spec.Attacher, volume: *a.Spec.Source.PersistentVolumeName}
	k.views.isOld(a.Spec.NodeName)
	k.bump()
}

// AttachmentGone takes in that a volume was detached.
func (k *ClusterState) AttachmentGone(node, name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if delete(k.attachments[node], name); len(k.attachments[node]) == 0 {
		delete(k.attachments, node)
	}
	k.views.isOld(node)
	k.bump()
}
