package nodeclaim

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/cluster"
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

// nominator writes on pods which node is theirs.
type nominator struct {
	pods  *Nominations
	store client.Client
	now   func() time.Time
	log   *slog.Logger
}

// nominate writes on the pods that are expected on a node that it is theirs, right before it
// opens. kube-scheduler then binds them there and gives others no more than what they leave. Until
// watches show that all are nominated, and while the node is not ready to take them, it returns why
// the node is kept from pods and when to look again: kube-scheduler drops the nomination of a pod that it tries
// too early.
func (n nominator) nominate(ctx context.Context, c *karpv1.NodeClaim, node *corev1.Node) (why string,
	left time.Duration, err error) {
	pods := n.pods.of(c.Name)
	if len(pods) == 0 || !translate.HasTaint(node, api.TaintUnregistered) || len(c.Spec.StartupTaints) > 0 {
		return "", 0, nil
	}
	if !takesPods(node) {
		if left = readyFor - n.now().Sub(node.CreationTimestamp.Time); left > 0 {
			return "node " + node.Name + " is not ready; pods are nominated for it when it is", left, nil
		}
		return "", 0, nil
	}
	missing, err := n.nominateThose(ctx, pods, node.Name)
	if err != nil || missing == 0 {
		return "", 0, err
	}
	if n.pods.again(c.Name) > nominateRounds {
		n.log.Warn("node opens though not all of its pods are nominated for it; the controller needs the right to patch pods/status",
			"claim", c.Name, "node", node.Name, "pods", len(pods), "missing", missing)
		return "", 0, nil
	}
	return "pods are being nominated for node " + node.Name, nominateEvery, nil
}

// nominateAgain does so for pods that are expected on a node which has just opened. It returns when
// to look again; 0: no more.
func (n nominator) nominateAgain(ctx context.Context, c *karpv1.NodeClaim, node *corev1.Node) (time.Duration, error) {
	if n.pods == nil || node == nil {
		return 0, nil
	}
	open, next := n.now().Sub(condition.Get(c, karpv1.ClaimRegistered).LastTransitionTime.Time), nominateEvery
	switch {
	case open >= nominateFor:
		n.pods.forget(c.Name, node.Name)
		return 0, nil
	case open >= plannedWithin:
		n.pods.forget(c.Name) // what counts is what plans say of the node
		next = nominateLater
	}
	_, err := n.nominateThose(ctx, n.pods.of(c.Name, node.Name), node.Name)
	return next, err
}

// nominateThose nominates the node for those of the pods that wait and have no nomination, and
// returns how many these are.
func (n nominator) nominateThose(ctx context.Context, pods []cluster.Pod, node string) (int, error) {
	calls, under := errgroup.WithContext(ctx)
	calls.SetLimit(nominateAtOnce)
	count := 0
	for i := range pods {
		pod := &corev1.Pod{}
		err := n.store.Get(ctx, types.NamespacedName{Namespace: pods[i].Namespace, Name: pods[i].Name}, pod)
		if apierrors.IsNotFound(err) || err == nil && (string(pod.UID) != pods[i].UID || pod.Spec.NodeName != "" || pod.Status.NominatedNodeName != "") {
			continue
		}
		if err != nil {
			return count, err
		}
		count++
		calls.Go(func() error { return n.nominatePod(under, &pods[i], node) })
	}
	return count, calls.Wait()
}

// takesPods reports whether pods may come to the node once its taint is gone.
func takesPods(node *corev1.Node) bool {
	return translate.IsReady(node) && !slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool {
		return t.Key != api.TaintUnregistered && translate.IsEphemeral(t)
	})
}

// nominatePod does so for one pod. One that is gone or bound already needs no nomination; without
// the right to make one the node opens after some rounds all the same.
func (n nominator) nominatePod(ctx context.Context, p *cluster.Pod, node string) error {
	change, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": p.UID}, "status": map[string]any{"nominatedNodeName": node},
	})
	if err != nil {
		return err
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Name}}
	err = n.store.Status().Patch(ctx, pod, client.RawPatch(types.MergePatchType, change))
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) || apierrors.IsInvalid(err) || apierrors.IsForbidden(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("nominate node %s for pod %s/%s: %w", node, p.Namespace, p.Name, err)
	}
	return nil
}
