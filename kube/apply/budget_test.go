package apply

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/test/store"
)

// fleet is a pool of ten nodes of ours, all at work and empty, named n-0 to
// n-9 with claims c-0 to c-9.
type fleet struct {
	t      *testing.T
	hand   *store.Connection
	broken atomic.Value // kind that cannot be read, as a string
	stuck  atomic.Value // claim that cannot be deleted, as a string
	lists  atomic.Int64
	again  atomic.Int64
	a      *Applier

	stuckMoves atomic.Int64 // that were reported to wait for live state

	mu    sync.Mutex
	ended map[string]error // by node
}

func newFleet(t *testing.T, budgets ...karpv1.Budget) *fleet {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, karpv1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	server := store.New(s, time.Now)
	f := &fleet{t: t, hand: server.Connect(nil), ended: map[string]error{}}
	f.broken.Store("")
	f.stuck.Store("")
	live := server.Connect(f.fault)
	f.a = &Applier{Serves: translate.Generations{translate.NodePools()}, Store: live, Live: live, Ledger: &Ledger{}, Now: time.Now, Again: func() { f.again.Add(1) }}
	pool := &karpv1.NodePool{Spec: store.PoolSpec(), ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	pool.Spec.Disruption.Budgets = budgets
	f.create(pool)
	for i := range 10 {
		f.join(i)
	}
	return f
}

func (f *fleet) fault(c store.Call) (before, after error) {
	if c.Verb == store.List && c.Kind == "NodeClaimList" {
		f.lists.Add(1)
		time.Sleep(10 * time.Millisecond) // a long list takes its time
	}
	if c.Verb == store.Delete {
		time.Sleep(translate.StabilizeFor) // so that the next plan acts meanwhile
	}
	if c.Verb == store.Delete && c.Name == f.stuck.Load().(string) {
		return errors.New("the API server is busy"), nil
	}
	if !c.Writes() && c.Kind == f.broken.Load().(string) {
		return errors.New("the API server is away"), nil
	}
	return nil, nil
}

func (f *fleet) create(o client.Object) {
	f.t.Helper()
	if err := f.hand.Create(f.t.Context(), o); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fleet) join(i int) {
	labels, id := map[string]string{api.LabelNodePool: "default", api.LabelInitialized: "true"}, fmt.Sprintf("aws:///a/i-%d", i)
	c := &karpv1.NodeClaim{Spec: store.ClaimSpec(), ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("c-%d", i), Labels: labels, Finalizers: []string{api.FinalizerTermination}}}
	f.create(c)
	f.change(c, func() {
		c.Status.ProviderID = id
		condition.SetTrue(c, karpv1.ClaimInitialized, time.Now())
	})
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("n-%d", i), Labels: labels}, Spec: corev1.NodeSpec{ProviderID: id}}
	f.create(n)
	f.change(n, func() {
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	})
}

// change writes the status of an object.
func (f *fleet) change(o client.Object, write func()) {
	f.t.Helper()
	before := o.DeepCopyObject().(client.Object)
	write()
	if err := f.hand.Status().Patch(f.t.Context(), o, client.MergeFrom(before)); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fleet) get(name string, o client.Object) {
	f.t.Helper()
	if err := f.hand.Get(f.t.Context(), client.ObjectKey{Name: name}, o); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fleet) delete(o client.Object) {
	f.t.Helper()
	if err := f.hand.Delete(f.t.Context(), o); err != nil {
		f.t.Fatal(err)
	}
}

// remove hands over a plan that lets the named nodes go.
func (f *fleet) remove(from, to int) {
	var p plan.Plan
	for i := from; i < to; i++ {
		p.Moves = append(p.Moves, plan.Move{Removals: []plan.Removal{{Node: fmt.Sprintf("n-%d", i), Claim: fmt.Sprintf("c-%d", i), Pool: poolID, Reason: plan.Empty}}})
	}
	f.a.Move(context.Background(), nil, p, f)
}

func (f *fleet) Replacing(plan.Move, Launched) {}
func (f *fleet) Stuck(plan.Move, error)        { f.stuckMoves.Add(1) }
func (f *fleet) Moved(e Ended) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range e.Removals {
		f.ended[r.Node] = e.Err
	}
}

// gone counts the nodes let go, and checks that the others are open to pods.
func (f *fleet) gone() (n int) {
	f.t.Helper()
	for node, err := range f.ended {
		if err == nil {
			n++
			continue
		}
		o := &corev1.Node{}
		f.get(node, o)
		if len(o.Spec.Taints) > 0 {
			f.t.Errorf("node %s stays, since %v, but is closed to pods", node, err)
		}
	}
	return n
}

func ptr[T any](v T) *T { return &v }

