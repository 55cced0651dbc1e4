package apply

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

// Launched is one launch of a plan that became a claim, or the error that
// kept it from that.
type Launched struct {
	Launch plan.Launch
	Claim  *karpv1.NodeClaim
	Err    error
}

// Launch creates a claim for every launch of the plan, in parallel, and records it in the ledger
// before, as the snapshot s reports what it may become. What cannot be created is removed from
// the ledger; a new plan will see to its pods. A launch whose pool is no longer as s has it is
// dropped with ErrPoolChanged, and a new plan is asked for.
func (a *Applier) Launch(ctx context.Context, s *cluster.Snapshot, p plan.Plan) []Launched {
	out, ids, names := make([]Launched, len(p.Launches)), make([]string, len(p.Launches)), make([]string, len(p.Launches))
	for i, l := range p.Launches {
		ids[i] = a.NewID()
		names[i] = translate.ClaimName(l.Pool, ids[i])
	}
	if a.Orders != nil {
		isAwaited := func(l plan.Launch) bool { return len(l.Pods) > 0 && !l.Static }
		a.Orders.Announce(slices.ContainsFunc(p.Launches, isAwaited), names...)
	}
	each(len(out), func(i int) {
		out[i].Launch = p.Launches[i]
		out[i].Claim, out[i].Err = a.launch(ctx, s, p.Launches[i], ids[i])
		if out[i].Err != nil && a.Orders != nil {
			a.Orders.Dismiss(names[i])
		}
	})
	if slices.ContainsFunc(out, func(l Launched) bool { return errors.Is(l.Err, ErrPoolChanged) }) {
		a.Again()
	}
	return out
}

func instanceTypesOf(s *cluster.Snapshot, id cluster.PoolID) []cluster.InstanceType {
	if pool, ok := s.Pool(id); ok && pool.Catalogue != nil {
		return pool.Catalogue.InstanceTypes
	}
	return nil
}

// launch creates the claim for a launch, whose pods may leave nodes for it.
func (a *Applier) launch(ctx context.Context, s *cluster.Snapshot, l plan.Launch, id string) (*karpv1.NodeClaim, error) {
	var marks map[string]string
	if from := leftBy(s, l.Pods); len(from) > 0 {
		marks = map[string]string{api.AnnotationTakes: strings.Join(from, ",")}
	}
	claim, ordered, err := a.prepare(s, l, id, marks)
	if err != nil {
		return nil, err
	}
	return a.order(ctx, claim, ordered)
}

// leftBy names the claims of the nodes that pods are to leave, sorted.
func leftBy(s *cluster.Snapshot, pods []cluster.Pod) []string {
	var out []string
	for i := range pods {
		at, found := slices.BinarySearchFunc(s.Nodes, pods[i].Node, func(n cluster.Node, name string) int { return cmp.Compare(n.Name, name) })
		if found && s.Nodes[at].Claim != "" {
			out = append(out, s.Nodes[at].Claim)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// prepare makes the claim for a launch, with further annotations, and the instance that it stands
// for. id ends its name.
func (a *Applier) prepare(s *cluster.Snapshot, l plan.Launch, id string, marks map[string]string) (*karpv1.NodeClaim, cluster.Instance, error) {
	pool, err := a.asPlanned(s, l.Pool)
	if err != nil {
		return nil, cluster.Instance{}, fmt.Errorf("create claim: %w", err)
	}
	claim, err := translate.Claim(pool, l, id)
	if err != nil {
		return nil, cluster.Instance{}, err
	}
	maps.Copy(claim.Annotations, marks)
	ordered := translate.Instance(claim, instanceTypesOf(s, l.Pool), a.Autoscaler)
	ordered.CreatedAt, ordered.LaunchedFor = a.Now().UTC(), l.Pods
	return claim, ordered, nil
}

// order creates a claim that was prepared.
func (a *Applier) order(ctx context.Context, claim *karpv1.NodeClaim, ordered cluster.Instance) (*karpv1.NodeClaim, error) {
	a.Ledger.Ordered(ordered)
	if err := a.Store.Create(ctx, claim); err != nil {
		if there, known := a.cameToBe(ctx, claim, err); there {
			return claim, nil
		} else if known {
			a.Ledger.NotCreated(claim.Name)
		}
		return nil, fmt.Errorf("create claim of %s: %w", ordered.Pool, err)
	}
	return claim, nil
}

// cameToBe finds out whether a claim exists although creating it brought an error: a connection
// that broke says nothing. known is false where that is not known; the claim then stays an instance
// being launched of unknown fate until a watch shows it or the ledger gives it up.
func (a *Applier) cameToBe(ctx context.Context, claim *karpv1.NodeClaim, why error) (there, known bool) {
	var answer apierrors.APIStatus
	if errors.As(why, &answer) && answer.Status().Code < http.StatusInternalServerError {
		return false, true // refused
	}
	live := &karpv1.NodeClaim{}
	err := a.Live.Get(ctx, client.ObjectKeyFromObject(claim), live)
	return err == nil, client.IgnoreNotFound(err) == nil
}

// lostAfter is how long a launch may go unseen before it is searched for. A watch shows a new
// object within milliseconds; a relist takes seconds.
const lostAfter = 20 * time.Second

// FindLost searches live for launches that no watch has shown for lostAfter, and forgets those that
// do not exist: they came and went while a watch was cut.
func (a *Applier) FindLost(ctx context.Context) error {
	_, err := a.forgetLost(ctx, a.Now().Add(-lostAfter))
	return err
}

// forgetLost forgets the claims created before a moment, or at any where it is zero, that neither a
// watch nor the API server has, and lists them.
func (a *Applier) forgetLost(ctx context.Context, before time.Time) (lost []string, err error) {
	var errs []error
	for _, name := range a.Ledger.unseen(before) {
		switch err := a.Live.Get(ctx, client.ObjectKey{Name: name}, &karpv1.NodeClaim{}); {
		case apierrors.IsNotFound(err):
			a.Ledger.NotCreated(name)
			lost = append(lost, name)
		case err != nil:
			errs = append(errs, fmt.Errorf("read claim %s, which no watch has shown: %w", name, err))
		}
	}
	return lost, errors.Join(errs...)
}
