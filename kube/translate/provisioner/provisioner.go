// Package provisioner reads Provisioners of the v1alpha5 API as the same values as NodePools.
//
// It promises that the defaults of the v1alpha5 API apply without being written into any user's
// object, and that nothing happens that a Provisioner does not ask for: without a time to live and
// without consolidation, no node is removed to save money, and no edit replaces one. It is a leaf:
// without it, only the v1 API is served.
package provisioner

import (
	"fmt"
	"maps"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api"
	awsv1alpha1 "github.com/daemok/daemok/kube/api/aws/v1alpha1"
	"github.com/daemok/daemok/kube/api/fingerprint"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha5"
	"github.com/daemok/daemok/kube/api/mark"
	"github.com/daemok/daemok/kube/translate"
)

// Generation is that of karpenter.sh/v1alpha5.
func Generation() translate.Generation {
	return translate.Generation{
		Kind: translate.KindProvisioner, APIVersion: v1alpha5.GroupVersion.String(), Resource: "provisioner",
		New:     func() translate.PoolResource { return &v1alpha5.Provisioner{} },
		NewList: func() client.ObjectList { return &v1alpha5.ProvisionerList{} },
		View:    func(o translate.PoolResource) translate.PoolObject { return Pool(o.(*v1alpha5.Provisioner)) },
	}
}

// Served reports whether a cluster has the kinds of the v1alpha5 API. One that has
// not is served the newer alone.
func Served(kinds apimeta.RESTMapper) (bool, error) {
	for _, kind := range []schema.GroupVersionKind{v1alpha5.GroupVersion.WithKind(translate.KindProvisioner), awsv1alpha1.GroupVersion.WithKind(awsv1alpha1.Kind)} {
		_, err := kinds.RESTMapping(kind.GroupKind(), kind.Version)
		if apimeta.IsNoMatchError(err) {
			return false, nil
		}
		if err != nil {
			return false, fmt.Errorf("see whether the cluster has the kind %s: %w", kind.Kind, err)
		}
	}
	return true, nil
}

// Pool reads a Provisioner.
func Pool(p *v1alpha5.Provisioner) translate.PoolObject {
	s := &p.Spec
	o := translate.PoolObject{
		ID:         cluster.PoolID{Kind: translate.KindProvisioner, Name: p.Name},
		APIVersion: v1alpha5.GroupVersion.String(),
		Object:     p,
		Template: karpv1.NodeClaimTemplate{
			Metadata: karpv1.TemplateMeta{Labels: s.AllLabels(), Annotations: maps.Clone(s.Annotations)},
			Spec: karpv1.NodeClaimTemplateSpec{
				Taints: s.Taints, StartupTaints: s.StartupTaints, Requirements: Requirements(s), NodeClassRef: Class(p),
				ExpireAfter: karpv1.Never, // by force; graceful replacement is by Renew
			},
		},
		Class:       translate.ClassOfProvisioner(p.Name),
		Made:        fingerprint.Version + "/" + fingerprint.Provisioner(p),
		ClassMade:   p.Status.TemplateHash,
		Limits:      s.Limits.Amounts(),
		Disruption:  disruption(p),
		NotReady:    translate.NotReady(p),
		DeletedAt:   translate.DeletedAt(p),
		Annotations: p.Annotations,
	}
	if s.Weight != nil {
		o.Weight = int(*s.Weight)
	}
	o.Renew, _ = s.ExpireAfter()
	_, emptied := s.EmptyFor()
	o.Punctual = emptied && !s.Consolidates()
	return o
}

// Class is what the Provisioner's claims name as their class: its template, or itself
// where the settings are inline.
func Class(p *v1alpha5.Provisioner) karpv1.NodeClassReference {
	if name, named := p.Spec.Template(); named {
		return karpv1.NodeClassReference{Group: api.GroupAWS, Kind: awsv1alpha1.Kind, Name: name}
	}
	return translate.ClassOfProvisioner(p.Name)
}

// Requirements are those in effect, in the words of the newer generation.
func Requirements(s *v1alpha5.ProvisionerSpec) []karpv1.Requirement {
	var out []karpv1.Requirement
	for _, r := range s.Effective() {
		out = append(out, karpv1.Requirement{Key: api.Normalise(r.Key), Operator: r.Operator, Values: r.Values})
	}
	return out
}

// disruption is how nodes go by choice: one at a time, but for empty ones, unless an
// annotation has other budgets.
func disruption(p *v1alpha5.Provisioner) karpv1.Disruption {
	d := karpv1.Disruption{ConsolidationPolicy: karpv1.ConsolidateWhenEmpty, ConsolidateAfter: karpv1.Never}
	after, emptied := p.Spec.EmptyFor()
	switch {
	case p.Spec.Consolidates():
		d.ConsolidationPolicy, d.ConsolidateAfter = karpv1.ConsolidateWhenEmptyOrUnderutilized, "0s"
	case emptied:
		d.ConsolidateAfter = karpv1.DurationOrNever(fmt.Sprintf("%ds", int64(after.Seconds())))
	}
	budgets, err := mark.Budgets(p.Annotations)
	if err != nil || budgets == nil { // what is misread is reported on the Provisioner
		budgets = []karpv1.Budget{
			{Nodes: "1", Reasons: []karpv1.DisruptionReason{karpv1.ReasonUnderutilized, karpv1.ReasonDrifted}},
			{Nodes: "100%", Reasons: []karpv1.DisruptionReason{karpv1.ReasonEmpty}},
		}
	}
	d.Budgets = budgets
	return d
}
