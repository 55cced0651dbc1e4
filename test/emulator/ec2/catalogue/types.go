package catalogue

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/daemok/daemok/cloud/aws/ec2data"
	"github.com/daemok/daemok/test/emulator/world"
)

// typeXML is one item of DescribeInstanceTypes.
type typeXML struct {
	BareMetal  bool            `xml:"bareMetal"`
	Burstable  bool            `xml:"burstablePerformanceSupported"`
	Current    bool            `xml:"currentGeneration"`
	EBS        ebsInfoXML      `xml:"ebsInfo"`
	FPGA       *devicesXML     `xml:"fpgaInfo"`
	GPU        *gpuInfoXML     `xml:"gpuInfo"`
	Hypervisor string          `xml:"hypervisor,omitempty"`
	Inference  *inferenceXML   `xml:"inferenceAcceleratorInfo"`
	Media      *mediaXML       `xml:"mediaAcceleratorInfo"`
	Neuron     *neuronXML      `xml:"neuronInfo"`
	Storage    *storageXML     `xml:"instanceStorageInfo"`
	HasStorage bool            `xml:"instanceStorageSupported"`
	Name       string          `xml:"instanceType"`
	Memory     memoryXML       `xml:"memoryInfo"`
	Network    networkXML      `xml:"networkInfo"`
	Enclaves   string          `xml:"nitroEnclavesSupport"`
	Placement  placementSetXML `xml:"placementGroupInfo"`
	Processor  processorXML    `xml:"processorInfo"`
	BootModes  []string        `xml:"supportedBootModes>item"`
	RootTypes  []string        `xml:"supportedRootDeviceTypes>item"`
	Usage      []string        `xml:"supportedUsageClasses>item"`
	Virt       []string        `xml:"supportedVirtualizationTypes>item"`
	VCPU       VCPUXML         `xml:"vCpuInfo"`
}

type memoryXML struct {
	MiB int64 `xml:"sizeInMiB"`
}

// VCPUXML is how EC2 shows processors.
type VCPUXML struct {
	Cores   int `xml:"defaultCores"`
	Threads int `xml:"defaultThreadsPerCore"`
	VCPUs   int `xml:"defaultVCpus"`
}

type processorXML struct {
	Maker    string   `xml:"manufacturer,omitempty"`
	Archs    []string `xml:"supportedArchitectures>item"`
	GHz      float64  `xml:"sustainedClockSpeedInGhz,omitempty"`
	Features []string `xml:"supportedFeatures>item"`
}

type placementSetXML struct {
	Strategies []string `xml:"supportedStrategies>item"`
}

type ebsInfoXML struct {
	LimitKind  string      `xml:"attachmentLimitType,omitempty"`
	Max        int         `xml:"maximumEbsAttachments,omitempty"`
	Optimized  *ebsRateXML `xml:"ebsOptimizedInfo"`
	Support    string      `xml:"ebsOptimizedSupport,omitempty"`
	Encryption string      `xml:"encryptionSupport"`
	NVMe       string      `xml:"nvmeSupport,omitempty"`
}

type ebsRateXML struct {
	BaseMbps int64   `xml:"baselineBandwidthInMbps"`
	BaseIOPS int64   `xml:"baselineIops"`
	BaseMBps float64 `xml:"baselineThroughputInMBps"`
	MaxMbps  int64   `xml:"maximumBandwidthInMbps"`
	MaxIOPS  int64   `xml:"maximumIops"`
	MaxMBps  float64 `xml:"maximumThroughputInMBps"`
}

type networkXML struct {
	DefaultCard int       `xml:"defaultNetworkCardIndex"`
	EFA         *efaXML   `xml:"efaInfo"`
	HasEFA      bool      `xml:"efaSupported"`
	ENA         string    `xml:"enaSupport,omitempty"`
	Encrypts    bool      `xml:"encryptionInTransitSupported"`
	IPv4        int       `xml:"ipv4AddressesPerInterface"`
	IPv6        int       `xml:"ipv6AddressesPerInterface"`
	HasIPv6     bool      `xml:"ipv6Supported"`
	CardsMax    int       `xml:"maximumNetworkCards"`
	ENIsMax     int       `xml:"maximumNetworkInterfaces"`
	Cards       []cardXML `xml:"networkCards>item"`
	Text        string    `xml:"networkPerformance,omitempty"`
}

