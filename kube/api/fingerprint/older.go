package fingerprint

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	awsv1alpha1 "github.com/daemok/daemok/kube/api/aws/v1alpha1"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha5"
)

// provisionerTemplate are the parts of a Provisioner that instances are made from.
type provisionerTemplate struct {
	Labels        map[string]string              `json:"labels,omitempty"`
	Annotations   map[string]string              `json:"annotations,omitempty"`
	Taints        []taint                        `json:"taints,omitempty"`
	StartupTaints []taint                        `json:"startupTaints,omitempty"`
	Kubelet       *v1alpha5.KubeletConfiguration `json:"kubelet,omitempty"`
	Template      string                         `json:"template,omitempty"`
	Provider      *awsv1alpha1.AWS               `json:"provider,omitempty"`
}

// Provisioner returns the fingerprint of what the Provisioner's instances are made from, the
// requirements and what selectors select aside. Limits, weight, consolidation and times to live
// have no part in it. It reports which nodes were made from an older spec, and makes none of them
// drift.
func Provisioner(p *v1alpha5.Provisioner) string {
	spec := p.DeepCopy().Spec
	template, _ := spec.Template()
	made := provisionerTemplate{
		Labels:        spec.AllLabels(),
		Annotations:   spec.Annotations,
		Taints:        taints(spec.Taints),
		StartupTaints: taints(spec.StartupTaints),
		Kubelet:       spec.KubeletConfiguration,
		Template:      template,
	}
	if k := made.Kubelet; k != nil {
		spellAmounts(k.SystemReserved)
		spellAmounts(k.KubeReserved)
		for signal, period := range k.EvictionSoftGracePeriod {
			k.EvictionSoftGracePeriod[signal] = length(period)
		}
	}
	if spec.Provider != nil {
		spellSettings(&spec.Provider.AWS)
		made.Provider = &spec.Provider.AWS
	}
	return of(made)
}

// AWSNodeTemplate returns the fingerprint of what instances of the template are made from.
// Selectors of subnets, security groups and images have no part in it, since an instance is
// compared with what they select.
func AWSNodeTemplate(t *awsv1alpha1.AWSNodeTemplate, cluster Cluster) string {
	spec := t.DeepCopy().Spec
	spec.AMISelector = nil
	spellSettings(&spec.AWS)
	return of(struct {
		Spec     awsv1alpha1.AWSNodeTemplateSpec `json:"spec"`
		CABundle string                          `json:"caBundle,omitempty"`
	}{spec, cluster.CABundle})
}

// spellSettings leaves out what selects, and spells equal settings in one way.
func spellSettings(a *awsv1alpha1.AWS) {
	a.SubnetSelector, a.SecurityGroupSelector = nil, nil
	if a.LaunchTemplate == nil {
		family := a.Family()
		a.AMIFamily = &family // the effective one: writing what is usual changes nothing
	}
	for key, text := range a.Tags {
		a.Tags[key] = awsv1alpha1.Text{Value: text.Value}
	}
	for i := range a.BlockDeviceMappings {
		if size := a.BlockDeviceMappings[i].EBS.VolumeSize; size != nil {
			*size = spelled(*size)
		}
	}
}

func spellAmounts(amounts corev1.ResourceList) {
	for name, amount := range amounts {
		amounts[name] = spelled(amount)
	}
}

// spelled is an equal amount that is written as all others equal to it.
func spelled(q resource.Quantity) resource.Quantity { return resource.MustParse(amount(q.String())) }
