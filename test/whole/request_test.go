package whole_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/decide"
	"github.com/daemok/daemok/kube/api"
	autoscalingv1 "github.com/daemok/daemok/kube/api/autoscaling/v1"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/test/fakecloud"
	"github.com/daemok/daemok/test/market"
	"github.com/daemok/daemok/test/store"
)

const (
	accepted = autoscalingv1.RequestAccepted
	found    = autoscalingv1.RequestProvisioned
	failed   = autoscalingv1.RequestFailed
	expired  = autoscalingv1.RequestBookingExpired
	revoked  = autoscalingv1.RequestCapacityRevoked

	checks = autoscalingv1.ClassCheckCapacity
	wholly = autoscalingv1.ClassBestEffortAtomic
)

// request asks capacity for pods of the PodTemplate web.
func (w *world) request(
	name, class string, pods int32, change func(*autoscalingv1.ProvisioningRequestSpec),
) *autoscalingv1.ProvisioningRequest {
	w.t.Helper()
	out := &autoscalingv1.ProvisioningRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	out.Spec.ProvisioningClassName = class
	out.Spec.PodSets = []autoscalingv1.PodSet{{PodTemplateRef: autoscalingv1.Reference{Name: "web"}, Count: pods}}
	if change != nil {
		change(&out.Spec)
	}
	w.create(out)
	return out
}

// requestSays is what a condition of a ProvisioningRequest says: "True CapacityIsFound ..."; empty: it has none.
func (w *world) requestSays(name, kind string) string {
	w.t.Helper()
	r := &autoscalingv1.ProvisioningRequest{}
	if err := w.hand.Get(w.t.Context(), client.ObjectKey{Namespace: "default", Name: name}, r); err != nil {
		w.t.Fatal(err)
	}
	c := condition.Get(r, kind)
	if c == nil {
		return ""
	}
	return fmt.Sprintf("%s %s %s", c.Status, c.Reason, c.Message)
}

// requestIs reports whether a condition of a ProvisioningRequest begins so.
func (w *world) requestIs(name, kind, want string) bool {
	w.t.Helper()
	return strings.HasPrefix(w.requestSays(name, kind), want)
}

// provisioned reports whether there is, or was, capacity for all pods of a ProvisioningRequest.
func (w *world) provisioned(name string) bool {
	return strings.HasPrefix(w.requestSays(name, found), "True ")
}

// consumes has a pod consume a ProvisioningRequest.
func consumes(name, class string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Annotations = map[string]string{api.AnnotationConsumesRequest: name, api.AnnotationProvisioningClass: class}
	}
}

// SC-610: Instances for all pods are launched by one plan, and stay until the pods come; these run there at once, and
// nothing else is launched. Nodes go with the pods.
func TestARequestIsProvisionedAsAWhole(t *testing.T) {
	report(t, fakecloud.Options{Seed: 120}, func(t *testing.T, w *world) {
		w.pool("default", nil)
		w.podTemplate("web")
		w.request("train", wholly, 3, nil)
		w.start(setup{})
		w.until(time.Minute, "it to be accepted", func() bool {
			return w.requestIs("train", accepted, "True Accepted ")
		})
		w.until(5*time.Minute, "three instances", func() bool { return w.provisioned("train") })
		if w.launched() != 3 || !w.requestIs("train", found, "True CapacityIsProvisioned ") {
			t.Fatalf("launched %d instances for three pods: %s", w.launched(), w.requestSays("train", found))
		}
		w.until(5*time.Minute, "three nodes", func() bool { return w.has(3) })
		time.Sleep(3 * time.Minute)
		w.deploy("train", 3, consumes("train", wholly))
		w.until(time.Minute, "pods on nodes that were there", func() bool { return w.run(3) })
		w.until(15*time.Minute, "the booking to expire", func() bool {
			return w.requestIs("train", expired, "True CapacityReservationTimeExpired ")
		})
		if w.launched() != 3 || !w.has(3) {
			t.Errorf("launched %d instances for three pods; %s", w.launched(), w.state())
		}
		w.scale("train", 0)
		w.until(5*time.Minute, "no nodes", w.empty)
		w.sound()
	})
}

