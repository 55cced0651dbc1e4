package catalog

import (
	"github.com/daemok/daemok/cloud/aws/ec2data"
	"github.com/daemok/daemok/cloud/aws/measure"
	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/core/quantity"
)

// Names of further resources that instances have.
const (
	resourceNVIDIA     = "nvidia.com/gpu"
	resourceAMD        = "amd.com/gpu"
	resourceGaudi      = "habana.ai/gaudi"
	resourceNeuron     = "aws.amazon.com/neuron"
	resourceNeuronCore = "aws.amazon.com/neuroncore"
	resourceEFA        = ResourceEFA
	resourcePodENI     = "vpc.amazonaws.com/pod-eni"
	resourceWindowsIP  = "vpc.amazonaws.com/PrivateIPv4Address"
)

// ResourceEFA counts the Elastic Fabric Adapters of an instance. It has those that it is
// launched with.
const ResourceEFA = "vpc.amazonaws.com/efa"

// Settings are those of the controller that change what an instance can hold.
type Settings struct {
	MemoryOverhead float64 // share of the memory that the hypervisor keeps, where no instance showed it; ec2data.MemoryKeptMost: by the size of the type
	ReservedENIs   int64   // interfaces that pods do not get
	SurplusCredits bool    // burstable types may be counted on above their baseline, at a price
	IPv6           bool    // pods have addresses of IPv6, which the network plugin gives out on Nitro alone
	Measured       measure.View
}

// armReserveMiB is what arm64 instances keep beside the usual overhead.
const armReserveMiB = 64

const defaultDisk = 20 * quantity.GiB

// capacityOf is all an instance of the type has under the image, set up as the class says.
func capacityOf(t Type, spec nodeclass.Spec, image string, s Settings) quantity.Resources {
	family := spec.EffectiveFamily()
	out := quantity.Resources{
		CPU:              quantity.MilliCPU(t.CPUs * 1000),
		Memory:           memory(t, spec, image, s),
		EphemeralStorage: disk(t, spec),
		Pods:             pods(t, spec, s),
	}
	for _, e := range []quantity.Extended{
		{Name: resourceNVIDIA, Amount: countOf(t.GPU, "nvidia")},
		{Name: resourceAMD, Amount: countOf(t.GPU, "amd")},
		{Name: resourceGaudi, Amount: countOf(t.Accelerator, "habana")},
		{Name: resourceNeuron, Amount: countOf(t.Accelerator, "aws")},
		{Name: resourceNeuronCore, Amount: t.AcceleratorCPU},
		{Name: resourceEFA, Amount: fabricOf(t, spec).adapters(spec)},
		{Name: resourcePodENI, Amount: podInterfaces(t, spec)},
		{Name: ResourceEnclaves, Amount: enclaves(t, spec)},
	} {
		if e.Amount > 0 {
			out = out.With(e.Name, e.Amount)
		}
	}
	if family.Windows() && t.AddressesByENI > 1 {
		out = out.With(resourceWindowsIP, t.AddressesByENI-1)
	}
	return out
}

// podInterfaces is how many pods may have interfaces of their own, which none has on
// Windows.
func podInterfaces(t Type, spec nodeclass.Spec) int64 {
	if spec.NoPodInterfaces || spec.EffectiveFamily().Windows() {
		return 0
	}
	return t.BranchENIs
}

func countOf(d Device, maker string) int64 {
	if d.Maker != maker {
		return 0
	}
	return d.Count
}

// memory is what the instance's kernel will see at least: what instances of the type showed
// under the image, else an estimate: by the class's share, else by the controller's, else
// by the size of the type. The hypervisor's share is rounded up to a whole MiB.
func memory(t Type, spec nodeclass.Spec, image string, s Settings) quantity.Bytes {
	mib := t.MemoryMiB
	if seen, known := s.Measured.Of(t.Name, image); known {
		return min(seen, quantity.Bytes(mib)*quantity.MiB)
	}
	if t.Arch == "arm64" {
		mib -= armReserveMiB
	}
	kept := s.MemoryOverhead
	switch {
	case spec.MemoryOverhead != nil:
		kept = *spec.MemoryOverhead
	case kept == ec2data.MemoryKeptMost:
		kept = ec2data.MemoryKept(t.MemoryMiB)
	}
	exact := float64(float64(mib) * kept)
	share := int64(exact)
	if float64(share) < exact {
		share++
	}
	return quantity.Bytes(mib-share) * quantity.MiB
}

