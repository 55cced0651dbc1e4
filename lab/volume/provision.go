package volume

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
)

const (
	annProvisioner     = "volume.kubernetes.io/storage-provisioner"
	annProvisionerBeta = "volume.beta.kubernetes.io/storage-provisioner"
	annSelectedNode    = "volume.kubernetes.io/selected-node"
	annProvisionedBy   = "pv.kubernetes.io/provisioned-by"
	labelZone          = "topology.ebs.csi.aws.com/zone"

	waitForZone = 500 * time.Millisecond // until a node of this driver may be there
	gib         = int64(1) << 30
)

// syncClaim provisions the volume of a claim that the cluster handed to this
// driver and that has none yet.
func (d *Driver) syncClaim(ctx context.Context, it item) (time.Duration, error) {
	claim, err := d.claims.PersistentVolumeClaims(it.namespace).Get(it.name)
	if err != nil || !wanted(claim) {
		return 0, ignoreGone(err)
	}
	class, err := d.classes.Get(*claim.Spec.StorageClassName)
	if err != nil {
		return 0, fmt.Errorf("class of claim %s/%s: %w", it.namespace, it.name, err)
	}
	zone, err := d.zoneFor(ctx, claim, class)
	if err != nil {
		return 0, err
	}
	if zone == "" {
		return waitForZone, nil
	}
	_, err = d.options.Client.CoreV1().PersistentVolumes().Create(ctx, newVolume(claim, class, zone), metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return 0, fmt.Errorf("provision volume of claim %s/%s: %w", it.namespace, it.name, err)
	}
	return 0, nil
}

func wanted(c *corev1.PersistentVolumeClaim) bool {
	by := c.Annotations[annProvisioner]
	if by == "" {
		by = c.Annotations[annProvisionerBeta]
	}
	return by == DriverName && c.Spec.VolumeName == "" && c.Spec.StorageClassName != nil && c.DeletionTimestamp == nil
}

// zoneFor is the selected node's zone, or for a class that does not wait one
// of those allowed; "" means that there is none yet. A selection of a node
// that is gone is taken back, so that the scheduler chooses again.
func (d *Driver) zoneFor(ctx context.Context, c *corev1.PersistentVolumeClaim, class *storagev1.StorageClass) (string, error) {
	name := c.Annotations[annSelectedNode]
	if name == "" {
		if waits(class) {
			return "", nil
		}
		return pick(c, d.zones(class)), nil
	}
	node, err := d.nodes.Get(name)
	if apierrors.IsNotFound(err) {
		return "", d.unselect(ctx, c)
	}
	if err != nil {
		return "", fmt.Errorf("read selected node %s: %w", name, err)
	}
	return node.Labels[labelZone], nil
}

func waits(class *storagev1.StorageClass) bool {
	return class.VolumeBindingMode != nil && *class.VolumeBindingMode == storagev1.VolumeBindingWaitForFirstConsumer
}

// zones are those that the class allows, or those in which the driver runs.
func (d *Driver) zones(class *storagev1.StorageClass) []string {
	var out []string
	for _, term := range class.AllowedTopologies {
		for _, e := range term.MatchLabelExpressions {
			if e.Key == labelZone || e.Key == corev1.LabelTopologyZone {
				out = append(out, e.Values...)
			}
		}
	}
	if len(out) == 0 {
		nodes, _ := d.nodes.List(labels.Everything())
		for _, n := range nodes {
			if zone := n.Labels[labelZone]; zone != "" {
				out = append(out, zone)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// pick spreads claims over zones by their names.
func pick(c *corev1.PersistentVolumeClaim, zones []string) string {
	if len(zones) == 0 {
		return ""
	}
	h := fnv.New32a()
	fmt.Fprintf(h, "%s/%s", c.Namespace, c.Name)
	return zones[h.Sum32()%uint32(len(zones))]
}

func (d *Driver) unselect(ctx context.Context, c *corev1.PersistentVolumeClaim) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": c.UID, "annotations": map[string]any{annSelectedNode: nil},
	}})
	if err != nil {
		return err
	}
	_, err = d.options.Client.CoreV1().PersistentVolumeClaims(c.Namespace).
		Patch(ctx, c.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	if ignoreGone(err) != nil {
		return fmt.Errorf("take back the node selected for claim %s/%s: %w", c.Namespace, c.Name, err)
	}
	return nil
}

// newVolume is a whole number of GiB in one zone, bound to its claim.
func newVolume(c *corev1.PersistentVolumeClaim, class *storagev1.StorageClass, zone string) *corev1.PersistentVolume {
	asked := c.Spec.Resources.Requests[corev1.ResourceStorage]
	size := *resource.NewQuantity((asked.Value()+gib-1)/gib*gib, resource.BinarySI)
	policy := corev1.PersistentVolumeReclaimDelete
	if class.ReclaimPolicy != nil {
		policy = *class.ReclaimPolicy
	}
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{
			Name:        "pvc-" + string(c.UID),
			Annotations: map[string]string{annProvisionedBy: DriverName},
		},
		Spec: corev1.PersistentVolumeSpec{
			Capacity:                      corev1.ResourceList{corev1.ResourceStorage: size},
			AccessModes:                   c.Spec.AccessModes,
			VolumeMode:                    c.Spec.VolumeMode,
			StorageClassName:              class.Name,
			MountOptions:                  class.MountOptions,
			PersistentVolumeReclaimPolicy: policy,
			ClaimRef: &corev1.ObjectReference{
				APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: c.Namespace, Name: c.Name, UID: c.UID,
				ResourceVersion: c.ResourceVersion,
			},
			PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{
				Driver: DriverName, VolumeHandle: handle(c), FSType: "ext4",
			}},
			NodeAffinity: inZone(zone),
		},
	}
}

// handle has the form of the id of an EBS volume and is the same for equal claims.
func handle(c *corev1.PersistentVolumeClaim) string {
	h := fnv.New128a()
	h.Write([]byte(c.UID))
	return fmt.Sprintf("vol-0%x", h.Sum(nil)[:8])
}

func inZone(zone string) *corev1.VolumeNodeAffinity {
	return &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
		MatchExpressions: []corev1.NodeSelectorRequirement{{
			Key: labelZone, Operator: corev1.NodeSelectorOpIn, Values: []string{zone},
		}},
	}}}}
}

func ignoreGone(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
