package drain

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/serving"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/observe"
)

// surgeFor is how long the second replica of a workload may take to be ready.
// Source: progressDeadlineSeconds of Deployments, after which a rollout has
// failed.
const surgeFor = 10 * time.Minute

// seekEvery is how often marks are looked for that this process knows nothing
// of.
const seekEvery = 10 * time.Minute

// standIn sees to it that another pod of the workload is ready before one that
// is the only one wanted is evicted. It returns why that has to wait; empty: it
// need not, or nothing can be done for it.
//
// Two replicas are wanted from the write on that also marks the workload, so
// that whoever finds the mark knows what to take back.
func (r *Reconciler) standIn(ctx context.Context, d *departure, p *corev1.Pod) (string, error) {
	if !translate.IsUp(p) {
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
	s := surgeOf(w)
	if s.pod != "" {
		r.expectSurges()
	}
	switch {
	case s.pod == p.UID && r.Now().Sub(s.since) < surgeFor && w.replicas() == surged:
		return "its second replica is not ready yet", nil
	case s.pod == p.UID:
		r.tellSurge(w, true, "SurgeFailed", fmt.Sprintf("pod %s goes without another that is ready: none came in %s, or its replicas were set by somebody else", p.Name, surgeFor))
		return "", nil
	case s.pod != "":
		return "an earlier surge of " + w.kind + " " + w.GetName() + " is being taken back", nil
	case w.replicas() != 1:
		return "", nil
	}
	why, err := r.unsuited(ctx, w, p)
	if err == nil && why == "" {
		err = r.surge(ctx, d, w, p)
	}
	if apierrors.IsForbidden(err) {
		why, err = "the controller has no right to: "+err.Error(), nil
	}
	if err != nil {
		return "", err
	}
	if why != "" {
		r.tellSurge(w, true, "SurgeSkipped", fmt.Sprintf("no second replica before pod %s goes: %s", p.Name, why))
		return "", nil
	}
	return "its second replica is not ready yet", nil
}

// surge asks for the second replica.
func (r *Reconciler) surge(ctx context.Context, d *departure, w *workload, p *corev1.Pod) error {
	err := r.change(ctx, w, func() {
		w.scale(surged)
		w.mark(surge{pod: p.UID, since: r.Now()})
	})
	r.expectSurges() // a write that failed may have come through
	if err == nil {
		r.tellSurge(w, false, "Surged", fmt.Sprintf("two replicas until pod %s has left node %s", p.Name, d.node.Name))
	}
	return err
}

// TakeBack is a round that gives workloads their one replica back, once the pod
// that the second was for has gone. It looks for marks after a start, while it
// knows of some, and every now and then.
func (r *Reconciler) TakeBack(ctx context.Context) (time.Duration, error) {
	if !r.seeksSurges() {
		return recheckDrain, nil
	}
	found, err := r.marked(ctx)
	if apierrors.IsForbidden(err) {
		return recheckDrain, nil // then none was begun either
	}
	if err != nil || len(found) > 0 {
		r.expectSurges() // until none is found
	}
	for _, w := range found {
		if wrong := r.takeBack(ctx, w); wrong != nil {
			err = wrong // the others are looked at all the same
		}
	}
	return recheckDrain, err
}

// seeksSurges reports whether it is time to look for marks, and notes that this
// is done now.
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

// expectSurges has the next round look for marks.
func (r *Reconciler) expectSurges() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seekSurgesAt = time.Time{}
}

// marked lists the workloads that carry a mark.
func (r *Reconciler) marked(ctx context.Context) ([]*workload, error) {
	var deployments appsv1.DeploymentList
	var sets appsv1.StatefulSetList
	for _, list := range []client.ObjectList{&deployments, &sets} {
		if err := r.Live.List(ctx, list, hasMark); err != nil {
			return nil, fmt.Errorf("look for workloads with a second replica: %w", err)
		}
	}
	var out []*workload
	for i := range deployments.Items {
		out = append(out, &workload{&deployments.Items[i], "Deployment"})
	}
	for i := range sets.Items {
		out = append(out, &workload{&sets.Items[i], "StatefulSet"})
	}
	return out, nil
}

// takeBack gives a workload, read just now, its one replica back if it is time.
// Replicas that somebody else has set since are left alone.
func (r *Reconciler) takeBack(ctx context.Context, w *workload) error {
	over, err := r.isOver(ctx, w)
	if err != nil || !over {
		return err
	}
	err = r.change(ctx, w, func() {
		if w.replicas() == surged {
			w.scale(1)
		}
		w.mark(surge{})
	})
	if err == nil {
		r.tellSurge(w, false, "SurgeEnded", "one replica again")
	}
	return client.IgnoreNotFound(err)
}

// isOver reports whether nobody needs the second replica any more.
func (r *Reconciler) isOver(ctx context.Context, w *workload) (bool, error) {
	s := surgeOf(w)
	var pods corev1.PodList
	if err := r.Live.List(ctx, &pods, client.InNamespace(w.GetNamespace()), client.MatchingLabelsSelector{Selector: w.selector()}); err != nil {
		return false, fmt.Errorf("list the pods of %s %s/%s: %w", w.kind, w.GetNamespace(), w.GetName(), err)
	}
	for i := range pods.Items {
		if p := &pods.Items[i]; p.UID == s.pod && p.DeletionTimestamp == nil {
			return r.stays(ctx, p)
		}
	}
	// The second pod of a StatefulSet is the one that goes with the second
	// replica, so the first must be back.
	return w.kind != "StatefulSet" || firstReady(w, pods.Items) || r.Now().Sub(s.since) > 2*surgeFor, nil
}

// stays reports whether the pod's node does not go.
func (r *Reconciler) stays(ctx context.Context, p *corev1.Pod) (bool, error) {
	node := &corev1.Node{}
	if err := client.IgnoreNotFound(r.Store.Get(ctx, client.ObjectKey{Name: p.Spec.NodeName}, node)); err != nil {
		return false, fmt.Errorf("read the node of pod %s/%s: %w", p.Namespace, p.Name, err)
	}
	return node.DeletionTimestamp == nil, nil // also where there is none
}

// settle takes a surge for the sake of a pod that was just evicted back, so that
// nobody sees a third pod for long. What fails here the round does.
func (r *Reconciler) settle(ctx context.Context, p *corev1.Pod) error {
	w, err := r.workloadOf(ctx, p)
	if err != nil || w == nil || surgeOf(w).pod != p.UID {
		return err
	}
	return r.takeBack(ctx, w)
}

func (r *Reconciler) change(ctx context.Context, w *workload, edit func()) error {
	before := w.DeepCopyObject().(client.Object)
	edit()
	if err := r.Store.Patch(ctx, w.Object, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("write the replicas of %s %s/%s: %w", w.kind, w.GetNamespace(), w.GetName(), err)
	}
	return nil
}

func (r *Reconciler) tellSurge(w *workload, warning bool, reason, message string) {
	r.Events.Publish(observe.Event{About: w.Object, Key: w.kind + "/" + w.GetNamespace() + "/" + w.GetName(), Warning: warning, Reason: reason, Message: message})
}
