package snapshot

import (
	"testing"

	"github.com/daemok/daemok/core/cluster"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

func poolOf(name, class string) translate.PoolObject {
	p := pool(name)
	p.Template.Spec.NodeClassRef.Name, p.Class.Name = class, class
	return p
}

// TestWatchesGoOnWhileACatalogueIsWorkedOut: what a class offers may take long
// to find out, and nothing that the watches show waits for it. A pool that
// comes meanwhile is in the snapshot with what its own class offers.
func TestWatchesGoOnWhileACatalogueIsWorkedOut(t *testing.T) {
	k, asked := newClusterState(), map[string]int{}
	k.kinds = func(ref karpv1.NodeClassReference) (*cluster.Catalogue, string) {
		asked[ref.Name]++
		if !k.mu.TryLock() {
			t.Errorf("class %s is asked while watches have to wait", ref.Name)
			return nil, "why"
		}
		k.mu.Unlock()
		k.PoolSeen(poolOf("late", "of-late"))
		return &cluster.Catalogue{}, ""
	}
	k.PoolSeen(poolOf("a", "shared"))
	k.PoolSeen(poolOf("b", "shared"))
	pools := k.Snapshot().Pools
	if len(pools) != 3 {
		t.Fatalf("%d pools, want the two there were and the one that came", len(pools))
	}
	for _, p := range pools {
		if p.Catalogue == nil {
			t.Errorf("%s is shown without what its class offers", p.ID)
		}
	}
	if len(asked) != 2 || asked["shared"] != 1 || asked["of-late"] != 1 {
		t.Errorf("asked %v times, want each class once", asked)
	}
}

// TestTheCatalogueOfAClassThatNothingNamesIsFreed: what a class offered last is kept
// while it is not ready, and no longer than a pool or claim names it.
func TestTheCatalogueOfAClassThatNothingNamesIsFreed(t *testing.T) {
	k, ready := newClusterState(), true
	k.kinds = func(karpv1.NodeClassReference) (*cluster.Catalogue, string) {
		if !ready {
			return nil, "not ready"
		}
		return &cluster.Catalogue{}, ""
	}
	k.PoolSeen(poolOf("a", "first"))
	k.PoolSeen(poolOf("b", "second"))
	k.Snapshot()
	ready = false
	k.PoolGone(poolOf("a", "first").ID)
	k.Snapshot()
	offered := k.tables.pools.Offered
	if offered(poolOf("a", "first").Class) != nil || offered(poolOf("b", "second").Class) == nil {
		t.Error("want the catalogue of the class that a pool names kept, and no other")
	}
}
