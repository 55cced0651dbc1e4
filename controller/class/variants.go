package class

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

// Launched counts NodeClaims by the digest of the form that their instances were launched in, and by their variants with
// commas between.
type Launched map[string]map[string]int

// Nodes counts all of one form.
func (l Launched) Nodes(digest string) (n int) {
	for _, of := range l[digest] {
		n += of
	}
	return n
}

// LaunchedAs counts the NodeClaims of a class.
func LaunchedAs(c *Subject, claims []karpv1.NodeClaim) Launched {
	out := Launched{}
	for i := range claims {
		ref := claims[i].Spec.NodeClassRef
		digest := claims[i].Annotations[api.AnnotationLaunchForm]
		if digest == "" || ref.Group != c.Kind.Group || ref.Kind != c.Kind.Name || ref.Name != c.GetName() {
			continue
		}
		if out[digest] == nil {
			out[digest] = map[string]int{}
		}
		out[digest][strings.Join(variantsOf(c, &claims[i]), ",")]++
	}
	return out
}

// variantsOf are those of an instance that may have another launch template than a plain one, sorted.
func variantsOf(c *Subject, claim *karpv1.NodeClaim) []string {
	labels, has := claim.Labels, claim.Status.Capacity
	pods := has.Pods().Value()
	all := map[string]bool{
		nodeclass.VariantSpot:      labels[api.LabelCapacityType] == api.CapacityTypeSpot,
		nodeclass.VariantDedicated: labels[api.LabelTenancy] == api.TenancyDedicated,
		nodeclass.VariantPartition: labels[api.LabelPlacementGroupPartition] != "",
		nodeclass.VariantArm:       labels[api.LabelArch] == "arm64",
		nodeclass.VariantFewPods:   pods > 0 && pods <= nodeclass.FewPods,
		nodeclass.VariantManyPods:  pods >= nodeclass.ManyPods,
		nodeclass.VariantGPU:       count(has, "nvidia.com/gpu") > 0 || count(has, "amd.com/gpu") > 0,
		nodeclass.VariantNeuron:    count(has, "aws.amazon.com/neuron") > 0,
		nodeclass.VariantRelease:   releaseOf(c, claim) != "",
	}
	if slices.Contains(translate.AttachedOf(claim), api.ResourceEFA) {
		all[nodeclass.VariantEFA] = count(has, api.ResourceEFA) == 1
		all[nodeclass.VariantEFAs] = !all[nodeclass.VariantEFA]
	}
	all[nodeclass.VariantEnclaves] = count(claim.Spec.Resources.Requests, resourceEnclaves) > 0
	if labels[api.LabelCapacityType] == api.CapacityTypeReserved {
		all[reservedAs(labels)] = true
	}
	var out []string
	for variant, is := range all {
		if is {
			out = append(out, variant)
		}
	}
	slices.Sort(out)
	return out
}

func reservedAs(labels map[string]string) string {
	switch {
	case labels[api.LabelReservationType] == typeBlock:
		return nodeclass.VariantBlock
	case labels[api.LabelReservationInterruptible] == "true":
		return nodeclass.VariantInterruptible
	}
	return nodeclass.VariantReserved
}

// releaseOf is the release of the operating system that the name of the instance's image says, if the class selects
// that image.
func releaseOf(c *Subject, claim *karpv1.NodeClaim) string {
	for _, image := range c.Status.AMIs {
		if image.ID == claim.Status.ImageID {
			return nodeclass.Image{Name: image.Name}.Release()
		}
	}
	return ""
}

// resourceEnclaves counts Nitro Enclaves.
const resourceEnclaves = "aws.ec2.nitro/nitro_enclaves"

func count(list corev1.ResourceList, name corev1.ResourceName) int64 {
	amount := list[name]
	return amount.Value()
}
