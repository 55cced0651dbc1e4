package nodeclaim

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

// hold keeps nodes that have joined from pods while others are waited for.
type hold struct {
	store client.Client
	now   func() time.Time
	log   *slog.Logger
}

// held returns why a node that has joined must not take pods yet and how long
// that may last; the text is empty where it may. A node that pods were never
// kept off is not held.
func (h hold) held(ctx context.Context, c *karpv1.NodeClaim, node *corev1.Node) (why string, left time.Duration,
	err error) {
	joins := translate.Joins(c.Annotations)
	if len(joins) == 0 || !translate.HasTaint(node, api.TaintUnregistered) {
		return "", 0, nil
	}
	if left = holdFor - h.now().Sub(node.CreationTimestamp.Time); left <= 0 {
		if RegisteredReason(c) == karpv1.ReasonAwaitingSpreadDomains {
			h.log.Warn("node has waited long enough for others", "claim", c.Name, "node", node.Name,
				"message", condition.Get(c, karpv1.ClaimRegistered).Message)
		}
		return "", 0, nil
	}
	all, err := h.groups(ctx, c.Name)
	if err != nil {
		return "", 0, fmt.Errorf("list whom claim %s waits for: %w", c.Name, err)
	}
	why, moment := all.waitText(joins, h.now())
	if moment > 0 {
		left = min(left, moment)
	}
	return why, left, nil
}

// groups lists the claims of every group. The one of that name counts as
// joined, whatever the list says.
func (h hold) groups(ctx context.Context, joined string) (groups, error) {
	var list karpv1.NodeClaimList
	if err := h.store.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return nil, err
	}
	return groupsOf(list.Items, joined), nil
}

// released names the claims whose nodes wait for others and, now that the
// claim changed, need another look. It costs next to nothing while none waits.
func (h hold) released(ctx context.Context, changed *karpv1.NodeClaim) []string {
	joins := translate.Joins(changed.Annotations)
	if len(joins) == 0 {
		return nil
	}
	var waiting karpv1.NodeClaimList
	err := h.store.List(ctx, &waiting,
		client.MatchingFields{IndexRegisteredReason: karpv1.ReasonAwaitingSpreadDomains}, client.UnsafeDisableDeepCopy)
	if err != nil || len(waiting.Items) == 0 {
		return nil // the cache answers, or the deadline does
	}
	all, err := h.groups(ctx, "")
	if err != nil {
		return nil
	}
	var names []string
	for i := range waiting.Items {
		w := &waiting.Items[i]
		theirs := translate.Joins(w.Annotations)
		if why, _ := all.waitText(theirs, h.now()); w.Name != changed.Name && share(joins,
			theirs) && why != condition.Get(w, karpv1.ClaimRegistered).Message {
			names = append(names, w.Name)
		}
	}
	return names
}

func share(a, b []plan.Join) bool {
	return slices.ContainsFunc(a, func(x plan.Join) bool {
		return slices.ContainsFunc(b, func(y plan.Join) bool { return x.Group == y.Group })
	})
}
