package whole_test

import (
	"testing"
	"time"

	"github.com/daemok/daemok/core/decide"
	"github.com/daemok/daemok/core/provisioning"
	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/test/fakecloud"
)

// threeTypes asks for three instance types, of which the cloud has one.
func threeTypes(p *karpv1.NodePool) {
	p.Spec.Template.Spec.Requirements = []karpv1.Requirement{
		{Key: api.LabelInstanceType, Operator: "In", Values: []string{"m5.large", "z9.huge", "z9.vast"}, MinValues: new(3)},
		{Key: api.LabelCapacityType, Operator: "In", Values: []string{"on-demand"}},
	}
}

// Where fewer instance types exist than minValues asks for, the policy BestEffort launches
// from these: the NodeClaim asks for as many as are left, and says that it does.
func TestBestEffortLaunchesFromFewerValues(t *testing.T) {
	report(t, fakecloud.Options{Seed: 81}, func(t *testing.T, w *world) {
		w.pool("default", threeTypes)
		w.start(setup{policy: decide.Policy{MinValues: provisioning.BestEffort}})
		w.scale("web", 2)
		w.until(5*time.Minute, "all pods run", func() bool { return w.run(2) })
		for _, c := range w.claims() {
			if got := c.Annotations[api.AnnotationMinValuesRelaxed]; got != "true" {
				t.Errorf("%s says %q of whether minValues was relaxed, want true", c.Name, got)
			}
			for _, r := range c.Spec.Requirements {
				if r.Key == api.LabelInstanceType && (r.MinValues == nil || *r.MinValues != 1) {
					t.Errorf("%s asks for minValues %v of %v, want 1", c.Name, r.MinValues, r.Values)
				}
			}
		}
		w.sound()
	})
}

// By the policy Strict nothing is launched, and the pool and its pods say why.
func TestStrictMinValuesAreSaidOnThePool(t *testing.T) {
	report(t, fakecloud.Options{Seed: 82}, func(t *testing.T, w *world) {
		w.pool("default", threeTypes)
		w.start(setup{})
		w.scale("web", 1)
		for _, words := range []string{"MinValuesNotMet: Nothing is launched for default/web", "FailedScheduling: NodePool/default: minValues of node.kubernetes.io/instance-type is 3"} {
			w.until(5*time.Minute, words, func() bool { return w.events.said(words) })
		}
		if n := w.launched(); n > 0 {
			t.Errorf("%d instances were launched, want none", n)
		}
	})
}
