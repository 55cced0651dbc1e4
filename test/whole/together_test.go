package whole_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/test/fakecloud"
)

const (
	zoneA = "us-east-1a"
	zoneB = "us-east-1b"
)

// spreadOverZones makes a pool in two zones, the second of which has its nodes
// later, and small pods that are to be spread over zones. Nothing is scheduled:
// the stories look at who could be.
func (w *world) spreadOverZones(replicas int, later time.Duration) {
	w.mu.Lock()
	w.schedules, w.joinsAfter = false, map[string]time.Duration{zoneA: time.Minute, zoneB: time.Minute + later}
	w.mu.Unlock()
	w.pool("default", func(p *karpv1.NodePool) {
		p.Spec.Template.Spec.Requirements = append(p.Spec.Template.Spec.Requirements,
			karpv1.Requirement{Key: api.LabelZone, Operator: "In", Values: []string{zoneA, zoneB}})
	})
	w.spread(replicas)
}

func (w *world) spread(replicas int) {
	w.deploy("web", replicas, func(p *corev1.Pod) {
		p.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("100m")
		p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
			MaxSkew: 1, TopologyKey: api.LabelZone, WhenUnsatisfiable: corev1.DoNotSchedule,
			LabelSelector: &metav1.LabelSelector{MatchLabels: p.Labels},
		}}
	})
}

// open reports whether pods may come to the zone's node.
func (w *world) open(zone string) bool {
	n := w.nodeIn(zone)
	return n != nil && !translate.HasTaint(n, api.TaintUnregistered)
}

func (w *world) nodeIn(zone string) *corev1.Node {
	for _, n := range w.nodes() {
		if n.Labels[api.LabelZone] == zone {
			return &n
		}
	}
	return nil
}

func (w *world) claimIn(zone string) *karpv1.NodeClaim {
	for _, c := range w.claims() {
		if c.Labels[api.LabelZone] == zone {
			return &c
		}
	}
	return nil
}

// waits reports whether the zone's node is there, knows all that its claim
// knows, and is kept from pods.
func (w *world) waits(zone string) bool {
	n := w.nodeIn(zone)
	if n == nil || w.open(zone) {
		return false
	}
	registered := condition.Get(w.claimIn(zone), karpv1.ClaimRegistered)
	return n.Labels[api.LabelNodePool] == "default" && n.Labels[api.LabelRegistered] == "" && len(n.OwnerReferences) == 1 &&
		registered.Status == metav1.ConditionUnknown && registered.Reason == karpv1.ReasonAwaitingSpreadDomains
}

// neverAlone watches the nodes for a while: none may be open while the other
// zone has none.
func (w *world) neverAlone(limit time.Duration, what string, holds func() bool) {
	w.t.Helper()
	w.until(limit, what, func() bool {
		if w.open(zoneA) && w.nodeIn(zoneB) == nil {
			w.t.Fatalf("the node in zone a takes pods, and zone b has none; %s", w.state())
		}
		return holds()
	})
}

func TestNodesOfASpreadOpenTogether(t *testing.T) {
	report(t, fakecloud.Options{Seed: 71}, func(t *testing.T, w *world) {
		w.spreadOverZones(4, 30*time.Second)
		w.start(setup{})
		w.neverAlone(2*time.Minute, "a node that waits", func() bool { return w.waits(zoneA) })
		if text := condition.Get(w.claimIn(zoneA), karpv1.ClaimRegistered).Message; !strings.Contains(text, w.claimIn(zoneB).Name) {
			t.Errorf("the claim does not say for whom it waits: %s", text)
		}
		w.neverAlone(time.Minute, "the other node", func() bool { return w.nodeIn(zoneB) != nil })
		w.until(time.Second, "both nodes open", func() bool { return w.open(zoneA) && w.open(zoneB) })
		if w.launched() != 2 {
			t.Errorf("bought %d machines, want two; %s", w.launched(), w.state())
		}
		w.mu.Lock()
		w.schedules = true
		w.mu.Unlock()
		w.until(time.Minute, "all pods running", func() bool { return w.run(4) })
		w.sound()
	})
}

func TestANodeOfASpreadWaitsAMinuteAtMost(t *testing.T) {
	report(t, fakecloud.Options{Seed: 72}, func(t *testing.T, w *world) {
		w.spreadOverZones(4, 10*time.Minute)
		w.start(setup{})
		w.until(2*time.Minute, "a node that waits", func() bool { return w.waits(zoneA) })
		joined := w.nodeIn(zoneA).CreationTimestamp.Time
		w.until(2*time.Minute, "that node open", func() bool { return w.open(zoneA) })
		if after := time.Since(joined); after < time.Minute || after > time.Minute+2*time.Second {
			t.Errorf("the node was kept from pods for %v, want a minute", after)
		}
		w.until(15*time.Minute, "the late node open at once", func() bool { return w.nodeIn(zoneB) != nil })
		w.until(time.Second, "the late node open at once", func() bool { return w.open(zoneB) })
		w.sound()
	})
}

