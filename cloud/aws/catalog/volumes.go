package catalog

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/core/cluster"
)

// driverEBS is the CSI driver whose volumes EC2 counts.
const driverEBS = "ebs.csi.aws.com"

// What AWS's user guide says of types for which EC2 names no number ("Amazon
// EBS volume limits for Amazon EC2 instances").
const (
	attachmentsNitro = 28 // of volumes, interfaces, local disks and devices together
	attachmentsOther = 39 // of volumes, without risk to booting
)

// Attachments is how much an instance of a type takes.
type Attachments struct {
	Volumes int64 // when its first interface, local disks and devices are there; the root volume counts
	Shared  bool  // whether each further interface takes the place of a volume
}

// attachments are what EC2 reports a type, else AWS's published rules.
func attachments(t Type, info types.InstanceTypeInfo) Attachments {
	if e := info.EbsInfo; e != nil && aws.ToInt32(e.MaximumEbsAttachments) > 0 {
		return Attachments{
			Volumes: int64(*e.MaximumEbsAttachments),
			Shared:  e.AttachmentLimitType != types.AttachmentLimitTypeDedicated && t.Nitro,
		}
	}
	if !t.Nitro {
		return Attachments{Volumes: attachmentsOther}
	}
	const firstInterface = 1
	return Attachments{Volumes: max(0, attachmentsNitro-firstInterface-localDisks(info)-devicesOf(info)), Shared: true}
}

// localDisks counts those that sit on the same bus as volumes.
func localDisks(info types.InstanceTypeInfo) int64 {
	s := info.InstanceStorageInfo
	if s == nil || s.NvmeSupport == types.EphemeralNvmeSupportUnsupported {
		return 0
	}
	n := int64(0)
	for _, d := range s.Disks {
		n += int64(aws.ToInt32(d.Count))
	}
	return n
}

// devicesPerMediaCard is how many places one transcoding card takes.
const devicesPerMediaCard = 2

// devicesOf counts the accelerators that sit on that bus. A part of a GPU
// takes the place of a whole one.
func devicesOf(info types.InstanceTypeInfo) int64 {
	n := int64(0)
	if g := info.GpuInfo; g != nil {
		for _, d := range g.Gpus {
			n += max(1, int64(aws.ToInt32(d.Count)))
		}
	}
	neuron := int64(0)
	if d := info.NeuronInfo; d != nil {
		for _, x := range d.NeuronDevices {
			neuron += int64(aws.ToInt32(x.Count))
		}
	}
	inference := int64(0)
	if d := info.InferenceAcceleratorInfo; d != nil {
		for _, x := range d.Accelerators {
			inference += int64(aws.ToInt32(x.Count))
		}
	}
	n += max(neuron, inference) // both lists may name the same devices
	if m := info.MediaAcceleratorInfo; m != nil {
		for _, d := range m.Accelerators {
			n += devicesPerMediaCard * int64(aws.ToInt32(d.Count))
		}
	}
	return n
}

// attachable is how many volumes of the cluster a new instance takes: what its type does,
// less its own volumes and, where they share places, its further interfaces. The driver
// counts so too when it starts on the node: it takes the root and all other mapped devices
// off (its option reserved-volume-attachments is -1 as delivered), and then its word
// counts.
func (a Attachments) attachable(spec nodeclass.Spec) int64 {
	n := a.Volumes - ownVolumes(spec)
	if a.Shared {
		n -= max(0, int64(len(spec.Interfaces))-1)
	}
	return max(0, n)
}

// ownVolumes counts the volumes that an instance is launched with: the class's, and those
// of its image that the class does not name.
func ownVolumes(spec nodeclass.Spec) int64 {
	var names []string
	for _, d := range spec.BlockDevices {
		names = append(names, d.DeviceName)
	}
	switch f := spec.EffectiveFamily(); {
	case f == nodeclass.Bottlerocket:
		names = append(names, "/dev/xvda", "/dev/xvdb")
	case f.Windows():
		names = append(names, "/dev/sda1")
	case f != nodeclass.Custom:
		names = append(names, "/dev/xvda")
	case !slices.Contains(names, "/dev/xvda") && !slices.Contains(names, "/dev/sda1"):
		names = append(names, "the image's root")
	}
	slices.Sort(names)
	return int64(len(slices.Compact(names)))
}

// volumeLimits answers the limit of one count of volumes. Kinds with the same
// count share one answer.
type volumeLimits map[int64][]cluster.Attachable

func (l volumeLimits) of(count int64) []cluster.Attachable {
	if l[count] == nil {
		l[count] = []cluster.Attachable{{Driver: driverEBS, Count: count}}
	}
	return l[count]
}
