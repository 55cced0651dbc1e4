package whole_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha1"
	"github.com/daemok/daemok/test/fakecloud"
	"github.com/daemok/daemok/test/store"
)

// overlay makes a NodeOverlay of an instance type.
func (w *world) overlay(name, instanceType string, change func(*v1alpha1.NodeOverlaySpec)) *v1alpha1.NodeOverlay {
	o := &v1alpha1.NodeOverlay{ObjectMeta: metav1.ObjectMeta{Name: name}}
	o.Spec.Requirements = []v1alpha1.Requirement{
		{Key: api.LabelInstanceType, Operator: "In", Values: []string{instanceType}},
	}
	change(&o.Spec)
	w.create(o)
	return o
}

// says is the status of a NodeOverlay in words.
func (w *world) says(name string) string {
	o := &v1alpha1.NodeOverlay{}
	if err := w.hand.Get(w.t.Context(), client.ObjectKey{Name: name}, o); err != nil {
		w.t.Fatal(err)
	}
	c := condition.Get(o, v1alpha1.OverlayValidationSucceeded)
	if c == nil {
		return ""
	}
	if condition.IsTrue(o, condition.Ready) != (c.Status == metav1.ConditionTrue) {
		return "Ready is not what it depends on"
	}
	return string(c.Status) + " " + c.Reason
}

// types counts the nodes of each instance type.
func (w *world) types() map[string]int {
	out := map[string]int{}
	for _, n := range w.nodes() {
		out[n.Labels[api.LabelInstanceType]]++
	}
	return out
}

// ofTwoTypes lets a pool launch m5.large, and c5.4xlarge, which costs seven times as much.
func ofTwoTypes(p *karpv1.NodePool) {
	p.Spec.Template.Spec.Requirements[0].Values = []string{"m5.large", "c5.4xlarge"}
}

func price(text string) func(*v1alpha1.NodeOverlaySpec) {
	return func(s *v1alpha1.NodeOverlaySpec) { s.Price = &text }
}

// An overlay decides what is launched, and says so on the claim; once it is gone, so is the reason for the node.
func TestAnOverlayDecidesWhatIsLaunched(t *testing.T) {
	report(t, fakecloud.Options{Seed: 90}, func(t *testing.T, w *world) {
		w.pool("default", ofTwoTypes)
		paid := w.overlay("paid", "c5.4xlarge", price("0.01"))
		w.start(setup{})
		w.scale("web", 1)
		w.until(5*time.Minute, "the pod on an instance that the overlay makes the cheapest", func() bool {
			return w.run(1) && w.types()["c5.4xlarge"] == 1
		})
		said := w.claims()[0].Annotations
		if said[api.AnnotationPriceOverlayApplied] != "true" || said[api.AnnotationCapacityOverlayApplied] != "" {
			t.Errorf("the claim says %v, want that an overlay set its price", said)
		}
		w.until(time.Minute, "its condition", func() bool { return w.says("paid") == "True ValidationSucceeded" })
		time.Sleep(30 * time.Minute)
		if w.launched() != 1 {
			t.Fatalf("launched %d instances, want one: overlaid prices count; %s", w.launched(), w.state())
		}
		w.delete(paid)
		w.until(30*time.Minute, "the pod on what AWS sells cheapest", func() bool {
			return w.run(1) && w.types()["m5.large"] == 1 && len(w.nodes()) == 1
		})
		if _, marked := w.claims()[0].Annotations[api.AnnotationPriceOverlayApplied]; marked {
			t.Error("the new claim says that an overlay set its price, and there is none")
		}
		if w.story.reports("event Drifted") {
			t.Error("a node has drifted by an overlay")
		}
		w.sound()
	})
}

// An overlay in conflict says so, and is applied once the other one is gone.
func TestAnOverlayInConflictWaits(t *testing.T) {
	report(t, fakecloud.Options{Seed: 91}, func(t *testing.T, w *world) {
		w.pool("default", ofTwoTypes)
		w.start(setup{})
		z := w.overlay("z-first", "c5.4xlarge", price("9"))
		w.overlay("a-second", "c5.4xlarge", price("0.01"))
		w.until(time.Minute, "both conditions", func() bool {
			return w.says("z-first") == "True ValidationSucceeded" && w.says("a-second") == "False Conflict"
		})
		w.scale("web", 1)
		w.until(5*time.Minute, "the pod on m5.large", func() bool { return w.run(1) && w.types()["m5.large"] == 1 })
		w.delete(z)
		w.until(time.Minute, "the condition of the other", func() bool {
			return w.says("a-second") == "True ValidationSucceeded"
		})
		w.until(30*time.Minute, "the pod on what it makes cheaper", func() bool {
			return w.run(1) && w.types()["c5.4xlarge"] == 1 && len(w.nodes()) == 1
		})
	})
}

