package drift

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

// Instances of Provisioners drift by their image alone, where the operator has them
// drift at all; and by their users' word.
func TestInstancesOfProvisionersDriftByTheirImage(t *testing.T) {
	said := func(what string) func(y *yard) {
		return func(y *yard) {
			y.node = &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1",
				Annotations: map[string]string{api.AnnotationVoluntaryDisruption: what}}}
		}
	}
	otherImage := func(y *yard) { y.instances[0].Image = "ami-old" }
	tests := map[string]struct {
		on      bool
		change  func(y *yard)
		verdict string // how it begins; empty: it has not drifted
		event   string // empty: none
	}{
		"nothing differs":                    {true, func(*yard) {}, "", ""},
		"its image is not selected any more": {true, otherImage, "AMIDrift: image is ami-old", "Drifted"},
		"nor is it, but nothing is to drift": {false, otherImage, "", ""},
		"it is in another subnet": {true, func(y *yard) { y.instances[0].Subnet = "subnet-z" },
			"", ""},
		"it has other security groups": {true,
			func(y *yard) { y.instances[0].Groups = []string{"sg-9"} }, "", ""},
		"its class was edited": {true, func(y *yard) { y.class.Hash = "edited" }, "", ""},
		"the requirements were edited": {true, func(y *yard) { y.claim.Labels[api.LabelZone] = "z" },
			"", ""},
		"it had drifted, and nothing is to drift now": {false, func(y *yard) { y.drifted(karpv1.ReasonAMIDrift) }, "",
			""},
		"its image cannot be compared now": {true, func(y *yard) {
			y.drifted(karpv1.ReasonAMIDrift)
			y.instances = []cloud.Instance{}
		}, "AMIDrift: as before", ""},
		"a user says so": {true, said(api.VoluntaryDrifted),
			"VoluntaryDisruption: node node-1 carries karpenter.sh/voluntary-disruption: drifted", "Drifted"},
		"a user says so where nothing is to drift": {false, said(api.VoluntaryDrifted), "", "DriftDisabled"},
		"the word for old nodes says nothing":      {true, said(api.VoluntaryExpired), "", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			y := newYard()
			y.older = true
			tt.change(y)
			y.open(t)
			y.finder.OfProvisioners = func() bool { return tt.on }
			c := y.look(t)
			if got := verdict(c); !strings.HasPrefix(got, tt.verdict) || (got == "") != (tt.verdict == "") {
				t.Errorf("the verdict is %q, want %q", got, tt.verdict)
			}
			var events []string
			for _, e := range y.events {
				events = append(events, e.Reason)
			}
			if got := strings.Join(events, " "); got != tt.event {
				t.Errorf("events %q, want %q", got, tt.event)
			}
			if y.node == nil {
				return
			}
			n := &corev1.Node{}
			n.Name = y.node.Name
			if err := y.hand.Get(t.Context(), client.ObjectKeyFromObject(n),
				n); err != nil || n.Annotations[api.AnnotationVoluntaryDisruption] == "" {
				t.Errorf("the annotation is gone from the node: %v, %v", n.Annotations, err)
			}
		})
	}
}
