package whole_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/test/fakecloud"
)

// mayLive makes pools whose nodes may live for so long.
func mayLive(length karpv1.DurationOrNever) func(*karpv1.NodePool) {
	return func(p *karpv1.NodePool) { p.Spec.Template.Spec.ExpireAfter = length }
}

// watchman looks all the time at what must never be: a node that goes while a
// instance in its place has not started.
func (w *world) watchman(done <-chan struct{}) {
	reported, last := map[string]bool{}, uint64(0)
	for {
		select {
		case <-done:
			return
		case <-time.After(100 * time.Millisecond):
		}
		now := w.server.Revision() // before looking, so that no change is missed
		if now == last {
			continue
		}
		last = now
		going := map[string]bool{}
		all := w.claims()
		for _, c := range all {
			going[c.Name] = c.DeletionTimestamp != nil
		}
		for _, c := range all {
			for name := range going {
				early := going[name] && replaces(&c, name) && c.DeletionTimestamp == nil && !condition.IsTrue(&c, karpv1.ClaimInitialized)
				if early && !reported[name] {
					reported[name] = true
					w.t.Errorf("claim %s goes before %s, which replaces it, has started; %s", name, c.Name, w.state())
				}
			}
		}
	}
}

func replaces(c *karpv1.NodeClaim, name string) bool {
	return slices.Contains(strings.Split(c.Annotations[api.AnnotationReplaces], ","), name)
}

// renewed reports whether none of these claims is left, and all is open.
func (w *world) renewed(names []string) bool {
	for _, c := range w.claims() {
		if slices.Contains(names, c.Name) || condition.Get(&c, karpv1.ClaimDisruptionReason) != nil {
			return false
		}
	}
	return !slices.ContainsFunc(w.nodes(), func(n corev1.Node) bool { return translate.HasTaint(&n, api.TaintDisrupted) })
}

func (w *world) claimNames() (out []string) {
	for _, c := range w.claims() {
		out = append(out, c.Name)
	}
	return out
}

// Nodes that grow too old are replaced in time, each by one instance.
func TestOldNodesAreReplacedBeforeTheyGo(t *testing.T) {
	report(t, fakecloud.Options{Seed: 40}, func(t *testing.T, w *world) {
		w.upWith(setup{}, 3, mayLive("1h"), plain)
		began, first := time.Now(), w.claimNames()
		done := make(chan struct{})
		go w.watchman(done)
		defer close(done)
		w.until(61*time.Minute, "three other nodes", func() bool { return w.renewed(first) && w.run(3) })
		if w.launched() != 6 || len(w.liveInstances()) != 3 {
			t.Errorf("bought %d machines for three pods and three nodes that grew too old; %s", w.launched(), w.state())
		}
		t.Logf("replaced after %v", time.Since(began))
		w.sound()
	})
}

// Instances in place of nodes that grow too old do not join any more. Such a node
// drains all the same once its time is over: nothing that could be had is waited
// for without end.
func TestOldNodesDrainWhereNoInstanceComesInTheirPlace(t *testing.T) {
	report(t, fakecloud.Options{Seed: 42}, func(t *testing.T, w *world) {
		w.upWith(setup{}, 2, mayLive("1h"), plain)
		began, first := time.Now(), w.claimNames()
		w.mu.Lock()
		w.joinsAfter = map[string]time.Duration{}
		for _, zone := range []string{"us-east-1a", "us-east-1b", "us-east-1c", "us-east-1d", "us-east-1e", "us-east-1f"} {
			w.joinsAfter[zone] = 24 * time.Hour
		}
		w.mu.Unlock()
		going := func() (n int) {
			for _, c := range w.claims() {
				if slices.Contains(first, c.Name) && c.DeletionTimestamp == nil {
					n++
				}
			}
			return len(first) - n
		}
		for time.Since(began) < 59*time.Minute {
			time.Sleep(time.Minute)
			if n := going(); n > 0 {
				t.Fatalf("%d nodes go %v after they came, with no instance in their place", n, time.Since(began))
			}
		}
		w.until(20*time.Minute, "both to drain", func() bool { return going() == 2 })
	})
}

// Pods of two nodes fit on one, and a PodDisruptionBudget forbids to evict them
// for a while: both nodes stay, open to pods, and one goes when it may.
func TestABudgetOfPodsHoldsUpConsolidation(t *testing.T) {
	report(t, fakecloud.Options{Seed: 43}, func(t *testing.T, w *world) {
		w.pool("default", nil)
		w.start(setup{})
		pdb := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "small"}}
		pdb.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"guarded": "yes"}}
		w.create(pdb)
		small := func(p *corev1.Pod) {
			p.Labels["guarded"] = "yes"
			p.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("500m")
		}
		w.deploy("a", 1, small)
		w.deploy("big", 1, plain)
		w.until(5*time.Minute, "two pods on a node", func() bool { return w.run(2) && len(w.nodes()) == 1 })
		w.deploy("big", 2, plain)
		w.deploy("b", 1, small)
		w.until(5*time.Minute, "four pods on two nodes", func() bool { return w.run(4) && len(w.nodes()) == 2 })
		w.deploy("big", 0, plain)
		time.Sleep(10 * time.Minute)
		if n := w.nodes(); len(n) != 2 || w.closed() != 0 {
			t.Errorf("while no eviction is allowed: %d nodes, %d of them closed; %s", len(n), w.closed(), w.state())
		}
		before := pdb.DeepCopy()
		pdb.Status.DisruptionsAllowed, pdb.Status.ObservedGeneration = 1, pdb.Generation
		if err := w.hand.Status().Patch(context.Background(), pdb, client.MergeFrom(before)); err != nil {
			t.Fatal(err)
		}
		w.until(10*time.Minute, "two pods on one node", func() bool { return w.run(2) && len(w.claims()) == 1 && len(w.nodes()) == 1 })
		if w.launched() != 2 {
			t.Errorf("bought %d machines, want two", w.launched())
		}
		w.sound()
	})
}