type efaXML struct {
	Max int `xml:"maximumEfaInterfaces"`
}

type cardXML struct {
	Index    int     `xml:"networkCardIndex"`
	ENIsMax  int     `xml:"maximumNetworkInterfaces"`
	BaseGbps float64 `xml:"baselineBandwidthInGbps"`
	PeakGbps float64 `xml:"peakBandwidthInGbps"`
	Text     string  `xml:"networkPerformance,omitempty"`
}

type storageXML struct {
	Disks      []diskXML `xml:"disks>item"`
	Encryption string    `xml:"encryptionSupport,omitempty"`
	NVMe       string    `xml:"nvmeSupport,omitempty"`
	TotalGB    int64     `xml:"totalSizeInGB"`
}

type diskXML struct {
	Count  int    `xml:"count"`
	SizeGB int64  `xml:"sizeInGB"`
	Kind   string `xml:"type"`
}

type gpuInfoXML struct {
	GPUs  []deviceXML `xml:"gpus>item"`
	Total int64       `xml:"totalGpuMemoryInMiB"`
}

type devicesXML struct {
	Items []deviceXML `xml:"fpgas>item"`
	Total int64       `xml:"totalFpgaMemoryInMiB"`
}

type mediaXML struct {
	Items []deviceXML `xml:"accelerators>item"`
	Total int64       `xml:"totalMediaMemoryInMiB"`
}

type inferenceXML struct {
	Items []deviceXML `xml:"accelerators>member"`
	Total int64       `xml:"totalInferenceMemoryInMiB"`
}

type neuronXML struct {
	Devices []neuronDeviceXML `xml:"neuronDevices>item"`
	Total   int64             `xml:"totalNeuronDeviceMemoryInMiB"`
}

type deviceXML struct {
	Count  int       `xml:"count"`
	Share  float64   `xml:"gpuPartitionSize,omitempty"`
	Maker  string    `xml:"manufacturer"`
	Memory memoryXML `xml:"memoryInfo"`
	Name   string    `xml:"name"`
}

type neuronDeviceXML struct {
	Cores  coresXML  `xml:"coreInfo"`
	Count  int       `xml:"count"`
	Memory memoryXML `xml:"memoryInfo"`
	Name   string    `xml:"name"`
}

type coresXML struct {
	Count   int `xml:"count"`
	Version int `xml:"version,omitempty"`
}

func typeAnswer(t *ec2data.Type) typeXML {
	x := typeXML{
		BareMetal: t.BareMetal, Burstable: t.Burstable, Current: t.Current, EBS: ebsAnswer(t), Hypervisor: t.Hypervisor,
		HasStorage: t.Storage != nil, Name: t.Name, Memory: memoryXML{t.MemoryMiB}, Network: networkAnswer(t),
		Placement: placementSetXML{t.PlacementGroups}, Processor: processorXML{t.CPUMaker, t.Architectures, t.ClockGHz, t.ProcessorFeatures()}, Enclaves: supported(t.Enclaves()),
		BootModes: t.BootModes, RootTypes: t.RootDevices, Usage: t.Usage, Virt: virtualizations(t), VCPU: VCPUAnswer(t),
	}
	if t.Storage != nil {
		x.Storage = storageAnswer(t.Storage)
	}
	if len(t.GPUs) > 0 {
		x.GPU = gpuAnswer(t.GPUs)
	}
	for _, a := range t.Accelerators {
		x.addAccelerator(a)
	}
	return x
}

// supported is how EC2 words whether a type has something.
func supported(has bool) string {
	if has {
		return "supported"
	}
	return "unsupported"
}

