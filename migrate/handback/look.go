// Package handback removes what only Daemok uses, so that Karpenter can take over: `daemok handback`.
// It first reports what still has to finish.
//
// It promises not to create, drain or delete any node, to remove only those taints and annotations of
// pods that Daemok set, and to change no field of Karpenter's. It can be stopped at any moment and run
// again, and a controller that starts afterwards takes the cluster over as from any Karpenter.
// Fingerprints stay: Karpenter does not know their version and makes its own. The caller makes sure
// that no controller acts meanwhile.
package handback

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/api"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/pages"
	"github.com/daemok/daemok/kube/surge"
	"github.com/daemok/daemok/kube/translate"
)

// Handback is about one cluster.
type Handback struct {
	Store     client.Client
	Namespace string // where the controller runs
}

// State is what stands between a cluster and Karpenter, a line each, sorted.
type State struct {
	Waits   []string // passes by itself while a controller runs
	Refuses []string // does not
	Claims  int      // that would be handed back
}

// Look reads the cluster.
func (h Handback) Look(ctx context.Context) (s State, err error) {
	wait := func(format string, args ...any) { s.Waits = append(s.Waits, fmt.Sprintf(format, args...)) }
	err = pages.Each(ctx, h.Store, &karpv1.NodeClaimList{}, func(l *karpv1.NodeClaimList) {
		for i := range l.Items {
			c := &l.Items[i]
			if translate.IsForeign(c.Spec.NodeClassRef) {
				continue
			}
			s.Claims++
			if why := unknownTo(c); why != "" {
				s.Refuses = append(s.Refuses, why)
			} else if why := unsettled(c); why != "" {
				wait("NodeClaim %s %s", c.Name, why)
			}
		}
	})
	if err != nil {
		return s, err
	}
	err = pages.Each(ctx, h.Store, &karpv1.NodePoolList{}, func(l *karpv1.NodePoolList) {
		for i := range l.Items {
			if p := &l.Items[i]; p.DeletionTimestamp != nil && !translate.IsForeign(p.Spec.Template.Spec.NodeClassRef) {
				wait("NodePool %s is being deleted", p.Name)
			}
		}
	})
	if err != nil {
		return s, err
	}
	surges, err := surge.Records{Store: h.Store, Live: h.Store, Namespace: h.Namespace}.All(ctx)
	if err != nil {
		return s, err
	}
	for _, one := range surges {
		wait("%s has a second replica until a pod has left", one)
	}
	slices.Sort(s.Waits)
	slices.Sort(s.Refuses)
	return s, nil
}

// unknownTo says why today's Karpenter could do nothing with a claim; empty: it can.
func unknownTo(c *karpv1.NodeClaim) string {
	pool := translate.PoolOf(c)
	if pool.Kind != translate.KindProvisioner && c.Spec.NodeClassRef.Kind == awsv1.Kind {
		return ""
	}
	return fmt.Sprintf("NodeClaim %s is of %s with the class %s, which Karpenter from 1.0 on does not know; move it to a NodePool first, as daemok migrate does",
		c.Name, pool, translate.ClassID(c.Spec.NodeClassRef))
}

// unsettled says what a claim is on its way to; empty: it rests.
func unsettled(c *karpv1.NodeClaim) string {
	if c.DeletionTimestamp != nil {
		return "is being deleted"
	}
	for _, kind := range []string{karpv1.ClaimLaunched, karpv1.ClaimRegistered, karpv1.ClaimInitialized} {
		if is := condition.Get(c, kind); is == nil || is.Status != "True" {
			return "is not " + strings.ToLower(kind) + " yet" + because(c, kind)
		}
	}
	switch stage := c.Annotations[api.AnnotationStage]; {
	case condition.IsTrue(c, karpv1.ClaimDisruptionReason):
		return "is about to go"
	case strings.HasPrefix(stage, "waiting"):
		return "waits for nodes that it takes the place of"
	case !translate.IsListed(c):
		return "has an instance without its tags"
	}
	return ""
}

func because(c *karpv1.NodeClaim, kind string) string {
	is := condition.Get(c, kind)
	if is == nil || is.Message == "" {
		return ""
	}
	return ": " + is.Message
}

// isOurs reports whether a key is Daemok's own.
func isOurs(key string) bool { return strings.HasPrefix(key, api.GroupDaemok+"/") }

// frozenFor is what the freeze of a hand-back says, by which it is known as its own.
const frozenFor = "the cluster is being handed back to Karpenter"

// Freeze keeps nodes from going by choice from now on. Another freeze does as well.
func (h Handback) Freeze(ctx context.Context) error {
	freeze := &corev1.ConfigMap{}
	freeze.Namespace, freeze.Name = h.Namespace, api.ConfigMapFreeze
	freeze.Data = map[string]string{api.FreezeReason: frozenFor}
	if err := h.Store.Create(ctx, freeze); err != nil {
		return ignoreExists(fmt.Errorf("freeze the cluster by ConfigMap %s/%s: %w", freeze.Namespace, freeze.Name, err))
	}
	return nil
}
