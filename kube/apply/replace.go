package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/internal/pause"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/kube/translate/podspec"
)

// The stages of a move, as the annotation daemok.sh/stage has them on the claims of the instances
// that take the place of others. The first is followed by a slash and the number of these
// instances, so that a process that finds them knows whether all are there.
const (
	stageWaiting = "waiting" // the nodes stay until all instances have started
	stageDone    = "done"    // the nodes are let go
	stageKept    = "kept"    // the move was given up, and pods need the instance
)

// stageOf reads the annotation; waiting is false for instances of no move, or of one that is over.
func stageOf(c *karpv1.NodeClaim) (instances int, waiting bool) {
	stage, n, _ := strings.Cut(c.Annotations[api.AnnotationStage], "/")
	instances, err := strconv.Atoi(n)
	return instances, err == nil && stage == stageWaiting
}

// marks is what the claims of a unit's instances carry.
func (u *unit) marks() map[string]string {
	var old []string
	for _, r := range u.leaving {
		old = append(old, r.Claim)
	}
	slices.Sort(old)
	return map[string]string{
		api.AnnotationReplaces: strings.Join(old, ","),
		api.AnnotationStage:    fmt.Sprintf("%s/%d", stageWaiting, len(u.claims)),
	}
}

// replace launches the instances of a unit. Those that pools do not allow any more end the move
// before any is launched.
func (a *Applier) replace(ctx context.Context, u *unit, reported Listener) error {
	made := make([]func() (*karpv1.NodeClaim, error), len(u.Launches))
	for i, l := range u.Launches {
		claim, ordered, err := a.prepare(u.snapshot, l, strings.TrimPrefix(u.claims[i], l.Pool.Name+"-"), u.marks())
		if err != nil {
			return err
		}
		made[i] = func() (*karpv1.NodeClaim, error) { return a.order(ctx, claim, ordered) }
	}
	u.ordered, u.snapshot = true, nil
	failed := make([]error, len(u.Launches))
	each(len(made), func(i int) {
		claim, err := made[i]()
		failed[i] = err
		reported.Replacing(u.Move, Launched{u.Launches[i], claim, err})
	})
	return errors.Join(failed...)
}

// awaitEvery is how often it is checked whether instances have started, in what the watches have
// shown.
const awaitEvery = time.Second

// await waits until all instances of a unit are initialised.
func (a *Applier) await(ctx context.Context, u *unit) error {
	for {
		starting, err := a.starting(ctx, u)
		if err != nil || starting == "" {
			return err
		}
		if !a.Now().Before(u.until) {
			return fmt.Errorf("%w in time: claim %s", ErrNoReplacement, starting)
		}
		if stopped := pause.For(ctx, awaitEvery); stopped != nil {
			return stopped
		}
	}
}

// starting names a claim whose instance is not initialised; empty: all are. An error says that one
// is not to come any more.
func (a *Applier) starting(ctx context.Context, u *unit) (string, error) {
	starting := ""
	for _, name := range u.claims {
		c := &karpv1.NodeClaim{}
		err := a.Store.Get(ctx, client.ObjectKey{Name: name}, c)
		if apierrors.IsNotFound(err) { // perhaps it is only not shown yet
			err = a.Live.Get(ctx, client.ObjectKey{Name: name}, c)
		}
		switch {
		case apierrors.IsNotFound(err), err == nil && (c.DeletionTimestamp != nil || translate.IsWithdrawn(c)):
			return "", fmt.Errorf("%w: claim %s was given up", ErrNoReplacement, name)
		case err != nil, !condition.IsTrue(c, karpv1.ClaimInitialized):
			starting = name
		}
	}
	return starting, nil
}

// unneeded is why the launch of an instance is withdrawn.
const unneeded = "the nodes that it was to replace stay"

