package pools

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/quantity"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

func pool(name, class string) translate.PoolObject {
	np := &karpv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: name}}
	np.Spec.Template.Spec.NodeClassRef = karpv1.NodeClassReference{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: class}
	return translate.FromNodePool(np)
}

// What a class offered last is kept while it is not ready, as long as a pool names it.
func TestWhatAClassOfferedIsKept(t *testing.T) {
	table := New()
	p := pool("a", "one")
	if changed, nodes := table.Seen(p); !changed || !nodes {
		t.Error("a new pool changes nothing")
	}
	if _, nodes := table.Seen(pool("a", "one")); nodes {
		t.Error("nodes are shown otherwise though the pool says the same of them")
	}
	if missing := table.Beside(nil); len(missing) != 1 || missing[0].Name != "one" {
		t.Errorf("to be asked are %v, want the class of the pool", missing)
	}
	catalogue := &cluster.Catalogue{}
	now := map[karpv1.NodeClassReference]Offered{p.Class: {Catalogue: catalogue}}
	if !table.Offering(now) || table.Offering(now) {
		t.Error("want a change where the class offers something else, and none where it does not")
	}
	notReady := map[karpv1.NodeClassReference]Offered{p.Class: {WhyNot: "no subnets"}}
	if table.Offering(notReady); table.Offered(p.Class) != catalogue {
		t.Error("what it offered is forgotten while it is not ready")
	}
	list := table.List(&cluster.Snapshot{Instances: []cluster.Instance{{Pool: p.ID, Capacity: quantity.Resources{CPU: 4000}}}}, notReady, nil)
	if len(list) != 1 || list[0].NotReady == "" || list[0].Catalogue != nil ||
		list[0].Used.Nodes != 1 || list[0].Used.Capacity.CPU != 4000 {
		t.Errorf("the pools are %+v", list)
	}
	if !table.Gone(p.ID) || table.Gone(p.ID) {
		t.Error("want the pool known until it is gone")
	}
	if table.Offering(nil); table.Offered(p.Class) != nil {
		t.Error("what a class offered is kept though nothing names it")
	}
}

// A pool of a saved snapshot counts until it is seen.
func TestARecalledPoolCountsUntilItIsSeen(t *testing.T) {
	table := New()
	table.Defaults.InstanceCost = 7
	a := pool("a", "one")
	table.Recall([]cluster.Pool{{ID: a.ID}, {ID: cluster.PoolID{Kind: a.ID.Kind, Name: "b"}}})
	table.Seen(a)
	if all, list := table.Every(), table.List(&cluster.Snapshot{}, nil, nil); len(all) != 2 || len(list) != 2 || all[a.ID].InstanceCost != 7 {
		t.Errorf("pools are %+v, listed %+v", all, list)
	}
}