func TestANodeOfASpreadDoesNotWaitForAInstanceThatIsLost(t *testing.T) {
	report(t, fakecloud.Options{Seed: 73}, func(t *testing.T, w *world) {
		w.spreadOverZones(4, 10*time.Minute)
		w.start(setup{})
		w.until(2*time.Minute, "a node that waits", func() bool { return w.waits(zoneA) })
		w.delete(w.claimIn(zoneB))
		w.until(time.Second, "that node open", func() bool { return w.open(zoneA) })
	})
}

// A controller that starts again finds on the claims who waits for whom, and
// neither opens a node too early nor launches anything twice.
func TestNodesOfASpreadWaitThroughARestart(t *testing.T) {
	report(t, fakecloud.Options{Seed: 74}, func(t *testing.T, w *world) {
		w.spreadOverZones(4, 40*time.Second)
		first := w.start(setup{})
		w.neverAlone(2*time.Minute, "a node that waits", func() bool { return w.waits(zoneA) })
		first.stop()
		w.start(setup{})
		w.neverAlone(time.Minute, "the other node", func() bool { return w.nodeIn(zoneB) != nil })
		w.until(time.Second, "both nodes open", func() bool { return w.open(zoneA) && w.open(zoneB) })
		if w.launched() != 2 {
			t.Errorf("bought %d machines, want two; %s", w.launched(), w.state())
		}
	})
}

// The first pod's instance was launched alone; the pods that came after it make
// it wait for theirs.
func TestAInstanceOfAnEarlierPlanWaitsForTheNext(t *testing.T) {
	report(t, fakecloud.Options{Seed: 75}, func(t *testing.T, w *world) {
		w.spreadOverZones(1, 30*time.Second)
		w.start(setup{})
		w.until(time.Minute, "the first machine", func() bool { return len(w.liveInstances()) == 1 })
		if zone := w.claims()[0].Labels[api.LabelZone]; w.claims()[0].Annotations[api.AnnotationJoins] != "" || zone == zoneB {
			t.Fatalf("a machine in %s has %s=%s, want none, in the quicker zone",
				zone, api.AnnotationJoins, w.claims()[0].Annotations[api.AnnotationJoins])
		}
		w.spread(4)
		w.neverAlone(2*time.Minute, "a node that waits", func() bool { return w.waits(zoneA) })
		w.neverAlone(time.Minute, "the other node", func() bool { return w.nodeIn(zoneB) != nil })
		w.until(time.Second, "both nodes open", func() bool { return w.open(zoneA) && w.open(zoneB) })
	})
}

// Who needs no spread, or whose zones all have nodes, waits for none.
func TestNodesThatNoSpreadNeedsOpenOneByOne(t *testing.T) {
	report(t, fakecloud.Options{Seed: 76}, func(t *testing.T, w *world) {
		w.spreadOverZones(4, 30*time.Second)
		w.deploy("web", 4, func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{api.LabelZone: zoneA} })
		w.deploy("db", 4, func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{api.LabelZone: zoneB} })
		w.start(setup{})
		w.until(2*time.Minute, "an open node", func() bool { return w.open(zoneA) })
		if w.nodeIn(zoneB) != nil {
			t.Error("the node in zone a waited for the one in zone b")
		}
		for _, c := range w.claims() {
			if c.Annotations[api.AnnotationJoins] != "" {
				t.Errorf("claim %s says %s", c.Name, c.Annotations[api.AnnotationJoins])
			}
		}
	})
}

func (w *world) nodesOf(instanceType string) (out []corev1.Node) {
	for _, n := range w.nodes() {
		if n.Labels[api.LabelInstanceType] == instanceType {
			out = append(out, n)
		}
	}
	return out
}

// A large instance has room for small pods too, and may join first. So there is one more from the
// start, and no pod waits for a second boot, nor a node for others.
func TestALargePodFindsRoomThoughSmallOnesComeFirst(t *testing.T) {
	report(t, fakecloud.Options{Seed: 78}, func(t *testing.T, w *world) {
		const small, large = "m5.large", "m5.4xlarge"
		w.pool("default", func(p *karpv1.NodePool) {
			p.Spec.Template.Spec.Requirements[0].Values = []string{small, large}
		})
		w.deploy("small", 6, ofCores("1500m"))
		w.deploy("large", 1, ofCores("15"))
		w.start(setup{})
		w.until(10*time.Minute, "all pods running", func() bool { return w.run(7) })
		if n := len(w.nodesOf(large)); n != 2 || w.launched() != n {
			t.Errorf("launched %d instances, of which %d are %s: want two of these; %s",
				w.launched(), n, large, w.state())
		}
		w.sound()
	})
}
