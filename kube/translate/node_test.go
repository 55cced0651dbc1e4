package translate

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/quantity"
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
			if got := Node(n, c, false); got.DoNotConsolidate != tt.want || got.DoNotDisrupt {
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
			if got := Node(n, c, false).DoNotDisrupt; got != tt.want {
				t.Errorf("DoNotDisrupt = %v, want %v", got, tt.want)
			}
		})
	}
}

// An instance being launched has EFA adapters if its claim asks for them, whatever its type could
// have. What is launched has what its status says.
func TestAdaptersOfInstancesOnOrder(t *testing.T) {
	const efa = "vpc.amazonaws.com/efa"
	has := quantity.Resources{CPU: 72_000}.With(efa, 1)
	attached := []cluster.InstanceType{{Name: "c5n.18xlarge", Allocatable: has, Capacity: has, OnRequest: []string{efa}}}
	listed := []cluster.InstanceType{{Name: "c5n.18xlarge", Allocatable: has, Capacity: has}}
	amounts := func(n string) corev1.ResourceList {
		return corev1.ResourceList{"cpu": resource.MustParse("1"), efa: resource.MustParse(n)}
	}
	tests := map[string]struct {
		asks, status  corev1.ResourceList // a status: it is launched
		instanceTypes []cluster.InstanceType
		want          int64
	}{
		"the claim asks":                            {amounts("1"), nil, attached, 1},
		"the claim does not":                        {nil, nil, attached, 0},
		"the claim asks for none":                   {amounts("0"), nil, attached, 0},
		"the class lists them for all its machines": {nil, nil, listed, 1},
		"it is launched with them":                  {amounts("1"), amounts("1"), attached, 1},
		"it is launched without":                    {nil, amounts("0"), attached, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := &karpv1.NodeClaim{}
			c.Spec.Resources.Requests, c.Status.Allocatable, c.Status.Capacity = tt.asks, tt.status, tt.status
			if tt.status != nil {
				c.Status.ProviderID = "aws:///us-east-1a/i-1"
			}
			if m := Instance(c, tt.instanceTypes, false); m.Allocatable.Get(efa) != tt.want || m.Capacity.Get(efa) != tt.want {
				t.Errorf("%s for pods, %s in all; want %d of %s", m.Allocatable, m.Capacity, tt.want, efa)
			}
		})
	}
}