// virtualizations are what the record says; where it is silent, as for types
// that AWS no longer lists, all instances are hvm.
func virtualizations(t *ec2data.Type) []string {
	if len(t.Virtualization) == 0 {
		return []string{"hvm"}
	}
	return t.Virtualization
}

// VCPUAnswer is how EC2 shows the processors of a type.
func VCPUAnswer(t *ec2data.Type) VCPUXML {
	cores := t.Cores
	if cores == 0 {
		cores = max(t.VCPUs/2, 1)
	}
	return VCPUXML{Cores: cores, Threads: max(t.VCPUs/cores, 1), VCPUs: t.VCPUs}
}

// withoutEncryption are the families that "Requirements for Amazon EBS encryption" (user guide) leaves out of those
// of former generations.
var withoutEncryption = []string{"c1", "m1", "m2", "t1"}

func ebsAnswer(t *ec2data.Type) ebsInfoXML {
	x := ebsInfoXML{LimitKind: t.EBSAttachKind, Max: t.EBSAttachMax, Support: t.EBSOptimized, Encryption: "supported", NVMe: t.EBSNVMe}
	if family, _, _ := strings.Cut(t.Name, "."); slices.Contains(withoutEncryption, family) {
		x.Encryption = "unsupported"
	}
	if e := t.EBS; e != nil {
		x.Optimized = &ebsRateXML{
			BaseMbps: e.BaseMbps, BaseIOPS: e.BaseIOPS, BaseMBps: float64(e.BaseMbps) / 8,
			MaxMbps: e.MaxMbps, MaxIOPS: e.MaxIOPS, MaxMBps: float64(e.MaxMbps) / 8,
		}
	}
	return x
}

func networkAnswer(t *ec2data.Type) networkXML {
	x := networkXML{
		HasEFA: t.EFAInterfaces > 0, ENA: t.ENASupport, Encrypts: t.EncryptsInTransit, IPv4: t.IPv4PerENI, IPv6: t.IPv6PerENI,
		HasIPv6: t.IPv6PerENI > 0, CardsMax: max(len(t.NetworkCards), 1), ENIsMax: t.ENIsMax, Text: t.NetworkText,
	}
	if t.EFAInterfaces > 0 {
		x.EFA = &efaXML{t.EFAInterfaces}
	}
	for _, c := range t.NetworkCards {
		x.Cards = append(x.Cards, cardXML{Index: c.Index, ENIsMax: c.ENIsMax, BaseGbps: c.BaseGbps, PeakGbps: c.PeakGbps, Text: t.NetworkText})
	}
	if len(x.Cards) == 0 {
		base := float64(t.NetworkBaseMbps) / 1000
		x.Cards = []cardXML{{ENIsMax: t.ENIsMax, BaseGbps: base, PeakGbps: max(base, float64(t.NetworkPeakMbps)/1000), Text: t.NetworkText}}
	}
	return x
}

func storageAnswer(s *ec2data.Storage) *storageXML {
	x := &storageXML{Encryption: s.Encryption, NVMe: s.NVMe, TotalGB: s.TotalGB}
	for _, d := range s.Disks {
		x.Disks = append(x.Disks, diskXML{d.Count, d.SizeGB, d.Kind})
	}
	return x
}

func gpuAnswer(gpus []ec2data.GPU) *gpuInfoXML {
	x := &gpuInfoXML{}
	for _, g := range gpus {
		x.GPUs = append(x.GPUs, deviceXML{Count: g.Count, Share: g.Share, Maker: g.Maker, Memory: memoryXML{g.MemoryMiB}, Name: g.Name})
		x.Total += int64(math.Max(float64(g.Count), 1)) * g.MemoryMiB
	}
	return x
}

