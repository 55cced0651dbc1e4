package termination

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/serving"
	"github.com/daemok/daemok/kube/surge"
	"github.com/daemok/daemok/kube/translate/podspec"
	"github.com/daemok/daemok/observe"
)

// surgeFor is how long the second replica of a workload may take to be ready.
// Source: progressDeadlineSeconds of Deployments, after which a rollout has
// failed.
const surgeFor = 10 * time.Minute

// seekEvery is how often records are searched for that this process did not write.
const seekEvery = 10 * time.Minute

// awaitsSecond is why a pod waits whose workload was scaled up for it.
const awaitsSecond = "its second replica is not ready yet"

// standIn sees to it that another pod of the workload is ready before one that
// is the only one wanted is evicted. It returns why that has to wait; empty: it
// need not, or nothing can be done for it.
func (r *Reconciler) standIn(ctx context.Context, d *departure, p *corev1.Pod) (string, error) {
	if !podspec.IsUp(p) {
		return "", nil
	}
	w, err := r.workloadOf(ctx, p)
	if err != nil || w == nil {
		return "", err
	}
	ready, _, err := serving.Others(ctx, r.Live, p, w.selector())
	if err != nil || ready > 0 {
		return "", err
	}
	s, err := r.Surges.Of(ctx, w.kind, w.Object)
	if apierrors.IsForbidden(err) {
		return r.skipSurge(w, p, "the controller has no right to: "+err.Error())
	}
	if err != nil {
		return "", err
	}
	if s == nil {
		return r.beginSurge(ctx, d, w, p)
	}
	r.expectSurges()
	inTime := r.Now().Sub(s.Since) < surgeFor
	switch {
	case s.PodUID != p.UID:
		return "an earlier surge of " + w.kind + " " + w.GetName() + " is being scaled back", nil
	case inTime && w.replicas() == surged:
		return awaitsSecond, nil
	case inTime && w.GetGeneration() == s.Generation: // recorded, and not scaled yet
		return awaitsSecond, r.scaleUp(ctx, d, w, *s, p)
	}
	r.reportSurge(w, true, "SurgeFailed",
		fmt.Sprintf("pod %s goes without another that is ready: none came in %s, or another user set its replicas",
			p.Name, surgeFor))
	return "", nil
}

// beginSurge records a surge and scales the workload up, where it may have a second
// replica. It returns why the pod has to wait.
func (r *Reconciler) beginSurge(ctx context.Context, d *departure, w *workload, p *corev1.Pod) (string, error) {
	if w.replicas() != 1 {
		return "", nil
	}
	why, err := r.unsuited(ctx, w, p)
	if err == nil && why == "" {
		s := surge.Record{Kind: w.kind, Namespace: w.GetNamespace(), Name: w.GetName(), PodUID: p.UID,
			Generation: w.GetGeneration(), Since: r.Now()}
		r.expectSurges() // a write that failed may have come through
		if err = r.Surges.Add(ctx, s); err == nil {
			err = r.scaleUp(ctx, d, w, s, p)
		}
	}
	switch {
	case apierrors.IsForbidden(err):
		why = "the controller has no right to: " + err.Error()
	case errors.Is(err, surge.ErrNoNamespace):
		why = err.Error()
	case err != nil:
		return "", err
	case why == "":
		return awaitsSecond, nil
	}
	return r.skipSurge(w, p, why)
}

// skipSurge has a pod go without a second replica.
func (r *Reconciler) skipSurge(w *workload, p *corev1.Pod, why string) (string, error) {
	r.reportSurge(w, true, "SurgeSkipped", fmt.Sprintf("no second replica before pod %s goes: %s", p.Name, why))
	return "", nil
}

// scaleUp asks for the second replica, which is recorded.
func (r *Reconciler) scaleUp(ctx context.Context, d *departure, w *workload, s surge.Record, p *corev1.Pod) error {
	err := r.scale(ctx, w, surged)
	if apierrors.IsConflict(err) || apierrors.IsForbidden(err) {
		// Whatever replicas there are now are another's, and must not be scaled back.
		return errors.Join(err, r.Surges.Remove(ctx, s))
	}
	if err == nil {
		r.reportSurge(w, false, "Surged",
			fmt.Sprintf("two replicas until pod %s has left node %s", p.Name, d.node.Name))
	}
	return err
}

