package controller

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/daemok/daemok/controller/pool"
	"github.com/daemok/daemok/kube/api/fingerprint"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/validate"
	"github.com/daemok/daemok/kube/translate"
)

// NodePools reads and writes pools of karpenter.sh/v1.
func NodePools() pool.Generation {
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
