package whole_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/api"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	"github.com/daemok/daemok/kube/api/condition"
	"github.com/daemok/daemok/kube/api/fingerprint"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/migrate/handback"
)

// Versions of fingerprints in Karpenter 1.14, and what they may look like.
const (
	foreignPoolVersion, foreignPoolHash   = "v3", "12393960163388511505"
	foreignClassVersion, foreignClassHash = "v5", "7151640568926200147"
)

// asKarpenterLeftIt has a cluster look as if Karpenter had made its nodes: fingerprints,
// annotations, conditions and tags are as it writes them, and nothing is Daemok's.
func (w *world) asKarpenterLeftIt() {
	w.t.Helper()
	edit(w, w.defaultPool(), func(p *karpv1.NodePool) {
		p.Annotations = map[string]string{api.AnnotationNodePoolHash: foreignPoolHash, api.AnnotationNodePoolHashVersion: foreignPoolVersion}
		p.Finalizers = nil
	})
	edit(w, w.nodeClass(), func(c *awsv1.EC2NodeClass) {
		c.Annotations = map[string]string{api.AnnotationNodeClassHash: foreignClassHash, api.AnnotationNodeClassHashVersion: foreignClassVersion}
	})
	for _, c := range w.claims() {
		edit(w, &c, func(c *karpv1.NodeClaim) {
			c.Annotations = map[string]string{
				api.AnnotationNodePoolHash: foreignPoolHash, api.AnnotationNodePoolHashVersion: foreignPoolVersion,
				api.AnnotationNodeClassHash: foreignClassHash, api.AnnotationNodeClassHashVersion: foreignClassVersion,
				api.AnnotationInstanceTagged: "true", api.AnnotationClusterNameTagged: "true", api.AnnotationMinValuesRelaxed: "false",
				api.AnnotationInstanceProfileName: "test_4067990795380418201", api.AnnotationCompatibilityProvider: "aws",
			}
		})
		before := c.DeepCopy()
		consistent := metav1.Condition{Type: karpv1.ClaimConsistentStateFound, Status: "True", Reason: karpv1.ClaimConsistentStateFound, LastTransitionTime: metav1.Now()}
		c.Status.Conditions = append(slices.DeleteFunc(c.Status.Conditions, func(o metav1.Condition) bool { return o.Type == consistent.Type }), consistent)
		for i := range c.Status.Conditions {
			c.Status.Conditions[i].Reason, c.Status.Conditions[i].Message = c.Status.Conditions[i].Type, ""
			c.Status.Conditions[i].ObservedGeneration = c.Generation
		}
		if err := w.hand.Status().Patch(context.Background(), &c, client.MergeFrom(before)); err != nil {
			w.t.Fatal(err)
		}
		tags := w.tagsOf(translate.InstanceID(c.Status.ProviderID))
		maps.DeleteFunc(tags, func(key, _ string) bool { return isOurs(key) })
		w.retag(translate.InstanceID(c.Status.ProviderID), tags)
	}
	for _, n := range w.nodes() {
		edit(w, &n, func(n *corev1.Node) {
			maps.DeleteFunc(n.Annotations, func(key, _ string) bool { return isOurs(key) || strings.Contains(key, "-hash") })
		})
	}
}

func isOurs(key string) bool { return strings.HasPrefix(key, api.GroupDaemok+"/") }

// bought5 has five pods run on nodes of a NodePool, and their instances have their names.
func (w *world) bought5(change func(*karpv1.NodePool)) *controller {
	w.t.Helper()
	w.pool("default", change)
	c := w.start(setup{})
	w.scale("inflate", 5)
	w.until(5*time.Minute, "all pods run", func() bool { return w.run(5) && len(w.nodes()) == 5 })
	w.until(time.Minute, "the machines have their names", func() bool {
		return !slices.ContainsFunc(w.claims(), func(c karpv1.NodeClaim) bool { return c.Annotations[api.AnnotationInstanceTagged] != "true" })
	})
	return c
}

// A cluster is taken over from a Karpenter that ran until then: none of its nodes has
// drifted or goes, whether pools consolidate or not; fingerprints become ours, and from
// then on nodes go as pools ask.
func TestAClusterIsTakenOverFromKarpenter(t *testing.T) {
	for name, after := range map[string]karpv1.DurationOrNever{"consolidation is on": "0s", "consolidation is off": karpv1.Never} {
		t.Run(name, func(t *testing.T) {
			reportAWS(t, 1, func(t *testing.T, w *world) {
				w.bought5(func(p *karpv1.NodePool) { p.Spec.Disruption.ConsolidateAfter = after }).stop()
				w.asKarpenterLeftIt()
				before := w.lives()
				w.start(setup{})
				for range 60 { // it would show sooner or later
					time.Sleep(5 * time.Second)
					if by := w.drifted(); len(by) != 0 {
						t.Fatalf("nodes have drifted by %v", by)
					}
				}
				w.unchanged(before)
				w.sound()
				for _, c := range w.claims() {
					if c.Annotations[api.AnnotationNodePoolHashVersion] != fingerprint.Version || c.Annotations[api.AnnotationNodeClassHashVersion] != fingerprint.Version ||
						c.Annotations[api.AnnotationNodePoolHash] != w.defaultPool().Annotations[api.AnnotationNodePoolHash] ||
						c.Annotations[api.AnnotationNodeClassHash] != w.nodeClass().Annotations[api.AnnotationNodeClassHash] {
						t.Errorf("claim %s has the annotations %v", c.Name, c.Annotations)
					}
				}
				edit(w, w.defaultPool(), func(p *karpv1.NodePool) { p.Spec.Disruption.ConsolidateAfter = "0s" })
				w.scale("inflate", 3)
				w.until(10*time.Minute, "consolidation goes on", func() bool { return w.run(3) && len(w.instances()) == 3 })
			})
		})
	}
}

