// Package adopt requests that the controller adopts nodes without NodeClaims: `daemok adopt`. It finds
// nodes that a Karpenter without NodeClaims made, by the labels of their pools, and creates the claims
// that the controller links with their instances.
//
// It promises to write only those claims, and that running it again does no harm.
package adopt

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/pages"
	"github.com/daemok/daemok/kube/translate"
)

// Orphan is a node that names a pool and that no claim has.
type Orphan struct {
	Node  *corev1.Node
	ID    cluster.PoolID
	Pool  translate.PoolObject // zero where Why is not empty
	Why   string               // why it cannot be taken over; empty: it may
	Claim string               // that was asked to take it over already; empty: none
}

// Find lists the orphans of a cluster by name. Nodes of other providers are none.
func Find(ctx context.Context, from client.Reader, serves translate.Generations) (out []Orphan, err error) {
	claimed, asked, has := map[string]bool{}, map[string]string{}, map[cluster.PoolID]int64{}
	err = pages.Each(ctx, from, &karpv1.NodeClaimList{}, func(l *karpv1.NodeClaimList) {
		for i := range l.Items {
			c := &l.Items[i]
			if translate.Adopts(c) && !condition.IsTrue(c, karpv1.ClaimRegistered) {
				asked[c.Annotations[api.AnnotationAdopt]] = c.Name
			} else {
				claimed[c.Status.ProviderID] = true
				if c.DeletionTimestamp == nil {
					has[translate.PoolOf(c)]++
				}
			}
		}
	})
	if err != nil {
		return nil, err
	}
	err = pages.Each(ctx, from, &corev1.NodeList{}, func(l *corev1.NodeList) {
		for i := range l.Items {
			n := &l.Items[i]
			if id := translate.PoolOfNode(n); id.Name != "" && (n.Spec.ProviderID == "" || !claimed[n.Spec.ProviderID]) {
				o := Orphan{Node: n, ID: id}
				if n.Spec.ProviderID != "" {
					o.Claim = asked[n.Spec.ProviderID]
				}
				out = append(out, o)
			}
		}
	})
	if err != nil {
		return nil, err
	}
	pools := map[cluster.PoolID]Orphan{}
	for i := range out {
		id := out[i].ID
		if _, read := pools[id]; !read {
			if pools[id], err = poolOf(ctx, from, serves, id); err != nil {
				return nil, err
			}
		}
		out[i].Pool, out[i].Why = pools[id].Pool, pools[id].Why
		switch n := out[i].Node; {
		case n.DeletionTimestamp != nil:
			out[i].Why, out[i].Claim = "it is being deleted", ""
		case out[i].Why == "" && n.Spec.ProviderID == "":
			out[i].Why = "it has no spec.providerID"
		}
	}
	keepSurplus(out, has)
	out = slices.DeleteFunc(out, func(o Orphan) bool { return translate.IsForeign(o.Pool.Class) })
	slices.SortFunc(out, func(a, b Orphan) int { return strings.Compare(a.Node.Name, b.Node.Name) })
	return out, nil
}

// keepSurplus keeps nodes from being taken over by pools that would have too many then, and remove some. has is how
// many nodes with NodeClaims they have.
func keepSurplus(orphans []Orphan, has map[cluster.PoolID]int64) {
	for i := range orphans {
		if o := &orphans[i]; o.Why == "" {
			has[o.ID]++
		}
	}
	for i := range orphans {
		o := &orphans[i]
		if o.Why != "" || o.Claim != "" {
			continue
		}
		p, err := translate.Pool(o.Pool, has[o.ID], time.Now())
		if err != nil {
			continue // such a pool loses nothing
		}
		first := fmt.Sprintf("run kubectl scale nodepool %s --replicas=%d", o.ID.Name, has[o.ID])
		if p.Hours.Nodes != nil {
			first = "change the annotation " + api.AnnotationHours
		}
		if most, bounded := p.Most(); bounded && has[o.ID] > most {
			o.Why = fmt.Sprintf("%s, and would remove some of its %d; %s first, or delete nodes that are not needed",
				p.Keeps(), has[o.ID], first)
		}
	}
}

// poolOf is what all orphans of a pool have in common.
func poolOf(ctx context.Context, from client.Reader, serves translate.Generations, id cluster.PoolID) (o Orphan, err error) {
	o.Pool, err = serves.Read(ctx, from, id)
	switch {
	case apierrors.IsNotFound(err):
		o.Why = fmt.Sprintf("there is no %s %s; make it, with the settings that the node has", id.Kind, id.Name)
		return o, nil
	case err != nil:
		return o, fmt.Errorf("read %s of nodes that are to be taken over: %w", id, err)
	case o.Pool.Object.GetDeletionTimestamp() != nil:
		o.Why = id.String() + " is being deleted"
	}
	return o, nil
}

// Ask has the orphan's pool take it over, and returns the claim's name: the one that was
// asked before, if there is one.
func Ask(ctx context.Context, store client.Client, o Orphan) (claim string, err error) {
	if o.Claim != "" {
		return o.Claim, nil
	}
	c, err := translate.Adoption(o.Pool, o.Node, "")
	if err != nil {
		return "", err
	}
	if err := store.Create(ctx, c); err != nil && !apierrors.IsAlreadyExists(err) {
		return "", fmt.Errorf("make claim %s, which takes node %s over: %w", c.Name, o.Node.Name, err)
	}
	return c.Name, nil
}

// Stand says how far a claim is that takes a node over: done once the instance and the node are
// its, else why not, as far as the controller has said; empty while it has not.
func Stand(ctx context.Context, from client.Reader, claim string) (done bool, why string, err error) {
	c := &karpv1.NodeClaim{}
	if err := from.Get(ctx, client.ObjectKey{Name: claim}, c); err != nil {
		return false, "", fmt.Errorf("see how far claim %s is: %w", claim, err)
	}
	if condition.IsTrue(c, karpv1.ClaimRegistered) {
		return true, "", nil
	}
	if launched := condition.Get(c, karpv1.ClaimLaunched); launched != nil && launched.Reason == karpv1.ReasonNotAdopted {
		return false, launched.Message, nil
	}
	return false, "", nil
}
