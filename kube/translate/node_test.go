package translate

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

// A node of a Provisioner is not consolidated where it says "true"; on other nodes the
// annotation means nothing.
func TestDoNotConsolidate(t *testing.T) {
	tests := map[string]struct {
		label, value string
		want         bool
	}{
		"it says true":         {api.LabelProvisioner, "true", true},
		"it says false":        {api.LabelProvisioner, "false", false},
		"a node of a NodePool": {api.LabelNodePool, "true", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			n, c := &corev1.Node{}, &karpv1.NodeClaim{}
			n.Annotations, c.Labels = map[string]string{api.AnnotationDoNotConsolidate: tt.value}, map[string]string{tt.label: "default"}
			if got := Node(n, c); got.DoNotConsolidate != tt.want || got.DoNotDisrupt {
				t.Errorf("DoNotConsolidate = %v, want %v; DoNotDisrupt = %v, want false", got.DoNotConsolidate, tt.want, got.DoNotDisrupt)
			}
		})
	}
}

// SC-282: a node must not be disturbed where it, or its claim, says "true"; any
// other value is no block.
func TestDoNotDisruptOfNodes(t *testing.T) {
	tests := map[string]struct {
		node, claim string
		want        bool
	}{
		"nobody says anything":        {"", "", false},
		"the node says true":          {"true", "", true},
		"the claim says true":         {"", "true", true},
		"the node says false":         {"false", "", false},
		"the claim says false":        {"", "false", false},
		"one says false and one true": {"false", "true", true},
		"a length of time is of pods": {"1h", "", false},
	}
	said := func(value string) map[string]string {
		if value == "" {
			return nil
		}
		return map[string]string{api.AnnotationDoNotDisrupt: value}
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			n, c := &corev1.Node{}, &karpv1.NodeClaim{}
			n.Annotations, c.Annotations = said(tt.node), said(tt.claim)
			if got := Node(n, c).DoNotDisrupt; got != tt.want {
				t.Errorf("DoNotDisrupt = %v, want %v", got, tt.want)
			}
		})
	}
}
