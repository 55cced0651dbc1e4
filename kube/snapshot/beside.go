package snapshot

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/translate"
)

// Beside tells what shape a pod would have if it came, and which of the pods
// that are there belong with it: those that are chosen, with the shapes they
// would have then, by name. Pods that have ended are not asked about.
func (k *ClusterState) Beside(pod *corev1.Pod, chosen func(*cluster.Pod) bool) (cluster.Shape, []cluster.Pod) {
	k.mu.Lock()
	defer k.mu.Unlock()
	s := k.describePod(nil, pod)
	k.reshape()
	shape := *s.shape
	var out []cluster.Pod
	for _, e := range slices.SortedFunc(maps.Values(k.pods), byEntry) {
		p := e.pod
		if e.ended || !chosen(&p) {
			continue
		}
		p.Shape = e.subject.shape
		out = append(out, p)
	}
	k.forget(s)
	return shape, out
}

// Admit fills in what an API server adds to a pod that is created, as far as
// objects say it that the cluster state has seen, or says why that would refuse it.
func (k *ClusterState) Admit(pod *corev1.Pod) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return translate.Admit(pod, k.limitsOf(pod.Namespace), k.runtimeOf(&pod.Spec))
}

// HasRuntimeClass reports whether a runtime class has been seen.
func (k *ClusterState) HasRuntimeClass(name string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.runtimes[name] != nil
}

// HasVolume reports whether a persistent volume has been seen.
func (k *ClusterState) HasVolume(name string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.storage.Volumes[name] != nil
}

// HasClaimOfVolume reports whether a volume claim has been seen.
func (k *ClusterState) HasClaimOfVolume(namespace, name string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.storage.Claims[types.NamespacedName{Namespace: namespace, Name: name}] != nil
}
