package termination

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/api/mark"
	"github.com/daemok/daemok/observe"
)

// An eviction that was refused, or must wait, is asked for again, and then less
// and less often.
const (
	evictFirst = recheckDrain
	evictMax   = 10 * time.Second
)

// retry is when such an eviction may be asked for again.
type retry struct {
	at    time.Time
	pause time.Duration
}

// departure is a node that goes, with what was asked of that.
type departure struct {
	node     *corev1.Node
	deadline time.Time         // when the drain must be over; zero where it may take any time
	endsAt   time.Time         // when the cloud takes its instance away; zero: it is not known to
	pool     map[string]string // annotations of its pool
	leave    mark.Leave        // what they say of pods
	reason   string            // that a plan chose it for, in the words of metrics; empty: none did
}

// ask makes the pods of a group leave, each as howToRemove says.
func (r *Reconciler) ask(ctx context.Context, d *departure, group []corev1.Pod) error {
	var errs []error
	for i := range group {
		p := &group[i]
		switch how, grace := howToRemove(p, d.deadline, r.Now(), r.Autoscaler); how {
		case evict:
			errs = append(errs, r.evictInTime(ctx, d, p))
		case remove:
			errs = append(errs, r.remove(ctx, d, p, max(grace, time.Second)))
		}
	}
	return errors.Join(errs...)
}

// hurry removes those pods, whose turn has not come, that the deadline leaves no
// more time than their own grace.
func (r *Reconciler) hurry(ctx context.Context, d *departure, later []corev1.Pod) error {
	var errs []error
	for i := range later {
		if how, grace := howToRemove(&later[i], d.deadline, r.Now(), r.Autoscaler); how == remove {
			errs = append(errs, r.remove(ctx, d, &later[i], max(grace, time.Second)))
		}
	}
	return errors.Join(errs...)
}

// remove deletes a pod and counts it, unless it was ending before.
func (r *Reconciler) remove(ctx context.Context, d *departure, p *corev1.Pod, grace time.Duration) error {
	err := r.delete(ctx, d.node, p, grace)
	if err == nil && p.DeletionTimestamp == nil {
		r.Metrics.PodsDrained.WithLabelValues(d.reason).Inc()
	}
	return err
}

// delete deletes a pod, whatever protects it, with this grace period; none: no kubelet is
// there to end it.
func (r *Reconciler) delete(ctx context.Context, node *corev1.Node, p *corev1.Pod, grace time.Duration) error {
	seconds := int64(grace / time.Second)
	err := r.Store.Delete(ctx, p,
		&client.DeleteOptions{GracePeriodSeconds: &seconds, Preconditions: &metav1.Preconditions{UID: &p.UID}})
	if client.IgnoreNotFound(err) != nil && !apierrors.IsConflict(err) {
		return fmt.Errorf("delete pod %s/%s of node %s, which ends: %w", p.Namespace, p.Name, node.Name, err)
	}
	return nil
}

// evictInTime evicts a pod unless it, or its pool, asked to wait for something
// that has not come, or a refusal is too recent.
func (r *Reconciler) evictInTime(ctx context.Context, d *departure, p *corev1.Pod) error {
	if !r.mayRetry(p.UID) {
		return nil
	}
	if left := r.stillSent(d.node, p.Annotations); left > 0 {
		r.reportWait(d.node, string(p.UID)+"/balancers",
			fmt.Sprintf("pod %s/%s stays until load balancers have deregistered the node, at %s",
				p.Namespace, p.Name, r.Now().Add(left).UTC().Format(time.RFC3339)))
		return nil
	}
	leave, _ := d.leave.Over(p.Annotations) // what is misread is reported when it is seen
	if leave.Surge {
		if why, err := r.standIn(ctx, d, p); err != nil || why != "" {
			r.wait(d, p, why)
			return err
		}
	}
	if leave.KeepReady {
		if !r.deciding.take(p.Namespace) {
			return nil // another pod of the namespace may be about to go
		}
		defer r.deciding.give(p.Namespace)
		if why, err := r.lastReady(ctx, p); err != nil || why != "" {
			r.wait(d, p, why)
			return err
		}
	}
	if err := r.evict(ctx, d, p); err != nil || !leave.Surge {
		return err
	}
	return r.stabilize(ctx, p)
}

// wait notes that a pod stays for now, and why.
func (r *Reconciler) wait(d *departure, p *corev1.Pod, why string) {
	r.backOff(p.UID)
	if why != "" {
		r.reportWait(d.node, string(p.UID)+"/"+why,
			fmt.Sprintf("pod %s/%s stays for now: %s", p.Namespace, p.Name, why))
	}
}

// evict asks the API to evict a pod, unless that is never allowed.
func (r *Reconciler) evict(ctx context.Context, d *departure, p *corev1.Pod) error {
	node := d.node
	if why := r.never(ctx, p); why != "" {
		r.backOff(p.UID)
		r.Events.Publish(observe.Event{About: node, Key: "Node/" + node.Name, Warning: true, Reason: "FailedDraining",
			Message: why})
		return nil
	}
	err := r.Store.SubResource("eviction").Create(ctx, p, &policyv1.Eviction{
		ObjectMeta:    metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Name},
		DeleteOptions: &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &p.UID}},
	})
	code := 200
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		code = int(status.Status().Code)
	}
	r.Metrics.Evictions.WithLabelValues(strconv.Itoa(code)).Inc()
	switch {
	case err == nil:
		r.Metrics.PodsDrained.WithLabelValues(d.reason).Inc()
		r.Events.Publish(observe.Event{About: p, Key: "Pod/" + string(p.UID), Reason: "Evicted",
			Message: fmt.Sprintf("Evicted pod: node %s is going away", node.Name)})
		return nil
	case apierrors.IsNotFound(err), apierrors.IsConflict(err):
		return nil
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		r.backOff(p.UID) // it goes with its namespace, where nothing can be made any more, evictions neither
		return nil
	case apierrors.IsTooManyRequests(err), code == 500:
		r.backOff(p.UID)
		r.Events.Publish(observe.Event{About: node, Key: "Node/" + node.Name, Warning: true, Reason: "FailedDraining",
			Message: fmt.Sprintf("pod %s/%s may not be evicted now: %v", p.Namespace, p.Name, err)})
		return nil
	}
	return fmt.Errorf("evict pod %s/%s from node %s: %w", p.Namespace, p.Name, node.Name, err)
}

func (r *Reconciler) mayRetry(uid types.UID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.Now().Before(r.retries[uid].at)
}

func (r *Reconciler) backOff(uid types.UID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.retries == nil || len(r.retries) > 10_000 {
		r.retries = map[types.UID]retry{} // forgetting costs an early retry at worst
	}
	pause := min(max(r.retries[uid].pause*2, evictFirst), evictMax)
	r.retries[uid] = retry{at: r.Now().Add(pause), pause: pause}
}