// SC-611: Where an instance cannot be had, those that were launched with it are given back, and all are tried again.
// They come once they can be had.
func TestARequestInPartIsGivenBack(t *testing.T) {
	report(t, fakecloud.Options{Seed: 121}, func(t *testing.T, w *world) {
		w.pool("default", func(p *karpv1.NodePool) { p.Spec.Disruption.ConsolidateAfter = karpv1.Never })
		w.podTemplate("web")
		restock := w.onlyIn("a", 2, market.OnDemand)
		w.request("train", wholly, 4, nil)
		w.start(setup{})
		w.until(5*time.Minute, "what is in the way", func() bool {
			return w.requestIs("train", found, "False CapacityIsNotFound ") && w.launched() > 0
		})
		w.until(10*time.Minute, "nothing left", w.empty)
		restock()
		w.until(20*time.Minute, "all four", func() bool { return w.provisioned("train") && w.has(4) })
		w.sound()
	})
}

// SC-612: check-capacity launches nothing: it finds room that is there, keeps it, and says where there is none.
func TestARequestChecksCapacity(t *testing.T) {
	report(t, fakecloud.Options{Seed: 122}, func(t *testing.T, w *world) {
		w.pool("default", func(p *karpv1.NodePool) { p.Spec.Disruption.ConsolidateAfter = "20m" })
		w.podTemplate("web")
		w.request("early", checks, 1, nil)
		w.start(setup{})
		w.until(time.Minute, "no capacity", func() bool {
			return w.requestIs("early", found, "False CapacityIsNotFound there is no capacity for 1 of 1 pods: nodes")
		})
		w.scale("web", 2)
		w.until(5*time.Minute, "two nodes", func() bool { return w.run(2) })
		w.scale("web", 0)
		w.until(15*time.Minute, "room", func() bool {
			return w.requestIs("early", found, "True CapacityIsFound ")
		})
		w.request("late", checks, 2, nil) // one of two nodes is booked
		w.until(time.Minute, "no capacity", func() bool {
			return w.requestIs("late", found, "False CapacityIsNotFound there is no capacity for 1 of 2 pods")
		})
		if w.launched() != 2 {
			t.Errorf("launched %d instances, want those of the Deployment alone", w.launched())
		}
		w.until(15*time.Minute, "room once it is not kept for the other", func() bool { return w.provisioned("late") })
		w.sound()
	})
}

// SC-613: Capacity is kept for ten minutes from pods that do not consume the request; then its nodes are empty.
func TestABookingKeepsOthersOffAndExpires(t *testing.T) {
	report(t, fakecloud.Options{Seed: 123}, func(t *testing.T, w *world) {
		w.pool("default", nil)
		w.podTemplate("web")
		w.request("train", wholly, 2, nil)
		w.start(setup{})
		w.until(5*time.Minute, "two nodes", func() bool { return w.has(2) && w.provisioned("train") })
		time.Sleep(7 * time.Minute)
		if !w.has(2) {
			t.Fatalf("nodes of a booking did not stay; %s", w.state())
		}
		w.until(10*time.Minute, "no nodes", w.empty)
		if !w.requestIs("train", expired, "True ") {
			t.Error("nodes went before the booking expired")
		}
		w.sound()
	})
}

// SC-614: Two requests that a limit has room for one of: the second gets it once it is free.
func TestTwoRequestsCompete(t *testing.T) {
	report(t, fakecloud.Options{Seed: 124}, func(t *testing.T, w *world) {
		w.pool("default", func(p *karpv1.NodePool) {
			p.Spec.Limits = corev1.ResourceList{"nodes": resource.MustParse("3")}
		})
		w.podTemplate("web")
		w.start(setup{})
		w.until(time.Minute, "a pool that is ready", w.poolIsReady)
		w.request("first", wholly, 2, nil)
		time.Sleep(2 * time.Second)
		w.request("second", wholly, 2, nil)
		w.until(5*time.Minute, "the first alone", func() bool {
			return w.provisioned("first") && strings.Contains(w.requestSays("second", found), "limit reached")
		})
		w.until(5*time.Minute, "two nodes", func() bool { return w.has(2) })
		w.until(30*time.Minute, "the second", func() bool { return w.provisioned("second") })
		if !w.requestIs("first", expired, "True ") {
			t.Error("the second took what was kept for the first")
		}
		w.sound()
	})
}

