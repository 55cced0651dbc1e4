package roll_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/scenario"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	"github.com/daemok/daemok/kube/api/daemok/v1alpha1"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/roll"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/test/store"
)

var web = cluster.PoolID{Kind: "NodePool", Name: "web"}

const world = `snapshot 1 2026-11-21T04:00:00Z
pool NodePool/web boot=90s
  allow 2 note="budget nodes: 2"
node a claim=a-c pool=NodePool/web ready initialized drifted=AMIDrift
node b claim=b-c pool=NodePool/web ready initialized drifted=RollRequested
node c claim=c-c pool=NodePool/web ready initialized drifted=RollRequested
node d claim=d-c pool=NodePool/web ready initialized
`

func TestProgress(t *testing.T) {
	tests := map[string]struct{ world, want string }{
		"waves of as many as may go":  {world, "web: 3 to go, 0 going, about 5m0s left"},
		"while the budget is used up": {world + "node e claim=e-c pool=NodePool/web ready initialized deleting\nnode f claim=f-c pool=NodePool/web ready initialized deleting\n", "web: 3 to go, 2 going, about 7m0s left; no more at once: of the 6 nodes of NodePool/web 2 are going or not ready, and no more than 2 may be (budget nodes: 2)"},
		"when nothing may go":         {world + "freeze \"frozen: audit\"\n", "web: 3 to go, none may now: frozen: audit"},
		"in the end":                  {"snapshot 1 2026-11-21T04:00:00Z\npool NodePool/web\n  allow 2\nnode d claim=d-c pool=NodePool/web ready initialized\n", "web: nothing is left to replace"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s, err := scenario.Parse(tt.world)
			if err != nil {
				t.Fatal(err)
			}
			if got := roll.Of(s, web).String(); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// A PodDisruptionBudget that allows nothing keeps nodes for ever: that is no matter of
// minutes.
func TestProgressSaysWhatKeepsNodes(t *testing.T) {
	const pdb = "pod shop/web-1: PodDisruptionBudget shop/web allows no eviction"
	tests := map[string]struct {
		keeps map[string]string
		want  string
	}{
		"one of them": {map[string]string{"b": pdb}, "web: 3 to go, 0 going, about 5m0s left\n  node b stays: " + pdb},
		"all of them": {map[string]string{"a": pdb, "b": pdb, "c": pdb},
			"web: 3 to go, none may now\n  node a stays: " + pdb + "\n  node b stays: " + pdb + "\n  node c stays: " + pdb},
		"one that is not to go": {map[string]string{"d": pdb}, "web: 3 to go, 0 going, about 5m0s left"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s, err := scenario.Parse(world)
			if err != nil {
				t.Fatal(err)
			}
			if got := roll.Of(s, web).Keep(func(node string) string { return tt.keeps[node] }).String(); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// Progress is examined every few seconds: pods, and nodes of pools that do not matter, are not read
// for it. Those of a pool whose nodes a breaker counts too are.
func TestProgressIsReadFromFewObjects(t *testing.T) {
	kinds := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, karpv1.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(kinds); err != nil {
			t.Fatal(err)
		}
	}
	server := store.New(kinds, time.Now)
	hand := server.Connect(nil)
	create := func(objects ...client.Object) {
		t.Helper()
		for _, o := range objects {
			if err := hand.Create(t.Context(), o); err != nil {
				t.Fatal(err)
			}
		}
	}
	for pool, nodes := range map[string]int{"web": 2, "batch": 4, "other": 5} {
		create(&karpv1.NodePool{Spec: store.PoolSpec(), ObjectMeta: metav1.ObjectMeta{Name: pool}})
		for i := range nodes {
			labels := map[string]string{api.LabelNodePool: pool, api.LabelRegistered: "true", api.LabelInitialized: "true"}
			claim := &karpv1.NodeClaim{Spec: store.ClaimSpec(), ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%d", pool, i), Labels: labels}}
			claim.Status.ProviderID = "aws:///a/i-" + claim.Name
			condition.SetTrue(claim, karpv1.ClaimRegistered, time.Now())
			condition.SetTrue(claim, karpv1.ClaimDrifted, time.Now())
			node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n-" + claim.Name, Labels: labels}, Spec: corev1.NodeSpec{ProviderID: claim.Status.ProviderID}}
			node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
			create(claim, node)
		}
	}
	create(&v1alpha1.DisruptionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "shop"}, Spec: v1alpha1.DisruptionPolicySpec{
		NodePools: &v1alpha1.NodePoolSelection{Names: []string{"web", "batch"}}, Breaker: &v1alpha1.Breaker{Nodes: "50%", Within: "30m"}}})
	going := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "batch-0"}}
	for _, name := range []string{"batch-0", "batch-1", "batch-2"} {
		going.Name = name
		if err := hand.Get(t.Context(), client.ObjectKeyFromObject(going), going); err != nil {
			t.Fatal(err)
		}
		going.Finalizers = []string{"example.com/mine"}
		if err := hand.Update(t.Context(), going); err != nil {
			t.Fatal(err)
		}
		if err := hand.Delete(t.Context(), going); err != nil {
			t.Fatal(err)
		}
	}

	asked := map[string]bool{}
	counting := server.Connect(func(c store.Call) (error, error) {
		asked[c.Kind] = true
		return nil, nil
	})
	got, err := roll.Read(t.Context(), counting, translate.Generations{translate.NodePools()}, []translate.PoolObject{{ID: translate.NodePools().ID("web")}}, time.Now, "kube-system")
	if err != nil {
		t.Fatal(err)
	}
	want := "web: 2 to go, none may now: the breaker of DisruptionPolicy shop trips: 3 of 6 nodes went within 30m, and it stops at 50%"
	if len(got) != 1 || got[0].String() != want {
		t.Errorf("got  %v\nwant %s", got, want)
	}
	if got, want := slices.Sorted(maps.Keys(asked)), []string{"ConfigMap", "DisruptionPolicyList", "NodeClaimList", "NodeList", "NodePoolList"}; !slices.Equal(got, want) {
		t.Errorf("it asked for %q, want %q", got, want)
	}
}

// An instance that was being launched when all were to be replaced goes once it has joined, and the
// roll is not done before. One that was launched since is as it was wished.
func TestARollIsNotDoneBeforeInstancesOnOrderAreReplaced(t *testing.T) {
	kinds := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, karpv1.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(kinds); err != nil {
			t.Fatal(err)
		}
	}
	began := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	for name, tt := range map[string]struct {
		ordered time.Time
		want    string
		done    bool
	}{
		"ordered before":     {began.Add(-time.Minute), "web: 1 to go once they have joined", false},
		"in the same second": {began, "web: 1 to go once they have joined", false},
		"ordered since":      {began.Add(time.Minute), "web: nothing is left to replace", true},
	} {
		t.Run(name, func(t *testing.T) {
			conn := store.New(kinds, func() time.Time { return tt.ordered }).Connect(nil)
			pool := &karpv1.NodePool{Spec: store.PoolSpec(), ObjectMeta: metav1.ObjectMeta{Name: "web"}}
			claim := &karpv1.NodeClaim{Spec: store.ClaimSpec(), ObjectMeta: metav1.ObjectMeta{Name: "web-1", Labels: map[string]string{api.LabelNodePool: "web"}}}
			for _, o := range []client.Object{pool, claim} {
				if err := conn.Create(t.Context(), o); err != nil {
					t.Fatal(err)
				}
			}
			pools := []translate.PoolObject{{ID: web, Object: pool}}
			if err := roll.Start(t.Context(), conn, pools, true, began); err != nil {
				t.Fatal(err)
			}
			got, err := roll.Read(t.Context(), conn, translate.Generations{translate.NodePools()}, pools, func() time.Time { return began.Add(2 * time.Minute) }, "kube-system")
			if err != nil {
				t.Fatal(err)
			}
			if len(got) != 1 || got[0].String() != tt.want || got[0].Done() != tt.done {
				t.Errorf("got %v, want %s", got, tt.want)
			}
		})
	}
}
