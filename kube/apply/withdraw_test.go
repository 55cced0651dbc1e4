package apply

import (
	"context"
	"errors"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

// TestAnOrderIsWithdrawnOnlyAsItWasSeen: a claim that went on since the plan was made is left as it
// is, and the next plan counts with its instance.
func TestAnOrderIsWithdrawnOnlyAsItWasSeen(t *testing.T) {
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "nodeclaims"}, "c", errors.New("changed"))
	away := errors.New("the API server is away")
	tests := map[string]struct {
		live   func(c *karpv1.NodeClaim) // what the claim is by now
		write  error
		marked bool
		want   error
	}{
		"as it was":                {func(*karpv1.NodeClaim) {}, nil, true, nil},
		"tried, and nothing came":  {func(c *karpv1.NodeClaim) { c.Annotations = map[string]string{api.AnnotationLaunchAttempt: "b/1"} }, nil, true, nil},
		"bought":                   {func(c *karpv1.NodeClaim) { c.Status.ProviderID = "aws:///a/i-1" }, nil, false, ErrOrderChanged},
		"being deleted":            {func(c *karpv1.NodeClaim) { c.DeletionTimestamp = &metav1.Time{Time: start} }, nil, false, ErrOrderChanged},
		"gone":                     {func(c *karpv1.NodeClaim) { c.Name = "another" }, nil, false, ErrOrderChanged},
		"changed at that moment":   {func(*karpv1.NodeClaim) {}, conflict, false, ErrOrderChanged},
		"which cannot be written ": {func(*karpv1.NodeClaim) {}, away, false, away},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			live := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c", UID: "u", Finalizers: []string{api.FinalizerTermination}}}
			tt.live(live)
			store, ledger := storeOf(t, tt.write, live), &Ledger{}
			a := &Applier{Store: store, Live: store, Ledger: ledger}
			got := a.Withdraw(t.Context(), plan.Plan{Withdrawals: []plan.Withdrawal{{Claim: "c", Pool: poolID, Note: "nobody waits"}}})
			if len(got) != 1 || !errors.Is(got[0].Err, tt.want) || (got[0].Object != nil) != tt.marked {
				t.Fatalf("Withdraw = %+v, want %v", got, tt.want)
			}
			c := &karpv1.NodeClaim{}
			_ = store.Get(t.Context(), client.ObjectKey{Name: live.Name}, c)
			if mark := c.Annotations[api.AnnotationWithdrawn]; (mark == "nobody waits") != tt.marked {
				t.Errorf("the claim is marked %q, want a mark: %v", mark, tt.marked)
			}
			s := ledger.Project(&cluster.Snapshot{Now: start, Instances: []cluster.Instance{{Claim: "c"}}})
			if s.Instances[0].Deleting != tt.marked {
				t.Errorf("the next plan sees the order withdrawn: %v, want %v", s.Instances[0].Deleting, tt.marked)
			}
		})
	}
}

// The answer to a claim's creation was lost, and it was not created: what the plan would
// withdraw because of it stays, and the next plan does not count on it.
func TestNoOrderIsWithdrawnForOneThatWasNotCreated(t *testing.T) {
	store, ledger := storeOf(t, nil, &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c", UID: "u"}}), &Ledger{}
	ledger.Ordered(cluster.Instance{Claim: "phantom", Pool: poolID, CreatedAt: start})
	a := &Applier{Store: store, Live: store, Ledger: ledger}
	got := a.Withdraw(t.Context(), plan.Plan{Withdrawals: []plan.Withdrawal{{Claim: "c", Pool: poolID, Note: "nobody waits"}}})
	if len(got) != 1 || !errors.Is(got[0].Err, ErrOrderChanged) || got[0].Object != nil {
		t.Fatalf("Withdraw = %+v, want %v", got, ErrOrderChanged)
	}
	c := &karpv1.NodeClaim{}
	if err := store.Get(t.Context(), client.ObjectKey{Name: "c"}, c); err != nil || c.Annotations[api.AnnotationWithdrawn] != "" {
		t.Errorf("the claim is marked %q, %v; want no mark", c.Annotations[api.AnnotationWithdrawn], err)
	}
	if s := ledger.Project(&cluster.Snapshot{Now: start, Instances: []cluster.Instance{{Claim: "c"}}}); len(s.Instances) != 1 || s.Instances[0].Deleting {
		t.Errorf("the next plan sees %+v, want the claim that is there alone", s.Instances)
	}
}

// The plan has places for the pods on another launched instance or node, and that goes by now, which
// the watches have not shown yet: the launch stays. Nodes that no claim has are not asked about.
func TestNoOrderIsWithdrawnForOneThatGoes(t *testing.T) {
	tests := map[string]struct {
		on     plan.Destination
		target string
		other  func(c *karpv1.NodeClaim) // what its claim is by now
		want   error
	}{
		"another order that stays":      {plan.OnInstance, "other", func(*karpv1.NodeClaim) {}, nil},
		"another order that is deleted": {plan.OnInstance, "other", func(c *karpv1.NodeClaim) { c.DeletionTimestamp = &metav1.Time{Time: start} }, ErrOrderChanged},
		"another order that is gone":    {plan.OnInstance, "other", func(c *karpv1.NodeClaim) { c.Name = "third" }, ErrOrderChanged},
		"another order that is withdrawn": {plan.OnInstance, "other", func(c *karpv1.NodeClaim) {
			c.Annotations = map[string]string{api.AnnotationWithdrawn: "no pod waits for it any more"}
		}, ErrOrderChanged},
		"a node that stays": {plan.OnNode, "n", func(c *karpv1.NodeClaim) { c.Status.NodeName = "n" }, nil},
		"a node whose claim is deleted": {plan.OnNode, "n", func(c *karpv1.NodeClaim) {
			c.Status.NodeName, c.DeletionTimestamp = "n", &metav1.Time{Time: start}
		}, ErrOrderChanged},
		"a node of others": {plan.OnNode, "of-others", func(*karpv1.NodeClaim) {}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			other := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "other", UID: "v", Finalizers: []string{api.FinalizerTermination}}}
			tt.other(other)
			store := storeOf(t, nil, &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c", UID: "u"}}, other)
			a := &Applier{Store: store, Live: store, Ledger: &Ledger{}}
			got := a.Withdraw(t.Context(), plan.Plan{
				Placements:  []plan.Placement{{Pod: cluster.Pod{Name: "web-1"}, On: tt.on, Target: tt.target}},
				Withdrawals: []plan.Withdrawal{{Claim: "c", Pool: poolID, Note: "no pod waits for it any more"}},
			})
			if !errors.Is(got[0].Err, tt.want) || (got[0].Object != nil) != (tt.want == nil) {
				t.Errorf("Withdraw = %+v, want %v", got, tt.want)
			}
		})
	}
}