// TestBudgetsHoldWhenItIsWritten: whatever a plan saw, no more nodes go than
// the budgets allow at the moment of writing.
func TestBudgetsHoldWhenItIsWritten(t *testing.T) {
	all, three := karpv1.Budget{Nodes: "100%"}, karpv1.Budget{Nodes: "3"}
	midnight := karpv1.Budget{Nodes: "0", Schedule: ptr("0 0 * * *"), Duration: ptr("1h")}
	noon := karpv1.Budget{Nodes: "0", Schedule: ptr("0 12 * * *"), Duration: ptr("1h")}
	tests := map[string]struct {
		budgets   []karpv1.Budget
		meanwhile func(f *fleet) // after the plan was made
		want      int            // of six removals
	}{
		"all go where all may":                          {[]karpv1.Budget{all}, nil, 6},
		"a number bounds one plan":                      {[]karpv1.Budget{three}, nil, 3},
		"a share is of all nodes, rounded up":           {[]karpv1.Budget{{Nodes: "35%"}}, nil, 4},
		"no budget means a tenth":                       {nil, nil, 1},
		"a closed window lets none go":                  {[]karpv1.Budget{all, midnight}, nil, 0},
		"outside its window a budget does not count":    {[]karpv1.Budget{all, noon}, nil, 6},
		"a budget for another reason does not count":    {[]karpv1.Budget{all, {Nodes: "0", Reasons: []karpv1.DisruptionReason{karpv1.ReasonDrifted}}}, nil, 6},
		"a budget for this reason does":                 {[]karpv1.Budget{all, {Nodes: "2", Reasons: []karpv1.DisruptionReason{karpv1.ReasonEmpty}}}, nil, 2},
		"a schedule that cannot be read lets none go":   {[]karpv1.Budget{all, {Nodes: "9", Schedule: ptr("at noon of every day"), Duration: ptr("1h")}}, nil, 0},
		"a user who lowered the budget is heard":        {[]karpv1.Budget{all}, (*fleet).lowerTheBudget, 2},
		"a node that fell silent uses the budget":       {[]karpv1.Budget{three}, (*fleet).silenceOne, 2},
		"a claim that somebody deleted uses the budget": {[]karpv1.Budget{three}, func(f *fleet) { f.delete(f.claim(9)) }, 2},
		"a node that lost its object uses the budget":   {[]karpv1.Budget{three}, func(f *fleet) { n := &corev1.Node{}; f.get("n-9", n); f.delete(n) }, 2},
		"a machine being given back no longer counts":   {[]karpv1.Budget{three}, (*fleet).giveOneBack, 3},
		"a pool that is gone lets none go":              {[]karpv1.Budget{all}, func(f *fleet) { p := &karpv1.NodePool{}; f.get("default", p); f.delete(p) }, 0},
		"none go while the pool cannot be read":         {[]karpv1.Budget{all}, func(f *fleet) { f.broken.Store("NodePool") }, 0},
		"none go while claims cannot be counted":        {[]karpv1.Budget{all}, func(f *fleet) { f.broken.Store("NodeClaimList") }, 0},
		"none go while nodes cannot be counted":         {[]karpv1.Budget{all}, func(f *fleet) { f.broken.Store("NodeList") }, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t, tt.budgets...)
				f.remove(0, 6)
				if tt.meanwhile != nil {
					tt.meanwhile(f)
				}
				f.a.Wait()
				if got := f.gone(); got != tt.want {
					t.Errorf("%d nodes went, want %d: %v", got, tt.want, f.ended)
				}
				if asked := f.again.Load() > 0; asked != (tt.want < 6) {
					t.Errorf("a new plan was asked for: %v, want it exactly if a node stays", asked)
				}
			})
		})
	}
}

func (f *fleet) claim(i int) *karpv1.NodeClaim {
	c := &karpv1.NodeClaim{}
	f.get(fmt.Sprintf("c-%d", i), c)
	return c
}

func (f *fleet) lowerTheBudget() {
	p := &karpv1.NodePool{}
	f.get("default", p)
	before := p.DeepCopy()
	p.Spec.Disruption.Budgets = []karpv1.Budget{{Nodes: "2"}}
	if err := f.hand.Patch(f.t.Context(), p, client.MergeFrom(before)); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fleet) silenceOne() {
	n := &corev1.Node{}
	f.get("n-9", n)
	f.change(n, func() { n.Status.Conditions[0].Status = corev1.ConditionUnknown })
}

func (f *fleet) giveOneBack() {
	c := f.claim(9)
	f.delete(c)
	c = f.claim(9)
	f.change(c, func() { condition.SetTrue(c, karpv1.ClaimInstanceTerminating, time.Now()) })
}

// TestPlansShareABudget: removals of a plan that are still under way when the
// next plan acts count against it, and one reading serves many.
func TestPlansShareABudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, karpv1.Budget{Nodes: "4"})
		f.remove(0, 3)
		time.Sleep(translate.StabilizeFor / 2)
		f.remove(3, 10)
		f.a.Wait()
		if got := f.gone(); got != 4 {
			t.Errorf("%d nodes went, want the 4 of the budget: %v", got, f.ended)
		}
		if n := f.lists.Load(); n > 4 {
			t.Errorf("the pool was read %d times for 10 removals of two plans, want twice for a plan at most", n)
		}
	})
}

// TestAFailedDeletionLeavesItsShare: what was let through and not written
// does not use the budget for ever.
func TestAFailedDeletionLeavesItsShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, karpv1.Budget{Nodes: "1"})
		f.stuck.Store("c-0")
		f.remove(0, 1)
		f.a.Wait()
		f.remove(1, 2)
		f.a.Wait()
		if f.ended["n-0"] == nil || f.ended["n-1"] != nil {
			t.Errorf("the removals ended with %v, want a failure, then a success", f.ended)
		}
	})
}

// TestAFullBudgetIsNotAskedAgainAtOnce: a node that had to stay is left out of
// plans for a while, and then a new plan is asked for.
func TestAFullBudgetIsNotAskedAgainAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, karpv1.Budget{Nodes: "0"})
		f.remove(0, 1)
		time.Sleep(translate.StabilizeFor + time.Second)
		synctest.Wait()
		if !errors.Is(f.ended["n-0"], ErrChanged) || f.again.Load() != 1 {
			t.Errorf("after the check: %v, %d plans asked for; want a refusal and one", f.ended["n-0"], f.again.Load())
		}
		f.a.Wait()
		if f.again.Load() != 2 {
			t.Errorf("%d plans asked for in the end, want one more after the rest", f.again.Load())
		}
	})
}