// disk is the size of the device that the kubelet uses: the local disks
// joined, else the root volume, else the family's own default.
func disk(t Type, spec nodeclass.Spec) quantity.Bytes {
	if spec.InstanceStore == nodeclass.RAID0 && t.LocalGB > 0 && !spec.EffectiveFamily().Windows() { // which joins none
		return quantity.Bytes(t.LocalGB) * 1e9
	}
	for _, d := range spec.BlockDevices {
		if d.Root {
			return volume(d)
		}
	}
	for _, d := range spec.BlockDevices {
		if d.DeviceName == kubeletDevice(spec.EffectiveFamily()) {
			return volume(d)
		}
	}
	if spec.EffectiveFamily() == nodeclass.Custom && len(spec.BlockDevices) > 0 {
		return volume(spec.BlockDevices[len(spec.BlockDevices)-1])
	}
	if spec.EffectiveFamily().Windows() && len(spec.BlockDevices) == 0 {
		return 50 * quantity.GiB
	}
	return defaultDisk
}

func volume(d nodeclass.BlockDevice) quantity.Bytes {
	if d.EBS == nil || d.EBS.VolumeBytes == 0 { // as large as its snapshot, which is not known here
		return defaultDisk
	}
	return quantity.Bytes(d.EBS.VolumeBytes)
}

// kubeletDevice is where images and pods' files lie.
func kubeletDevice(f nodeclass.Family) string {
	switch {
	case f == nodeclass.Bottlerocket:
		return "/dev/xvdb"
	case f.Windows():
		return "/dev/sda1"
	}
	return "/dev/xvda"
}

// pods is how many pods the instance holds.
func pods(t Type, spec nodeclass.Spec, s Settings) int64 {
	count := MaxPods(t, spec, s)
	perCore := spec.Kubelet.PodsPerCore
	if perCore != nil && *perCore > 0 && spec.EffectiveFamily() != nodeclass.Bottlerocket {
		count = min(count, *perCore*t.CPUs)
	}
	return count
}

const (
	// podsUnlimited is Kubernetes' own default, for instances whose pods do not get
	// addresses of the VPC's interfaces.
	podsUnlimited = 110
	// prefixSize is how many addresses stand in the place of one where the network
	// plugin gives out prefixes (/28).
	prefixSize = 16
	// So many pods AWS recommends at the most, however many addresses there are, below
	// podsMoreCPUs and from there on.
	podsRecommended, podsMoreRecommended, podsMoreCPUs = 110, 250, 30
)

// MaxPods is the kubelet's limit: as configured, else as many as the
// network interfaces have addresses for, of prefixes no more than is recommended.
func MaxPods(t Type, spec nodeclass.Spec, s Settings) int64 {
	if n := spec.Kubelet.MaxPods; n != nil {
		return *n
	}
	return podsByNetwork(t, spec, s)
}

// podsByNetwork is how many pods run where nothing is said.
func podsByNetwork(t Type, spec nodeclass.Spec, s Settings) int64 {
	has := addressed(t, spec, s)
	switch {
	case !prefixes(t, spec):
		return has
	case t.CPUs < podsMoreCPUs:
		return min(has, podsRecommended)
	}
	return min(has, podsMoreRecommended)
}

// addressed is how many pods there are addresses for.
func addressed(t Type, spec nodeclass.Spec, s Settings) int64 {
	if spec.EffectiveFamily().Windows() {
		return podsUnlimited
	}
	slot := int64(1)
	if prefixes(t, spec) {
		slot = prefixSize
	}
	return addressLimit(t, s.ReservedENIs+efaOnly(spec), slot)
}

// prefixes reports whether pods on the type get addresses of prefixes, which only
// Nitro's interfaces take.
func prefixes(t Type, spec nodeclass.Spec) bool {
	return spec.PodPrefixes && t.Nitro && !spec.EffectiveFamily().Windows()
}

// addressLimit counts so many addresses for pods in the place of one; each interface keeps
// its first one, and two pods of the system use the instance's own.
func addressLimit(t Type, withoutENIs, slot int64) int64 {
	if t.ENIs == 0 || t.AddressesByENI == 0 {
		return podsUnlimited
	}
	return max(0, t.ENIs-withoutENIs)*(t.AddressesByENI-1)*slot + 2
}

// efaOnly counts the interfaces of the default card that carry no addresses.
func efaOnly(spec nodeclass.Spec) int64 {
	n := int64(0)
	for _, i := range spec.Interfaces {
		if i.Card == 0 && i.Type == "efa-only" {
			n++
		}
	}
	return n
}
