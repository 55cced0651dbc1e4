package whole_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/decide"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/autoscaling/v1beta1"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/test/fakecloud"
	"github.com/daemok/daemok/test/market"
	"github.com/daemok/daemok/test/store"
)

// oneCore asks for as much as each pod of a deployment does: one fits on an m5.large.
func oneCore() corev1.PodTemplateSpec {
	out := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}}}
	requests := corev1.ResourceList{"cpu": resource.MustParse("1"), "memory": resource.MustParse("256Mi")}
	out.Spec.Containers = []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: requests}}}
	return out
}

// podTemplate makes a PodTemplate of one core.
func (w *world) podTemplate(name string) *corev1.PodTemplate {
	w.t.Helper()
	out := &corev1.PodTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Template: oneCore()}
	w.create(out)
	return out
}

// buffer makes a CapacityBuffer for pods of the PodTemplate web.
func (w *world) buffer(name string, replicas int32, change func(*v1beta1.CapacityBufferSpec)) *v1beta1.CapacityBuffer {
	w.t.Helper()
	out := &v1beta1.CapacityBuffer{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	out.Spec = v1beta1.CapacityBufferSpec{PodTemplateRef: &v1beta1.LocalObjectRef{Name: "web"}, Replicas: &replicas}
	if change != nil {
		change(&out.Spec)
	}
	w.create(out)
	return out
}

// scaleBuffer has a CapacityBuffer keep capacity for so many pods.
func (w *world) scaleBuffer(name string, replicas int32) {
	w.t.Helper()
	edit(w, w.bufferNow(name), func(b *v1beta1.CapacityBuffer) { b.Spec.Replicas = &replicas })
}

// bufferNow is a CapacityBuffer as it is now.
func (w *world) bufferNow(name string) *v1beta1.CapacityBuffer {
	w.t.Helper()
	out := &v1beta1.CapacityBuffer{}
	if err := w.hand.Get(w.t.Context(), client.ObjectKey{Namespace: "default", Name: name}, out); err != nil {
		w.t.Fatal(err)
	}
	return out
}

// saysOf reports whether a condition of a CapacityBuffer is so: fits+"2 virtual pods ...".
func (w *world) saysOf(name, kind, want string) bool {
	return strings.HasPrefix(w.saidOf(name, kind), want)
}

func (w *world) saidOf(name, kind string) string {
	c := condition.Get(w.bufferNow(name), kind)
	if c == nil {
		return ""
	}
	return fmt.Sprintf("%s %s %s", c.Status, c.Reason, c.Message)
}

const (
	// fits and lacks begin what Provisioning says.
	fits  = "True FitsExistingCapacity All "
	lacks = "False RequiresNewCapacity "

	resolves = v1beta1.BufferReadyForProvisioning
	served   = v1beta1.BufferProvisioning
)

// A buffer has nodes launched, which stay; pods take their room at once, and other room is kept then. Without the
// buffer the nodes are empty.
func TestABufferIsKeptAndRefilled(t *testing.T) {
	report(t, fakecloud.Options{Seed: 90}, func(t *testing.T, w *world) {
		w.pool("default", nil)
		w.podTemplate("web")
		b := w.buffer("spare", 2, nil)
		w.start(setup{})
		w.until(time.Minute, "a condition", func() bool {
			return w.saysOf("spare", served, lacks+"2/2 virtual pods required new capacity, 0 failed") &&
				w.saysOf("spare", resolves, "True Resolved")
		})
		w.until(5*time.Minute, "two nodes", func() bool {
			return w.has(2) && w.saysOf("spare", served, fits+"2 virtual pods fit on existing capacity")
		})
		s := w.bufferNow("spare").Status
		if *s.Replicas != 2 || s.PodTemplateRef.Name != "web" || *s.PodTemplateGeneration != 1 ||
			*s.ProvisioningStrategy != v1beta1.StrategyActiveCapacity {
			t.Errorf("the status is %+v", s)
		}
		time.Sleep(time.Hour)
		if !w.has(2) || w.launched() != 2 {
			t.Fatalf("nodes of a buffer did not stay; %s", w.state())
		}
		w.scale("web", 1)
		w.until(time.Minute, "the pod on a node that was there", func() bool { return w.run(1) })
		w.until(5*time.Minute, "another node", func() bool { return w.has(3) && w.saysOf("spare", served, "True") })
		time.Sleep(time.Hour)
		if !w.has(3) || w.launched() != 3 || len(w.allPods()) != 1 {
			t.Fatalf("three nodes did not stay, for a pod and two virtual ones; %s", w.state())
		}
		w.delete(b)
		w.until(5*time.Minute, "one node", func() bool { return w.has(1) && w.run(1) })
		w.sound()
	})
}

// A buffer of a workload follows its replicas and its template.
func TestABufferFollowsItsWorkload(t *testing.T) {
	report(t, fakecloud.Options{Seed: 91}, func(t *testing.T, w *world) {
		w.pool("default", func(p *karpv1.NodePool) {
			p.Spec.Template.Spec.Requirements[0].Values = []string{"m5.large", "m5.xlarge"}
		})
		w.buffer("spare", 0, func(s *v1beta1.CapacityBufferSpec) {
			share := int32(30)
			s.PodTemplateRef, s.Replicas, s.Percentage = nil, nil, &share
			s.ScalableRef = &v1beta1.ScalableRef{APIGroup: "apps", Kind: "Deployment", Name: "shop"}
		})
		w.start(setup{})
		w.until(time.Minute, "a condition", func() bool {
			return w.saysOf("spare", resolves, "False ScalableRefNotFound Deployment default/shop is not there") &&
				w.saysOf("spare", served, "False NotReadyForProvisioning")
		})
		replicas := int32(0)
		d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "shop"}}
		d.Spec.Replicas, d.Spec.Template = &replicas, oneCore()
		w.create(d)
		w.until(time.Minute, "an empty buffer", func() bool {
			return w.saysOf("spare", resolves, "True Resolved") && w.saysOf("spare", served, "False BufferEmpty")
		})
		four := int32(4) // of which 30 % are two
		edit(w, d, func(d *appsv1.Deployment) { d.Spec.Replicas = &four })
		w.until(5*time.Minute, "room for two", func() bool { return w.saysOf("spare", served, fits+"2") })
		edit(w, d, func(d *appsv1.Deployment) {
			d.Spec.Template.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("3")
		})
		w.until(5*time.Minute, "larger nodes", func() bool {
			return w.saysOf("spare", served, fits+"2") && len(w.nodesOf("m5.xlarge")) == 2
		})
		if s := w.bufferNow("spare").Status; *s.PodTemplateGeneration != d.Generation || s.PodTemplateRef != nil {
			t.Errorf("the status is %+v, and the workload has generation %d", s, d.Generation)
		}
		w.sound()
	})
}