// giveBack gives an instance up that is not to replace anything after all: it is not launched or,
// where it was, ended, unless pods run on it by now. Such a one stays, until it is empty or
// expensive. It tries until that is done.
func (a *Applier) giveBack(ctx context.Context, claim string) {
	began := a.Now()
	a.untilDone(ctx, func(ctx context.Context) error {
		c := &karpv1.NodeClaim{}
		err := a.Live.Get(ctx, client.ObjectKey{Name: claim}, c)
		switch {
		case apierrors.IsNotFound(err) && a.Now().Sub(began) < lostAfter && a.Ledger.mayCome(claim):
			return err // its creation may still be on its way
		case apierrors.IsNotFound(err):
			a.Ledger.NotCreated(claim)
			return nil
		case err != nil:
			return err
		case c.DeletionTimestamp != nil || translate.IsWithdrawn(c):
			return nil
		case c.Status.ProviderID == "":
			_, err := a.withdraw(ctx, plan.Withdrawal{Claim: claim, Pool: translate.PoolOf(c), Note: unneeded})
			return err
		case c.Status.NodeName == "":
			return a.deleteAsSeen(ctx, c)
		}
		return a.endIfEmpty(ctx, c)
	})
}

// endIfEmpty ends an instance that is a node by now, if no pod needs it.
func (a *Applier) endIfEmpty(ctx context.Context, c *karpv1.NodeClaim) error {
	node := c.Status.NodeName
	if err := a.taint(ctx, node, func(n *corev1.Node) bool { return Taint(n, a.Now()) }); err != nil {
		if apierrors.IsNotFound(err) {
			return a.deleteAsSeen(ctx, c)
		}
		return err
	}
	if err := pause.For(ctx, translate.StabilizeFor); err != nil {
		return err
	}
	var list corev1.PodList
	if err := a.Live.List(ctx, &list, client.MatchingFields{indexNodeName: node}); err != nil {
		return fmt.Errorf("list pods of node %s before it is deleted: %w", node, err)
	}
	used := slices.ContainsFunc(list.Items, func(pod corev1.Pod) bool {
		p := podspec.Pod(&pod, a.Now(), a.Autoscaler)
		return p.Returns || p.OneOff != "" || p.DoNotDisrupt
	})
	if !used {
		return a.deleteAsSeen(ctx, c)
	}
	if err := a.setStage(ctx, c.Name, stageKept); err != nil {
		return err
	}
	return a.taint(ctx, node, Untaint)
}

// deleteClaim deletes the claim of a node that is to go, as it was seen last.
func (a *Applier) deleteClaim(ctx context.Context, r *leaver) error {
	if r.gone {
		return nil
	}
	err := a.deleteAsSeen(ctx, r.seen)
	r.gone = err == nil
	return err
}

func (a *Applier) deleteAsSeen(ctx context.Context, c *karpv1.NodeClaim) error {
	err := a.Store.Delete(ctx, c, client.Preconditions{UID: &c.UID, ResourceVersion: &c.ResourceVersion})
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete claim %s: %w", c.Name, err)
	}
	return nil
}

// markStage notes on claims how their move ended. It is a help to readers: the nodes that are gone,
// or open, show the same.
func (a *Applier) markStage(ctx context.Context, claims []string, stage string) {
	each(len(claims), func(i int) { _ = a.setStage(context.WithoutCancel(ctx), claims[i], stage) })
}

func (a *Applier) setStage(ctx context.Context, claim, stage string) error {
	c := &karpv1.NodeClaim{}
	if err := a.Live.Get(ctx, client.ObjectKey{Name: claim}, c); err != nil {
		return client.IgnoreNotFound(err)
	}
	if c.Annotations[api.AnnotationStage] == stage {
		return nil
	}
	before := c.DeepCopy()
	if c.Annotations == nil {
		c.Annotations = map[string]string{}
	}
	c.Annotations[api.AnnotationStage] = stage
	return client.IgnoreNotFound(a.Store.Patch(ctx, c, client.MergeFrom(before)))
}
