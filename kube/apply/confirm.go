package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/disruption"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/internal/pause"
	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/mark"
	"github.com/daemok/daemok/kube/serving"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/kube/translate/podspec"
)

// confirm examines everything that a unit depends on as the API server itself has it: claims,
// nodes, their pods, what PodDisruptionBudgets say of these, and the budgets of pools. While that
// cannot be read it tries again, and gives up in the end: nothing is deleted on the word of a view
// that may be old.
func (a *Applier) confirm(ctx context.Context, u *unit, reported Listener) error {
	for again := retryFirst; ; again = min(2*again, retryMax) {
		err := a.look(ctx, u)
		if err == nil {
			a.Ledger.waitsToRead(&u.ledger, "")
		}
		if err == nil || errors.Is(err, ErrChanged) || ctx.Err() != nil {
			return err
		}
		if !a.Now().Before(u.until) {
			return fmt.Errorf("%w: %w", ErrUnread, err)
		}
		a.Ledger.waitsToRead(&u.ledger, err.Error())
		if !u.stuck {
			u.stuck = true
			reported.Stuck(u.Move, err)
		}
		if stopped := pause.For(ctx, min(again, u.until.Sub(a.Now()))); stopped != nil {
			return stopped
		}
	}
}

// look checks once. Of the reasons to stay the first node's is reported.
func (a *Applier) look(ctx context.Context, u *unit) error {
	ctx, cancel := context.WithTimeout(ctx, readsFor)
	defer cancel()
	frozen, err := a.frozen(ctx)
	if err != nil {
		return err
	}
	failed := make([]error, len(u.leaving))
	each(len(u.leaving), func(i int) {
		if r := u.leaving[i]; !r.gone {
			failed[i] = a.lookAt(ctx, u, r, frozen)
		}
	})
	if err := worst(failed); err != nil {
		return err
	}
	if err := a.lookForHomes(ctx, u); err != nil {
		return err
	}
	each(len(u.leaving), func(i int) {
		r := u.leaving[i]
		if r.gone {
			return
		}
		failed[i] = a.admit(ctx, request{Removal: r.Removal, again: r.admitted, first: u.goesFirst(), forced: r.forced(), unit: u})
		r.admitted = failed[i] == nil || r.admitted && !errors.Is(failed[i], ErrChanged)
	})
	return worst(failed)
}

// freeze is why no node may be disturbed; all: not even one past its age.
type freeze struct {
	why string
	all bool
}

// frozen says why no node may be disturbed for now, by its user's word or, and then not
// even one past its age, since the clock is in doubt; empty: it may.
func (a *Applier) frozen(ctx context.Context) (freeze, error) {
	if why := a.Doubt.Why(); why != "" {
		return freeze{why, true}, nil
	}
	why, err := a.frozenByUser(ctx)
	return freeze{why: why}, err
}

func (a *Applier) frozenByUser(ctx context.Context) (string, error) {
	if a.Namespace == "" {
		return "", nil
	}
	c, key := &corev1.ConfigMap{}, client.ObjectKey{Namespace: a.Namespace, Name: api.ConfigMapFreeze}
	err := a.Live.Get(ctx, key, c)
	if apierrors.IsNotFound(err) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read ConfigMap %s, which may forbid to disturb nodes: %w", key, err)
	}
	if f := translate.ReadFreeze(c); f.Holds(a.Now()) {
		return f.Why, nil
	}
	return "", nil
}

// worst is the first error that says that something changed or, where none
// does, the first.
func worst(list []error) error {
	for _, err := range list {
		if errors.Is(err, ErrChanged) {
			return err
		}
	}
	i := slices.IndexFunc(list, func(err error) bool { return err != nil })
	if i < 0 {
		return nil
	}
	return list[i]
}

// lookAt reads one node with what belongs to it. A claim that another user or controller deletes is
// gone as far as the move goes, if the instances in its place are being launched; before that the
// plan was made for another world.
func (a *Applier) lookAt(ctx context.Context, u *unit, r *leaver, frozen freeze) error {
	claim := &karpv1.NodeClaim{}
	r.moving = nil
	err := a.Live.Get(ctx, client.ObjectKey{Name: r.Claim}, claim)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("read claim %s before its removal: %w", r.Claim, err)
	}
	if err != nil || claim.DeletionTimestamp != nil {
		if !u.ordered && !u.deletes {
			return fmt.Errorf("%w: claim %s is being deleted already", ErrChanged, r.Claim)
		}
		r.gone = true
		return nil
	}
	r.seen = claim
	if frozen.why != "" && (frozen.all || !(r.Reason == plan.Expired && translate.IsExpired(claim, a.Now()))) {
		return fmt.Errorf("%w: %s", ErrChanged, frozen.why)
	}
	if r.forced() && (!u.replaces() || u.alone) {
		return nil // it goes whatever runs on it; its drain respects pods and their budgets
	}
	node := &corev1.Node{}
	if err := a.Live.Get(ctx, client.ObjectKey{Name: r.Node}, node); apierrors.IsNotFound(err) {
		return fmt.Errorf("%w: node %s is gone", ErrChanged, r.Node)
	} else if err != nil {
		return fmt.Errorf("read node %s before its removal: %w", r.Node, err)
	}
	if why := unfit(node, claim, r.forced(), a.Autoscaler); why != "" {
		return fmt.Errorf("%w: node %s %s", ErrChanged, r.Node, why)
	}
	return a.lookAtPods(ctx, r, claim)
}

