package nodeclaim

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

// How long nodes are kept from pods, and pods nominated.
const (
	// readyFor is how long a node that has joined waits at most until its kubelet is ready. Its
	// network may need pods that do not tolerate the taint: then it opens without nominations.
	readyFor = 30 * time.Second
	// nominateFor is for how long after a node has opened its pods are nominated again where
	// kube-scheduler dropped a nomination: it retries a pod within ten seconds.
	nominateFor = 15 * time.Second
	// plannedWithin is how soon a plan knows of a node that has opened.
	plannedWithin = 3 * time.Second
	// nominateEvery is how soon it is looked whether watches show the nominations, and nominateLater
	// once plans know of the node.
	nominateEvery, nominateLater = 100 * time.Millisecond, time.Second
	// nominateRounds is how often at most before the node opens.
	nominateRounds = 20
)

// nominateAtOnce is how many pods are nominated at the same time.
const nominateAtOnce = 10

// Nominations is where plans expect pods on instances that have not joined, and on nodes. It is
// safe for concurrent use; the zero value is ready.
type Nominations struct {
	mu     sync.Mutex                        // guards all below
	pods   map[string]map[string]cluster.Pod // by claim or node and UID
	on     map[string]string                 // claim or node by UID
	rounds map[string]int                    // by claim: how often its pods were nominated before its node opened
}

// Decided takes in where a plan expects pods on what there was before.
func (n *Nominations) Decided(p plan.Plan) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for i := range p.Placements {
		if to := &p.Placements[i]; to.On != plan.OnLaunch {
			n.put(to.Target, to.Pod)
		}
	}
	for i := range p.Unplaced {
		for _, pod := range p.Unplaced[i].Pods {
			n.drop(pod.UID)
		}
	}
}

// Ordered takes in that a claim was created for pods.
func (n *Nominations) Ordered(claim string, pods []cluster.Pod) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for i := range pods {
		n.put(claim, pods[i])
	}
}

func (n *Nominations) put(on string, p cluster.Pod) {
	if n.pods == nil {
		n.pods, n.on, n.rounds = map[string]map[string]cluster.Pod{}, map[string]string{}, map[string]int{}
	}
	n.drop(p.UID)
	if n.pods[on] == nil {
		n.pods[on] = map[string]cluster.Pod{}
	}
	n.pods[on][p.UID], n.on[p.UID] = p, on
}

func (n *Nominations) drop(uid string) {
	on := n.on[uid]
	if delete(n.pods[on], uid); len(n.pods[on]) == 0 {
		delete(n.pods, on)
	}
	delete(n.on, uid)
}

// of lists the pods that are expected on a claim or its node, sorted by namespace and name.
func (n *Nominations) of(names ...string) (out []cluster.Pod) {
	if n == nil {
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, name := range names {
		out = slices.AppendSeq(out, maps.Values(n.pods[name]))
	}
	slices.SortFunc(out, func(a, b cluster.Pod) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// again counts how often pods were nominated before the claim's node opened, this time included.
func (n *Nominations) again(claim string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.rounds[claim]++
	return n.rounds[claim]
}

// forget drops the claim and its node: no pod is nominated for them any more.
func (n *Nominations) forget(names ...string) {
	if n == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, name := range names {
		for uid := range n.pods[name] {
			delete(n.on, uid)
		}
		delete(n.pods, name)
		delete(n.rounds, name)
	}
}

// nominate writes on the pods that are expected on a node that it is theirs, right before it
// opens. kube-scheduler then binds them there and gives others no more than what they leave. Until
// watches show that all are nominated, and while the node is not ready to take them, it returns why
// the node is kept from pods and when to look again: kube-scheduler drops the nomination of a pod that it tries too early.
func (r *Reconciler) nominate(ctx context.Context, c *karpv1.NodeClaim, node *corev1.Node) (why string, left time.Duration, err error) {
	pods := r.Nominations.of(c.Name)
	if len(pods) == 0 || !translate.HasTaint(node, api.TaintUnregistered) || len(c.Spec.StartupTaints) > 0 {
		return "", 0, nil
	}
	if !takesPods(node) {
		if left = readyFor - r.Now().Sub(node.CreationTimestamp.Time); left > 0 {
			return "node " + node.Name + " is not ready; pods are nominated for it when it is", left, nil
		}
		return "", 0, nil
	}
	missing, err := r.nominateThose(ctx, pods, node.Name)
	if err != nil || missing == 0 {
		return "", 0, err
	}
	if r.Nominations.again(c.Name) > nominateRounds {
		r.Log.Warn("node opens though not all of its pods are nominated for it; the controller needs the right to patch pods/status",
			"claim", c.Name, "node", node.Name, "pods", len(pods), "missing", missing)
		return "", 0, nil
	}
	return "pods are being nominated for node " + node.Name, nominateEvery, nil
}

// nominateAgain does so for pods that are expected on a node which has just opened. It returns when
// to look again; 0: no more.
func (r *Reconciler) nominateAgain(ctx context.Context, c *karpv1.NodeClaim, node *corev1.Node) (time.Duration, error) {
	if r.Nominations == nil || node == nil {
		return 0, nil
	}
	open, next := r.Now().Sub(condition.Get(c, karpv1.ClaimRegistered).LastTransitionTime.Time), nominateEvery
	switch {
	case open >= nominateFor:
		r.Nominations.forget(c.Name, node.Name)
		return 0, nil
	case open >= plannedWithin:
		r.Nominations.forget(c.Name) // what counts is what plans say of the node
		next = nominateLater
	}
	_, err := r.nominateThose(ctx, r.Nominations.of(c.Name, node.Name), node.Name)
	return next, err
}

// nominateThose nominates the node for those of the pods that wait and have no nomination, and
// returns how many these are.
func (r *Reconciler) nominateThose(ctx context.Context, pods []cluster.Pod, node string) (int, error) {
	calls, under := errgroup.WithContext(ctx)
	calls.SetLimit(nominateAtOnce)
	n := 0
	for i := range pods {
		pod := &corev1.Pod{}
		err := r.Store.Get(ctx, types.NamespacedName{Namespace: pods[i].Namespace, Name: pods[i].Name}, pod)
		if apierrors.IsNotFound(err) || err == nil && (string(pod.UID) != pods[i].UID || pod.Spec.NodeName != "" || pod.Status.NominatedNodeName != "") {
			continue
		}
		if err != nil {
			return n, err
		}
		n++
		calls.Go(func() error { return r.nominatePod(under, &pods[i], node) })
	}
	return n, calls.Wait()
}

// takesPods reports whether pods may come to the node once its taint is gone.
func takesPods(node *corev1.Node) bool {
	return translate.IsReady(node) && !slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool {
		return t.Key != api.TaintUnregistered && translate.IsEphemeral(t)
	})
}

// nominatePod does so for one pod. One that is gone or bound already needs no nomination; without
// the right to make one the node opens after some rounds all the same.
func (r *Reconciler) nominatePod(ctx context.Context, p *cluster.Pod, node string) error {
	change, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": p.UID}, "status": map[string]any{"nominatedNodeName": node},
	})
	if err != nil {
		return err
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Name}}
	err = r.Store.Status().Patch(ctx, pod, client.RawPatch(types.MergePatchType, change))
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) || apierrors.IsInvalid(err) || apierrors.IsForbidden(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("nominate node %s for pod %s/%s: %w", node, p.Namespace, p.Name, err)
	}
	return nil
}
