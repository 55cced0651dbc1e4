package garbagecollection

import (
	"context"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/observe"
)

// HoldsClaim reports whether a deleted claim is not to lose its node: the definition of NodeClaims is being deleted,
// by which Kubernetes deletes all claims at once, and no user has said that so many instances may go. An instance
// that the cloud interrupts is drained all the same. It costs a read of the definition, and while that goes another
// of the ConfigMap.
func (c *Collector) HoldsClaim(ctx context.Context, claim *karpv1.NodeClaim) (bool, error) {
	if c.Going == nil || !translate.EndsAt(claim).IsZero() {
		return false, nil
	}
	if going, err := c.Going(ctx); err != nil || !going {
		return err != nil, err
	}
	n, err := c.launched(ctx)
	if err != nil {
		return true, err
	}
	held, err := c.unconfirmed(ctx, n)
	if held {
		c.sayGoing(claim, n)
	}
	return held, err
}

// launched counts the claims that have an instance.
func (c *Collector) launched(ctx context.Context) (n int, err error) {
	var claims karpv1.NodeClaimList
	if err := c.Store.List(ctx, &claims, client.UnsafeDisableDeepCopy); err != nil { // only read
		return 0, fmt.Errorf("count NodeClaims whose definition is being deleted: %w", err)
	}
	for i := range claims.Items {
		if claims.Items[i].Status.ProviderID != "" {
			n++
		}
	}
	return n, nil
}

// sayGoing says on a claim that it is held, and now and then in the log how many are.
func (c *Collector) sayGoing(claim *karpv1.NodeClaim, n int) {
	text := goingText(c.Namespace, n)
	c.Events.Publish(observe.Event{About: claim, Key: "NodeClaim/" + claim.Name, Warning: true,
		Reason: "DefinitionDeleted", Message: text, Topic: "definition", DedupeFor: sayAgain})
	if c.timeToSay(c.Now()) {
		c.Log.Error("NodeClaims are held whose definition is being deleted", "claims", n, "message", text)
	}
}

// timeToSay reports whether it was long ago that the log last had what the breaker holds, and notes that it has it now.
func (c *Collector) timeToSay(now time.Time) bool {
	c.held.mu.Lock()
	defer c.held.mu.Unlock()
	if now.Sub(c.held.saidAt) < sayAgain {
		return false
	}
	c.held.saidAt = now
	return true
}

// goingText says what is held, and the ways out.
func goingText(namespace string, n int) string {
	return fmt.Sprintf("CustomResourceDefinition nodeclaims.karpenter.sh is being deleted, and with it all NodeClaims: their %d nodes are neither drained nor terminated. "+
		"To keep the nodes see docs/tasks/adopt.md, Definitions that were deleted; to have all drained and terminated: "+
		"kubectl -n %s create configmap %s --from-literal=%s=%d --dry-run=client -o yaml | kubectl apply -f -",
		n, namespace, api.ConfigMapOrphans, api.OrphansTerminate, n)
}
