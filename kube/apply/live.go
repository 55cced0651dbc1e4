package apply

import (
	"context"
	"fmt"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/disruption"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/mark"
	"github.com/daemok/daemok/kube/pages"
	"github.com/daemok/daemok/kube/snapshot/policies"
	"github.com/daemok/daemok/kube/translate"
)

// livePool is what the API server itself says of a pool and its nodes.
type livePool struct {
	object  translate.PoolObject
	held    string // why none of its nodes goes by choice, by a DisruptionPolicy
	at      time.Time
	nodes   []cluster.Node
	byClaim map[string]int // index in nodes
}

// take counts one more node as going, if the budgets allow that. One that asks
// again does not stand in its own way.
func (p *livePool) take(r *request) error {
	i, there := p.byClaim[r.Claim]
	if !there {
		return fmt.Errorf("%w: claim %s is no longer one of %s", ErrChanged, r.Claim, r.Pool)
	}
	if r.Reason == plan.Overprovisioned {
		return p.takeSurplus(r, i)
	}
	if p.held != "" {
		return fmt.Errorf("%w: %s", ErrChanged, p.held)
	}
	if why := translate.RollKeeps(p.object, r.Note); r.Reason == plan.Drifted && why != "" {
		return fmt.Errorf("%w: %s", ErrChanged, why)
	}
	if why := translate.AdviceKeeps(p.object, r.Note); r.Reason == plan.Drifted && why != "" {
		return fmt.Errorf("%w: %s", ErrChanged, why)
	}
	if at := p.nodes[i].CreatedAt.Add(p.object.Renew); r.Reason == plan.Expired && (p.object.Renew == 0 || at.After(p.at)) {
		return fmt.Errorf("%w: nodes of %s are not replaced at that age any more", ErrChanged, r.Pool)
	}
	if p.nodes[i].DoNotConsolidate && consolidates(r.Reason, p.object.Disruption.ConsolidationPolicy) {
		return fmt.Errorf("%w: node %s now carries do-not-consolidate", ErrChanged, r.Node)
	}
	if first, _ := mark.DeleteFirst(p.object.Annotations); r.first && !first {
		return fmt.Errorf("%w: %s does not say %s: %s any more, and no replacement comes before node %s goes",
			ErrChanged, r.Pool, api.AnnotationDriftAtLimit, api.DeleteFirst, r.Node)
	}
	if r.again {
		p.nodes[i].Deleting = false
	}
	if why := p.lacksOnDemand(r); why != "" {
		return fmt.Errorf("%w: %s", ErrChanged, why)
	}
	share := disruption.Shares(p.nodes)[r.Pool]
	allowed := translate.Allowed(p.object.Disruption.Budgets, budgetFor(r.Reason), share.Nodes, p.at)
	if share.Used >= allowed.Most {
		return fmt.Errorf("%w: %s", ErrChanged, share.Against(r.Pool, allowed))
	}
	p.nodes[i].Deleting = true
	return nil
}

// takeSurplus counts one more node as going where the pool is static, or has hours, and has more than it may keep.
func (p *livePool) takeSurplus(r *request, node int) error {
	now, err := translate.Pool(p.object, 0, p.at)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrChanged, err)
	}
	most, bounded := now.Most()
	if !bounded {
		return fmt.Errorf("%w: %s keeps no number of nodes any more", ErrChanged, r.Pool)
	}
	if r.again {
		p.nodes[node].Deleting = false
	}
	if why := p.lacksOnDemand(r); why != "" {
		return fmt.Errorf("%w: %s", ErrChanged, why)
	}
	var stay int64
	for i := range p.nodes {
		if !p.nodes[i].Deleting {
			stay++
		}
	}
	if stay <= most {
		return fmt.Errorf("%w: %s, and has %d", ErrChanged, now.Keeps(), stay)
	}
	p.nodes[node].Deleting = true
	return nil
}

// budgetFor is the reason that budgets have for it: gracefully, old nodes are replaced as those
// that drifted.
func budgetFor(reason plan.RemovalReason) karpv1.DisruptionReason {
	if reason == plan.Expired {
		return karpv1.ReasonDrifted
	}
	return karpv1.DisruptionReason(reason)
}

