package controller

import (
	"github.com/daemok/daemok/controller/nodepool"
	awsv1alpha1 "github.com/daemok/daemok/kube/api/aws/v1alpha1"
	"github.com/daemok/daemok/kube/api/fingerprint"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha5"
	"github.com/daemok/daemok/kube/api/validate"
	"github.com/daemok/daemok/kube/translate"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Served is how pools of these generations are read.
func Served(all []nodepool.Generation) translate.Generations {
	out := make(translate.Generations, len(all))
	for i, g := range all {
		out[i] = g.Generation
	}
	return out
}

// NodePools reads and writes pools of karpenter.sh/v1.
func NodePools() nodepool.Generation {
	return nodepool.Generation{
		Generation: translate.NodePools(),
		Validate:   func(o nodepool.Object) []validate.Finding { return validate.NodePool(o.(*karpv1.NodePool)) },
		Hash: func(o nodepool.Object) (string, string) {
			return fingerprint.NodePool(o.(*karpv1.NodePool)), fingerprint.Version
		},
		SetStatus: func(o nodepool.Object, s nodepool.Status) {
			p := o.(*karpv1.NodePool)
			p.Status.Resources, p.Status.Nodes, p.Status.NodeClassObservedGeneration = s.Resources, s.Nodes, s.ClassGeneration
		},
	}
}

// Provisioners reads, as g does, and writes pools of karpenter.sh/v1alpha5.
func Provisioners(g translate.Generation) nodepool.Generation {
	return nodepool.Generation{
		Generation: g,
		Validate:   func(o nodepool.Object) []validate.Finding { return validate.Provisioner(o.(*v1alpha5.Provisioner)) },
		Fits: func(o nodepool.Object, family string) []validate.Finding {
			p := o.(*v1alpha5.Provisioner)
			if p.Spec.Provider != nil && p.Spec.Provider.AMIFamily != nil {
				return nil // reported with the rest of the spec
			}
			return validate.KubeletConfiguration(p, awsv1alpha1.AMIFamily(family))
		},
		SetStatus: func(o nodepool.Object, s nodepool.Status) {
			p := o.(*v1alpha5.Provisioner)
			p.Status.Resources, p.Status.Nodes, p.Status.NodesOfOlderSpec = s.Resources, s.Nodes, s.OfOlderSpec
			p.Status.TemplateHash = s.ClassMade
			p.Status.Requirements, p.Status.ScaleDown = p.Spec.Effective(), p.Spec.ScaleDown()
			if last := p.Status.LastScaleTime; !s.LastOrder.IsZero() && (last == nil || s.LastOrder.After(last.Time)) {
				p.Status.LastScaleTime = &metav1.Time{Time: s.LastOrder}
			}
		},
	}
}