// Instances are launched for a resource that an overlay alone knows, and their nodes are initialized once they show
// it.
func TestAnOverlayGivesNodesAResource(t *testing.T) {
	const fuse = "example.com/fuse"
	report(t, fakecloud.Options{Seed: 92}, func(t *testing.T, w *world) {
		w.pool("default", nil)
		w.overlay("fuse", "m5.large", func(s *v1alpha1.NodeOverlaySpec) {
			s.Capacity = corev1.ResourceList{fuse: resource.MustParse("2")}
		})
		w.start(setup{})
		w.deploy("fs", 2, func(p *corev1.Pod) {
			list := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m"), fuse: resource.MustParse("1")}
			p.Spec.Containers[0].Resources = corev1.ResourceRequirements{Requests: list, Limits: list}
		})
		w.until(5*time.Minute, "a node", func() bool {
			return len(w.nodes()) == 1 && condition.IsTrue(&w.claims()[0], karpv1.ClaimRegistered)
		})
		time.Sleep(5 * time.Minute)
		c := w.claims()[0]
		if w.launched() != 1 || condition.IsTrue(&c, karpv1.ClaimInitialized) {
			t.Fatalf("launched %d instances, want one, whose node waits for the resource; %s", w.launched(), w.state())
		}
		has := c.Status.Allocatable[fuse]
		if has.Value() != 2 || c.Annotations[api.AnnotationCapacityOverlayApplied] != fuse {
			t.Errorf("the claim has %s of the resource, and says %v", has.String(), c.Annotations)
		}
		n := w.nodes()[0]
		before := n.DeepCopy()
		n.Status.Allocatable[fuse], n.Status.Capacity[fuse] = resource.MustParse("2"), resource.MustParse("2")
		if err := w.hand.Status().Patch(t.Context(), &n, client.MergeFrom(before)); err != nil {
			t.Fatal(err)
		}
		w.until(5*time.Minute, "both pods on an initialized node", func() bool {
			return w.runs("fs", 2) && condition.IsTrue(&w.claims()[0], karpv1.ClaimInitialized)
		})
	})
}

// What launches a claim is what overlays say when it is launched: they change while nothing can be had.
func TestAnOverlayGoesWhileAClaimIsLaunched(t *testing.T) {
	report(t, fakecloud.Options{Seed: 93}, func(t *testing.T, w *world) {
		w.pool("default", ofTwoTypes)
		paid := w.overlay("paid", "c5.4xlarge", price("0.01"))
		gone := false
		w.start(setup{hang: func(cloud.LaunchRequest) bool {
			if !gone {
				gone = true
				w.delete(paid)
				return true
			}
			return false
		}})
		w.scale("web", 1)
		w.until(30*time.Minute, "the pod on what AWS sells cheapest", func() bool {
			return gone && w.run(1) && w.types()["m5.large"] == 1 && len(w.nodes()) == 1
		})
		w.sound()
	})
}

// Without the right to list overlays plans are made without them, and with them once it is granted.
func TestOverlaysActOnceTheyMayBeListed(t *testing.T) {
	report(t, fakecloud.Options{Seed: 95}, func(t *testing.T, w *world) {
		w.pool("default", ofTwoTypes)
		w.overlay("paid", "c5.4xlarge", price("0.01"))
		var granted atomic.Bool
		w.start(setup{fault: func(c store.Call) (before, after error) {
			if c.Verb == store.List && strings.HasPrefix(c.Kind, "NodeOverlay") && !granted.Load() {
				return apierrors.NewForbidden(schema.GroupResource{Resource: "nodeoverlays"}, "", nil), nil
			}
			return nil, nil
		}})
		w.scale("web", 1)
		w.until(5*time.Minute, "the pod on m5.large", func() bool { return w.run(1) && w.types()["m5.large"] == 1 })
		granted.Store(true)
		w.until(time.Minute, "its condition", func() bool { return w.says("paid") == "True ValidationSucceeded" })
		w.until(30*time.Minute, "the pod on what it makes cheaper", func() bool {
			return w.run(1) && w.types()["c5.4xlarge"] == 1 && len(w.nodes()) == 1
		})
	})
}

// With the gate off overlays change nothing, and their users are told so.
func TestOverlaysWithTheGateOff(t *testing.T) {
	report(t, fakecloud.Options{Seed: 94}, func(t *testing.T, w *world) {
		w.pool("default", ofTwoTypes)
		w.overlay("paid", "c5.4xlarge", price("0.01"))
		w.start(setup{noOverlays: true})
		w.scale("web", 1)
		w.until(5*time.Minute, "the pod on m5.large", func() bool { return w.run(1) && w.types()["m5.large"] == 1 })
		w.until(5*time.Minute, "the event", func() bool { return w.story.reports("event NotInEffect") })
		if got := w.says("paid"); got != "" {
			t.Errorf("its condition is %q, want none", got)
		}
	})
}