// What has really drifted stays so: an edit of a pool that Karpenter had found before it
// stopped replaces the nodes of the older template.
func TestWhatKarpenterFoundToHaveDriftedIsReplaced(t *testing.T) {
	reportAWS(t, 1, func(t *testing.T, w *world) {
		w.bought5(nil).stop()
		w.asKarpenterLeftIt()
		old := w.claimNames()
		for _, c := range w.claims() {
			before := c.DeepCopy()
			condition.Set(&c, karpv1.ClaimDrifted, "True", karpv1.ReasonNodePoolDrifted, "", time.Now())
			if err := w.hand.Status().Patch(context.Background(), &c, client.MergeFrom(before)); err != nil {
				t.Fatal(err)
			}
			edit(w, &c, func(c *karpv1.NodeClaim) { c.Annotations[api.AnnotationNodePoolHash] = "of an older template" })
		}
		w.start(setup{})
		w.until(30*time.Minute, "the drifted nodes are replaced", func() bool { return len(w.still(old)) == 0 && w.run(5) })
	})
}

// Karpenter stopped while it was about to remove a node: the node takes pods again.
func TestANodeThatKarpenterHadClosedIsOpened(t *testing.T) {
	reportAWS(t, 1, func(t *testing.T, w *world) {
		w.bought5(nil).stop()
		w.asKarpenterLeftIt()
		c := w.claims()[0]
		before := c.DeepCopy()
		condition.Set(&c, karpv1.ClaimDisruptionReason, "True", "Underutilized", "Underutilized", time.Now())
		if err := w.hand.Status().Patch(context.Background(), &c, client.MergeFrom(before)); err != nil {
			t.Fatal(err)
		}
		lives := w.lives()
		for _, n := range w.nodes() {
			if n.Spec.ProviderID == c.Status.ProviderID {
				edit(w, &n, func(n *corev1.Node) {
					n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: api.TaintDisrupted, Effect: corev1.TaintEffectNoSchedule})
				})
			}
		}
		w.start(setup{})
		w.until(time.Minute, "the node is open", func() bool { return w.renewed(nil) })
		time.Sleep(3 * time.Minute)
		w.unchanged(lives)
	})
}

// A cluster is handed back while none acts: nothing of Daemok's is left on its nodes and
// claims, and no pod, node or instance notices, neither then nor when it is taken again.
func TestAClusterIsHandedBackAndTakenAgain(t *testing.T) {
	reportAWS(t, 1, func(t *testing.T, w *world) {
		c := w.bought5(nil)
		h := handback.Handback{Store: w.hand, Namespace: "kube-system"}
		if err := h.Freeze(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.scale("inflate", 6) // pods come all the same
		var state handback.State
		look := func() bool {
			var err error
			if state, err = h.Look(t.Context()); err != nil {
				t.Fatal(err)
			}
			return len(state.Waits) == 0
		}
		w.until(time.Minute, "it waits for the machine that comes", func() bool { return !look() })
		w.until(5*time.Minute, "all nodes rest", look)
		if !w.run(6) || state.Claims != 6 || len(state.Refuses) != 0 {
			t.Errorf("all nodes rest, they say: %+v; %s", state, w.state())
		}
		w.scale("inflate", 5) // the freeze keeps the node
		time.Sleep(3 * time.Minute)
		if len(w.claims()) != 6 {
			t.Errorf("a node has gone: %s", w.state())
		}
		w.scale("inflate", 6)
		w.until(time.Minute, "all pods run", func() bool { return w.run(6) })
		before := w.lives()
		c.stop()
		if _, err := h.Clean(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, o := range w.ownObjects() {
			for key := range o.GetAnnotations() {
				if isOurs(key) {
					t.Errorf("%T %s has annotation %s", o, o.GetName(), key)
				}
			}
		}
		w.asKarpenterLeftIt() // it has run for a while
		w.start(setup{})
		time.Sleep(5 * time.Minute)
		w.unchanged(before)
		if by := w.drifted(); len(by) != 0 {
			t.Errorf("nodes have drifted by %v", by)
		}
		w.scale("inflate", 3)
		w.until(10*time.Minute, "consolidation goes on", func() bool { return w.run(3) && len(w.instances()) == 3 })
	})
}

// ownObjects are claims, nodes, pools and classes.
func (w *world) ownObjects() (out []client.Object) {
	for _, c := range w.claims() {
		out = append(out, &c)
	}
	for _, n := range w.nodes() {
		out = append(out, &n)
	}
	return append(out, w.defaultPool(), w.nodeClass())
}
