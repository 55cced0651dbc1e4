package snapshot

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/translate"
)

type daemonEntry struct {
	object   *appsv1.DaemonSet // nil while only pods of it were seen
	template *subject          // the pod that the DaemonSet would make; nil: none is admitted, or the DaemonSet was not seen
	newest   *subject          // of the newest pod; nil before there is one
	podAt    time.Time
	early    *corev1.Pod // that one, while the DaemonSet was not seen
}

func (d *daemonEntry) shape() *cluster.Shape {
	if d.newest != nil {
		return d.newest.shape
	}
	return d.template.shape
}

// daemonPodSeen remembers the newest pod of a DaemonSet, which shows requests
// that admission filled in better than the template does.
func (k *ClusterState) daemonPodSeen(pod *corev1.Pod) {
	for _, o := range pod.OwnerReferences {
		if o.Kind != "DaemonSet" {
			continue
		}
		key := types.NamespacedName{Namespace: pod.Namespace, Name: o.Name}
		entry := k.daemons[key] // without template: seen before its DaemonSet
		if at := pod.CreationTimestamp.UTC(); !at.Before(entry.podAt) {
			entry.podAt = at
			k.newestIs(&entry, pod)
			k.daemons[key] = entry
		}
	}
}

// newestIs takes in the newest pod of a DaemonSet, with the tolerations that its controller
// goes by: those of the template, without what admission added to the pod. Until the
// DaemonSet is seen these are not known.
func (k *ClusterState) newestIs(entry *daemonEntry, pod *corev1.Pod) {
	entry.early = nil
	if entry.object == nil {
		entry.early = pod
	} else {
		made := *pod
		made.Spec.Tolerations = translate.DaemonPod(entry.object, nil, nil).Spec.Tolerations
		pod = &made
	}
	entry.newest, _ = k.describeDaemon(entry.newest, pod)
}

// DaemonSetSeen takes in a DaemonSet. It must not be written any more.
func (k *ClusterState) DaemonSetSeen(ds *appsv1.DaemonSet) {
	k.mu.Lock()
	defer k.mu.Unlock()
	key := types.NamespacedName{Namespace: ds.Namespace, Name: ds.Name}
	entry := k.daemons[key]
	before := entry.template
	entry.object = ds
	template, changed := k.describeDaemon(before, translate.DaemonPod(ds, k.limitsOf(ds.Namespace), k.runtimeOf(&ds.Spec.Template.Spec)))
	entry.template = template
	if entry.early != nil {
		k.newestIs(&entry, entry.early)
	}
	if before != nil && changed && entry.newest != nil {
		k.forget(entry.newest) // pods of the older template say nothing any more
		entry.newest, entry.podAt = nil, time.Time{}
	}
	k.daemons[key] = entry
	k.bump()
}

// DaemonSetGone takes in that a DaemonSet was deleted.
func (k *ClusterState) DaemonSetGone(namespace, name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	key := types.NamespacedName{Namespace: namespace, Name: name}
	k.forget(k.daemons[key].template)
	k.forget(k.daemons[key].newest)
	delete(k.daemons, key)
	k.bump()
}

func (k *ClusterState) limitsOf(namespace string) []*corev1.LimitRange {
	var out []*corev1.LimitRange
	for _, name := range sortedKeys(k.limitRanges) {
		if name.Namespace == namespace {
			out = append(out, k.limitRanges[name])
		}
	}
	return out
}

func (k *ClusterState) runtimeOf(spec *corev1.PodSpec) *nodev1.RuntimeClass {
	if spec.RuntimeClassName == nil {
		return nil
	}
	return k.runtimes[*spec.RuntimeClassName]
}

// LimitRangeSeen takes in what pods of a namespace ask for by default. It must
// not be written any more.
func (k *ClusterState) LimitRangeSeen(r *corev1.LimitRange) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.limitRanges[types.NamespacedName{Namespace: r.Namespace, Name: r.Name}] = r
	k.admitAgain(r.Namespace)
}

// LimitRangeGone takes in that a limit range was deleted.
func (k *ClusterState) LimitRangeGone(namespace, name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.limitRanges, types.NamespacedName{Namespace: namespace, Name: name})
	k.admitAgain(namespace)
}

// RuntimeClassSeen takes in what a runtime adds to pods. It must not be written
// any more.
func (k *ClusterState) RuntimeClassSeen(c *nodev1.RuntimeClass) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.runtimes[c.Name] = c
	k.admitAgain("")
}

// RuntimeClassGone takes in that a runtime class was deleted.
func (k *ClusterState) RuntimeClassGone(name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.runtimes, name)
	k.admitAgain("")
}

// admitAgain looks again at the DaemonSets of a namespace, or of all. What
// their newest pods ask for was decided when these were made.
func (k *ClusterState) admitAgain(namespace string) {
	changed := false
	for name, entry := range k.daemons {
		if entry.object == nil || namespace != "" && name.Namespace != namespace {
			continue
		}
		pod := translate.DaemonPod(entry.object, k.limitsOf(name.Namespace), k.runtimeOf(&entry.object.Spec.Template.Spec))
		next, differs := k.describeDaemon(entry.template, pod)
		entry.template, changed = next, changed || differs
		k.daemons[name] = entry
	}
	if changed {
		k.bump()
	}
}
