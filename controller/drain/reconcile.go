package drain

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/apply"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/observe"
)

const (
	recheckDrain = time.Second
	evictFirst   = 100 * time.Millisecond
	evictMax     = 10 * time.Second
)

// Field indexes that the store must have: over pods, and over claims.
const (
	IndexNodeName   = "spec.nodeName"
	IndexProviderID = "status.providerID"
)

type publisher interface{ Publish(observe.Event) }

// Reconciler is the loop over nodes that are being deleted.
type Reconciler struct {
	Store    client.Client
	Live     client.Reader // reads past every cache
	Machines cloud.Machines
	Events   publisher
	Metrics  *observe.Metrics
	Now      func() time.Time

	silent looks // at machines whose kubelets are silent
	ending looks // at machines given back

	mu      sync.Mutex
	retries map[types.UID]retry // by pod
}

// retry is when a refused eviction may be asked for again.
type retry struct {
	at    time.Time
	pause time.Duration
}

// Reconcile takes the next step with one node and returns how long to wait
// before the next look; zero means wait for a change.
func (r *Reconciler) Reconcile(ctx context.Context, name string) (time.Duration, error) {
	node := &corev1.Node{}
	if err := r.Store.Get(ctx, client.ObjectKey{Name: name}, node); err != nil {
		return 0, client.IgnoreNotFound(err)
	}
	if node.DeletionTimestamp == nil || !controllerutil.ContainsFinalizer(node, api.FinalizerTermination) {
		return 0, nil
	}
	node = node.DeepCopy()
	claim, err := r.claimOf(ctx, node)
	if err != nil {
		return 0, err
	}
	if claim != nil && claim.DeletionTimestamp == nil {
		if err := r.Store.Delete(ctx, claim); client.IgnoreNotFound(err) != nil {
			return 0, fmt.Errorf("delete claim %s of deleted node %s: %w", claim.Name, name, err)
		}
	}
	if r.ending.isSent(translate.MachineID(node.Spec.ProviderID)) {
		return r.giveBack(ctx, node, claim) // it was emptied before
	}
	if gone, err := r.goneAlready(ctx, node); err != nil || gone {
		if err != nil {
			return 0, err
		}
		return 0, r.forget(ctx, node, claim)
	}
	if err := r.close(ctx, node); err != nil {
		return 0, err
	}
	if wait, err := r.empty(ctx, node, claim); err != nil || wait > 0 {
		return wait, err
	}
	return r.giveBack(ctx, node, claim)
}

// claimOf looks the node's claim up by index; nil where it has none.
func (r *Reconciler) claimOf(ctx context.Context, node *corev1.Node) (*karpv1.NodeClaim, error) {
	if node.Spec.ProviderID == "" {
		return nil, nil
	}
	var list karpv1.NodeClaimList
	if err := r.Store.List(ctx, &list, client.MatchingFields{IndexProviderID: node.Spec.ProviderID}); err != nil {
		return nil, fmt.Errorf("look for the claim of node %s: %w", node.Name, err)
	}
	if len(list.Items) == 0 {
		return nil, nil
	}
	return list.Items[0].DeepCopy(), nil
}

// close keeps new pods and load balancers off the node.
func (r *Reconciler) close(ctx context.Context, node *corev1.Node) error {
	before := node.DeepCopy()
	tainted, excluded := apply.Taint(node, r.Now()), exclude(node)
	if tainted || excluded {
		if err := r.Store.Patch(ctx, node, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
			return fmt.Errorf("taint node %s before its drain: %w", node.Name, err)
		}
	}
	return nil
}

func exclude(node *corev1.Node) (changed bool) {
	if _, there := node.Labels[api.LabelExcludeFromBalancer]; there {
		return false
	}
	if node.Labels == nil {
		node.Labels = map[string]string{}
	}
	node.Labels[api.LabelExcludeFromBalancer] = api.ExcludedBy
	return true
}

func stillToLeave(pods int) string {
	if pods == 1 {
		return "1 pod is still to leave"
	}
	return fmt.Sprintf("%d pods are still to leave", pods)
}

// empty makes the pods leave. It returns how long to wait before looking
// again; zero means that the node is empty and its volumes are detached.
func (r *Reconciler) empty(ctx context.Context, node *corev1.Node, claim *karpv1.NodeClaim) (time.Duration, error) {
	pods, err := r.podsOn(ctx, r.Store, node.Name)
	if err != nil {
		return 0, err
	}
	deadline := deadlineOf(claim)
	if group := leaving(pods, r.Now()); len(group) > 0 {
		if err := r.say(ctx, claim, karpv1.ClaimDrained, karpv1.ReasonDraining, stillToLeave(len(group))); err != nil {
			return 0, err
		}
		return recheckDrain, r.ask(ctx, node, group, deadline)
	}
	if left := apply.SettleFor - r.Now().Sub(apply.TaintedAt(node)); left > 0 {
		return left, nil
	}
	// A pod bound just before the taint was seen may not be in the cache yet.
	live, err := r.podsOn(ctx, r.Live, node.Name)
	if err != nil {
		return 0, err
	}
	if len(leaving(live, r.Now())) > 0 {
		return recheckDrain, nil
	}
	if err := r.say(ctx, claim, karpv1.ClaimDrained, "", ""); err != nil {
		return 0, err
	}
	return r.awaitVolumes(ctx, node, claim, live, deadline)
}

