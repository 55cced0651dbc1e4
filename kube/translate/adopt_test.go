package translate

import (
	"maps"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha5"
)

const running = "aws:///us-west-2a/i-0123456789abcdef0"

func runningNode(labels map[string]string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: labels}, Spec: corev1.NodeSpec{ProviderID: running}}
}

func adopting(kind string) PoolObject {
	p := &karpv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "default", UID: "pool-uid"}}
	p.Spec.Template.Metadata.Labels = map[string]string{"team": "a", "tier": "web"}
	p.Spec.Template.Spec.NodeClassRef = karpv1.NodeClassReference{Group: api.GroupAWS, Kind: "EC2NodeClass", Name: "main"}
	p.Spec.Template.Spec.Requirements = []karpv1.Requirement{
		{Key: api.LabelCategory, Operator: "In", Values: []string{"m", "c"}}, {Key: api.LabelInstancePods, Operator: "Gt", Values: []string{"10"}},
	}
	p.Spec.Template.Spec.ExpireAfter = "Never"
	pool := FromNodePool(p)
	if kind == KindProvisioner {
		pool.ID = cluster.PoolID{Kind: KindProvisioner, Name: "default"}
		pool.Object, pool.APIVersion = &v1alpha5.Provisioner{ObjectMeta: p.ObjectMeta}, v1alpha5.GroupVersion.String()
		pool.Hash, pool.HashVersion, pool.Made = "", "", "made"
	}
	return pool
}

// The claim of a node that is there says of it what its pool says of new ones, and what
// the node says otherwise stays.
func TestAdoptionClaimsAInstanceThatRuns(t *testing.T) {
	pool := adopting(KindNodePool)
	c, err := Adoption(pool, runningNode(map[string]string{"team": "older", api.LabelProvisioner: "default", "other": "x"}), "before")
	if err != nil {
		t.Fatal(err)
	}
	if want := map[string]string{"team": "older", "tier": "web", api.LabelNodePool: "default", api.LabelNodeClass: "main"}; !maps.Equal(c.Labels, want) {
		t.Errorf("labels = %v, want %v", c.Labels, want)
	}
	want := map[string]string{
		api.AnnotationAdopt: running, api.AnnotationAdoptFrom: "before", api.AnnotationNodePoolHash: pool.Hash, api.AnnotationNodePoolHashVersion: pool.HashVersion,
	}
	if !maps.Equal(c.Annotations, want) {
		t.Errorf("annotations = %v, want %v", c.Annotations, want)
	}
	if keys := len(c.Spec.Requirements); keys != 2 || c.Spec.ExpireAfter != "Never" || c.OwnerReferences[0].UID != "pool-uid" || !Adopts(c) {
		t.Errorf("claim = %+v", c)
	}
}

func TestAdoptionCanBeRepeated(t *testing.T) {
	name := func(kind, providerID string) string {
		node := runningNode(nil)
		node.Spec.ProviderID = providerID
		c, err := Adoption(adopting(kind), node, "")
		if err != nil {
			t.Fatal(err)
		}
		return c.Name
	}
	first := name(KindNodePool, running)
	if again := name(KindNodePool, running); again != first {
		t.Errorf("the same machine gave claims %s and %s", first, again)
	}
	for what, other := range map[string]string{"another machine": name(KindNodePool, running+"1"), "another kind of pool": name(KindProvisioner, running)} {
		if other == first {
			t.Errorf("%s gave the same name %s", what, other)
		}
	}
}

// A claim that once said it takes over an instance is never launched one, whatever happens to its
// annotation.
func TestAClaimThatAdoptsStaysOne(t *testing.T) {
	c := &karpv1.NodeClaim{}
	if Adopts(c) {
		t.Error("a claim that says nothing adopts")
	}
	condition.SetUnknown(c, karpv1.ClaimLaunched, karpv1.ReasonNotAdopted, "the machine is stopped", c.CreationTimestamp.Time)
	if !Adopts(c) {
		t.Error("a claim whose adoption has failed does not adopt any more")
	}
}
