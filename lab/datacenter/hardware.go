package datacenter

import (
	"fmt"
	"strings"

	"github.com/daemok/daemok/cloud/aws/ec2data"
	"github.com/daemok/daemok/lab/boot"
	"github.com/daemok/daemok/lab/machine"
)

const (
	diskDefaultGiB = 20
	xenVolumesMax  = 39 // what the EBS driver takes where EC2 names no limit
)

// Facts returns what an instance of its type finds out about itself, as EC2's
// catalogue has it. Devices show where the image carries their driver.
func Facts(i machine.Instance) (machine.Facts, error) {
	t, ok := ec2data.Load().Type(i.Type)
	if !ok {
		return machine.Facts{}, fmt.Errorf("instance type %s is not in the catalogue", i.Type)
	}
	h := boot.Hardware{
		Type: t.Name, Arch: "amd64", VCPUs: int32(t.VCPUs), MemoryMiB: t.MemoryMiB,
		ENIs: int32(t.ENIsMax), IPsPerENI: int32(t.IPv4PerENI), DiskGiB: i.DiskGiB,
		Devices: devices(t, i),
	}
	if t.IsARM() {
		h.Arch = "arm64"
	}
	if len(t.NetworkCards) > 0 {
		h.ENIs = int32(t.NetworkCards[0].ENIsMax) // addresses for pods come from the first card
	}
	if t.Storage != nil {
		h.LocalDiskGB = t.Storage.TotalGB
	}
	if h.DiskGiB == 0 {
		h.DiskGiB = diskDefaultGiB
	}
	return machine.Facts{Hardware: h, VolumesMax: volumesMax(t, i), Published: published(t, i)}, nil
}

// volumesMax is what the EBS driver counts when it starts: the type's
// attachments, of which the catalogue has taken the first interface, local
// disks and devices already, less the volumes that the instance was launched
// with and, where they share places, its further interfaces. The driver never
// says less than one, which would mean that there is no limit.
func volumesMax(t *ec2data.Type, i machine.Instance) int32 {
	n := t.EBSAttachMax
	if n == 0 {
		n = xenVolumesMax
	}
	n -= max(1, i.Volumes)
	if t.EBSAttachKind == "shared" && t.Hypervisor != "xen" {
		n -= max(1, i.Interfaces) - 1
	}
	return int32(max(1, n))
}

// devices are the extended resources that device plugins and the VPC resource controller
// offer: NVIDIA's and Neuron's where the image carries the driver, which the plugins of AMD
// and Habana bring themselves; the adapters and enclaves that the instance has; and the interfaces for
// single pods that its type has, or on Windows the addresses of the one interface in use.
func devices(t *ec2data.Type, i machine.Instance) map[string]int64 {
	out := map[string]int64{}
	if i.Adapters > 0 {
		out["vpc.amazonaws.com/efa"] = int64(i.Adapters)
	}
	if i.Enclaves {
		out["aws.ec2.nitro/nitro_enclaves"] = 1
	}
	image := strings.ToLower(i.ImageName)
	switch windows := strings.Contains(image, "windows"); {
	case windows && t.IPv4PerENI > 1:
		out["vpc.amazonaws.com/PrivateIPv4Address"] = int64(t.IPv4PerENI - 1)
	case !windows && t.Trunking && t.BranchENIs > 0:
		out["vpc.amazonaws.com/pod-eni"] = int64(t.BranchENIs)
	}
	for _, g := range t.GPUs {
		switch strings.ToLower(g.Maker) {
		case "amd":
			out["amd.com/gpu"] += int64(g.Count)
		case "habana":
			out["habana.ai/gaudi"] += int64(g.Count)
		}
	}
	if strings.Contains(image, "nvidia") || strings.Contains(image, "gpu") {
		for _, g := range t.GPUs {
			if strings.EqualFold(g.Maker, "nvidia") {
				out["nvidia.com/gpu"] += int64(max(g.Count, 1))
			}
		}
	}
	if strings.Contains(image, "neuron") || strings.Contains(image, "gpu") {
		for _, a := range t.Accelerators {
			if a.Cores > 0 {
				out["aws.amazon.com/neuron"] += int64(a.Count)
				out["aws.amazon.com/neuroncore"] += int64(a.Count * a.Cores)
			}
		}
	}
	return out
}
