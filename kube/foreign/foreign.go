// Package foreign hides NodePools and NodeClaims of other providers, for clusters with two
// autoscalers. The node class of such an object is of another API group.
//
// It promises that a reader through it finds no such object, so that no loop can write one or act on
// it. Nodes stay visible, because pods may run on any node; a caller that acts on a node without one
// of our claims asks Node. It decides nothing, and passes writes through unchanged.
package foreign

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

// indexProviderID is the field index over claims that Node's reader must have.
const indexProviderID = "status.providerID"

// Hide returns a client that reads past foreign objects.
func Hide(c client.Client) client.Client { return hidingClient{c, reader{c}} }

// HideFrom returns a reader that reads past foreign objects.
func HideFrom(r client.Reader) client.Reader { return reader{r} }

type hidingClient struct {
	client.Client
	reader reader
}

func (h hidingClient) Get(ctx context.Context, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
	return h.reader.Get(ctx, key, o, options...)
}

func (h hidingClient) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	return h.reader.List(ctx, list, options...)
}

type reader struct{ from client.Reader }

// Get finds no foreign object.
func (r reader) Get(ctx context.Context, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
	if err := r.from.Get(ctx, key, o, options...); err != nil {
		return err
	}
	switch o := o.(type) {
	case *karpv1.NodeClaim:
		if isClaim(*o) {
			*o = karpv1.NodeClaim{}
			return apierrors.NewNotFound(karpv1.GroupVersion.WithResource("nodeclaims").GroupResource(), key.Name)
		}
	case *karpv1.NodePool:
		if isPool(*o) {
			*o = karpv1.NodePool{}
			return apierrors.NewNotFound(karpv1.GroupVersion.WithResource("nodepools").GroupResource(), key.Name)
		}
	}
	return nil
}

// List leaves foreign objects out. A page may be shorter than was asked for.
func (r reader) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if err := r.from.List(ctx, list, options...); err != nil {
		return err
	}
	switch l := list.(type) {
	case *karpv1.NodeClaimList:
		l.Items = slices.DeleteFunc(l.Items, isClaim)
	case *karpv1.NodePoolList:
		l.Items = slices.DeleteFunc(l.Items, isPool)
	}
	return nil
}

func isClaim(c karpv1.NodeClaim) bool { return translate.IsForeign(c.Spec.NodeClassRef) }
func isPool(p karpv1.NodePool) bool   { return translate.IsForeign(p.Spec.Template.Spec.NodeClassRef) }

// Node reports whether a node is another provider's: its claim is or, where none
// is about it, its pool. The reader sees everything.
func Node(ctx context.Context, all client.Reader, n *corev1.Node) (bool, error) {
	var claims karpv1.NodeClaimList
	if n.Spec.ProviderID != "" {
		if err := all.List(ctx, &claims, client.MatchingFields{indexProviderID: n.Spec.ProviderID}); err != nil {
			return false, fmt.Errorf("see whose node %s is by its claim: %w", n.Name, err)
		}
	}
	if len(claims.Items) > 0 {
		return !slices.ContainsFunc(claims.Items, func(c karpv1.NodeClaim) bool { return !isClaim(c) }), nil
	}
	pool := karpv1.NodePool{}
	if name := n.Labels[api.LabelNodePool]; name != "" {
		if err := all.Get(ctx, client.ObjectKey{Name: name}, &pool); client.IgnoreNotFound(err) != nil {
			return false, fmt.Errorf("see whose node %s is by its pool: %w", n.Name, err)
		}
	}
	return isPool(pool), nil
}
