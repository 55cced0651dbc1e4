package ec2data

// Type is one EC2 instance type. Zero means none, unknown or false, as the fact may be.
// Maps are keyed by region.
type Type struct {
	Name       string `json:"t"`
	Family     string `json:"fam"`  // m5d
	Size       string `json:"size"` // 2xlarge
	Category   string `json:"cat"`  // letters before the generation: m
	Generation int    `json:"gen"`

	VCPUs          int      `json:"vcpu"`
	Cores          int      `json:"cores"`
	MemoryMiB      int64    `json:"memMiB"` // nominal, before the hypervisor's share
	Architectures  []string `json:"arch"`   // in EC2's words: x86_64, arm64, i386 ...
	CPUMaker       string   `json:"cpuMfr"` // Intel, AMD, AWS, Apple
	ClockGHz       float64  `json:"ghz"`
	Hypervisor     string   `json:"hyp"` // nitro, xen; empty for bare metal
	BareMetal      bool     `json:"bare"`
	Burstable      bool     `json:"burst"`
	Current        bool     `json:"cur"`     // of the current generation
	Discontinued   bool     `json:"retired"` // no longer listed by AWS, still named by older manifests
	Usage          []string `json:"usage"`   // of on-demand, spot, capacity-block
	Virtualization []string `json:"virt"`
	RootDevices    []string `json:"root"`
	BootModes      []string `json:"boot"`

	ENIsMax           int           `json:"maxENI"`
	IPv4PerENI        int           `json:"ipv4PerENI"`
	IPv6PerENI        int           `json:"ipv6PerENI"`
	ENASupport        string        `json:"ena"`
	EFAInterfaces     int           `json:"efa"`
	EncryptsInTransit bool          `json:"encTransit"`
	NetworkText       string        `json:"netPerf"` // Up to 10 Gigabit
	NetworkBaseMbps   int64         `json:"netMbps"`
	NetworkPeakMbps   int64         `json:"netPeakMbps"`
	NetworkCards      []NetworkCard `json:"cards"`
	Trunking          bool          `json:"trunk"`
	BranchENIs        int           `json:"branchENI"`

	EBS             *EBS     `json:"ebs"` // nil where EBS bandwidth is not dedicated
	EBSOptimized    string   `json:"ebsOpt"`
	EBSNVMe         string   `json:"ebsNvme"`
	EBSAttachMax    int      `json:"ebsMaxAttach"`
	EBSAttachKind   string   `json:"ebsAttachKind"` // shared: interfaces and NVMe disks count too; dedicated
	Storage         *Storage `json:"disk"`          // nil without local disks
	PlacementGroups []string `json:"pg"`

	GPUs         []GPU         `json:"gpu"`
	Accelerators []Accelerator `json:"acc"`

	OnDemand         map[string]float64 `json:"od"`    // published dollars per hour
	OnDemandEstimate map[string]float64 `json:"odEst"` // where nothing is published
	Spot             map[string]float64 `json:"spot"`  // average dollars per hour
	Interruption     map[string]int     `json:"intr"`  // band 0 (below 5 % a month) to 4 (above 20 %)
	Zones            map[string]string  `json:"az"`    // letters of the zones that offer it: "abd"
}

// GPU is one model of graphics processor in an instance.
type GPU struct {
	Name      string  `json:"n"`
	Maker     string  `json:"mfr"`
	Count     int     `json:"count"`
	MemoryMiB int64   `json:"memMiB"` // of each
	Share     float64 `json:"part"`   // of one processor, where an instance gets less than one; else 0
}

// Accelerator is one model of inference, training, media or FPGA device.
type Accelerator struct {
	Kind        string `json:"kind"` // inference, neuron, fpga, media
	Name        string `json:"n"`
	Maker       string `json:"mfr"`
	Count       int    `json:"count"`
	MemoryMiB   int64  `json:"memMiB"` // of each
	Cores       int    `json:"cores"`  // of each neuron device
	CoreVersion int    `json:"coreVer"`
}

// EBS is what an instance gives to its volumes.
type EBS struct {
	BaseMbps int64 `json:"baseMbps"`
	MaxMbps  int64 `json:"maxMbps"`
	BaseIOPS int64 `json:"baseIops"`
	MaxIOPS  int64 `json:"maxIops"`
}

// Storage is an instance's local disks.
type Storage struct {
	TotalGB    int64  `json:"totalGB"`
	NVMe       string `json:"nvme"` // required, unsupported
	Encryption string `json:"enc"`
	Disks      []Disk `json:"disks"`
}

// HasUsage reports whether the type is offered under an option: on-demand, spot
// or capacity-block.
func (t *Type) HasUsage(option string) bool {
	for _, u := range t.Usage {
		if u == option {
			return true
		}
	}
	return false
}

// IsARM reports whether Linux on the type is arm64.
func (t *Type) IsARM() bool {
	return len(t.Architectures) > 0 && t.Architectures[0] == "arm64"
}