// What a buffer lacks is said, and comes by itself once it is there.
func TestABufferSaysWhatItLacks(t *testing.T) {
	report(t, fakecloud.Options{Seed: 92}, func(t *testing.T, w *world) {
		w.pool("default", func(p *karpv1.NodePool) {
			p.Spec.Limits = corev1.ResourceList{"cpu": resource.MustParse("2")}
		})
		w.buffer("spare", 3, nil)
		other := "example.com/another"
		w.buffer("others", 3, func(s *v1beta1.CapacityBufferSpec) { s.ProvisioningStrategy = &other })
		w.start(setup{})
		w.until(time.Minute, "a condition", func() bool {
			return w.saysOf("spare", resolves, "False PodTemplateNotFound PodTemplate default/web is not there: create it")
		})
		template := w.podTemplate("web")
		w.until(5*time.Minute, "what the limit allows", func() bool {
			return w.has(1) && w.saysOf("spare", served, lacks+"2/3 virtual pods required new capacity, 2 failed: ") &&
				strings.Contains(w.saidOf("spare", served), "cpu limit reached")
		})
		edit(w, template, func(p *corev1.PodTemplate) { p.Template.Spec.PriorityClassName = "golden" })
		w.until(time.Minute, "another condition", func() bool {
			return w.saysOf("spare", resolves, `False ResolutionFailed its pods name PriorityClass "golden", which is not there`)
		})
		if s := w.bufferNow("others").Status; len(s.Conditions) > 0 || s.Replicas != nil {
			t.Errorf("a buffer of another provisioning strategy has status %+v", s)
		}
		w.until(5*time.Minute, "no node", w.empty)
	})
}

// After a restart no node of a buffer goes, also where buffers are late to be read.
func TestBuffersOutliveARestart(t *testing.T) {
	report(t, fakecloud.Options{Seed: 93}, func(t *testing.T, w *world) {
		w.pool("default", nil)
		w.podTemplate("web")
		w.buffer("spare", 2, nil)
		c := w.start(setup{})
		w.until(5*time.Minute, "two nodes", func() bool { return w.has(2) })
		time.Sleep(10 * time.Minute)
		c.stop()
		late := time.Now().Add(5 * time.Minute)
		w.start(setup{fault: func(call store.Call) (before, after error) {
			if call.Kind == "CapacityBufferList" && time.Now().Before(late) {
				return fmt.Errorf("the API server is busy"), nil
			}
			return nil, nil
		}})
		time.Sleep(20 * time.Minute)
		if !w.has(2) || w.launched() != 2 || !w.saysOf("spare", served, "True") {
			t.Errorf("the nodes of a buffer did not outlive a restart; %s", w.state())
		}
	})
}

