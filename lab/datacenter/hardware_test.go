package datacenter_test

import (
	"testing"

	"github.com/daemok/daemok/lab/datacenter"
	"github.com/daemok/daemok/lab/machine"
)

// Figures are EC2's and the EBS driver's published ones.
func TestFacts(t *testing.T) {
	const plain, nvidia, neuron = "amazon-eks-node-al2023-x86_64-standard-1.36", "amazon-eks-node-al2023-x86_64-nvidia-1.36", "amazon-eks-node-al2023-x86_64-neuron-1.36"
	const windows = "Windows_Server-2022-English-Core-EKS_Optimized-1.36"
	tests := map[string]struct {
		kind, image string
		arch        string
		enis        int32
		volumes     int32
		device      string
		count       int64
	}{
		"a plain machine":                     {"m5.large", plain, "amd64", 3, 26, "nvidia.com/gpu", 0},
		"an ARM machine":                      {"m6g.large", plain, "arm64", 3, 26, "nvidia.com/gpu", 0},
		"local disks take attachments":        {"m5d.24xlarge", plain, "amd64", 15, 22, "nvidia.com/gpu", 0},
		"GPUs show on the image with driver":  {"g4dn.12xlarge", nvidia, "amd64", 8, 21, "nvidia.com/gpu", 4},
		"GPUs do not show without driver":     {"g4dn.12xlarge", plain, "amd64", 8, 21, "nvidia.com/gpu", 0},
		"neuron cores show with their driver": {"inf2.xlarge", neuron, "amd64", 4, 25, "aws.amazon.com/neuroncore", 2},
		"AMD's plugin brings its driver":      {"g4ad.xlarge", plain, "amd64", 2, 24, "amd.com/gpu", 1},
		"and so does Habana's":                {"dl1.24xlarge", plain, "amd64", 15, 27, "habana.ai/gaudi", 8},
		"pods may have interfaces":            {"m5.large", plain, "amd64", 3, 26, "vpc.amazonaws.com/pod-eni", 9},
		"not on types without a trunk":        {"t3.large", plain, "amd64", 3, 26, "vpc.amazonaws.com/pod-eni", 0},
		"nor on Windows":                      {"m5.large", windows, "amd64", 3, 26, "vpc.amazonaws.com/pod-eni", 0},
		"where pods have addresses instead":   {"m5.large", windows, "amd64", 3, 26, "vpc.amazonaws.com/PrivateIPv4Address", 9},
		"addresses come from the first card":  {"p4d.24xlarge", nvidia, "amd64", 15, 27, "nvidia.com/gpu", 8},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := datacenter.Facts(machine.Instance{Type: tt.kind, ImageName: tt.image})
			if err != nil {
				t.Fatal(err)
			}
			if got.Arch != tt.arch || got.ENIs != tt.enis || got.VolumesMax != tt.volumes || got.Devices[tt.device] != tt.count {
				t.Errorf("Facts(%s, %s) = %+v; want %s, %d interfaces, %d volumes, %d of %s",
					tt.kind, tt.image, got, tt.arch, tt.enis, tt.volumes, tt.count, tt.device)
			}
		})
	}
}

func TestFactsOfUnknownType(t *testing.T) {
	if got, err := datacenter.Facts(machine.Instance{Type: "x0.none"}); err == nil {
		t.Errorf("Facts of an unknown type = %+v, want an error", got)
	}
}

// DRA drivers publish whole NVIDIA GPUs and Neuron devices where the image carries what these need.
func TestDevicesOfDRADrivers(t *testing.T) {
	const nvidia, neuron = "amazon-eks-node-al2023-x86_64-nvidia-1.36", "amazon-eks-node-al2023-x86_64-neuron-1.36"
	tests := map[string]struct {
		kind, image, driver string
		devices             int
	}{
		"one GPU":              {"g4dn.xlarge", nvidia, "gpu.nvidia.com", 1},
		"eight GPUs":           {"p4d.24xlarge", nvidia, "gpu.nvidia.com", 8},
		"no driver":            {"g4dn.xlarge", neuron, "", 0},
		"Neuron devices":       {"inf2.24xlarge", neuron, "neuron.aws.com", 6},
		"GPUs of another make": {"g4ad.xlarge", nvidia, "", 0},
		"no devices":           {"m5.large", nvidia, "", 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := datacenter.Facts(machine.Instance{Type: tt.kind, ImageName: tt.image})
			if err != nil {
				t.Fatal(err)
			}
			driver, devices := "", 0
			for _, p := range got.Published {
				driver, devices = driver+p.Driver, devices+len(p.Devices)
			}
			if driver != tt.driver || devices != tt.devices {
				t.Errorf("%s: %d devices of %q, want %d of %q", tt.kind, devices, driver, tt.devices, tt.driver)
			}
		})
	}
}
