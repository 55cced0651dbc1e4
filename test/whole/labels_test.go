package whole_test

import (
	"maps"
	"testing"
	"time"

	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha5"
	"github.com/daemok/daemok/test/fakecloud"
	"github.com/daemok/daemok/test/market"
)

// ofTemplate are labels that a template may have, and whose word on them is the cloud's.
var ofTemplate = map[string]struct {
	labels map[string]string
	holds  func(market.Pool) bool
}{
	"a capacity type":          {map[string]string{api.LabelCapacityType: "on-demand"}, func(m market.Pool) bool { return m.Option == market.OnDemand }},
	"an instance type":         {map[string]string{api.LabelInstanceType: "m5.xlarge"}, func(m market.Pool) bool { return m.Kind == "m5.xlarge" }},
	"a type by its older name": {map[string]string{"beta.kubernetes.io/instance-type": "m5.xlarge"}, func(m market.Pool) bool { return m.Kind == "m5.xlarge" }},
	"a zone":                   {map[string]string{api.LabelZone: "us-east-1b"}, func(m market.Pool) bool { return m.Zone == "us-east-1b" }},
	"a family and a size":      {map[string]string{api.LabelFamily: "m5", api.LabelSize: "2xlarge"}, func(m market.Pool) bool { return m.Kind == "m5.2xlarge" }},
}

// launchesOnly waits until the pods run, and checks each instance by what the cloud says.
func (w *world) launchesOnly(holds func(market.Pool) bool) {
	w.t.Helper()
	w.scale("web", 3)
	w.until(10*time.Minute, "all pods run", func() bool { return w.run(3) })
	launched := w.cloud.Market().Machines()
	if len(launched) == 0 {
		w.t.Fatal("no instance was launched")
	}
	for _, m := range launched {
		if !holds(m.Pool) {
			w.t.Errorf("launched %s", m.Pool)
		}
	}
	w.sound()
}

// A label of a NodePool's template that instances decide is a requirement, whether or not
// the requirements repeat it: what is launched is what its nodes are labelled with.
func TestLabelsOfATemplateAreRequirements(t *testing.T) {
	for name, tt := range ofTemplate {
		for how, repeated := range map[string]bool{"alone": false, "repeated": true} {
			t.Run(name+" "+how, func(t *testing.T) {
				report(t, fakecloud.Options{Seed: 71}, func(t *testing.T, w *world) {
					w.pool("default", func(p *karpv1.NodePool) {
						p.Spec.Template.Metadata.Labels = tt.labels
						p.Spec.Template.Spec.Requirements = []karpv1.Requirement{}
						for key, value := range tt.labels {
							if repeated {
								p.Spec.Template.Spec.Requirements = append(p.Spec.Template.Spec.Requirements, karpv1.Requirement{Key: key, Operator: "In", Values: []string{value}})
							}
						}
					})
					w.start(setup{lag: fixed(60 * time.Millisecond)})
					w.launchesOnly(tt.holds)
				})
			})
		}
	}
}

// The same for the labels of a Provisioner.
func TestLabelsOfAProvisionerAreRequirements(t *testing.T) {
	for name, tt := range ofTemplate {
		for how, repeated := range map[string]bool{"alone": false, "repeated": true} {
			t.Run(name+" "+how, func(t *testing.T) {
				reportAWS(t, 72, func(t *testing.T, w *world) {
					w.nodeTemplate(v1alpha5.DefaultTemplate)
					w.provisioner("default", func(s *v1alpha5.ProvisionerSpec) {
						s.Labels = maps.Clone(tt.labels)
						s.Requirements = []v1alpha5.Requirement{{Key: api.LabelCapacityType, Operator: "In", Values: []string{"spot", "on-demand"}}}
						for key, value := range tt.labels {
							if repeated {
								s.Requirements = append(s.Requirements, v1alpha5.Requirement{Key: key, Operator: "In", Values: []string{value}})
							}
						}
					})
					w.start(setup{})
					w.launchesOnly(tt.holds)
				})
			})
		}
	}
}
