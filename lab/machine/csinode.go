package machine

import (
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// EBSDriver is the name under which the emulated volumes' driver goes.
const EBSDriver = "ebs.csi.aws.com"

// migratedPlugins is what every kubelet of today says of itself: volumes of
// these built-in drivers are handled by their CSI successors.
const migratedPlugins = "kubernetes.io/aws-ebs,kubernetes.io/azure-disk,kubernetes.io/azure-file,kubernetes.io/cinder," +
	"kubernetes.io/gce-pd,kubernetes.io/portworx-volume,kubernetes.io/vsphere-volume"

// csiNode is what the kubelet publishes when the EBS driver registers with it.
func csiNode(node *corev1.Node, instanceID string, volumesMax int32) *storagev1.CSINode {
	return &storagev1.CSINode{
		ObjectMeta: metav1.ObjectMeta{
			Name:        node.Name,
			Annotations: map[string]string{"storage.alpha.kubernetes.io/migrated-plugins": migratedPlugins},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "v1", Kind: "Node", Name: node.Name, UID: node.UID,
			}},
		},
		Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{{
			Name:         EBSDriver,
			NodeID:       instanceID,
			TopologyKeys: []string{corev1.LabelOSStable, labelEBSZone, corev1.LabelTopologyZone},
			Allocatable:  &storagev1.VolumeNodeResources{Count: &volumesMax},
		}}},
	}
}
