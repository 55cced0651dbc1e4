package steer

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/steering"
	"github.com/daemok/daemok/observe"
)

const (
	// nodesMax and podsMax are how many nodes and pods one pass writes at most: the rest is left to the next.
	nodesMax = 100
	podsMax  = 200
	// failuresMax is after how many failures a pass ends, as where the API server is not there.
	failuresMax = 5
	// usersTaintEvery is how often it is said of a node that a user set the taint.
	usersTaintEvery = 24 * time.Hour
)

// pass is how far one pass is.
type pass struct {
	*Steering
	nodes, pods int // written or tried
	left        bool
	errs        []error
}

// carryOut does what the steps say as far as one pass may. It reports whether something is left to do.
func (s *Steering) carryOut(ctx context.Context, list []step) (left bool, err error) {
	p := &pass{Steering: s}
	for i := range list {
		if ctx.Err() != nil || len(p.errs) >= failuresMax {
			p.left = true
			break
		}
		p.do(ctx, &list[i])
	}
	return p.left, errors.Join(p.errs...)
}

// do carries one step out: no pod is written where the node could not be tainted, and no node untainted while pods of its
// have their costs, for by the taint the next leader finds them.
func (p *pass) do(ctx context.Context, s *step) {
	if s.wanted && !steering.IsTainted(s.node) {
		if !p.writeNode(ctx, s.node, func(n *corev1.Node) { steering.Taint(n, p.Now()) }) {
			return
		}
		p.Log.Info("node is to empty", "node", s.node.Name, "reason", s.note)
	}
	done := true
	for i := range s.pods {
		done = p.writePod(ctx, s.node, &s.pods[i]) && done
	}
	if !s.wanted && done && steering.IsTainted(s.node) && p.writeNode(ctx, s.node, func(n *corev1.Node) { steering.Untaint(n) }) {
		p.Log.Info("node is not to empty any more", "node", s.node.Name)
	}
}

// writeNode changes a node; it reports whether that is done.
func (p *pass) writeNode(ctx context.Context, n *corev1.Node, change func(*corev1.Node)) (done bool) {
	if p.nodes++; p.nodes > nodesMax {
		p.left = true
		return false
	}
	after := n.DeepCopy()
	change(after)
	switch err := p.write(ctx, "node", n, after); {
	case err == nil:
		*n = *after
	case apierrors.IsNotFound(err):
		return false
	case apierrors.IsConflict(err):
		p.left = true
		return false
	default:
		p.left, p.errs = true, append(p.errs, fmt.Errorf("change taint %s of node %s: %w", api.TaintEmptying, n.Name, err))
		return false
	}
	return true
}

// writePod changes a pod; it reports whether nothing is left to do about it. Of namespaces whose pods may not be written
// that is so at once.
func (p *pass) writePod(ctx context.Context, n *corev1.Node, c *change) (done bool) {
	if p.refused[c.pod.Namespace] {
		return true
	}
	if p.pods++; p.pods > podsMax || len(p.errs) >= failuresMax {
		p.left = true
		return false
	}
	after := c.pod.DeepCopy()
	c.apply(after)
	switch err := p.write(ctx, "pod", c.pod, after); {
	case err == nil:
		*c.pod = *after
	case apierrors.IsNotFound(err):
	case isRefusal(err):
		p.refuse(n, c.pod, err)
	case apierrors.IsConflict(err):
		p.left = true
		return false
	default:
		p.left, p.errs = true, append(p.errs, fmt.Errorf("change the deletion cost of pod %s/%s on node %s: %w", c.pod.Namespace, c.pod.Name, n.Name, err))
		return false
	}
	return true
}

// write patches an object as it was seen: what changed meanwhile is a conflict.
func (p *pass) write(ctx context.Context, kind string, before, after client.Object) error {
	err := p.Store.Patch(ctx, after, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	p.Metrics.SteeringWrites.WithLabelValues(kind, result(err)).Inc()
	return err
}

func result(err error) string {
	switch {
	case err == nil:
		return "written"
	case apierrors.IsConflict(err):
		return "conflict"
	case isRefusal(err):
		return "forbidden"
	}
	return "failed"
}

// isRefusal reports whether the API server does not allow the write, by the rights or by admission.
func isRefusal(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err)
}

// refuse leaves the pods of a namespace alone until all are checked again, and says so the first time.
func (p *pass) refuse(n *corev1.Node, pod *corev1.Pod, err error) {
	p.refused[pod.Namespace] = true
	if p.said {
		return
	}
	p.said = true
	p.Log.Warn("pods on nodes that are to empty get no deletion cost: nodes empty by their taint alone", "pod", pod.Namespace+"/"+pod.Name, "error", err.Error())
	p.Events.Publish(observe.Event{About: n, Key: "Node/" + n.Name, Warning: true, Reason: "DeletionCostRefused", Topic: "deletion cost",
		Message: fmt.Sprintf("pods of this and other nodes that are to empty get no deletion cost, so scale-downs do not begin with them: patch of pod %s/%s was refused: %v; set rbac.steering: true in the Helm chart, or apply deploy/rbac-steering.yaml",
			pod.Namespace, pod.Name, err)})
}

// reportUsersTaints says of nodes that are to empty which have a taint of a user's in place of Daemok's.
func (s *Steering) reportUsersTaints(v view, emptying []plan.Emptying) {
	wanted := map[string]bool{}
	for _, e := range emptying {
		wanted[e.Node] = true
	}
	for _, n := range v.nodes {
		taint, users := steering.UsersTaint(n)
		if !users || !wanted[n.Name] {
			continue
		}
		s.Events.Publish(observe.Event{About: n, Key: "Node/" + n.Name, Warning: true, Reason: "EmptyingTaintKept", Topic: "taint", DedupeFor: usersTaintEvery,
			Message: fmt.Sprintf("taint %s was not set by Daemok and stays, so Daemok does not empty the node; remove the taint to allow it", taint.ToString())})
	}
}
