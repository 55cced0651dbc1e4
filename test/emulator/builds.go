package emulator

import (
	"fmt"
	"slices"

	"github.com/daemok/daemok/test/emulator/world"
)

// builds lists what is published per Kubernetes version, as EKS, Bottlerocket,
// Windows and Canonical name their images and parameters.
func builds() []build {
	return slices.Concat(al2023Builds(), bottlerocketBuilds(), al2Builds(), windowsBuilds(), ubuntuBuilds())
}

func rootVolume(name string, gib int, kind string) []imageDevice {
	return []imageDevice{{Name: name, SizeGiB: gib, Type: kind}}
}

func al2023Builds() []build {
	var all []build
	for _, v := range []struct{ arch, variant string }{
		{"x86_64", "standard"}, {"x86_64", "nvidia"}, {"x86_64", "neuron"}, {"arm64", "standard"}, {"arm64", "nvidia"},
	} {
		name := fmt.Sprintf("amazon-eks-node-al2023-%s-%s-VERSION-vDATE", v.arch, v.variant)
		all = append(all, build{
			family: "AL2023", arch: v.arch, owner: ownerEKS, alias: "amazon", name: name, versionsMin: 29,
			parameter:   fmt.Sprintf("/aws/service/eks/optimized-ami/VERSION/amazon-linux-2023/%s/%s", v.arch, v.variant),
			latest:      "recommended",
			pinned:      []string{name},
			key:         "image_id",
			description: fmt.Sprintf("EKS-optimized Kubernetes node based on Amazon Linux 2023, (k8s: VERSION.2, containerd: 2.1.*, variant: %s)", v.variant),
			root:        "/dev/xvda", devices: rootVolume("/dev/xvda", 20, "gp3"),
		})
	}
	return all
}

func bottlerocketBuilds() []build {
	var all []build
	for _, arch := range []string{"x86_64", "arm64"} {
		for _, variant := range []string{"", "-nvidia"} {
			all = append(all, build{
				family: "Bottlerocket", arch: arch, owner: ownerBottlerocket, alias: "amazon", versionsMin: 29,
				name:        fmt.Sprintf("bottlerocket-aws-k8s-VERSION%s-%s-vRELEASE-COMMIT", variant, amd64OrAarch64(arch)),
				parameter:   fmt.Sprintf("/aws/service/bottlerocket/aws-k8s-VERSION%s/%s", variant, arch),
				latest:      "latest",
				pinned:      []string{"RELEASE", "RELEASE-COMMIT"},
				key:         "image_id",
				description: "Bottlerocket for Kubernetes VERSION, release RELEASE",
				root:        "/dev/xvda",
				devices: []imageDevice{
					{Name: "/dev/xvda", SizeGiB: 2, Type: "gp2"}, {Name: "/dev/xvdb", SizeGiB: 20, Type: "gp2"},
				},
			})
		}
	}
	return all
}

// amd64OrAarch64 is how Bottlerocket writes architectures in image names.
func amd64OrAarch64(arch string) string {
	if arch == "arm64" {
		return "aarch64"
	}
	return arch
}

func al2Builds() []build {
	var all []build
	for _, v := range []struct{ arch, suffix, infix string }{
		{"x86_64", "", ""}, {"arm64", "-arm64", "arm64-"}, {"x86_64", "-gpu", "gpu-"},
	} {
		name := fmt.Sprintf("amazon-eks-%snode-VERSION-vDATE", v.infix)
		all = append(all, build{
			family: "AL2", arch: v.arch, owner: ownerEKS, alias: "amazon", name: name, versionsMin: 29, versionsMax: 32,
			parameter:   "/aws/service/eks/optimized-ami/VERSION/amazon-linux-2" + v.suffix,
			latest:      "recommended",
			pinned:      []string{name},
			key:         "image_id",
			description: "EKS Kubernetes Worker AMI with AmazonLinux2 image, (k8s: VERSION.2, containerd: 1.7.*)",
			root:        "/dev/xvda", devices: rootVolume("/dev/xvda", 20, "gp2"),
		})
	}
	return all
}

func windowsBuilds() []build {
	var all []build
	for year, versionsMin := range map[string]int{"2019": 29, "2022": 29, "2025": 35} {
		for _, edition := range []string{"Core", "Full"} {
			all = append(all, build{
				family: "Windows" + year, arch: "x86_64", owner: ownerWindows, alias: "amazon", versionsMin: versionsMin,
				name:        fmt.Sprintf("Windows_Server-%s-English-%s-EKS_Optimized-VERSION-DOTTED", year, edition),
				parameter:   fmt.Sprintf("/aws/service/ami-windows-latest/Windows_Server-%s-English-%s-EKS_Optimized-VERSION", year, edition),
				key:         "image_id",
				description: fmt.Sprintf("Microsoft Windows Server %s %s EKS optimized for Kubernetes VERSION", year, edition),
				root:        "/dev/sda1", devices: rootVolume("/dev/sda1", 50, "gp2"),
			})
		}
	}
	return world.ByKey(all, func(b build) string { return b.name })
}

func ubuntuBuilds() []build {
	var all []build
	for _, v := range []struct {
		release, name, volume    string
		versionsMin, versionsMax int
	}{
		{"22.04", "hvm-ssd/ubuntu-jammy-22.04", "gp2", 29, 32},
		{"24.04", "hvm-ssd-gp3/ubuntu-noble-24.04", "gp3", 31, 0},
	} {
		for _, arch := range []string{"amd64", "arm64"} {
			all = append(all, build{
				family: "Ubuntu", arch: map[string]string{"amd64": "x86_64", "arm64": "arm64"}[arch], owner: ownerCanonical,
				versionsMin: v.versionsMin, versionsMax: v.versionsMax,
				name:        fmt.Sprintf("ubuntu-eks/k8s_VERSION/images/%s-%s-server-DATE", v.name, arch),
				parameter:   fmt.Sprintf("/aws/service/canonical/ubuntu/eks/%s/VERSION/stable", v.release),
				latest:      fmt.Sprintf("current/%s/hvm/ebs-%s", arch, v.volume),
				pinned:      []string{fmt.Sprintf("DATE/%s/hvm/ebs-%s", arch, v.volume)},
				key:         "ami-id",
				description: fmt.Sprintf("Canonical, Ubuntu EKS Node OS (k8s_VERSION), %s LTS, %s", v.release, arch),
				root:        "/dev/sda1", devices: rootVolume("/dev/sda1", 20, v.volume),
			})
		}
	}
	return all
}
