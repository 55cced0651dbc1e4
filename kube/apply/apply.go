package apply

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

// writersMax bounds how many objects are written at once.
const writersMax = 32

// each calls do for every number below n, several at a time, and returns when
// all calls have.
func each(n int, do func(i int)) {
	var writes errgroup.Group
	writes.SetLimit(writersMax)
	for i := range n {
		writes.Go(func() error { do(i); return nil })
	}
	writes.Wait() //nolint:errcheck // each call keeps its own error
}

// indexNodeName is the field index over pods that the live reader must have.
const indexNodeName = "spec.nodeName"

// Applier carries out plans.
type Applier struct {
	Store  client.Client
	Live   client.Reader // reads past every cache
	Ledger *Ledger
	Pools  pools
	Now    func() time.Time
	NewID  func() string // five characters for the name of a claim, not used before
	Again  func()        // asks for a new plan, since one was not carried out as it stands

	removals sync.WaitGroup
	budgets  budgets
}

// pools finds a pool as it was last seen.
type pools interface {
	Pool(id cluster.PoolID) (translate.PoolObject, bool)
}

// Undo removes taints that an earlier run of the program left on nodes it did
// not get to delete.
func (a *Applier) Undo(ctx context.Context) error {
	var nodes corev1.NodeList
	if err := a.Live.List(ctx, &nodes); err != nil {
		return fmt.Errorf("list nodes to take stale taints off: %w", err)
	}
	slices.SortFunc(nodes.Items, func(x, y corev1.Node) int { return cmp.Compare(x.Name, y.Name) })
	var claims karpv1.NodeClaimList
	if err := a.Live.List(ctx, &claims); err != nil {
		return fmt.Errorf("list claims to take stale taints off: %w", err)
	}
	going := map[string]bool{}
	for i := range claims.Items {
		if c := &claims.Items[i]; c.DeletionTimestamp != nil {
			going[c.Status.ProviderID] = true
		}
	}
	var errs []error
	for i := range nodes.Items {
		n := &nodes.Items[i]
		if n.DeletionTimestamp != nil || going[n.Spec.ProviderID] || !translate.HasTaint(n, api.TaintDisrupted) {
			continue
		}
		errs = append(errs, a.taint(ctx, n.Name, Untaint))
	}
	return errors.Join(errs...)
}
