package translate

import (
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/fingerprint"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

func launchOf(t *testing.T) (PoolObject, plan.Launch, *karpv1.NodeClaim) {
	t.Helper()
	p := &karpv1.NodePool{ObjectMeta: metav1.ObjectMeta{
		Name: "default", UID: "pool-uid",
		Annotations: map[string]string{api.AnnotationNodePoolHash: "of an older template", api.AnnotationNodePoolHashVersion: "v"},
	}}
	p.Spec.Template.Metadata.Labels = map[string]string{"team": "a"}
	p.Spec.Template.Metadata.Annotations = map[string]string{"note": "kept"}
	p.Spec.Template.Spec.NodeClassRef = karpv1.NodeClassReference{Group: api.GroupAWS, Kind: "EC2NodeClass", Name: "main"}
	p.Spec.Template.Spec.Taints = []corev1.Taint{{Key: "team", Value: "a", Effect: corev1.TaintEffectNoSchedule}}
	p.Spec.Template.Spec.ExpireAfter = "720h"
	l := plan.Launch{
		Pool: cluster.PoolID{Kind: KindNodePool, Name: "default"},
		Requirements: constraint.NewRequirements(
			constraint.Requirement{Key: cluster.LabelInstanceType, Set: constraint.Values("m5.large", "m5.xlarge"), MinValues: 2},
			constraint.Requirement{Key: cluster.LabelHostname, Set: constraint.Values("x")}),
		Labels:    constraint.NewLabels(map[string]string{"rack": "7"}),
		Requests:  quantity.Resources{CPU: 1500, Memory: quantity.GiB, Pods: 3},
		Choice:    plan.Choice{Kind: "m5.large", Zone: "a", Option: cluster.Spot, Price: 30000, Priced: true},
		RunnersUp: []plan.Choice{{Kind: "m5.xlarge", Zone: "a", Option: cluster.Spot, WhyNot: "price unknown"}},
		Relaxed:   true,
	}
	pool := FromNodePool(p)
	c, err := Claim(pool, l, "x7k2p")
	if err != nil {
		t.Fatal(err)
	}
	return pool, l, c
}

func TestClaimCarriesPoolAndDecision(t *testing.T) {
	pool, _, c := launchOf(t)
	hash := fingerprint.NodePool(pool.Object.(*karpv1.NodePool))
	if c.Name != "default-x7k2p" || c.OwnerReferences[0].UID != "pool-uid" || c.Finalizers[0] != api.FinalizerTermination {
		t.Errorf("name %s, owners %v, finalizers %v", c.Name, c.OwnerReferences, c.Finalizers)
	}
	for key, want := range map[string]string{api.LabelNodePool: "default", api.LabelNodeClass: "main", "team": "a", "rack": "7"} {
		if c.Labels[key] != want {
			t.Errorf("label %s = %q, want %q", key, c.Labels[key], want)
		}
	}
	for key, want := range map[string]string{
		api.AnnotationNodePoolHash: hash, api.AnnotationNodePoolHashVersion: fingerprint.Version, "note": "kept", api.AnnotationMinValuesRelaxed: "true",
	} {
		if c.Annotations[key] != want {
			t.Errorf("SC-19: annotation %s = %q, want %q", key, c.Annotations[key], want)
		}
	}
	var d Decision
	if err := json.Unmarshal([]byte(c.Annotations[api.AnnotationDecision]), &d); err != nil {
		t.Fatal(err)
	}
	if d.Type != "m5.large" || d.Price == nil || *d.Price != 0.03 || d.RunnersUp[0].WhyNot != "price unknown" || d.RunnersUp[0].Price != nil {
		t.Errorf("decision = %+v", d)
	}
	if cpu := c.Spec.Resources.Requests[corev1.ResourceCPU]; cpu.String() != "1500m" {
		t.Errorf("requests = %v", c.Spec.Resources.Requests)
	}
}

func TestAClaimGetsItsPoolsGracePeriod(t *testing.T) {
	tests := map[string]karpv1.Duration{
		"SC-20 as the pool says": "1h30m",
		"SC-21 none without one": "",
	}
	for name, want := range tests {
		t.Run(name, func(t *testing.T) {
			p := &karpv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
			p.Spec.Template.Spec.TerminationGracePeriod = want
			_, l, _ := launchOf(t)
			c, err := Claim(FromNodePool(p), l, "x7k2p")
			if err != nil {
				t.Fatal(err)
			}
			if got := c.Spec.TerminationGracePeriod; got != want {
				t.Errorf("terminationGracePeriod = %q, want %q", got, want)
			}
		})
	}
}

func TestClaimRequirementsReadBackAsThePlanHadThem(t *testing.T) {
	_, l, c := launchOf(t)
	back, err := Requirements(c.Spec.Requirements)
	if err != nil {
		t.Fatal(err)
	}
	if back.Has(cluster.LabelHostname) {
		t.Error("SC-35: the claim asks for a host name")
	}
	if got, want := back.Get(cluster.LabelInstanceType), l.Requirements.Get(cluster.LabelInstanceType); !got.Equal(want) {
		t.Errorf("instance types = %s, want %s", got, want)
	}
	if back.Get(api.LabelNodePool).String() != "in default" {
		t.Errorf("requirements = %s, want the pool's name among them", back)
	}
}

func TestEveryOperatorSurvivesTheAPI(t *testing.T) {
	for _, r := range []karpv1.Requirement{
		{Key: "k", Operator: "In", Values: []string{"a", "b"}},
		{Key: "k", Operator: "NotIn", Values: []string{"a"}},
		{Key: "k", Operator: "Exists"},
		{Key: "k", Operator: "DoesNotExist"},
		{Key: "k", Operator: "Gt", Values: []string{"4"}},
		{Key: "k", Operator: "Lt", Values: []string{"4"}},
		{Key: "k", Operator: "Gte", Values: []string{"4"}},
		{Key: "k", Operator: "Lte", Values: []string{"4"}},
	} {
		first, err := Requirements([]karpv1.Requirement{r})
		if err != nil {
			t.Fatal(err)
		}
		again, err := Requirements(RequirementList(first))
		if err != nil || !again.Equal(first) {
			t.Errorf("%s %v became %s, then %s (%v)", r.Operator, r.Values, first, again, err)
		}
	}
}
