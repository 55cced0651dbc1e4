package main

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/daemok/daemok/controller/pool"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	"github.com/daemok/daemok/kube/api/fingerprint"
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
		Hash: func(o pool.Object) (string, string) {
			return fingerprint.NodePool(o.(*karpv1.NodePool)), fingerprint.Version
		},
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
