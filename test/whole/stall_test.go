package whole_test

import (
	"context"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/test/fakecloud"
)

// spreadAndPDBs fills two nodes of the default pool with four pods each that a
// strict spread over hosts and a PodDisruptionBudget would not let go of: one at a time
// may be gone, and on the node with room, of another pool, the third of a node finds no
// place while the last is left.
func (w *world) spreadAndPDBs(change func(*karpv1.NodePool)) *policyv1.PodDisruptionBudget {
	w.t.Helper()
	w.pdbs("web", intstr.FromInt32(1))
	pdb := &policyv1.PodDisruptionBudget{}
	if err := w.hand.Get(context.Background(), client.ObjectKey{Namespace: "default", Name: "web"}, pdb); err != nil {
		w.t.Fatal(err)
	}
	w.pool("default", func(p *karpv1.NodePool) {
		p.Spec.Limits = corev1.ResourceList{"nodes": cores(2)}
		p.Spec.Disruption.ConsolidationPolicy = karpv1.ConsolidateWhenEmpty
		change(p)
	})
	w.start(setup{})
	w.deploy("web", 8, func(p *corev1.Pod) {
		ofCores("400m")(p)
		p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
			MaxSkew: 1, TopologyKey: api.LabelHostname, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: pdb.Spec.Selector,
		}}
	})
	w.until(5*time.Minute, "eight pods on two nodes", func() bool { return w.run(8) && len(w.nodes()) == 2 })
	w.pool("other", func(p *karpv1.NodePool) {
		p.Spec.Template.Spec.Requirements[0].Values = []string{"m5.xlarge"}
		p.Spec.Disruption.ConsolidationPolicy = karpv1.ConsolidateWhenEmpty
	})
	w.deploy("other", 1, ofCores("1500m"))
	w.until(5*time.Minute, "a node with room", func() bool { return w.run(9) && w.of("other") == 1 })
	return pdb
}

// letGo has a PodDisruptionBudget let so many of its pods be gone at a time.
func (w *world) letGo(pdb *policyv1.PodDisruptionBudget, pods int32) {
	w.t.Helper()
	before := pdb.DeepCopy()
	pdb.Spec.MaxUnavailable = new(intstr.FromInt32(pods))
	if err := w.hand.Patch(context.Background(), pdb, client.MergeFrom(before)); err != nil {
		w.t.Fatal(err)
	}
}

// untouched reports whether the cluster is as it was with three nodes.
func (w *world) untouched() bool { return w.run(9) && w.launched() == 3 && w.closed() == 0 }

// without reports whether all pods run, and these claims are gone.
func (w *world) without(old []string) bool {
	return w.run(9) && w.closed() == 0 && !slices.ContainsFunc(w.claims(), func(c karpv1.NodeClaim) bool { return slices.Contains(old, c.Name) })
}

// defaultClaims names the claims of the default pool.
func (w *world) defaultClaims() (out []string) {
	for _, c := range w.claims() {
		if c.Labels[api.LabelNodePool] == "default" {
			out = append(out, c.Name)
		}
	}
	return out
}

// A drifted node whose drain would not end stays, and says why; once the
// PodDisruptionBudget allows more it is replaced.
func TestADrainThatWouldNotEndIsNotBegun(t *testing.T) {
	report(t, fakecloud.Options{Seed: 75}, func(t *testing.T, w *world) {
		pdb := w.spreadAndPDBs(func(p *karpv1.NodePool) { p.Spec.Template.Metadata.Labels = map[string]string{"team": "shop"} })
		old := w.defaultClaims()
		edit(w, w.defaultPool(), func(p *karpv1.NodePool) { p.Spec.Template.Metadata.Labels["team"] = "bakery" })
		time.Sleep(20 * time.Minute)
		if !w.untouched() || !w.events.said("its drain would not end: PodDisruptionBudget default/web allows 1 at a time of 4 pods") {
			t.Errorf("with a drain that would not end: %s", w.state())
		}
		w.letGo(pdb, 4)
		w.until(20*time.Minute, "other nodes", func() bool { return w.without(old) })
		w.sound()
	})
}

// A node that is to be too old goes no earlier than it must where its drain would not
// end, and says why.
func TestADrainThatWouldNotEndBeginsAtTheNodesAge(t *testing.T) {
	report(t, fakecloud.Options{Seed: 76}, func(t *testing.T, w *world) {
		w.spreadAndPDBs(func(p *karpv1.NodePool) { p.Spec.Template.Spec.ExpireAfter = "2h" })
		old, born := w.defaultClaims(), time.Now()
		for _, c := range w.claims() {
			if c.CreationTimestamp.Time.Before(born) {
				born = c.CreationTimestamp.Time
			}
		}
		time.Sleep(time.Until(born.Add(2*time.Hour - time.Minute)))
		if !w.untouched() || !w.events.said("it goes at its age in any event") {
			t.Errorf("a minute before its end: %s", w.state())
		}
		w.until(20*time.Minute, "other nodes", func() bool { return w.without(old) })
		w.sound()
	})
}