// consolidates reports whether nodes that go for the reason do so to save money, and
// not since they have been empty for as long as their pool keeps empty nodes.
func consolidates(reason plan.RemovalReason, policy karpv1.ConsolidationPolicy) bool {
	return reason == plan.Underutilized || reason == plan.Empty && policy != karpv1.ConsolidateWhenEmpty
}

// readPool reads a pool, its claims and their nodes past every cache. The
// admitted claims count as going whatever the reading shows.
func (a *Applier) readPool(ctx context.Context, id cluster.PoolID, admitted map[string]struct{}) (*livePool, error) {
	object, err := a.readPoolObject(ctx, id)
	if err != nil {
		return nil, err
	}
	held, err := a.held(ctx, object)
	if err != nil {
		return nil, err
	}
	claims, err := a.readClaims(ctx, id)
	if err != nil {
		return nil, err
	}
	p := &livePool{object: object, held: held, at: a.Now(), byClaim: map[string]int{}}
	add := func(n *corev1.Node, c *karpv1.NodeClaim) {
		node := translate.Node(n, c, a.Autoscaler)
		if _, ours := admitted[c.Name]; ours {
			node.Deleting = true
		}
		p.byClaim[c.Name] = len(p.nodes)
		p.nodes = append(p.nodes, node)
	}
	err = pages.Each(ctx, a.Live, &corev1.NodeList{}, func(l *corev1.NodeList) {
		for i := range l.Items {
			n := &l.Items[i]
			c := claims[n.Spec.ProviderID]
			if c == nil {
				continue
			}
			if a.Ledger.isLeaving(n.Name) {
				Untaint(n) // our own taint: whether the node goes is being asked just now
			}
			add(n, c)
			delete(claims, n.Spec.ProviderID)
		}
	}, translate.Belonging(id))
	if err != nil {
		return nil, fmt.Errorf("count nodes of %s before a removal: %w", id, err)
	}
	for _, c := range claims {
		lost := &corev1.Node{} // a node that is not shown is not known to be ready
		lost.Labels = maps.Clone(c.Labels)
		metav1.SetMetaDataLabel(&lost.ObjectMeta, api.LabelInitialized, "true")
		add(lost, c)
	}
	return p, nil
}

// held says why no node of the pool may go by choice, by the DisruptionPolicies as
// they are now; empty: they may.
func (a *Applier) held(ctx context.Context, o translate.PoolObject) (string, error) {
	list, err := policies.Read(ctx, a.Live)
	if err != nil {
		return "", err
	}
	all := make([]translate.DisruptionPolicy, len(list))
	for i := range list {
		all[i] = translate.ReadDisruptionPolicy(&list[i])
	}
	return translate.HoldOn(o, all, a.Now()).Why, nil
}

// readPoolObject reads the pool as it is now. Where it is gone nothing of it
// is let go: its claims go with it by themselves.
func (a *Applier) readPoolObject(ctx context.Context, id cluster.PoolID) (translate.PoolObject, error) {
	pool, err := a.Serves.Read(ctx, a.Live, id)
	if apierrors.IsNotFound(err) {
		return translate.PoolObject{}, fmt.Errorf("%w: %s is gone", ErrChanged, id)
	}
	if err != nil {
		return translate.PoolObject{}, fmt.Errorf("read %s before a removal: %w", id, err)
	}
	return pool, nil
}

// readClaims reads the claims of a pool that have an instance, by provider ID.
func (a *Applier) readClaims(ctx context.Context, id cluster.PoolID) (map[string]*karpv1.NodeClaim, error) {
	claims := map[string]*karpv1.NodeClaim{}
	err := pages.Each(ctx, a.Live, &karpv1.NodeClaimList{}, func(l *karpv1.NodeClaimList) {
		for i := range l.Items {
			if c := &l.Items[i]; c.Status.ProviderID != "" {
				claims[c.Status.ProviderID] = c
			}
		}
	}, translate.Belonging(id))
	if err != nil {
		return nil, fmt.Errorf("count claims of %s before a removal: %w", id, err)
	}
	return claims, nil
}
