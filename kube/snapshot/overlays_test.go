package snapshot

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllertest"

	"github.com/daemok/daemok/core/scenario"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha1"
)

func nodeOverlay(name string, change func(*v1alpha1.NodeOverlaySpec)) *v1alpha1.NodeOverlay {
	o := &v1alpha1.NodeOverlay{ObjectMeta: metav1.ObjectMeta{Name: name}}
	change(&o.Spec)
	return o
}

const overlaid = `snapshot 7 2026-11-21T04:00:00Z
catalogue c1 1
kind m.large cpu=4 memory=16Gi pods=50
  labels node.kubernetes.io/instance-type=m.large
  offer a on-demand 0.2
  offer a spot 0.08
pool NodePool/web catalogue=c1
  labels karpenter.sh/nodepool=web
node n claim=c pool=NodePool/web ready initialized price=0.2
  labels node.kubernetes.io/instance-type=m.large topology.kubernetes.io/zone=a karpenter.sh/capacity-type=on-demand
  allocatable cpu=4 memory=16Gi pods=50
`

// A NodeOverlay that comes changes what pools launch from and what nodes cost, one that is in conflict or invalid
// does not, and all is as before once it is gone.
func TestAnOverlayComesAndGoes(t *testing.T) {
	saved, err := scenario.Parse(overlaid)
	if err != nil {
		t.Fatal(err)
	}
	k := Recall(saved)
	expect := func(when, price, odd string) {
		t.Helper()
		s := k.Snapshot()
		if got := s.Nodes[0].Price.String(); got != price {
			t.Errorf("%s: the node costs %s, want %s", when, got, price)
		}
		offer := s.Pools[0].Catalogue.InstanceTypes[0].Offerings[0]
		if offer.Price != s.Nodes[0].Price {
			t.Errorf("%s: another one would cost %s, want as much as the node", when, offer.Price)
		}
		got := ""
		for _, o := range k.Overlays.List() {
			if !o.Known {
				t.Errorf("%s: it is not known what became of %s", when, o.Object.Name)
			}
			if o.Invalid != "" {
				got += o.Object.Name + ": invalid "
			}
			if o.Idle != "" {
				got += o.Object.Name + ": idle "
			}
		}
		if got != odd {
			t.Errorf("%s: of the overlays %q is said, want %q", when, got, odd)
		}
		again, err := scenario.Parse(scenario.Print(s))
		if err != nil || scenario.Print(again) != scenario.Print(s) {
			t.Errorf("%s: the snapshot is another one once it is read again: %v", when, err)
		}
	}
	expect("without", "$0.200000/h", "")
	half := nodeOverlay("half", func(s *v1alpha1.NodeOverlaySpec) {
		s.PriceAdjustment, s.Capacity = new("-50%"), corev1.ResourceList{"example.com/fuse": resource.MustParse("8")}
	})
	k.Seen(half)
	expect("with half", "$0.100000/h", "")
	if got := k.Snapshot().Pools[0].Catalogue.InstanceTypes[0].Allocatable.Get("example.com/fuse"); got != 8 {
		t.Errorf("an instance has %d of the resource, want 8", got)
	}
	k.Seen(nodeOverlay("another", func(s *v1alpha1.NodeOverlaySpec) { s.Price = new("0.01") }))
	expect("with one in conflict", "$0.100000/h", "another: idle ")
	k.Seen(nodeOverlay("broken", func(s *v1alpha1.NodeOverlaySpec) { s.Price, s.Weight = new("1.x"), new(int32(9)) }))
	expect("with an invalid one", "$0.100000/h", "another: idle broken: invalid ")
	k.Gone(half)
	expect("without half again", "$0.010000/h", "broken: invalid ")
	k.Gone(&v1alpha1.NodeOverlay{ObjectMeta: metav1.ObjectMeta{Name: "another"}})
	expect("without any", "$0.200000/h", "broken: invalid ")
}

// While more NodeOverlays are yet to be listed, those that are change nothing: the rest may be in conflict with them.
func TestSomeOfTheOverlaysChangeNothing(t *testing.T) {
	saved, err := scenario.Parse(overlaid)
	if err != nil {
		t.Fatal(err)
	}
	k, from := Recall(saved), informers{made: map[string]*controllertest.FakeInformer{}}
	live := fake.NewClientBuilder().WithScheme(overlayScheme(t)).Build()
	if err := k.Overlays.Follow(t.Context(), live, from); err != nil {
		t.Fatal(err)
	}
	watch := from.made["*v1alpha1.NodeOverlay"]
	price := func() string { return k.Snapshot().Nodes[0].Price.String() }
	watch.Add(nodeOverlay("first", func(s *v1alpha1.NodeOverlaySpec) { s.Price = new("0.05") }))
	if got, list := price(), k.Overlays.List(); got != "$0.200000/h" || len(list) != 1 || list[0].Known {
		t.Errorf("the node costs %s and of overlays is said %+v, want neither changed by a part of them", got, list)
	}
	watch.Add(nodeOverlay("second", func(s *v1alpha1.NodeOverlaySpec) { s.Price = new("0.01") }))
	watch.Synced()
	if got, list := price(), k.Overlays.List(); got != "$0.010000/h" || !list[0].Known || list[0].Idle == "" {
		t.Errorf("the node costs %s and of overlays is said %+v, want second applied, first in conflict", got, list)
	}
}

func overlayScheme(t *testing.T) *runtime.Scheme {
	s := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	return s
}

// A change of its status alone is none of a NodeOverlay.
func TestTheStatusOfAnOverlayChangesNothing(t *testing.T) {
	saved, err := scenario.Parse(overlaid)
	if err != nil {
		t.Fatal(err)
	}
	k := Recall(saved)
	o := nodeOverlay("half", func(s *v1alpha1.NodeOverlaySpec) { s.PriceAdjustment = new("-50%") })
	k.Seen(o)
	before := k.Snapshot()
	o = o.DeepCopy()
	o.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: "True"}}
	k.Seen(o)
	after := k.Snapshot()
	if before.Revision != after.Revision || before.Pools[0].Catalogue != after.Pools[0].Catalogue {
		t.Errorf("revision %d became %d, want the same snapshot and catalogues", before.Revision, after.Revision)
	}
}
