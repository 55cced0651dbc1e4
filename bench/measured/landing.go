package measured

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

// Landing is where a pod runs, and where plans meant it to.
type Landing struct {
	On    string   // the NodeClaim of its node; empty: a node without one, or none
	Meant []string // the NodeClaims that were launched for it and are still there, the oldest first
}

// AsPlanned reports whether the pod runs on the first NodeClaim that was launched for it.
func (l Landing) AsPlanned() bool { return len(l.Meant) > 0 && l.Meant[0] == l.On }

// Displaced is how often another NodeClaim was launched for the pod, since others took its place.
func (l Landing) Displaced() int { return max(0, len(l.Meant)-1) }

// Landings reads them for the pods of a namespace.
func Landings(ctx context.Context, from client.Reader, namespace string) (all []Landing, err error) {
	var claims karpv1.NodeClaimList
	if err := from.List(ctx, &claims); err != nil {
		return nil, fmt.Errorf("list NodeClaims: %w", err)
	}
	slices.SortStableFunc(claims.Items, func(a, b karpv1.NodeClaim) int {
		return a.CreationTimestamp.Compare(b.CreationTimestamp.Time)
	})
	on, meant := map[string]string{}, map[string][]string{}
	for i := range claims.Items {
		c := &claims.Items[i]
		if c.Status.NodeName != "" {
			on[c.Status.NodeName] = c.Name
		}
		uids, _ := translate.ForPods(c)
		for _, uid := range uids {
			meant[uid] = append(meant[uid], c.Name)
		}
	}
	var pods corev1.PodList
	if err := from.List(ctx, &pods, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("list pods: %w", err)
	}
	for i := range pods.Items {
		p := &pods.Items[i]
		all = append(all, Landing{On: on[p.Spec.NodeName], Meant: meant[string(p.UID)]})
	}
	return all, nil
}
