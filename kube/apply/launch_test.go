package apply

import (
	"context"
	"errors"
	"strings"
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
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

// TestLostOrdersAreFound: a launch that no watch shows is searched for after a while, and forgotten
// only where the claim does not exist.
func TestLostOrdersAreFound(t *testing.T) {
	s := runtime.NewScheme()
	if err := karpv1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	live := fake.NewClientBuilder().WithScheme(s).WithObjects(&karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "there"}}).Build()
	now, ledger := start, &Ledger{}
	for _, name := range []string{"there", "gone"} {
		ledger.Ordered(cluster.Instance{Claim: name, CreatedAt: start})
	}
	a := &Applier{Live: live, Ledger: ledger, Now: func() time.Time { return now }}
	count := func() int { return len(ledger.Project(&cluster.Snapshot{Now: now}).Instances) }
	if err := a.FindLost(t.Context()); err != nil || count() != 2 {
		t.Errorf("right after ordering: %d orders, %v; want both", count(), err)
	}
	now = start.Add(lostAfter + time.Second)
	if err := a.FindLost(t.Context()); err != nil || count() != 1 {
		t.Errorf("later: %d orders, %v; want the claim that exists", count(), err)
	}
}

// TestAClaimOfUnknownFateStaysOrdered: a creation that ended in an error may have happened. What
// may exist is not launched a second time.
func TestAClaimOfUnknownFateStaysOrdered(t *testing.T) {
	broken := errors.New("connection reset by peer")
	tests := map[string]struct {
		create  func(create func() error) error
		read    error // of the live check afterwards
		ordered int   // instances that the next plan counts on
		failed  bool
	}{
		"the answer was lost": {func(create func() error) error { _ = create(); return broken }, nil, 1, false},
		"the answer was a timeout of the API server": {func(create func() error) error {
			_ = create()
			return apierrors.NewInternalError(errors.New("etcdserver: request timed out"))
		}, nil, 1, false},
		"the request was lost":              {func(func() error) error { return broken }, nil, 0, true},
		"nobody can tell":                   {func(func() error) error { return broken }, broken, 1, true},
		"the API server refused it clearly": {func(func() error) error { return refused() }, broken, 0, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := runtime.NewScheme()
			if err := karpv1.AddToScheme(s); err != nil {
				t.Fatal(err)
			}
			store := fake.NewClientBuilder().WithScheme(s).WithInterceptorFuncs(interceptor.Funcs{
				Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
					return tt.create(func() error { return c.Create(ctx, o, opts...) })
				},
				Get: func(ctx context.Context, c client.WithWatch, k client.ObjectKey, o client.Object, opts ...client.GetOption) error {
					if tt.read != nil {
						return tt.read
					}
					return c.Get(ctx, k, o, opts...)
				},
			}).Build()
			pools := lastSeen{poolID: translate.FromNodePool(nodePool())}
			a := &Applier{
				Store: store, Live: store, Ledger: &Ledger{}, Pools: pools,
				Now: func() time.Time { return start }, NewID: func() string { return "abcde" },
			}
			coming := expected{}
			a.Orders = coming
			got := a.Launch(t.Context(), planned(t, pools), plan.Plan{Launches: []plan.Launch{{Pool: poolID}}})
			if failed := got[0].Err != nil; failed != tt.failed {
				t.Errorf("the launch ended with %v, want failed %v", got[0].Err, tt.failed)
			}
			if n := len(a.Ledger.Project(world()).Instances); n != tt.ordered {
				t.Errorf("the next plan counts on %d machines, want %d", n, tt.ordered)
			}
			if coming["default-abcde"] == tt.failed {
				t.Errorf("whoever buys for claims waits for %v; want for the one that was created alone", coming)
			}
		})
	}
}

// expected are claims that were announced and not dismissed.
type expected map[string]bool

func (e expected) Announce(_ bool, names ...string) {
	for _, name := range names {
		e[name] = true
	}
}

func (e expected) Dismiss(name string) { delete(e, name) }

func refused() error {
	return apierrors.NewForbidden(schema.GroupResource{Resource: "nodeclaims"}, "c", errors.New("no"))
}

// A claim says which others leave their pods to it, so that its node is not taken for an
// empty one before they come.
func TestAClaimNamesTheClaimsWhosePodsItTakes(t *testing.T) {
	s := &cluster.Snapshot{Nodes: []cluster.Node{{Name: "a", Claim: "claim-a"}, {Name: "b", Claim: "claim-b"}, {Name: "c"}}}
	tests := map[string]struct {
		on   []string // nodes of the pods
		want string
	}{
		"pods that wait":                  {[]string{"", ""}, ""},
		"pods of two nodes that leave":    {[]string{"b", "a", "b", ""}, "claim-a,claim-b"},
		"pods of a node of somebody else": {[]string{"c", "gone"}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var pods []cluster.Pod
			for _, node := range tt.on {
				pods = append(pods, cluster.Pod{Name: "p", Node: node})
			}
			if got := strings.Join(leftBy(s, pods), ","); got != tt.want {
				t.Errorf("leftBy = %q, want %q", got, tt.want)
			}
		})
	}
}
