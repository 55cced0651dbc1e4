package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/removal"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/kube/translate/podspec"
)

// viewFor is how long a view serves all moves that check: to make one takes time in proportion to
// the cluster, and one that is too old is noticed.
const viewFor = time.Second

// view is what the watches showed a moment ago.
type view struct {
	mu sync.Mutex
	s  *cluster.Snapshot
}

// newest returns a view that is not older than viewFor.
func (v *view) newest(a *Applier) *cluster.Snapshot {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.s == nil || a.Now().Sub(v.s.Now) >= viewFor {
		v.s = a.View()
	}
	return v.s
}

// errLate says that the watches do not show yet what the API server says. It is
// waited for.
var errLate = errors.New("what the watches have shown is late")

// lookForHomes asks whether the pods that are to move have places as things are: where the plan
// wanted them, on the instances that came, or anywhere else. Until these are there it is too early
// to ask. Where pods go is read from the API server: a view that is late is waited for.
func (a *Applier) lookForHomes(ctx context.Context, u *unit) error {
	if a.View == nil || u.alone || u.replaces() && !u.ordered || u.goesFirst() || u.Removals[0].Reason == plan.Overprovisioned {
		return nil
	}
	s := a.Ledger.beside(&u.ledger, a.view.newest(a))
	r, err := u.removal(s)
	if err != nil || len(r.Pods) == 0 {
		return err
	}
	places, left := removal.Rehome(s, r)
	if len(left) > 0 {
		p := &left[0].Pods[0]
		return fmt.Errorf("%w: there is no place any more for pod %s/%s", ErrChanged, p.Namespace, p.Name)
	}
	var targets []string
	for _, p := range places {
		targets = append(targets, p.Target)
	}
	slices.Sort(targets)
	targets = slices.Compact(targets)
	failed := make([]error, len(targets))
	each(len(targets), func(i int) { failed[i] = a.isAsShown(ctx, s, targets[i]) })
	return errors.Join(failed...)
}

// goesFirst reports whether the plan knew of no places for the pods of a drifted node: limits
// forbid to have an instance in its place beside it, and its pool has it go first.
func (u *unit) goesFirst() bool {
	r := &u.Removals[0]
	return !u.replaces() && len(u.Placements) == 0 && r.Reason == plan.Drifted && len(r.Pods) > 0
}

// removal is what a unit takes away, by what was read last.
func (u *unit) removal(s *cluster.Snapshot) (removal.Drain, error) {
	r := removal.Drain{Nodes: map[string]bool{}, Pods: map[string]bool{}, Targets: map[string]string{}}
	node := map[string]string{} // of instances of the move
	for i := range s.Nodes {
		if n := &s.Nodes[i]; n.Claim != "" && n.Initialized && n.Ready && slices.Contains(u.claims, n.Claim) {
			node[n.Claim] = n.Name
		}
	}
	if u.ordered && len(node) < len(u.claims) {
		return r, fmt.Errorf("%w: not all instances of the move are shown as started", errLate)
	}
	shown := map[string]bool{}
	for i := range s.Nodes {
		for _, p := range s.Nodes[i].Pods {
			shown[p.UID] = true
		}
	}
	for _, l := range u.leaving {
		r.Nodes[l.Node] = true
		for _, uid := range l.moving {
			to := u.ledger.targets[uid]
			r.Targets[uid] = to.target
			if to.on == plan.OnInstance {
				r.Targets[uid] = node[to.target]
			}
			r.Pods[uid] = true
			if !shown[uid] {
				return r, fmt.Errorf("%w: a pod of node %s is not shown", errLate, l.Node)
			}
		}
	}
	return r, nil
}

// isAsShown reads whether a node still takes pods, and whether the snapshot knows
// of all that are on it.
func (a *Applier) isAsShown(ctx context.Context, s *cluster.Snapshot, name string) error {
	node := &corev1.Node{}
	if err := a.Live.Get(ctx, client.ObjectKey{Name: name}, node); err != nil {
		return fmt.Errorf("read node %s, to which pods are to move: %w", name, err)
	}
	var list corev1.PodList
	if err := a.Live.List(ctx, &list, client.MatchingFields{indexNodeName: name}); err != nil {
		return fmt.Errorf("list pods of node %s, to which others are to move: %w", name, err)
	}
	at := slices.IndexFunc(s.Nodes, func(n cluster.Node) bool { return n.Name == name })
	now := translate.Node(node, nil, a.Autoscaler)
	if now.Deleting || !now.Ready || !slices.Equal(now.Taints, s.Nodes[at].Taints) {
		return fmt.Errorf("%w: node %s has changed", errLate, name)
	}
	for i := range list.Items {
		pod := &list.Items[i]
		known := func(p cluster.Pod) bool { return p.UID == string(pod.UID) }
		if !podspec.IsTerminal(pod) && !slices.ContainsFunc(s.Nodes[at].Pods, known) {
			return fmt.Errorf("%w: pod %s/%s came to node %s", errLate, pod.Namespace, pod.Name, name)
		}
	}
	return nil
}