// unfit says what of the node itself is in the way; empty: nothing.
func unfit(node *corev1.Node, claim *karpv1.NodeClaim, forced bool, autoscaler mark.ClusterAutoscaler) string {
	switch {
	case node.Spec.ProviderID != claim.Status.ProviderID:
		return "is another instance's by now"
	case !translate.HasTaint(node, api.TaintDisrupted):
		return "was opened to pods by another user"
	case translate.Node(node, claim, autoscaler).DoNotDisrupt && !forced:
		return "now carries do-not-disrupt"
	}
	return ""
}

// lookAtPods reads the pods of a node from the API server itself. Pods that
// went meanwhile are no matter. Those that must not be disturbed do not keep a
// node that goes in any event: one that is too old and, where its claim gives
// pods a term, one that has drifted. Those whose work would end for good keep one that
// goes to save money.
func (a *Applier) lookAtPods(ctx context.Context, r *leaver, claim *karpv1.NodeClaim) error {
	var list corev1.PodList
	if err := a.Live.List(ctx, &list, client.MatchingFields{indexNodeName: r.Node}); err != nil {
		return fmt.Errorf("list pods of node %s before its removal: %w", r.Node, err)
	}
	if err := a.lookAtSelf(ctx, r, claim, list.Items); err != nil {
		return err
	}
	inAnyEvent := r.forced() || r.Reason == plan.Drifted && claim.Spec.TerminationGracePeriod != ""
	over, owners := pdbs{Applier: a, in: map[string][]pdb{}, all: disruption.PDBs{}}, serving.Owners{From: a.Live, Autoscaler: a.Autoscaler}
	var moving []string
	var pods []cluster.Pod
	for i := range list.Items {
		pod := &list.Items[i]
		if podspec.IsTerminal(pod) {
			continue
		}
		p := podspec.Pod(pod, a.Now(), a.Autoscaler)
		if err := over.name(ctx, &p, pod.Labels); err != nil {
			return err
		}
		if _, job := podspec.OwnerKind(pod).(*batchv1.Job); job || !r.plans(pod) { // of the others it is known that they return
			if err := owners.Judge(ctx, &p, pod); err != nil {
				return err
			}
		}
		switch {
		case p.Moves() && !r.knows(pod):
			return fmt.Errorf("%w: pod %s/%s came to node %s", ErrChanged, p.Namespace, p.Name, r.Node)
		case !inAnyEvent:
			if err := a.lastOf(ctx, r, &p, pod); err != nil {
				return err
			}
			if why := over.all.Hold(&p); why != "" {
				return fmt.Errorf("%w: node %s: %s", ErrChanged, r.Node, why)
			}
		}
		if pods = append(pods, p); p.Moves() && p.Evictable() {
			moving = append(moving, string(pod.UID))
		}
	}
	if why := disruption.EndsWork(pods); why != "" && disruption.SavesMoney(r.Reason) {
		return fmt.Errorf("%w: node %s: %s", ErrChanged, r.Node, why)
	}
	if !translate.IsExpired(claim, a.Now()) { // one that is too old goes whether there are places or not
		r.moving = moving
	}
	return nil
}

// lastOf records with a pod of which Service it is the last that is ready, where it or its pool
// asks to keep such pods.
func (a *Applier) lastOf(ctx context.Context, r *leaver, p *cluster.Pod, pod *corev1.Pod) (err error) {
	leave := mark.Leave{}
	if a.Pools != nil {
		if pool, known := a.Pools.Pool(r.Pool); known {
			leave, _ = leave.Over(pool.Annotations) // what is misread is reported on the pool
		}
	}
	if leave, _ = leave.Over(pod.Annotations); leave.KeepReady && p.Evictable() {
		p.LastOf, err = serving.LastOf(ctx, a.Live, pod)
	}
	return err
}

// forced reports whether the node goes since its claim is too old, or its static pool has too many, whatever is in the
// way. One that never is too old goes gracefully at its age.
func (r *leaver) forced() bool {
	return r.Reason == plan.Overprovisioned || r.Reason == plan.Expired && r.seen != nil && r.seen.Spec.ExpireAfter != karpv1.Never
}

// knows reports whether the plan reckoned with the pod.
func (r *leaver) knows(pod *corev1.Pod) bool {
	if !r.since.IsZero() {
		return !boundAt(pod).After(r.since)
	}
	return r.plans(pod)
}

// plans reports whether the plan has a place for the pod.
func (r *leaver) plans(pod *corev1.Pod) bool {
	return slices.ContainsFunc(r.Pods, func(p cluster.Pod) bool { return p.UID == string(pod.UID) })
}

// boundAt is when the pod got its node.
func boundAt(pod *corev1.Pod) time.Time {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionTrue {
			return c.LastTransitionTime.Time
		}
	}
	return pod.CreationTimestamp.Time
}