// awaitVolumes waits until the volumes of pods that left are detached, or
// the deadline has passed.
func (r *Reconciler) awaitVolumes(ctx context.Context, node *corev1.Node, claim *karpv1.NodeClaim, pods []corev1.Pod, deadline time.Time) (time.Duration, error) {
	var list storagev1.VolumeAttachmentList
	if err := r.Store.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil { // all of the cluster's, only read
		return 0, fmt.Errorf("list volume attachments of node %s: %w", node.Name, err)
	}
	stay, err := r.volumesThatStay(ctx, pods)
	if err != nil {
		return 0, err
	}
	waiting := 0
	for i := range list.Items {
		source := list.Items[i].Spec.Source.PersistentVolumeName
		if list.Items[i].Spec.NodeName == node.Name && source != nil && !stay[*source] {
			waiting++
		}
	}
	if waiting == 0 {
		return 0, r.say(ctx, claim, karpv1.ClaimVolumesDetached, "", "")
	}
	if !deadline.IsZero() && !r.Now().Before(deadline) {
		return 0, nil
	}
	return recheckDrain, r.say(ctx, claim, karpv1.ClaimVolumesDetached, karpv1.ReasonAwaitingVolumeDetachment, fmt.Sprintf("%d volumes are still attached", waiting))
}

// volumesThatStay names the volumes of pods that are not drained.
func (r *Reconciler) volumesThatStay(ctx context.Context, pods []corev1.Pod) (map[string]bool, error) {
	stay := map[string]bool{}
	for _, p := range pods {
		for _, v := range p.Spec.Volumes {
			if v.PersistentVolumeClaim == nil {
				continue
			}
			pvc := &corev1.PersistentVolumeClaim{}
			key := client.ObjectKey{Namespace: p.Namespace, Name: v.PersistentVolumeClaim.ClaimName}
			if err := r.Live.Get(ctx, key, pvc); client.IgnoreNotFound(err) != nil {
				return nil, fmt.Errorf("read volume claim %s: %w", key, err)
			}
			stay[pvc.Spec.VolumeName] = true
		}
	}
	return stay, nil
}

func (r *Reconciler) forget(ctx context.Context, node *corev1.Node, claim *karpv1.NodeClaim) error {
	before := node.DeepCopy()
	controllerutil.RemoveFinalizer(node, api.FinalizerTermination)
	if err := r.Store.Patch(ctx, node, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("remove finalizer of node %s: %w", node.Name, err)
	}
	id := translate.MachineID(node.Spec.ProviderID)
	r.silent.drop(id)
	r.ending.drop(id)
	if claim != nil {
		r.Metrics.NodesTerminated.WithLabelValues(claim.Labels[api.LabelNodePool], claim.Labels[api.LabelZone]).Inc()
	}
	return nil
}

// say writes a condition of the claim: true where reason is empty, else
// unknown with the reason. It is a conflict where the claim changed meanwhile,
// since a patch replaces the conditions of other loops too.
func (r *Reconciler) say(ctx context.Context, claim *karpv1.NodeClaim, kind, reason, message string) error {
	if claim == nil {
		return nil
	}
	before := claim.DeepCopy()
	var changed bool
	if reason == "" {
		changed = condition.SetTrue(claim, kind, r.Now())
	} else {
		changed = condition.SetUnknown(claim, kind, reason, message, r.Now())
	}
	if !changed {
		return nil
	}
	lock := client.MergeFromWithOptimisticLock{}
	if err := r.Store.Status().Patch(ctx, claim, client.MergeFromWithOptions(before, lock)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("write condition %s of claim %s: %w", kind, claim.Name, err)
	}
	return nil
}

func (r *Reconciler) podsOn(ctx context.Context, from client.Reader, node string) ([]corev1.Pod, error) {
	var list corev1.PodList
	if err := from.List(ctx, &list, client.MatchingFields{IndexNodeName: node}); err != nil {
		return nil, fmt.Errorf("list pods of node %s: %w", node, err)
	}
	return list.Items, nil
}

// ask makes the pods of a group leave, each as howToRemove says.
func (r *Reconciler) ask(ctx context.Context, node *corev1.Node, group []corev1.Pod, deadline time.Time) error {
	var errs []error
	for i := range group {
		p := &group[i]
		switch how, grace := howToRemove(p, deadline, r.Now()); how {
		case evict:
			errs = append(errs, r.evict(ctx, node, p))
		case remove:
			seconds := int64(max(grace/time.Second, 1))
			err := r.Store.Delete(ctx, p, &client.DeleteOptions{GracePeriodSeconds: &seconds, Preconditions: &metav1.Preconditions{UID: &p.UID}})
			if client.IgnoreNotFound(err) != nil && !apierrors.IsConflict(err) {
				errs = append(errs, fmt.Errorf("delete pod %s/%s at the deadline of node %s: %w", p.Namespace, p.Name, node.Name, err))
			}
		}
	}
	return errors.Join(errs...)
}

// evict asks the API to evict a pod unless a refusal is too recent.
func (r *Reconciler) evict(ctx context.Context, node *corev1.Node, p *corev1.Pod) error {
	if !r.mayRetry(p.UID) {
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
		r.Events.Publish(observe.Event{About: p, Key: "Pod/" + string(p.UID), Reason: "Evicted", Message: fmt.Sprintf("Evicted pod: node %s is going away", node.Name)})
		return nil
	case apierrors.IsNotFound(err), apierrors.IsConflict(err):
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
