package fingerprint

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

// poolTemplate are the parts of a pool that instances are made from. The requirements are left out:
// an instance is compared with them directly.
type poolTemplate struct {
	Labels                 map[string]string         `json:"labels,omitempty"`
	Annotations            map[string]string         `json:"annotations,omitempty"`
	Taints                 []taint                   `json:"taints,omitempty"`
	StartupTaints          []taint                   `json:"startupTaints,omitempty"`
	NodeClassRef           karpv1.NodeClassReference `json:"nodeClassRef"`
	ExpireAfter            string                    `json:"expireAfter,omitempty"`
	TerminationGracePeriod string                    `json:"terminationGracePeriod,omitempty"`
}

// taint is what of a taint makes a difference; when it was added does not.
type taint struct {
	Key    string `json:"key"`
	Value  string `json:"value,omitempty"`
	Effect string `json:"effect"`
}

// NodePool returns the fingerprint of what the pool's instances are made from, the requirements
// aside. Replicas, limits, weight and disruption have no part in it.
func NodePool(p *karpv1.NodePool) string {
	spec := p.Spec.Template.Spec
	return of(poolTemplate{
		Labels:                 p.Spec.Template.Metadata.Labels,
		Annotations:            p.Spec.Template.Metadata.Annotations,
		Taints:                 taints(spec.Taints),
		StartupTaints:          taints(spec.StartupTaints),
		NodeClassRef:           spec.NodeClassRef,
		ExpireAfter:            length(string(spec.ExpireAfter)),
		TerminationGracePeriod: length(string(spec.TerminationGracePeriod)),
	})
}

func taints(list []corev1.Taint) []taint {
	out := make([]taint, 0, len(list))
	for _, t := range list {
		out = append(out, taint{t.Key, t.Value, string(t.Effect)})
	}
	return out
}

// length spells a length of time in one way; what is none stays as it is.
func length(text string) string {
	if d, err := time.ParseDuration(text); err == nil {
		return d.String()
	}
	return text
}

// Cluster is what of the cluster goes into an instance beside its class.
type Cluster struct {
	// CABundle is the certificate authority nodes trust, as PEM or base64.
	CABundle string
}

// EC2NodeClass returns the fingerprint of what instances of the class are made from. Selectors of
// subnets, security groups, images and capacity reservations have no part in it, since an instance
// is compared with what they select, and neither has the prefix count.
func EC2NodeClass(c *awsv1.EC2NodeClass, cluster Cluster) string {
	family := c.Family()
	spec := c.DeepCopy().Spec
	spec.SubnetSelectorTerms = nil
	spec.SecurityGroupSelectorTerms = nil
	spec.AMISelectorTerms = nil
	spec.CapacityReservationSelectorTerms = nil
	spec.IPPrefixCount = nil
	spec.AMIFamily = &family // the effective one: naming it beside its alias changes nothing
	spellSizes(&spec)
	return of(struct {
		Spec     awsv1.EC2NodeClassSpec `json:"spec"`
		CABundle string                 `json:"caBundle,omitempty"`
	}{spec, cluster.CABundle})
}

// spellSizes spells equal amounts in one way.
func spellSizes(spec *awsv1.EC2NodeClassSpec) {
	for i := range spec.BlockDeviceMappings {
		if ebs := spec.BlockDeviceMappings[i].EBS; ebs != nil && ebs.VolumeSize != nil {
			size := awsv1.VolumeSize(amount(string(*ebs.VolumeSize)))
			ebs.VolumeSize = &size
		}
	}
	if spec.Kubelet == nil {
		return
	}
	for _, reserved := range []map[string]string{spec.Kubelet.KubeReserved, spec.Kubelet.SystemReserved} {
		for name, value := range reserved {
			reserved[name] = amount(value)
		}
	}
	for name, value := range spec.Kubelet.EvictionSoftGracePeriod {
		spec.Kubelet.EvictionSoftGracePeriod[name] = length(value)
	}
}

// amount spells a quantity in one way; an expression stays as it is.
func amount(text string) string {
	q, err := resource.ParseQuantity(text)
	if err != nil {
		return text
	}
	return q.AsDec().String()
}
