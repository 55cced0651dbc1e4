package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/daemok/daemok/controller/pool"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/validate"
	"github.com/daemok/daemok/kube/translate"
)

// generationV1 reads and writes karpenter.sh/v1 NodePools.
func generationV1() pool.Generation {
	return pool.Generation{
		Kind:     translate.KindNodePool,
		New:      func() pool.Object { return &karpv1.NodePool{} },
		View:     func(o pool.Object) translate.PoolObject { return translate.FromNodePool(o.(*karpv1.NodePool)) },
		Validate: func(o pool.Object) []validate.Finding { return validate.NodePool(o.(*karpv1.NodePool)) },
		Hash:     func(o pool.Object) (string, string) { return poolHash(o.(*karpv1.NodePool)) },
		SetStatus: func(o pool.Object, resources corev1.ResourceList, nodes, classGeneration int64) {
			p := o.(*karpv1.NodePool)
			p.Status.Resources, p.Status.Nodes, p.Status.NodeClassObservedGeneration = resources, nodes, classGeneration
		},
	}
}

// validateClass checks an EC2NodeClass against how the controller is set up.
func validateClass(c *awsv1.EC2NodeClass) []validate.Finding {
	return validate.EC2NodeClass(c, validate.ClassOptions{})
}

// hashVersion names our way of hashing. It is not Karpenter's, and theirs is
// never compared with ours.
const hashVersion = "daemok-v1"

// poolHash covers what makes a pool's nodes drift: its template without the
// requirements, which are compared one by one.
func poolHash(p *karpv1.NodePool) (hash, version string) {
	template := p.Spec.Template.DeepCopy()
	template.Spec.Requirements = nil
	return digest(template), hashVersion
}

// classHash covers a class's spec without what is resolved into its status
// and compared there.
func classHash(c *awsv1.EC2NodeClass) (hash, version string) {
	spec := c.Spec.DeepCopy()
	spec.SubnetSelectorTerms, spec.SecurityGroupSelectorTerms, spec.AMISelectorTerms = nil, nil, nil
	spec.CapacityReservationSelectorTerms = nil
	return digest(spec), hashVersion
}

// digest is the hash of a value's JSON, in which maps are sorted.
func digest(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("an API type has no JSON form: %v", err))
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}
