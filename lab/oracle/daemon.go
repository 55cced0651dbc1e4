package oracle

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/daemon"
)

// daemonPod is the pod that the DaemonSet controller makes for the node; nil
// if it makes none.
func daemonPod(ds *appsv1.DaemonSet, n *corev1.Node) *corev1.Pod {
	if should, _ := daemon.NodeShouldRunDaemonPod(klog.Background(), n, ds); !should {
		return nil
	}
	pod := daemon.NewPod(ds, n.Name).DeepCopy()
	pod.ObjectMeta = metav1.ObjectMeta{
		Namespace: ds.Namespace, Name: ds.Name + "-" + n.Name, UID: types.UID("uid-" + ds.Name + "-" + n.Name), Labels: ds.Spec.Template.Labels,
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: ds.Name, UID: ds.UID, Controller: new(true)}},
	}
	pod.Status.Phase = corev1.PodRunning
	return pod
}