// With the feature gate off no capacity is kept, and an event says so.
func TestABufferWithItsFeatureGateOff(t *testing.T) {
	report(t, fakecloud.Options{Seed: 94}, func(t *testing.T, w *world) {
		w.pool("default", nil)
		w.podTemplate("web")
		w.buffer("spare", 2, nil)
		w.start(setup{policy: decide.Policy{IgnoreBuffers: true}})
		time.Sleep(10 * time.Minute)
		if w.launched() > 0 || len(w.bufferNow("spare").Status.Conditions) > 0 || !w.story.reports("NotInEffect") {
			t.Errorf("a buffer that is off acts, or no event says so; %s", w.state())
		}
	})
}

// Where the limit of the pool leaves no room for a replacement, a drifted node of virtual pods goes first: it holds
// nobody.
func TestADriftedNodeOfABufferGoesFirstAtTheLimit(t *testing.T) {
	report(t, fakecloud.Options{Seed: 95}, func(t *testing.T, w *world) {
		w.classes.change(form{"one", fakecloud.Settings{Image: "ami-one", Groups: []string{"sg-one"}}})
		w.pool("default", func(p *karpv1.NodePool) {
			p.Spec.Limits = corev1.ResourceList{"nodes": resource.MustParse("1")}
		})
		w.podTemplate("web")
		w.buffer("spare", 1, nil)
		w.start(setup{})
		w.until(5*time.Minute, "a node", func() bool { return w.has(1) })
		old := w.claimNames()
		w.classes.change(form{"one", fakecloud.Settings{Image: "ami-two", Groups: []string{"sg-one"}}})
		w.until(40*time.Minute, "another node", func() bool { return w.renewed(old) && w.has(1) })
		w.sound()
	})
}

// The replacement of a drifted node holds the virtual pods too, and nothing else is launched for them.
func TestDriftedNodesOfABufferAreReplaced(t *testing.T) {
	report(t, fakecloud.Options{Seed: 95}, func(t *testing.T, w *world) {
		w.classes.change(form{"one", fakecloud.Settings{Image: "ami-one", Groups: []string{"sg-one"}}})
		w.pool("default", nil)
		w.podTemplate("web")
		w.buffer("spare", 2, nil)
		w.start(setup{})
		w.until(5*time.Minute, "two nodes", func() bool { return w.has(2) })
		old := w.claimNames()
		w.classes.change(form{"one", fakecloud.Settings{Image: "ami-two", Groups: []string{"sg-one"}}})
		w.until(40*time.Minute, "two other nodes", func() bool {
			return w.renewed(old) && w.has(2) && w.saysOf("spare", served, "True")
		})
		time.Sleep(20 * time.Minute)
		if w.launched() != 4 || !w.has(2) {
			t.Errorf("launched %d instances for two nodes and two replacements; %s", w.launched(), w.state())
		}
		w.sound()
	})
}

// A buffer of fifty pods is filled by one plan, and refilled by one.
func TestABufferOfFiftyIsRefilledByOnePlan(t *testing.T) {
	report(t, fakecloud.Options{Seed: 96}, func(t *testing.T, w *world) {
		w.pool("default", nil)
		w.podTemplate("web")
		w.buffer("spare", 50, nil)
		w.start(setup{})
		filled := func() bool { return w.has(50) && w.saysOf("spare", served, fits+"50") }
		w.until(10*time.Minute, "fifty nodes", filled)
		w.scale("web", 50)
		w.until(time.Minute, "fifty pods on nodes that were there", func() bool { return w.run(50) })
		w.until(10*time.Minute, "another fifty nodes", func() bool {
			return w.has(100) && w.saysOf("spare", served, fits+"50")
		})
		plans := 0
		for _, line := range w.story.lines {
			if strings.Contains(line, "made a plan") && !strings.Contains(line, "launches=0") {
				plans++
			}
		}
		if plans != 2 || w.launched() != 100 {
			t.Errorf("%d plans launched %d instances, want two plans and 100 instances", plans, w.launched())
		}
		w.sound()
	})
}

// No capacity is kept in a namespace that is being deleted.
func TestABufferOfANamespaceThatEnds(t *testing.T) {
	report(t, fakecloud.Options{Seed: 97}, func(_ *testing.T, w *world) {
		w.pool("default", nil)
		space := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
		space.Finalizers = []string{"example.com/slow"}
		w.create(space)
		w.podTemplate("web")
		w.buffer("spare", 2, nil)
		w.start(setup{})
		w.until(5*time.Minute, "two nodes", func() bool { return w.has(2) })
		w.delete(space)
		w.until(5*time.Minute, "no nodes", func() bool {
			return w.empty() && w.saysOf("spare", resolves, "False ResolutionFailed namespace default is being deleted")
		})
	})
}

