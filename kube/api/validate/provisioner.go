package validate

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/daemok/daemok/internal/nearest"
	"github.com/daemok/daemok/kube/api"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	awsv1alpha1 "github.com/daemok/daemok/kube/api/aws/v1alpha1"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha5"
	"github.com/daemok/daemok/kube/api/mark"
	"github.com/daemok/daemok/kube/api/open"
)

// Provisioner checks a Provisioner of the v1alpha5 API, its inline block
// of AWS settings included. What a kubelet setting means to nodes of the
// family of an AWSNodeTemplate is for KubeletConfiguration.
func Provisioner(p *v1alpha5.Provisioner) []Finding {
	var f findings
	s := &p.Spec
	f.name("metadata.name", p.Name, api.LabelProvisioner)
	f.marks(p.Annotations)
	f.olderBudgets(p.Annotations)
	f.labels("spec.labels", s.Labels, badProvisionerKey)
	f.labels("spec.label", s.Label, badProvisionerKey)
	for _, key := range slices.Sorted(maps.Keys(s.Label)) {
		if value, both := s.Labels[key]; both && value != s.Label[key] {
			f.warn("spec.label["+key+"]", "is ignored, spec.labels has another value: remove it")
		} else {
			f.warn("spec.label["+key+"]", "is taken as one of spec.labels, write it there")
		}
	}
	f.taints("spec", s.Taints, s.StartupTaints)
	var requirements []karpv1.Requirement
	for i, r := range s.Requirements {
		at := fmt.Sprintf("spec.requirements[%d]", i)
		if !slices.Contains(olderOperators, string(r.Operator)) {
			f.refuse(at+".operator", "%q is unknown, use %s", r.Operator, strings.Join(olderOperators, ", "))
			continue
		}
		requirements = append(requirements, karpv1.Requirement{Key: r.Key, Operator: r.Operator, Values: r.Values})
		f.requirement(at, requirements[len(requirements)-1], badProvisionerKey)
	}
	f.contradictions("spec.labels", s.AllLabels(), "spec.requirements", requirements)
	if s.KubeletConfiguration != nil {
		f.olderKubelet("spec.kubeletConfiguration", s.KubeletConfiguration)
	}
	if s.Provider != nil {
		f.provider("spec.provider", s.Provider)
		if s.Provider.AMIFamily != nil { // what takes its place is not known here
			f.all = append(f.all, KubeletConfiguration(p, s.Provider.Family())...)
		}
	}
	if s.ProviderRef != nil {
		f.providerRef("spec.providerRef", s.ProviderRef)
	}
	if n := s.TTLSecondsUntilExpired; n != nil && *n == 0 {
		f.warn("spec.ttlSecondsUntilExpired", "0 would replace every node as soon as it is there, so none is: remove it, or give a number such as 2592000, which is 30 days")
	}
	if s.Limits != nil {
		f.olderLimits("spec.limits", s.Limits)
	}
	return f.all
}

// olderOperators are those that a requirement of a Provisioner may have.
var olderOperators = []string{"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"}

// olderBudgets checks what an annotation says in place of the budgets that NodePools
// have. One that is misread has no effect.
func (f *findings) olderBudgets(annotations map[string]string) {
	budgets, err := mark.Budgets(annotations)
	if misread, is := errors.AsType[*mark.Error](err); is {
		f.warn(misread.Field(), "has no effect, so nodes go one at a time, and any number of empty ones: %v", misread.Err)
	}
	for i, b := range budgets {
		f.budget(fmt.Sprintf("metadata.annotations[%s][%d]", api.AnnotationBudgets, i), b)
	}
}