func (x *typeXML) addAccelerator(a ec2data.Accelerator) {
	device := deviceXML{Count: a.Count, Maker: a.Maker, Memory: memoryXML{a.MemoryMiB}, Name: a.Name}
	total := int64(a.Count) * a.MemoryMiB
	switch a.Kind {
	case "inference":
		x.Inference = &inferenceXML{Items: []deviceXML{device}, Total: total}
	case "fpga":
		x.FPGA = &devicesXML{Items: []deviceXML{device}, Total: total}
	case "media":
		x.Media = &mediaXML{Items: []deviceXML{device}, Total: total}
	case "neuron":
		x.Neuron = &neuronXML{Total: total, Devices: []neuronDeviceXML{{
			Cores: coresXML{a.Cores, a.CoreVersion}, Count: a.Count, Memory: device.Memory, Name: a.Name,
		}}}
	}
}

func typeFields() world.Fields[*ec2data.Type] {
	number := func(f func(*ec2data.Type) int64) func(*ec2data.Type) []string {
		return world.One(func(t *ec2data.Type) string { return strconv.FormatInt(f(t), 10) })
	}
	flag := func(f func(*ec2data.Type) bool) func(*ec2data.Type) []string {
		return world.One(func(t *ec2data.Type) string { return world.BoolText(f(t)) })
	}
	return world.Fields[*ec2data.Type]{
		"bare-metal":                                   flag(func(t *ec2data.Type) bool { return t.BareMetal }),
		"burstable-performance-supported":              flag(func(t *ec2data.Type) bool { return t.Burstable }),
		"current-generation":                           flag(func(t *ec2data.Type) bool { return t.Current }),
		"ebs-info.attachment-limit-type":               world.One(func(t *ec2data.Type) string { return t.EBSAttachKind }),
		"ebs-info.maximum-ebs-attachments":             number(func(t *ec2data.Type) int64 { return int64(t.EBSAttachMax) }),
		"ebs-info.ebs-optimized-support":               world.One(func(t *ec2data.Type) string { return t.EBSOptimized }),
		"ebs-info.nvme-support":                        world.One(func(t *ec2data.Type) string { return t.EBSNVMe }),
		"hypervisor":                                   world.One(func(t *ec2data.Type) string { return t.Hypervisor }),
		"instance-storage-supported":                   flag(func(t *ec2data.Type) bool { return t.Storage != nil }),
		"instance-type":                                world.One(func(t *ec2data.Type) string { return t.Name }),
		"memory-info.size-in-mib":                      number(func(t *ec2data.Type) int64 { return t.MemoryMiB }),
		"network-info.efa-supported":                   flag(func(t *ec2data.Type) bool { return t.EFAInterfaces > 0 }),
		"network-info.ena-support":                     world.One(func(t *ec2data.Type) string { return t.ENASupport }),
		"network-info.ipv6-supported":                  flag(func(t *ec2data.Type) bool { return t.IPv6PerENI > 0 }),
		"network-info.maximum-network-interfaces":      number(func(t *ec2data.Type) int64 { return int64(t.ENIsMax) }),
		"network-info.encryption-in-transit-supported": flag(func(t *ec2data.Type) bool { return t.EncryptsInTransit }),
		"nitro-enclaves-support":                       world.One(func(t *ec2data.Type) string { return supported(t.Enclaves()) }),
		"processor-info.supported-features":            (*ec2data.Type).ProcessorFeatures,
		"processor-info.supported-architecture":        func(t *ec2data.Type) []string { return t.Architectures },
		"supported-root-device-type":                   func(t *ec2data.Type) []string { return t.RootDevices },
		"supported-usage-class":                        func(t *ec2data.Type) []string { return t.Usage },
		"supported-virtualization-type":                virtualizations,
		"supported-boot-mode":                          func(t *ec2data.Type) []string { return t.BootModes },
		"vcpu-info.default-vcpus":                      number(func(t *ec2data.Type) int64 { return int64(t.VCPUs) }),
		"vcpu-info.default-cores":                      number(func(t *ec2data.Type) int64 { return int64(VCPUAnswer(t).Cores) }),
		"vcpu-info.default-threads-per-core":           number(func(t *ec2data.Type) int64 { return int64(VCPUAnswer(t).Threads) }),
		"processor-info.sustained-clock-speed-in-ghz":  world.One(func(t *ec2data.Type) string { return decimal(t.ClockGHz) }),
		"network-info.ipv4-addresses-per-interface":    number(func(t *ec2data.Type) int64 { return int64(t.IPv4PerENI) }),
		"network-info.ipv6-addresses-per-interface":    number(func(t *ec2data.Type) int64 { return int64(t.IPv6PerENI) }),
		"network-info.maximum-network-cards":           number(func(t *ec2data.Type) int64 { return int64(networkAnswer(t).CardsMax) }),
		"network-info.network-performance":             world.One(func(t *ec2data.Type) string { return t.NetworkText }),
		"network-info.efa-info.maximum-efa-interfaces": func(t *ec2data.Type) []string {
			if t.EFAInterfaces == 0 {
				return nil
			}
			return []string{strconv.Itoa(t.EFAInterfaces)}
		},
	}.With(ebsFields()).With(storageFields()).Lacking(
		"auto-recovery-supported", "dedicated-hosts-supported", "free-tier-eligible", "hibernation-supported", "network-info.bandwidth-weightings",
		"network-info.flexible-ena-queues-support", "nitro-tpm-info.supported-versions", "nitro-tpm-support",
		"reboot-migration-support", "vcpu-info.valid-cores", "vcpu-info.valid-threads-per-core")
}