// SC-615: Pods that consume a request which has no capacity wait, and nothing is launched for them; nor for those of
// one that is not there.
func TestPodsWaitForTheirRequest(t *testing.T) {
	report(t, fakecloud.Options{Seed: 125}, func(t *testing.T, w *world) {
		w.pool("default", nil)
		w.podTemplate("web")
		w.deploy("train", 2, consumes("train", wholly))
		w.start(setup{})
		time.Sleep(5 * time.Minute)
		const why = "it consumes ProvisioningRequest default/train, which has no capacity yet: it is not there"
		if w.launched() > 0 || !w.story.reports(why) {
			t.Fatalf("launched %d instances for pods whose request is not there, or no event says so", w.launched())
		}
		w.request("train", wholly, 2, nil)
		w.until(5*time.Minute, "pods on their nodes", func() bool { return w.run(2) && w.has(2) })
		if w.launched() != 2 {
			t.Errorf("launched %d instances for two pods", w.launched())
		}
		w.sound()
	})
}

// SC-616: After a restart between the launch and the status nothing is launched again, and the request is provisioned.
func TestARequestOutlivesARestart(t *testing.T) {
	report(t, fakecloud.Options{Seed: 126}, func(t *testing.T, w *world) {
		w.pool("default", nil)
		w.podTemplate("web")
		w.request("train", wholly, 3, nil)
		c := w.start(setup{fault: func(call store.Call) (before, after error) {
			if call.Kind == "ProvisioningRequest" && call.Writes() && w.launched() > 0 {
				return fmt.Errorf("the API server is busy"), nil
			}
			return nil, nil
		}})
		w.until(5*time.Minute, "three instances", func() bool { return w.launched() == 3 })
		c.stop()
		if w.provisioned("train") {
			t.Fatal("its status was written before the restart")
		}
		w.start(setup{})
		w.until(5*time.Minute, "three nodes", func() bool { return w.provisioned("train") && w.has(3) })
		time.Sleep(5 * time.Minute)
		if w.launched() != 3 || !w.has(3) {
			t.Errorf("launched %d instances for three pods; %s", w.launched(), w.state())
		}
		w.sound()
	})
}

// SC-617: A request that gets no capacity in its time has failed, and is tried no more.
func TestARequestFailsInTime(t *testing.T) {
	report(t, fakecloud.Options{Seed: 127}, func(t *testing.T, w *world) {
		w.pool("default", nil)
		w.podTemplate("web")
		restock := w.unavailable(market.OnDemand)
		w.request("train", wholly, 2, func(s *autoscalingv1.ProvisioningRequestSpec) {
			s.Parameters = map[string]autoscalingv1.Parameter{"ValidUntilSeconds": "600"}
		})
		w.request("bad", wholly, 2, func(s *autoscalingv1.ProvisioningRequestSpec) {
			s.Parameters = map[string]autoscalingv1.Parameter{"ValidUntilSeconds": "soon"}
		})
		w.request("others", checks, 2, func(s *autoscalingv1.ProvisioningRequestSpec) {
			s.Parameters = map[string]autoscalingv1.Parameter{"processorInstance": "another"}
		})
		w.start(setup{})
		w.until(time.Minute, "a failure", func() bool {
			return w.requestIs("bad", failed, `True Invalid spec.parameters.ValidUntilSeconds is "soon": write`)
		})
		w.until(11*time.Minute, "a failure", func() bool {
			return w.requestIs("train", failed, "True Expired there was no capacity for all its pods until ")
		})
		restock()
		time.Sleep(20 * time.Minute)
		if w.launched() > 0 || !w.empty() || w.requestSays("others", accepted) != "" {
			t.Errorf("launched %d instances for requests that failed, or are another's; %s", w.launched(), w.state())
		}
	})
}

// Of several autoscalers the one serves a request that it names, and an unnamed request is for the one without a name.
func TestARequestIsServedByTheAutoscalerThatItNames(t *testing.T) {
	report(t, fakecloud.Options{Seed: 131}, func(t *testing.T, w *world) {
		w.pool("default", nil)
		w.podTemplate("web")
		w.request("named", wholly, 1, func(s *autoscalingv1.ProvisioningRequestSpec) {
			s.Parameters = map[string]autoscalingv1.Parameter{"processorInstance": "blue"}
		})
		w.request("unnamed", wholly, 1, nil)
		w.start(setup{instance: "blue"})
		w.until(5*time.Minute, "a node", func() bool { return w.provisioned("named") && w.has(1) })
		time.Sleep(5 * time.Minute)
		if w.launched() != 1 || w.requestSays("unnamed", accepted) != "" {
			t.Errorf("launched %d instances, and the other request is served: %q; want that of the autoscaler's own "+
				"request alone; %s", w.launched(), w.requestSays("unnamed", accepted), w.state())
		}
		w.sound()
	})
}