// KubeletConfiguration warns of what nodes of a family cannot be configured with by the kubelet
// settings of a Provisioner, which are used without it. Nodes of the family Custom are the user's
// own business.
func KubeletConfiguration(p *v1alpha5.Provisioner, family awsv1alpha1.AMIFamily) []Finding {
	var f findings
	const field = "spec.kubeletConfiguration"
	k := p.Spec.KubeletConfiguration
	if k == nil || family == awsv1alpha1.FamilyCustom {
		return nil
	}
	if len(k.ClusterDNS) > 1 && string(family) != string(awsv1.FamilyAL2023) {
		f.warn(field+".clusterDNS", "nodes of the family %s take one address, the first is used: remove the others", family)
	}
	if family != awsv1alpha1.FamilyBottlerocket {
		return f.all
	}
	if len(k.EvictionSoft) > 0 {
		f.warn(field+".evictionSoft", "is ignored, nodes of the family Bottlerocket do not support it: use evictionHard")
	}
	if k.PodsPerCore != nil {
		f.warn(field+".podsPerCore", "is ignored, nodes of the family Bottlerocket do not support it: use maxPods")
	}
	for _, list := range []struct {
		name     string
		reserved corev1.ResourceList
	}{{"kubeReserved", k.KubeReserved}, {"systemReserved", k.SystemReserved}} {
		if _, set := list.reserved[ReservedPID]; set {
			f.warn(field+"."+list.name+"["+ReservedPID+"]", "is ignored, nodes of the family Bottlerocket reserve cpu, memory and ephemeral-storage only: remove it")
		}
	}
	return f.all
}

// olderKubelet checks what holds for all families.
func (f *findings) olderKubelet(field string, k *v1alpha5.KubeletConfiguration) {
	f.addresses(field, k.ClusterDNS)
	if k.ContainerRuntime != nil && *k.ContainerRuntime != "containerd" {
		f.warn(field+".containerRuntime", "%s is no runtime of Kubernetes any more, nodes run containerd: remove the field", *k.ContainerRuntime)
	}
	thresholds(f, field+".evictionHard", k.EvictionHard)
	thresholds(f, field+".evictionSoft", k.EvictionSoft)
	f.graces(field, k.EvictionSoftGracePeriod)
	f.imageThresholds(field, k.ImageGCHighThresholdPercent, k.ImageGCLowThresholdPercent)
}

// provider checks the AWS settings that stand in a Provisioner itself.
func (f *findings) provider(field string, p *awsv1alpha1.Provider) {
	for _, name := range open.NamesOf(p.Further) {
		at := field + "." + name
		if slices.Contains(templateFields, name) {
			f.refuse(at, "only an AWSNodeTemplate has this field: make one with all of provider and name it in spec.providerRef")
			continue
		}
		f.refuse(at, "is no field of provider%s", orElse(nearest.DidYouMean(name, awsv1alpha1.ProviderFields()), ", remove it"))
	}
	f.awsSettings(field, &p.AWS)
}

// templateFields are fields of an AWSNodeTemplate that an inline block lacks.
var templateFields = []string{"amiSelector", "detailedMonitoring", "userData"}

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

func (f *findings) providerRef(field string, r *v1alpha5.ProviderReference) {
	if r.Kind != "" && r.Kind != awsv1alpha1.Kind {
		f.refuse(field+".kind", "%s is no settings of a Provisioner, name an %s: an %s belongs to a NodePool", r.Kind, awsv1alpha1.Kind, awsv1.Kind)
	}
	if v := awsv1alpha1.GroupVersion.String(); r.APIVersion != "" && r.APIVersion != v {
		f.warn(field+".apiVersion", "%q is ignored, an %s is of %s", r.APIVersion, awsv1alpha1.Kind, v)
	}
}

func (f *findings) olderLimits(field string, l *v1alpha5.Limits) {
	f.limits(field+".resources", l.Resources)
	beside, wrong := l.Beside()
	for _, name := range slices.Sorted(maps.Keys(beside)) {
		at := field + "." + string(name)
		q := beside[name]
		if _, both := l.Resources[name]; both {
			f.warn(at, "is ignored, %s.resources.%s decides: remove it", field, name)
			continue
		}
		if f.refusedLimit(at, name) {
			continue
		}
		f.warn(at, "is taken as %s.resources.%s, write it there", field, name)
		if q.Sign() < 0 {
			f.warn(at, "%s is less than nothing, so no node is launched that has %s", q.String(), name)
		}
	}
	for _, name := range open.NamesOf(wrong) {
		f.refuse(field+"."+name, "%s is no limit, write an amount such as 1000 or 1000Gi into %s.resources; percentages are none", wrong[name].Raw, field)
	}
}