// storeOf holds claims; err is what writes to them bring.
func storeOf(t *testing.T, err error, list ...client.Object) client.Client {
	t.Helper()
	s := runtime.NewScheme()
	if err := karpv1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	return fake.NewClientBuilder().WithScheme(s).WithObjects(list...).WithInterceptorFuncs(interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			if err != nil {
				return err
			}
			return c.Patch(ctx, o, p, opts...)
		},
	}).Build()
}

// A claim whose instance is written on it between the check and the annotation keeps it: with the
// annotation the instance would be terminated.
func TestAClaimThatGetsItsInstanceAtThatMomentKeepsIt(t *testing.T) {
	live := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c", UID: "u"}}
	store := storeOf(t, nil, live)
	late := interceptor.NewClient(store.(client.WithWatch), interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			launched := &karpv1.NodeClaim{}
			if err := c.Get(ctx, client.ObjectKeyFromObject(o), launched); err != nil {
				return err
			}
			launched.Status.ProviderID = "aws:///a/i-1"
			if err := c.Update(ctx, launched); err != nil {
				return err
			}
			return c.Patch(ctx, o, p, opts...)
		},
	})
	a := &Applier{Store: late, Live: store, Ledger: &Ledger{}}
	got := a.Withdraw(t.Context(), plan.Plan{Withdrawals: []plan.Withdrawal{{Claim: "c", Pool: poolID, Note: "nobody waits"}}})
	if !errors.Is(got[0].Err, ErrOrderChanged) {
		t.Errorf("Withdraw = %v, want %v", got[0].Err, ErrOrderChanged)
	}
	if err := store.Get(t.Context(), client.ObjectKey{Name: "c"}, live); err != nil || live.Annotations[api.AnnotationWithdrawn] != "" {
		t.Errorf("the claim is marked %q, %v", live.Annotations[api.AnnotationWithdrawn], err)
	}
}

// TestAWithdrawalIsForgottenOnceItIsSeen: until then no pod is placed on the instance; an instance
// that came all the same is one like any other.
func TestAWithdrawalIsForgottenOnceItIsSeen(t *testing.T) {
	shown := func(m cluster.Instance) *cluster.Snapshot {
		m.Claim, m.Pool = "c", poolID
		return &cluster.Snapshot{Now: start, Pools: []cluster.Pool{{ID: poolID}}, Instances: []cluster.Instance{m}}
	}
	l := &Ledger{}
	l.Withdraws("c")
	if !l.Project(shown(cluster.Instance{})).Instances[0].Deleting {
		t.Error("an older snapshot has the machine as one that is coming")
	}
	if l.Project(shown(cluster.Instance{Launched: true})).Instances[0].Deleting || l.Project(shown(cluster.Instance{})).Instances[0].Deleting {
		t.Error("a machine that came all the same still counts as withdrawn")
	}
	l.Withdraws("c")
	l.Project(&cluster.Snapshot{Now: start})
	if l.Project(shown(cluster.Instance{})).Instances[0].Deleting {
		t.Error("a withdrawal is remembered although its claim is gone")
	}
}

// TestAWithdrawalIsNoSetback: the claim went without an instance, which says nothing about what can
// be launched.
func TestAWithdrawalIsNoSetback(t *testing.T) {
	l, c := &Ledger{}, claim("")
	c.Annotations = map[string]string{api.AnnotationWithdrawn: "nobody waits"}
	for i := range 3 {
		l.Seen(c, true, start.Add(time.Duration(i)*time.Second))
	}
	if why := l.Project(world(func(s *cluster.Snapshot) { s.Now = start.Add(2 * time.Second) })).Pools[0].NotReady; why != "" {
		t.Errorf("the pool rests: %s", why)
	}
}