// Where buffers may not be listed, or are not installed, all else works, and the log says why.
func TestBuffersThatMayNotBeRead(t *testing.T) {
	for name, failure := range map[string]error{
		"not installed": &meta.NoKindMatchError{GroupKind: v1beta1.GroupVersion.WithKind("CapacityBuffer").GroupKind()},
		"forbidden":     apierrors.NewForbidden(v1beta1.GroupVersion.WithResource("capacitybuffers").GroupResource(), "", nil),
	} {
		t.Run(name, func(t *testing.T) {
			report(t, fakecloud.Options{Seed: 98}, func(t *testing.T, w *world) {
				w.pool("default", nil)
				w.podTemplate("web")
				w.buffer("spare", 2, nil)
				var allowed atomic.Bool
				w.start(setup{fault: func(call store.Call) (before, after error) {
					if call.Kind == "CapacityBufferList" && !allowed.Load() {
						return failure, nil
					}
					return nil, nil
				}})
				w.scale("web", 1)
				w.until(5*time.Minute, "a pod on its node", func() bool { return w.run(1) && w.has(1) })
				w.scale("web", 0)
				w.until(5*time.Minute, "no nodes", w.empty)
				if said := w.story.reports("no capacity is kept for CapacityBuffers"); said != (name == "forbidden") {
					t.Errorf("the log says that buffers cannot be read: %t", said)
				}
				allowed.Store(true)
				w.until(5*time.Minute, "two nodes for the buffer", func() bool { return w.has(2) })
			})
		})
	}
}

// Where instances cannot be had, the launch for a buffer is tried again, and no more once it is gone.
func TestALaunchForABufferIsTriedAgain(t *testing.T) {
	report(t, fakecloud.Options{Seed: 99}, func(t *testing.T, w *world) {
		w.pool("default", nil)
		w.podTemplate("web")
		b := w.buffer("spare", 1, nil)
		restock := w.unavailable(market.OnDemand)
		w.start(setup{})
		w.until(5*time.Minute, "what is in the way", func() bool {
			return w.saysOf("spare", served, lacks+"1/1 virtual pods required new capacity, 1 failed: ") && len(w.claims()) == 0
		})
		w.delete(b)
		restock()
		time.Sleep(5 * time.Minute)
		if w.launched() > 0 {
			t.Errorf("launched %d instances for a buffer that is gone", w.launched())
		}
	})
}

// A buffer keeps a share of what pods request: of those of a NodePool, or of all. It follows them up and down.
func TestABufferIsAShareOfWhatPodsRequest(t *testing.T) {
	report(t, fakecloud.Options{Seed: 107}, func(t *testing.T, w *world) {
		w.pool("default", nil)
		w.podTemplate("web")
		const wrong = "False ResolutionFailed metadata.annotations[daemok.sh/headroom]: "
		share := func(text string) {
			edit(w, w.bufferNow("spare"), func(b *v1beta1.CapacityBuffer) {
				b.Annotations = map[string]string{api.AnnotationHeadroom: text}
			})
		}
		w.buffer("spare", 0, nil)
		share("50% of NodePool/default")
		w.start(setup{})
		w.deploy("web", 3, plain)
		w.until(10*time.Minute, "a node for each pod, and for half of their cores, rounded up", func() bool {
			return w.has(5) && w.run(3) && w.saysOf("spare", served, fits+"2 virtual pods")
		})
		w.scale("web", 6)
		w.until(10*time.Minute, "three more, and one more", func() bool {
			return w.has(9) && w.run(6) && w.saysOf("spare", served, fits+"3 virtual pods")
		})
		share("50% of NodePool/other")
		w.until(10*time.Minute, "nothing kept for pods of a pool that is not there", func() bool {
			return w.has(6) && w.saysOf("spare", resolves, wrong+"NodePool/other is not there")
		})
		share("half")
		w.until(10*time.Minute, "a word on what is wrong", func() bool {
			return w.saysOf("spare", resolves, wrong+`"half": want a share`)
		})
		share("20%")
		w.until(10*time.Minute, "a fifth of all", func() bool { return w.has(8) && w.saysOf("spare", served, fits+"2 virtual pods") })
		w.scaleBuffer("spare", 3)
		w.until(5*time.Minute, "three at least", func() bool {
			return w.has(9) && w.saysOf("spare", served, fits+"3 virtual pods")
		})
		w.scaleBuffer("spare", 0)
		w.scale("web", 0)
		w.until(10*time.Minute, "no node", w.empty)
	})
}