// A PodTemplate that is late is awaited.
func TestARequestWaitsForItsTemplate(t *testing.T) {
	report(t, fakecloud.Options{Seed: 128}, func(_ *testing.T, w *world) {
		w.pool("default", nil)
		w.request("train", wholly, 1, nil)
		w.start(setup{})
		w.until(time.Minute, "what is missing", func() bool {
			return w.requestIs("train", found, "False PodTemplateNotFound PodTemplate default/web is not there")
		})
		w.podTemplate("web")
		w.until(5*time.Minute, "a node", func() bool { return w.provisioned("train") && w.has(1) })
		w.sound()
	})
}

// SC-618: Booked capacity that is lost is reported for check-capacity, and launched again for the other class.
func TestBookedCapacityIsLost(t *testing.T) {
	for class, want := range map[string]string{checks: "True CapacityIsLost ", wholly: ""} {
		t.Run(class, func(t *testing.T) {
			report(t, fakecloud.Options{Seed: 129}, func(t *testing.T, w *world) {
				w.pool("default", func(p *karpv1.NodePool) { p.Spec.Disruption.ConsolidateAfter = "20m" })
				w.podTemplate("web")
				w.scale("web", 1)
				w.start(setup{})
				w.until(5*time.Minute, "a node", func() bool { return w.run(1) })
				w.scale("web", 0)
				w.request("train", class, 1, nil)
				w.until(3*time.Minute, "capacity", func() bool { return w.provisioned("train") })
				claims := w.claims()
				w.delete(&claims[0])
				w.until(5*time.Minute, "what becomes of it", func() bool {
					said := w.requestSays("train", revoked)
					return strings.HasPrefix(said, want) && (want != "" || w.launched() == 2 && w.has(1))
				})
				if want != "" && w.launched() != 1 {
					t.Errorf("launched %d instances", w.launched())
				}
			})
		})
	}
}

// With the feature gate off requests have no effect, and an event says so; pods do not wait for them.
func TestARequestWithItsFeatureGateOff(t *testing.T) {
	report(t, fakecloud.Options{Seed: 130}, func(t *testing.T, w *world) {
		w.pool("default", nil)
		w.podTemplate("web")
		w.request("train", wholly, 2, nil)
		w.deploy("train", 1, consumes("train", wholly))
		w.start(setup{policy: decide.Policy{IgnoreRequests: true}})
		w.until(5*time.Minute, "the pod on its node", func() bool { return w.run(1) })
		time.Sleep(10 * time.Minute)
		if w.launched() != 1 || w.requestSays("train", accepted) != "" || !w.story.reports("NotInEffect") {
			t.Errorf("a request that is off acts, or no event says so; %s", w.state())
		}
	})
}

// Where requests may not be listed all else works, and the log says why; they act once they may be.
func TestRequestsThatMayNotBeRead(t *testing.T) {
	report(t, fakecloud.Options{Seed: 131}, func(t *testing.T, w *world) {
		w.pool("default", nil)
		w.podTemplate("web")
		w.request("train", wholly, 2, nil)
		var allowed atomic.Bool
		kind := autoscalingv1.GroupVersion.WithResource("provisioningrequests").GroupResource()
		forbidden := apierrors.NewForbidden(kind, "", nil)
		w.start(setup{fault: func(call store.Call) (before, after error) {
			if call.Kind == "ProvisioningRequestList" && !allowed.Load() {
				return forbidden, nil
			}
			return nil, nil
		}})
		w.scale("web", 1)
		w.until(5*time.Minute, "a pod on its node", func() bool { return w.run(1) && w.has(1) })
		if !w.story.reports("ProvisioningRequests have no effect") {
			t.Error("the log does not say that requests cannot be read")
		}
		allowed.Store(true)
		w.until(5*time.Minute, "capacity", func() bool { return w.provisioned("train") && w.launched() == 3 })
	})
}
