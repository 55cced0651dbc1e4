package pools

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/quantity"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha1"
)

func nodeOverlay(name, price string) *v1alpha1.NodeOverlay {
	o := &v1alpha1.NodeOverlay{ObjectMeta: metav1.ObjectMeta{Name: name}}
	o.Spec.Price = &price
	return o
}

// TestAConflictOutlivesAClassThatIsNotReady: what its class offered last decides which NodeOverlays are in conflict,
// and what nodes cost, until the class is ready again.
func TestAConflictOutlivesAClassThatIsNotReady(t *testing.T) {
	table, p := New(), pool("a", "one")
	table.Seen(p)
	table.OverlaySeen(nodeOverlay("first", "0.01"))
	table.OverlaySeen(nodeOverlay("second", "0.02"))
	listed := &cluster.Catalogue{InstanceTypes: []cluster.InstanceType{
		{Name: "m5.large", Offerings: []cluster.Offering{{Price: 100_000, Priced: true}}},
	}}
	ready := map[karpv1.NodeClassReference]Offered{p.Class: {Catalogue: listed}}
	notReady := map[karpv1.NodeClassReference]Offered{p.Class: {WhyNot: "no subnets"}}
	steps := []struct {
		when    string
		offered map[karpv1.NodeClassReference]Offered
		unsure  bool
		idle    bool // first, which is in conflict with second
		price   quantity.MicroUSDPerHour
	}{
		{"before its class is known", notReady, true, false, 0},
		{"while its class is ready", ready, false, true, 20_000},
		{"while its class is not ready any more", notReady, false, true, 20_000},
		{"once it is ready again", ready, false, true, 20_000},
	}
	for _, s := range steps {
		table.Offering(s.offered)
		first := table.Overlays()[0]
		if !first.Known || first.Unsure != s.unsure || (first.Idle != "") != s.idle {
			t.Errorf("%s: the overlay is %+v, want unsure %v and in conflict %v", s.when, first, s.unsure, s.idle)
		}
		if s.price == 0 {
			continue
		}
		c := table.Overlaid(p.ID, table.Offered(p.Class))
		if got := c.InstanceTypes[0].Offerings[0].Price; got != s.price {
			t.Errorf("%s: a node costs %s, want %s by the overlay that is applied", s.when, got, s.price)
		}
	}
}

// An overlay that goes before it counted leaves nothing to resolve.
func TestAnOverlayThatGoesAtOnceIsForgotten(t *testing.T) {
	table, o := New(), nodeOverlay("brief", "0.01")
	table.OverlaySeen(o)
	table.OverlayGone(o)
	if !table.Stale() {
		t.Fatal("want overlays that changed to be resolved")
	}
	if table.Offering(nil); table.Stale() {
		t.Error("there is nothing to resolve any more, and yet each launch would make a snapshot")
	}
}
