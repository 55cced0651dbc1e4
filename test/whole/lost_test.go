package whole_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/test/fakecloud"
)

// loses has so many NodeClaims vanish, whose finalizers a script takes away.
func (w *world) loses(n int) (nodes []string) {
	w.t.Helper()
	for _, c := range w.claims()[:n] {
		nodes = append(nodes, c.Status.NodeName)
		edit(w, &c, func(c *karpv1.NodeClaim) { c.Finalizers = nil })
		w.delete(&c)
	}
	return nodes
}

// collectNodes does what Kubernetes' garbage collector does to nodes whose NodeClaim is gone.
func (w *world) collectNodes(names []string) {
	w.t.Helper()
	for _, n := range w.nodes() {
		if slices.Contains(names, n.Name) {
			w.delete(&n)
		}
	}
}

// A script takes the finalizers of all NodeClaims away and deletes them; the garbage
// collector then deletes their nodes. No pod moves and no instance ends before somebody
// says so: an event on each node, the condition of the pool and a metric tell how. Then all
// nodes are drained, and their instances terminated.
func TestAClusterThatLosesAllItsClaimsIsHeld(t *testing.T) {
	report(t, fakecloud.Options{Seed: 72}, func(t *testing.T, w *world) {
		c := w.up(12, nil, plain)
		before := w.podsAndInstances()
		c.stop() // so that it sees them go at once
		lost := w.loses(12)
		c = w.start(setup{})
		held := func(phase string) {
			t.Helper()
			if now := w.podsAndInstances(); !slices.Equal(now, before) {
				t.Errorf("%s: there were\n%s\nand there are\n%s",
					phase, strings.Join(before, "\n"), strings.Join(now, "\n"))
			}
			if got := c.reports("daemok_orphans_held"); !slices.Equal(got, []string{"daemok_orphans_held 12"}) {
				t.Errorf("%s: metric %v", phase, got)
			}
			says := condition.Get(w.defaultPool(), karpv1.NodePoolDisruptionBlocked)
			if says == nil || says.Reason != karpv1.ReasonOrphansHeld || !strings.Contains(says.Message, "--from-literal=terminate=12") {
				t.Errorf("%s: the pool says %+v", phase, says)
			}
			if !w.events.said("OrphanHeld: 12 of 12 instances have no NodeClaim all at once") {
				t.Errorf("%s: no event says so", phase)
			}
		}
		time.Sleep(5 * time.Minute)
		held("before the nodes are collected")
		w.collectNodes(lost)
		time.Sleep(20 * time.Minute)
		held("once the nodes are collected")

		w.create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: api.ConfigMapOrphans}, Data: map[string]string{api.OrphansTerminate: "12"}})
		w.until(30*time.Minute, "all pods on other nodes", func() bool {
			return w.run(12) && len(w.instances()) == 12 && len(w.claims()) == 12 && !slices.ContainsFunc(w.nodes(), func(n corev1.Node) bool { return slices.Contains(lost, n.Name) })
		})
		w.until(3*time.Minute, "the pool to say no more of it", func() bool {
			return condition.Get(w.defaultPool(), karpv1.NodePoolDisruptionBlocked) == nil && slices.Equal(c.reports("daemok_orphans_held"), []string{"daemok_orphans_held 0"})
		})
		w.sound()
	})
}

// The NodeClaims of two nodes of twelve are lost: the nodes are drained, and then their
// instances are terminated, whether the garbage collector deletes the nodes first or not.
func TestFewNodesThatLoseTheirClaimsAreDrained(t *testing.T) {
	for name, collected := range map[string]bool{"collected by Kubernetes": true, "left by Kubernetes": false} {
		t.Run(name, func(t *testing.T) {
			report(t, fakecloud.Options{Seed: 73}, func(t *testing.T, w *world) {
				w.up(12, nil, plain)
				lost := w.loses(2)
				if collected {
					w.collectNodes(lost)
				}
				w.until(10*time.Minute, "two nodes replaced", func() bool {
					return w.run(12) && len(w.instances()) == 12 && len(w.claims()) == 12 && !slices.ContainsFunc(w.nodes(), func(n corev1.Node) bool { return slices.Contains(lost, n.Name) })
				})
				w.sound() // and no pod ended without an eviction: the world keeps that promise
			})
		})
	}
}

// podsAndInstances are the pods by UID and node, and the instances.
func (w *world) podsAndInstances() (out []string) {
	return slices.DeleteFunc(w.lives(), func(line string) bool { return strings.HasPrefix(line, "node ") })
}