// decimal is a number as filters write it.
func decimal(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

func ebsFields() world.Fields[*ec2data.Type] {
	rate := func(f func(ebsRateXML) float64) func(*ec2data.Type) []string {
		return func(t *ec2data.Type) []string {
			if x := ebsAnswer(t).Optimized; x != nil {
				return []string{decimal(f(*x))}
			}
			return nil
		}
	}
	const within = "ebs-info.ebs-optimized-info."
	return world.Fields[*ec2data.Type]{
		"ebs-info.encryption-support":          world.One(func(t *ec2data.Type) string { return ebsAnswer(t).Encryption }),
		within + "baseline-bandwidth-in-mbps":  rate(func(x ebsRateXML) float64 { return float64(x.BaseMbps) }),
		within + "baseline-iops":               rate(func(x ebsRateXML) float64 { return float64(x.BaseIOPS) }),
		within + "baseline-throughput-in-mbps": rate(func(x ebsRateXML) float64 { return x.BaseMBps }),
		within + "maximum-bandwidth-in-mbps":   rate(func(x ebsRateXML) float64 { return float64(x.MaxMbps) }),
		within + "maximum-iops":                rate(func(x ebsRateXML) float64 { return float64(x.MaxIOPS) }),
		within + "maximum-throughput-in-mbps":  rate(func(x ebsRateXML) float64 { return x.MaxMBps }),
	}
}

func storageFields() world.Fields[*ec2data.Type] {
	of := func(f func(*ec2data.Storage) []string) func(*ec2data.Type) []string {
		return func(t *ec2data.Type) []string {
			if t.Storage == nil {
				return nil
			}
			return f(t.Storage)
		}
	}
	disk := func(f func(diskXML) string) func(*ec2data.Type) []string {
		return of(func(s *ec2data.Storage) (all []string) {
			for _, d := range storageAnswer(s).Disks {
				all = append(all, f(d))
			}
			return all
		})
	}
	return world.Fields[*ec2data.Type]{
		"instance-storage-info.disk.count":         disk(func(d diskXML) string { return strconv.Itoa(d.Count) }),
		"instance-storage-info.disk.size-in-gb":    disk(func(d diskXML) string { return strconv.FormatInt(d.SizeGB, 10) }),
		"instance-storage-info.disk.type":          disk(func(d diskXML) string { return d.Kind }),
		"instance-storage-info.encryption-support": of(func(s *ec2data.Storage) []string { return world.UnlessEmpty(s.Encryption) }),
		"instance-storage-info.nvme-support":       of(func(s *ec2data.Storage) []string { return world.UnlessEmpty(s.NVMe) }),
		"instance-storage-info.total-size-in-gb":   of(func(s *ec2data.Storage) []string { return []string{strconv.FormatInt(s.TotalGB, 10)} }),
	}
}
