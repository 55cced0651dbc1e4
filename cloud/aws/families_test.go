package aws

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/core/cluster"
)

// Each family from its alias to instances that run: the image for the type's processor and
// devices, and the volumes of the family.
func TestInstancesOfEveryFamily(t *testing.T) {
	const al2023 = "amazon-eks-node-al2023-x86_64-"
	tests := map[string]struct {
		kubernetes, alias string
		images            map[string]string // by type: how the name of its image begins
		devices           string            // of the instances
	}{
		"AL2": {"1.32", "al2@latest", map[string]string{"m5.large": "amazon-eks-node-1.32-", "m6g.large": "amazon-eks-arm64-node-1.32-",
			"g5.xlarge": "amazon-eks-gpu-node-1.32-", "inf2.xlarge": "amazon-eks-gpu-node-1.32-"}, "/dev/xvda"},
		"AL2023": {"1.36", "al2023@latest", map[string]string{"m5.large": al2023 + "standard-1.36-", "g5.xlarge": al2023 + "nvidia-1.36-",
			"inf2.xlarge": al2023 + "neuron-1.36-", "m6g.large": "amazon-eks-node-al2023-arm64-standard-1.36-"}, "/dev/xvda"},
		"Bottlerocket": {"1.36", "bottlerocket@latest", map[string]string{"m5.large": "bottlerocket-aws-k8s-1.36-x86_64-",
			"m6g.large": "bottlerocket-aws-k8s-1.36-aarch64-", "g5.xlarge": "bottlerocket-aws-k8s-1.36-nvidia-x86_64-"}, "/dev/xvda /dev/xvdb"},
		"Ubuntu": {"1.32", "ubuntu@latest", map[string]string{"m5.large": "ubuntu-eks/k8s_1.32/images/hvm-ssd/ubuntu-jammy-22.04-amd64-",
			"m6g.large": "ubuntu-eks/k8s_1.32/images/hvm-ssd/ubuntu-jammy-22.04-arm64-"}, "/dev/sda1"},
		"Windows 2019": {"1.36", "windows2019@latest", map[string]string{"m5.large": "Windows_Server-2019-English-Core-EKS_Optimized-1.36-"}, "/dev/sda1"},
		"Windows 2022": {"1.36", "windows2022@latest", map[string]string{"m5.large": "Windows_Server-2022-English-Core-EKS_Optimized-1.36-"}, "/dev/sda1"},
		"Windows 2025": {"1.36", "windows2025@latest", map[string]string{"m5.large": "Windows_Server-2025-English-Core-EKS_Optimized-1.36-"}, "/dev/sda1"},
	}
	a := openAccount(t)
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			a.provider.options.KubernetesVersion = func(context.Context) (string, error) { return tt.kubernetes, nil }
			a.provider.steady.held = "" // another cluster
			spec := defaultSpec()
			spec.Images = []nodeclass.ImageTerm{{Alias: tt.alias}}
			a.class = a.resolve(t, spec)
			for kind, image := range tt.images {
				a.Advance(time.Minute)
				got, err := a.provider.Launch(t.Context(), a.request(t, name+kind, cluster.OnDemand, kind))
				if err != nil || len(got) != 1 {
					t.Fatalf("launch an %s: %+v, %v", kind, got, err)
				}
				if found, devices := a.bootedFrom(t, got[0]); !strings.HasPrefix(found, image) || devices != tt.devices {
					t.Errorf("an %s boots %s with volumes %s; want %s… with %s", kind, found, devices, image, tt.devices)
				}
			}
		})
	}
}

// A class of the family Custom has what it names and nothing else: its image,
// its user data as it is, and the image's own volumes.
func TestAInstanceOfTheUsersOwnImage(t *testing.T) {
	a := openAccount(t)
	spec := defaultSpec()
	spec.Family, spec.UserData = nodeclass.Custom, "anything at all"
	spec.Images = []nodeclass.ImageTerm{{Name: "ubuntu-eks/k8s_1.32/images/hvm-ssd/ubuntu-jammy-22.04-amd64-server-*", Owner: "099720109477"}}
	a.class = a.resolve(t, spec)
	if _, err := a.provider.Launch(t.Context(), a.request(t, "custom", cluster.OnDemand, "m5.large")); err != nil {
		t.Fatal(err)
	}
	a.Advance(time.Minute)
	instances, err := a.provider.List(t.Context(), cloud.Filter{Batch: "batch-custom"})
	if err != nil || len(instances) != 1 {
		t.Fatal(instances, err)
	}
	if found, devices := a.bootedFrom(t, instances[0]); !strings.HasPrefix(found, "ubuntu-eks/k8s_1.32/") || devices != "/dev/sda1" {
		t.Errorf("it boots %s with volumes %s", found, devices)
	}
	data, err := a.admin.EC2.DescribeInstanceAttribute(t.Context(), &ec2.DescribeInstanceAttributeInput{InstanceId: &instances[0].ID, Attribute: "userData"})
	if err != nil || sdk.ToString(data.UserData.Value) != "YW55dGhpbmcgYXQgYWxs" {
		t.Errorf("its user data is %+v, %v; want what the class says", data.UserData, err)
	}
}

// bootedFrom is the name of an instance's image, and the names of its volumes.
func (a *account) bootedFrom(t *testing.T, m cloud.Instance) (image, devices string) {
	t.Helper()
	a.Advance(time.Minute)
	images, err := a.admin.EC2.DescribeImages(t.Context(), &ec2.DescribeImagesInput{ImageIds: []string{m.Image}, IncludeDeprecated: sdk.Bool(true)})
	if err != nil || len(images.Images) != 1 {
		t.Fatal(images, err)
	}
	found, err := a.admin.EC2.DescribeInstances(t.Context(), &ec2.DescribeInstancesInput{InstanceIds: []string{m.ID}})
	if err != nil || len(found.Reservations) != 1 {
		t.Fatal(found, err)
	}
	var names []string
	for _, d := range found.Reservations[0].Instances[0].BlockDeviceMappings {
		names = append(names, sdk.ToString(d.DeviceName))
	}
	slices.Sort(names)
	return sdk.ToString(images.Images[0].Name), strings.Join(names, " ")
}
