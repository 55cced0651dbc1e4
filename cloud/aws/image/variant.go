package image

import (
	"fmt"
	"strings"

	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/core/constraint"
)

// variant is one image of an alias: where its id is published, and which instances it is
// for beside its architecture.
type variant struct {
	parameter    string
	requirements constraint.Requirements
}

// variantsOf lists what AWS publishes for an alias under one version of
// Kubernetes.
func variantsOf(a nodeclass.Alias, kubernetes string) []variant {
	switch {
	case a.Family == nodeclass.AL2023:
		return al2023(a.Version, kubernetes)
	case a.Family == nodeclass.Bottlerocket:
		return bottlerocket(a.Version, kubernetes)
	case a.Family == nodeclass.AL2:
		return al2(a.Version, kubernetes)
	case a.Family == nodeclass.Ubuntu:
		return ubuntu(kubernetes)
	case a.Family.Windows():
		return windows(a.Family, kubernetes)
	}
	return nil
}

func al2023(version, kubernetes string) []variant {
	var out []variant
	for _, arch := range []string{"x86_64", "arm64"} {
		for _, v := range []struct {
			name  string
			needs constraint.Requirements
		}{{"standard", plain()}, {"nvidia", nvidia()}, {"neuron", neuron()}} {
			name := "recommended"
			if version != nodeclass.Latest {
				name = fmt.Sprintf("amazon-eks-node-al2023-%s-%s-%s-v%s", arch, v.name, kubernetes, version)
			}
			out = append(out, variant{fmt.Sprintf("/aws/service/eks/optimized-ami/%s/amazon-linux-2023/%s/%s/%s/image_id",
				kubernetes, arch, v.name, name), v.needs})
		}
	}
	return out
}

func bottlerocket(version, kubernetes string) []variant {
	var out []variant
	for _, arch := range []string{"x86_64", "arm64"} {
		out = append(out,
			variant{fmt.Sprintf("/aws/service/bottlerocket/aws-k8s-%s/%s/%s/image_id", kubernetes, arch, version), plain()},
			variant{fmt.Sprintf("/aws/service/bottlerocket/aws-k8s-%s-nvidia/%s/%s/image_id", kubernetes, arch, version), nvidia()})
	}
	return out
}

// al2 has one image for instances with GPUs or Neuron devices: it is listed once for each.
func al2(version, kubernetes string) []variant {
	path := func(suffix, pinned string) string {
		name := "recommended"
		if version != nodeclass.Latest {
			name = fmt.Sprintf("amazon-eks-%snode-%s-v%s", pinned, kubernetes, version)
		}
		return fmt.Sprintf("/aws/service/eks/optimized-ami/%s/amazon-linux-2%s/%s/image_id", kubernetes, suffix, name)
	}
	return []variant{
		{path("", ""), plain()},
		{path("-arm64", "arm64-"), plain()},
		{path("-gpu", "gpu-"), nvidia()},
		{path("-gpu", "gpu-"), neuron()},
	}
}

// ubuntu is what Canonical publishes for EKS: release 20.04 for the versions of Kubernetes
// that the older API generation had it for, and 22.04 for later ones.
func ubuntu(kubernetes string) []variant {
	release := "22.04"
	if minor, known := nodeclass.Minor(kubernetes); known && minor <= lastFocal {
		release = "20.04"
	}
	var out []variant
	for _, arch := range []string{"amd64", "arm64"} {
		out = append(out, variant{fmt.Sprintf("/aws/service/canonical/ubuntu/eks/%s/%s/stable/current/%s/hvm/ebs-gp2/ami-id", release, kubernetes, arch), nil})
	}
	return out
}

// lastFocal is the last version of Kubernetes for which Ubuntu is of release 20.04.
const lastFocal = 28

// Builds of Windows, as nodes carry them in a label.
var windowsBuilds = map[nodeclass.Family]string{
	nodeclass.Windows2019: "10.0.17763", nodeclass.Windows2022: "10.0.20348", nodeclass.Windows2025: "10.0.26100",
}

func windows(family nodeclass.Family, kubernetes string) []variant {
	year := strings.TrimPrefix(string(family), "Windows")
	return []variant{{
		fmt.Sprintf("/aws/service/ami-windows-latest/Windows_Server-%s-English-Core-EKS_Optimized-%s/image_id", year, kubernetes),
		constraint.NewRequirements(in(nodeclass.LabelOS, "windows"), in(nodeclass.LabelWindowsBuild, windowsBuilds[family])),
	}}
}

// WindowsBuild returns the build that instances of a family run; empty for families that
// are not Windows.
func WindowsBuild(family nodeclass.Family) string { return windowsBuilds[family] }

func plain() constraint.Requirements {
	return constraint.NewRequirements(without(nodeclass.LabelGPUCount), without(nodeclass.LabelAccelCount))
}

func nvidia() constraint.Requirements {
	return constraint.NewRequirements(in(nodeclass.LabelGPUManufacturer, "nvidia"))
}

func neuron() constraint.Requirements {
	return constraint.NewRequirements(in(nodeclass.LabelAccelMaker, "aws"))
}

func without(key string) constraint.Requirement {
	absent, err := constraint.NewSet(constraint.DoesNotExist)
	if err != nil {
		panic("the operator DoesNotExist takes no values: " + err.Error())
	}
	return constraint.Requirement{Key: key, Set: absent}
}

// supported refuses aliases for which AWS publishes nothing under a version
// of Kubernetes.
func supported(f nodeclass.Family, kubernetes string) error {
	minor, ok := nodeclass.Minor(kubernetes)
	switch {
	case !ok:
		return fmt.Errorf("kubernetes version %q is not of the form 1.36", kubernetes)
	case f == nodeclass.AL2 && minor > 32:
		return &nodeclass.MissingError{Reason: nodeclass.UnsupportedAlias, Text: fmt.Sprintf(
			"alias al2 has no images for Kubernetes %s, the last was 1.32: use al2023@latest or bottlerocket@latest", kubernetes)}
	case f == nodeclass.Windows2025 && minor < 35:
		return &nodeclass.MissingError{Reason: nodeclass.UnsupportedAlias, Text: fmt.Sprintf(
			"alias windows2025 has no images for Kubernetes %s, the first is 1.35: use windows2022@latest", kubernetes)}
	}
	return nil
}
