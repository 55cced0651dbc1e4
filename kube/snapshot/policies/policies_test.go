package policies

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/daemok/v1alpha1"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

var now = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

type world map[cluster.PoolID]translate.PoolObject

func (w world) Every() map[cluster.PoolID]translate.PoolObject       { return w }
func (world) Departed([]cluster.PoolID) (list []translate.Departure) { return list }
func (world) Remaining([]cluster.PoolID) int64                       { return 4 }

// Until DisruptionPolicies are listed no node goes; then what they say of each pool counts.
func TestPoliciesAreAwaited(t *testing.T) {
	id := cluster.PoolID{Kind: "NodePool", Name: "default"}
	w := world{id: {ID: id, Object: &karpv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "default"}}}}
	table := New(w, w)
	table.Awaited = true
	show := func() cluster.Snapshot {
		s := cluster.Snapshot{Now: now, Pools: []cluster.Pool{{ID: id}}}
		table.Show(&s, func([]cluster.PoolID) int64 { return 1 })
		return s
	}
	if s := show(); s.Pools[0].Policy.Empty.Closed == "" {
		t.Errorf("nodes may go before policies were read: %+v", s.Pools[0].Policy)
	}
	list := []v1alpha1.DisruptionPolicy{{ObjectMeta: metav1.ObjectMeta{Name: "night"}, Spec: v1alpha1.DisruptionPolicySpec{Breaker: &v1alpha1.Breaker{Nodes: "50%", Within: "30m"}}}}
	if !table.Are(list) || table.Are(list) {
		t.Error("want a change where policies are listed first, and none where they say the same")
	}
	if s := show(); len(s.Breakers) != 1 || s.Breakers[0].Gone != 1 || len(s.Breakers[0].Pools) != 1 {
		t.Errorf("breakers are %+v, want that of the policy with the node that may yet stay", s.Breakers)
	}
	if states := table.States(now); len(states) != 1 || states[0].Pools[0] != id {
		t.Errorf("states are %+v", states)
	}
}

// The ConfigMap of one name and namespace freezes nodes, until its time is over.
func TestAFreezeHoldsUntilItsTime(t *testing.T) {
	f := Freeze{In: "kube-system"}
	c := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "other", Name: api.ConfigMapFreeze}, Data: map[string]string{"reason": "a sale", "until": now.Add(time.Hour).Format(time.RFC3339)}}
	if f.Seen(c) {
		t.Error("the ConfigMap of another namespace counts")
	}
	if c.Namespace = "kube-system"; !f.Seen(c) || f.Seen(c) {
		t.Error("want a change where it is new, and none where it says the same")
	}
	if f.Frozen(now) == "" || f.Frozen(now.Add(time.Hour)) != "" {
		t.Errorf("frozen is %q and an hour later %q", f.Frozen(now), f.Frozen(now.Add(time.Hour)))
	}
	if !f.Gone(c) || f.Frozen(now) != "" {
		t.Error("it freezes after it is gone")
	}
}
