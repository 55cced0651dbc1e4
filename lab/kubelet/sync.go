package kubelet

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/lab/event"
)

// volumeRecheck is how often a pod that waits for volumes checks again.
const volumeRecheck = 200 * time.Millisecond

func (h *Hub) work(ctx context.Context) {
	for {
		key, stop := h.queue.Get()
		if stop {
			return
		}
		again, err := h.sync(ctx, key)
		switch {
		case err != nil && ctx.Err() == nil:
			h.options.Log.Warn("pod not handled, trying again", "pod", key, "error", err)
			h.queue.AddRateLimited(key)
		case again > 0:
			h.queue.AddAfter(key, again)
			h.queue.Forget(key)
		default:
			h.queue.Forget(key)
		}
		h.queue.Done(key)
	}
}

// sync takes one step for one pod and says when to check again; zero means wait for a
// change.
func (h *Hub) sync(ctx context.Context, key string) (time.Duration, error) {
	obj, found, err := h.informer.GetStore().GetByKey(key)
	if err != nil || !found {
		return 0, err
	}
	pod := obj.(*corev1.Pod)
	node, ok := h.node(pod.Spec.NodeName)
	if !ok {
		return 0, nil
	}
	now := time.Now()
	if why := h.rooms.admit(node, pod); why != nil {
		return 0, h.reject(ctx, node, pod, *why)
	}
	waiting := h.mountVolumes(node, pod)
	step := next(sight{
		pod: pod, seenAt: h.firstSeen(key, pod, now), now: now, pace: h.options.Pace,
		waiting: waiting, hostIP: node.IP, nextIP: h.ips.next, real: h.contain(node, pod, waiting),
	})
	if h.begunToStop(key, pod) {
		h.reportContainers(node, pod, killing)
	}
	switch {
	case step.remove:
		return 0, h.remove(ctx, node, pod)
	case step.status != nil:
		return step.recheck, h.report(ctx, node, pod, *step.status)
	}
	return step.recheck, nil
}

// contain has the Runtime take one step for a pod, and returns how its containers are; nil where they are emulated.
func (h *Hub) contain(node Node, pod *corev1.Pod, waiting string) *contained {
	r := h.options.Runtime
	switch {
	case r == nil || terminal(pod) || !r.Runs(pod):
		return nil
	case pod.DeletionTimestamp != nil:
		return &contained{ended: r.Stop(pod)}
	case waiting != "":
		return &contained{}
	}
	statuses := r.Sync(pod, node.Allocatable)
	if node.off.Load() { // since this step began: PowerOff may have come before what was started
		r.Kill(pod.UID)
	}
	return &contained{statuses: statuses}
}

func (h *Hub) firstSeen(key string, pod *corev1.Pod, now time.Time) time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s, ok := h.seen[key]; ok && s.uid == string(pod.UID) {
		return s.at
	}
	h.seen[key] = sighting{uid: string(pod.UID), at: now}
	return now
}

func (h *Hub) forget(pod *corev1.Pod) {
	key := pod.Namespace + "/" + pod.Name
	h.mu.Lock()
	if h.seen[key].uid == string(pod.UID) {
		delete(h.seen, key)
	}
	node, ok := h.nodes[pod.Spec.NodeName]
	h.mu.Unlock()
	h.rooms.leave(pod)
	if h.options.Runtime != nil {
		h.options.Runtime.Forget(pod.UID)
	}
	if ok {
		h.mounts.set(node, string(pod.UID), nil)
	}
}

// mountVolumes keeps the node's volumes in use up to date with one pod and
// returns what the pod waits for.
func (h *Hub) mountVolumes(node Node, pod *corev1.Pod) (waiting string) {
	if h.options.Storage == nil {
		return ""
	}
	if terminal(pod) {
		h.mounts.set(node, string(pod.UID), nil)
		return ""
	}
	names, waiting := h.options.Storage.Volumes(pod)
	h.mounts.set(node, string(pod.UID), names)
	return waiting
}

func (h *Hub) report(ctx context.Context, node Node, pod *corev1.Pod, status corev1.PodStatus) error {
	changed := pod.DeepCopy()
	changed.Status = status
	_, err := node.Client.Pods(pod.Namespace).UpdateStatus(ctx, changed, metav1.UpdateOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("write status of pod %s/%s as node %s: %w", pod.Namespace, pod.Name, node.Name, err)
	}
	if status.Phase == corev1.PodRunning && pod.Status.Phase != corev1.PodRunning {
		h.reportContainers(node, pod, starting)
	}
	return nil
}

func (h *Hub) reject(ctx context.Context, node Node, pod *corev1.Pod, why refusal) error {
	if err := h.report(ctx, node, pod, refused(pod, why)); err != nil {
		return err
	}
	h.options.Events.Report(node.Client, event.Reported{
		About: podReference(pod), Node: node.Name, Warning: true, Reason: why.reason, Message: why.message,
	})
	return nil
}

func (h *Hub) remove(ctx context.Context, node Node, pod *corev1.Pod) error {
	options := metav1.NewDeleteOptions(0)
	options.Preconditions = metav1.NewUIDPreconditions(string(pod.UID))
	err := node.Client.Pods(pod.Namespace).Delete(ctx, pod.Name, *options)
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("remove pod %s/%s as node %s: %w", pod.Namespace, pod.Name, node.Name, err)
	}
	return nil
}
