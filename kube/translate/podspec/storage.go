package podspec

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/component-helpers/storage/volume"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/translate"
)

// Storage is what a cluster says about volumes. Its maps belong to the caller that fills them;
// nothing here writes them or the objects in them.
type Storage struct {
	Claims  map[types.NamespacedName]*corev1.PersistentVolumeClaim
	Volumes map[string]*corev1.PersistentVolume
	Classes map[string]*storagev1.StorageClass
	// Shared reports whether several pods that have not ended use a claim.
	Shared func(claim types.NamespacedName) bool
}

// classOf is the class that a claim asks for: the default one where it names
// none, as it will be given. It is empty where there is none.
func (s *Storage) classOf(claim *corev1.PersistentVolumeClaim) string {
	if _, old := claim.Annotations[corev1.BetaStorageClassAnnotation]; old || claim.Spec.StorageClassName != nil {
		return volume.GetPersistentVolumeClaimClass(claim)
	}
	return s.defaultClass()
}

// defaultClass is the newest of the classes marked as the default; of equally
// old ones the first by name.
func (s *Storage) defaultClass() string {
	var newest *storagev1.StorageClass
	for _, c := range s.Classes {
		if !isDefault(c) {
			continue
		}
		if newest == nil || c.CreationTimestamp.After(newest.CreationTimestamp.Time) ||
			c.CreationTimestamp.Equal(&newest.CreationTimestamp) && c.Name < newest.Name {
			newest = c
		}
	}
	if newest == nil {
		return ""
	}
	return newest.Name
}

func isDefault(c *storagev1.StorageClass) bool {
	return c.Annotations[annotationDefaultClass] == "true" || c.Annotations[annotationDefaultClassBeta] == "true"
}

const (
	annotationDefaultClass     = "storageclass.kubernetes.io/is-default-class"
	annotationDefaultClassBeta = "storageclass.beta.kubernetes.io/is-default-class"
)

// free lists the volumes that the scheduler may bind a claim of the class to,
// by name.
func (s *Storage) free(claim *corev1.PersistentVolumeClaim, class string) []*corev1.PersistentVolume {
	var out []*corev1.PersistentVolume
	for _, v := range s.Volumes {
		if takes(v, claim, class) {
			out = append(out, v)
		}
	}
	slices.SortFunc(out, func(a, b *corev1.PersistentVolume) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// takes reports whether a volume that no pod uses suits a claim, or was made for it.
func takes(v *corev1.PersistentVolume, claim *corev1.PersistentVolumeClaim, class string) bool {
	size, asked := v.Spec.Capacity[corev1.ResourceStorage], claim.Spec.Resources.Requests[corev1.ResourceStorage]
	if v.DeletionTimestamp != nil || size.Cmp(asked) < 0 || volume.CheckVolumeModeMismatches(&claim.Spec, &v.Spec) ||
		value(v.Spec.VolumeAttributesClassName) != value(claim.Spec.VolumeAttributesClassName) {
		return false
	}
	if v.Spec.ClaimRef != nil {
		return volume.IsVolumeBoundToClaim(v, claim)
	}
	return v.Status.Phase == corev1.VolumeAvailable && volume.GetPersistentVolumeClass(v) == class &&
		chooses(claim.Spec.Selector, v.Labels) && volume.CheckAccessModes(claim, v)
}

func chooses(s *metav1.LabelSelector, of map[string]string) bool {
	if s == nil {
		return true
	}
	chosen, err := metav1.LabelSelectorAsSelector(s)
	return err == nil && chosen.Matches(labels.Set(of))
}

func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// Attachable is how many volumes of each driver a node says it takes, sorted
// by driver. A driver that names no number has no limit.
func Attachable(n *storagev1.CSINode) []cluster.Attachable {
	var out []cluster.Attachable
	for _, d := range n.Spec.Drivers {
		if d.Allocatable != nil && d.Allocatable.Count != nil {
			out = append(out, cluster.Attachable{Driver: d.Name, Count: int64(*d.Allocatable.Count)})
		}
	}
	slices.SortFunc(out, translate.ByDriver)
	return out
}

// Expect adds, for drivers that have not registered on the node yet, what its instance takes by its
// type.
func Expect(seen []cluster.Attachable, registered *storagev1.CSINode, kind []cluster.Attachable) []cluster.Attachable {
	out := slices.Clone(seen)
	for _, a := range kind {
		if registered == nil || !slices.ContainsFunc(registered.Spec.Drivers, func(d storagev1.CSINodeDriver) bool { return d.Name == a.Driver }) {
			out = append(out, a)
		}
	}
	slices.SortFunc(out, translate.ByDriver)
	return out
}