// TakeBack is a round that scales workloads back to their one replica, once the pod that
// the second was for has gone. It searches for records after a start, while it knows of
// some, and every now and then.
func (r *Reconciler) TakeBack(ctx context.Context) (time.Duration, error) {
	if !r.seeksSurges() {
		return recheckDrain, nil
	}
	found, err := r.Surges.All(ctx)
	if apierrors.IsForbidden(err) {
		return recheckDrain, nil // then none was begun either
	}
	if err != nil || len(found) > 0 {
		r.expectSurges() // until none is found
	}
	for _, s := range found {
		if wrong := r.takeBack(ctx, s); wrong != nil {
			err = wrong // the others are checked all the same
		}
	}
	return recheckDrain, err
}

// seeksSurges reports whether it is time to search for records, and remembers that this is
// done now.
func (r *Reconciler) seeksSurges() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.Now()
	if now.Before(r.seekSurgesAt) {
		return false
	}
	r.seekSurgesAt = now.Add(seekEvery)
	return true
}

// expectSurges has the next round search for records.
func (r *Reconciler) expectSurges() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seekSurgesAt = time.Time{}
}

// takeBack scales a workload back to its one replica if it is time, and takes the record
// out. Replicas that another controller or user has set since are left alone.
func (r *Reconciler) takeBack(ctx context.Context, s surge.Record) error {
	w, err := r.surgedWorkload(ctx, s)
	if err != nil {
		return err
	}
	if w == nil {
		return r.Surges.Remove(ctx, s)
	}
	over, err := r.isOver(ctx, w, s)
	if err != nil || !over {
		return err
	}
	if w.replicas() == surged {
		err := r.scale(ctx, w, 1)
		if apierrors.IsForbidden(err) { // the right was taken away: later drains must not wait for it
			r.reportSurge(w, true, "SurgeStays", "it keeps two replicas: the controller has no right to: "+err.Error())
			return r.Surges.Remove(ctx, s)
		}
		if err != nil {
			return client.IgnoreNotFound(err)
		}
	}
	if err := r.Surges.Remove(ctx, s); err != nil {
		return err
	}
	r.reportSurge(w, false, "SurgeEnded", "one replica again")
	return nil
}

// isOver reports whether the second replica is not needed any more.
func (r *Reconciler) isOver(ctx context.Context, w *workload, s surge.Record) (bool, error) {
	var pods corev1.PodList
	if err := r.Live.List(ctx, &pods, client.InNamespace(w.GetNamespace()),
		client.MatchingLabelsSelector{Selector: w.selector()}); err != nil {
		return false, fmt.Errorf("list the pods of %s %s/%s: %w", w.kind, w.GetNamespace(), w.GetName(), err)
	}
	for i := range pods.Items {
		if p := &pods.Items[i]; p.UID == s.PodUID && p.DeletionTimestamp == nil {
			return r.stays(ctx, p)
		}
	}
	// The second pod of a StatefulSet is the one that goes with the second
	// replica, so the first must be back.
	return w.kind != "StatefulSet" || firstReady(w, pods.Items) || r.overBy().Sub(s.Since) > 2*surgeFor, nil
}

// stays reports whether the pod's node does not go.
func (r *Reconciler) stays(ctx context.Context, p *corev1.Pod) (bool, error) {
	node := &corev1.Node{}
	if err := client.IgnoreNotFound(r.Store.Get(ctx, client.ObjectKey{Name: p.Spec.NodeName}, node)); err != nil {
		return false, fmt.Errorf("read the node of pod %s/%s: %w", p.Namespace, p.Name, err)
	}
	return node.DeletionTimestamp == nil, nil // also where there is none
}

// stabilize ends the surge for a pod that was just evicted, so that a third pod is not
// there for long. What fails here the round does.
func (r *Reconciler) stabilize(ctx context.Context, p *corev1.Pod) error {
	w, err := r.workloadOf(ctx, p)
	if err != nil || w == nil {
		return err
	}
	s, err := r.Surges.Of(ctx, w.kind, w.Object)
	if apierrors.IsForbidden(err) || err == nil && (s == nil || s.PodUID != p.UID) {
		return nil
	}
	if err != nil {
		return err
	}
	return r.takeBack(ctx, *s)
}

func (r *Reconciler) reportSurge(w *workload, warning bool, reason, message string) {
	r.Events.Publish(observe.Event{About: w.Object, Key: w.kind + "/" + w.GetNamespace() + "/" + w.GetName(),
		Warning: warning, Reason: reason, Message: message})
}
