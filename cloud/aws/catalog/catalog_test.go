package catalog

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/daemok/daemok/cloud/aws/capacity"
	"github.com/daemok/daemok/cloud/aws/measure"
	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/cloud/aws/price"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/quantity"
)

// m5Large is how EC2 describes m5.large.
func m5Large() types.InstanceTypeInfo {
	return types.InstanceTypeInfo{
		InstanceType: "m5.large", Hypervisor: types.InstanceTypeHypervisorNitro, BareMetal: aws.Bool(false),
		NitroEnclavesSupport:  types.NitroEnclavesSupportUnsupported,
		SupportedUsageClasses: []types.UsageClassType{types.UsageClassTypeOnDemand, types.UsageClassTypeSpot},
		ProcessorInfo: &types.ProcessorInfo{Manufacturer: aws.String("Intel"), SustainedClockSpeedInGhz: aws.Float64(3.1),
			SupportedArchitectures: []types.ArchitectureType{types.ArchitectureTypeX8664}},
		VCpuInfo:   &types.VCpuInfo{DefaultVCpus: aws.Int32(2)},
		MemoryInfo: &types.MemoryInfo{SizeInMiB: aws.Int64(8192)},
		EbsInfo: &types.EbsInfo{EbsOptimizedSupport: types.EbsOptimizedSupportDefault,
			EbsOptimizedInfo: &types.EbsOptimizedInfo{MaximumBandwidthInMbps: aws.Int32(4750)}},
		NetworkInfo: &types.NetworkInfo{MaximumNetworkInterfaces: aws.Int32(3), Ipv4AddressesPerInterface: aws.Int32(10),
			EncryptionInTransitSupported: aws.Bool(false), DefaultNetworkCardIndex: aws.Int32(0),
			NetworkCards: []types.NetworkCardInfo{{NetworkCardIndex: aws.Int32(0), MaximumNetworkInterfaces: aws.Int32(3),
				BaselineBandwidthInGbps: aws.Float64(0.75)}}},
	}
}

func with(change func(*types.InstanceTypeInfo)) types.InstanceTypeInfo {
	info := m5Large()
	change(&info)
	return info
}

func TestLabels(t *testing.T) {
	tests := map[string]struct {
		info types.InstanceTypeInfo
		want []string // key=value, or key! where absent
	}{
		"a plain type": {m5Large(), []string{
			"node.kubernetes.io/instance-type=m5.large", "kubernetes.io/arch=amd64", "kubernetes.io/os=linux",
			"topology.kubernetes.io/region=us-east-1", "karpenter.k8s.aws/instance-category=m",
			"karpenter.k8s.aws/instance-generation=5", "karpenter.k8s.aws/instance-family=m5",
			"karpenter.k8s.aws/instance-size=large", "karpenter.k8s.aws/instance-cpu=2",
			"karpenter.k8s.aws/instance-cpu-manufacturer=intel",
			"karpenter.k8s.aws/instance-cpu-sustained-clock-speed-mhz=3100", "karpenter.k8s.aws/instance-memory=8192",
			"karpenter.k8s.aws/instance-ebs-bandwidth=4750", "karpenter.k8s.aws/instance-network-bandwidth=750",
			"karpenter.k8s.aws/instance-hypervisor=nitro", "karpenter.k8s.aws/nitro-sandbox=false",
			"karpenter.k8s.aws/instance-encryption-in-transit-supported=false",
			"karpenter.k8s.aws/instance-capability-flex=false",
			"karpenter.k8s.aws/instance-local-nvme!", "karpenter.k8s.aws/instance-gpu-count!",
			"karpenter.k8s.aws/instance-accelerator-count!",
		}},
		"bare metal has an empty hypervisor": {
			with(func(i *types.InstanceTypeInfo) { i.Hypervisor, i.InstanceType = "", "m5.metal" }),
			[]string{"karpenter.k8s.aws/instance-hypervisor=", "karpenter.k8s.aws/instance-size=metal"}},
		"a flex family": {
			with(func(i *types.InstanceTypeInfo) { i.InstanceType = "c7i-flex.large" }),
			[]string{"karpenter.k8s.aws/instance-capability-flex=true", "karpenter.k8s.aws/instance-family=c7i-flex",
				"karpenter.k8s.aws/instance-category=c", "karpenter.k8s.aws/instance-generation=7"}},
		"high memory families name their size": {
			with(func(i *types.InstanceTypeInfo) { i.InstanceType = "u-6tb1.metal" }),
			[]string{"karpenter.k8s.aws/instance-category=u", "karpenter.k8s.aws/instance-generation=1"}},
		"a GPU": {
			with(func(i *types.InstanceTypeInfo) {
				i.GpuInfo = &types.GpuInfo{Gpus: []types.GpuDeviceInfo{{Name: aws.String("Radeon Pro V520"), Manufacturer: aws.String("AMD"),
					Count: aws.Int32(1), MemoryInfo: &types.GpuDeviceMemoryInfo{SizeInMiB: aws.Int32(8192)}}}}
			}),
			[]string{"karpenter.k8s.aws/instance-gpu-name=radeon-pro-v520", "karpenter.k8s.aws/instance-gpu-manufacturer=amd",
				"karpenter.k8s.aws/instance-gpu-count=1", "karpenter.k8s.aws/instance-gpu-memory=8192"}},
		"a part of a GPU": {
			with(func(i *types.InstanceTypeInfo) {
				i.GpuInfo = &types.GpuInfo{Gpus: []types.GpuDeviceInfo{{Name: aws.String("L4"), Manufacturer: aws.String("NVIDIA"),
					Count: aws.Int32(0), GpuPartitionSize: aws.Float64(0.125), MemoryInfo: &types.GpuDeviceMemoryInfo{SizeInMiB: aws.Int32(2861)}}}}
			}),
			[]string{"karpenter.k8s.aws/instance-gpu-name=l4", "karpenter.k8s.aws/instance-gpu-manufacturer=nvidia",
				"karpenter.k8s.aws/instance-gpu-count=0", "karpenter.k8s.aws/instance-gpu-memory=2861"}},
		"Gaudi is an accelerator": {
			with(func(i *types.InstanceTypeInfo) {
				i.GpuInfo = &types.GpuInfo{Gpus: []types.GpuDeviceInfo{{Name: aws.String("Gaudi HL-205"), Manufacturer: aws.String("Habana"), Count: aws.Int32(8)}}}
			}),
			[]string{"karpenter.k8s.aws/instance-accelerator-name=gaudi-hl-205", "karpenter.k8s.aws/instance-accelerator-count=8",
				"karpenter.k8s.aws/instance-accelerator-manufacturer=habana", "karpenter.k8s.aws/instance-gpu-count!"}},
		"local disks": {
			with(func(i *types.InstanceTypeInfo) {
				i.InstanceStorageInfo = &types.InstanceStorageInfo{TotalSizeInGB: aws.Int64(900), NvmeSupport: types.EphemeralNvmeSupportRequired}
			}),
			[]string{"karpenter.k8s.aws/instance-local-nvme=900"}},
		"disks that are no NVMe do not count": {
			with(func(i *types.InstanceTypeInfo) {
				i.InstanceStorageInfo = &types.InstanceStorageInfo{TotalSizeInGB: aws.Int64(900), NvmeSupport: types.EphemeralNvmeSupportUnsupported}
			}),
			[]string{"karpenter.k8s.aws/instance-local-nvme!"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := convert(tt.info, "us-east-1", nil).Labels
			for _, want := range tt.want {
				if key, absent := strings.CutSuffix(want, "!"); absent {
					if value, ok := got.Get(key); ok {
						t.Errorf("label %s = %q, want none", key, value)
					}
					continue
				}
				key, value, _ := strings.Cut(want, "=")
				if have, ok := got.Get(key); !ok || have != value {
					t.Errorf("label %s = %q (there: %v), want %q", key, have, ok, value)
				}
			}
		})
	}
}

// kubelet reads a kubelet's configuration for a table.
func kubelet(t *testing.T, document string) nodeclass.Kubelet {
	t.Helper()
	k, err := nodeclass.ParseKubelet([]byte(document))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestCapacity(t *testing.T) {
	settings := Settings{MemoryOverhead: 0.075}
	al2023 := nodeclass.Spec{Family: nodeclass.AL2023}
	root := func(f nodeclass.Family, name string, size int64, isRoot bool) nodeclass.Spec {
		return nodeclass.Spec{Family: f, BlockDevices: []nodeclass.BlockDevice{
			{DeviceName: name, Root: isRoot, EBS: &nodeclass.EBS{VolumeBytes: size << 30}},
			{DeviceName: "/dev/other", EBS: &nodeclass.EBS{VolumeBytes: 7 << 30}}}}
	}
	pods := func(f nodeclass.Family, document string) nodeclass.Spec {
		return nodeclass.Spec{Family: f, Kubelet: kubelet(t, document)}
	}
	prefixed := func(document string) nodeclass.Spec {
		return nodeclass.Spec{Family: nodeclass.AL2023, PodPrefixes: true, Kubelet: kubelet(t, document)}
	}
	cores := func(n int32) func(*types.InstanceTypeInfo) {
		return func(i *types.InstanceTypeInfo) { i.VCpuInfo.DefaultVCpus = aws.Int32(n) }
	}
	small := func(i *types.InstanceTypeInfo) {
		i.NetworkInfo.MaximumNetworkInterfaces, i.NetworkInfo.Ipv4AddressesPerInterface = aws.Int32(2), aws.Int32(4)
		i.NetworkInfo.NetworkCards[0].MaximumNetworkInterfaces = aws.Int32(2)
	}
	enclaving := func(i *types.InstanceTypeInfo) { i.NitroEnclavesSupport = types.NitroEnclavesSupportSupported }
	neuron := func(i *types.InstanceTypeInfo) {
		i.NeuronInfo = &types.NeuronInfo{NeuronDevices: []types.NeuronDeviceInfo{{Name: aws.String("Inferentia2"), Count: aws.Int32(6),
			CoreInfo: &types.NeuronDeviceCoreInfo{Count: aws.Int32(2)}}}}
	}
	gpus := func(maker string, n int32) types.InstanceTypeInfo {
		return with(func(i *types.InstanceTypeInfo) {
			i.GpuInfo = &types.GpuInfo{Gpus: []types.GpuDeviceInfo{{Name: aws.String("X"), Manufacturer: aws.String(maker), Count: aws.Int32(n)}}}
		})
	}
	fabric := func(adapters int32, cards ...int32) types.InstanceTypeInfo {
		return with(func(i *types.InstanceTypeInfo) {
			i.NetworkInfo.EfaInfo = &types.EfaInfo{MaximumEfaInterfaces: aws.Int32(adapters)}
			for _, card := range cards {
				i.NetworkInfo.NetworkCards = append(i.NetworkInfo.NetworkCards, types.NetworkCardInfo{NetworkCardIndex: aws.Int32(card), MaximumNetworkInterfaces: aws.Int32(2)})
			}
		})
	}
	listed := nodeclass.Spec{Family: nodeclass.AL2023, Interfaces: []nodeclass.Interface{{Type: "interface"}, {Card: 1, Device: 1, Type: "efa-only"}}}
	seen := func(image string, memory quantity.Bytes) Settings {
		book := measure.New(time.Now)
		book.Saw("m5.large", image, memory)
		return Settings{MemoryOverhead: 0.075, Measured: book.View()}
	}
	sized := func(gib int64) types.InstanceTypeInfo {
		return with(func(i *types.InstanceTypeInfo) { i.MemoryInfo.SizeInMiB = aws.Int64(gib << 10) })
	}
	keeping := func(share float64) nodeclass.Spec {
		return nodeclass.Spec{Family: nodeclass.AL2023, MemoryOverhead: &share}
	}
	tests := map[string]struct {
		info     types.InstanceTypeInfo
		spec     nodeclass.Spec
		settings Settings
		resource string
		want     int64
	}{
		"cpu is in thousandths":                     {m5Large(), al2023, settings, "cpu", 2000},
		"memory lacks the hypervisor's share":       {m5Large(), al2023, settings, "memory", (8192 - 615) << 20},
		"arm64 keeps 64 MiB more":                   {with(arm), al2023, settings, "memory", (8128 - 610) << 20},
		"no overhead when set to zero":              {m5Large(), al2023, Settings{}, "memory", 8192 << 20},
		"large types keep a smaller share":          {sized(384), al2023, settings, "memory", (384<<10 - 20841) << 20},
		"just below that the usual one":             {sized(383), al2023, settings, "memory", (383<<10 - 29415) << 20},
		"a share that is set is that of all sizes":  {sized(384), al2023, Settings{MemoryOverhead: 0.07}, "memory", (384<<10 - 27526) << 20},
		"a class's own share goes before it":        {sized(384), keeping(0.03), Settings{MemoryOverhead: 0.07}, "memory", (384<<10 - 11797) << 20},
		"a class whose machines keep nothing":       {m5Large(), keeping(0), settings, "memory", 8192 << 20},
		"what machines showed goes before that":     {m5Large(), keeping(0.03), seen("ami-1", 7700<<20), "memory", 7700 << 20},
		"SC-465 memory as machines showed it":       {m5Large(), al2023, seen("ami-1", 7700<<20), "memory", 7700 << 20},
		"SC-465 less than was estimated":            {m5Large(), al2023, seen("ami-1", 7000<<20), "memory", 7000 << 20},
		"SC-465 of another image: estimated":        {m5Large(), al2023, seen("ami-0", 7700<<20), "memory", (8192 - 615) << 20},
		"more than there is was misread":            {m5Large(), al2023, seen("ami-1", 9000<<20), "memory", 8192 << 20},
		"pods by addresses":                         {m5Large(), al2023, settings, "pods", 29},
		"reserved interfaces hold no pods":          {m5Large(), al2023, Settings{ReservedENIs: 1}, "pods", 20},
		"more reserved than there are":              {m5Large(), al2023, Settings{ReservedENIs: 9}, "pods", 2},
		"efa-only interfaces hold no pods":          {m5Large(), nodeclass.Spec{Family: nodeclass.AL2023, Interfaces: []nodeclass.Interface{{Type: "interface"}, {Device: 1, Type: "efa-only"}}}, settings, "pods", 20},
		"prefixes hold more pods, by advice":        {m5Large(), prefixed(``), settings, "pods", 110},
		"and more on many cores":                    {with(cores(30)), prefixed(``), settings, "pods", 250},
		"just below that not":                       {with(cores(29)), prefixed(``), settings, "pods", 110},
		"few prefixes hold fewer":                   {with(small), prefixed(``), settings, "pods", 2*3*16 + 2},
		"prefixes of reserved interfaces hold none": {with(small), prefixed(``), Settings{ReservedENIs: 1}, "pods", 3*16 + 2},
		"Xen takes no prefixes":                     {with(func(i *types.InstanceTypeInfo) { i.Hypervisor = types.InstanceTypeHypervisorXen }), prefixed(``), settings, "pods", 29},
		"prefixes mean nothing to Windows":          {m5Large(), nodeclass.Spec{Family: nodeclass.Windows2022, PodPrefixes: true}, settings, "pods", 110},
		"prefixes, and pods as configured":          {m5Large(), prefixed(`{"maxPods":200}`), settings, "pods", 200},
		"pods as configured":                        {m5Large(), pods(nodeclass.AL2023, `{"maxPods":7}`), settings, "pods", 7},
		"pods by core cap the rest":                 {m5Large(), pods(nodeclass.AL2023, `{"podsPerCore":4}`), settings, "pods", 8},
		"pods by core of zero mean none are set":    {m5Large(), pods(nodeclass.AL2023, `{"podsPerCore":0}`), settings, "pods", 29},
		"Bottlerocket has no pods by core":          {m5Large(), pods(nodeclass.Bottlerocket, `{"podsPerCore":4}`), settings, "pods", 29},
		"Windows holds 110 pods":                    {m5Large(), nodeclass.Spec{Family: nodeclass.Windows2022}, settings, "pods", 110},
		"Windows counts addresses":                  {m5Large(), nodeclass.Spec{Family: nodeclass.Windows2022}, settings, "vpc.amazonaws.com/PrivateIPv4Address", 9},
		"disk is 20 GiB where nothing is said":      {m5Large(), al2023, settings, "ephemeral-storage", 20 << 30},
		"disk of the family's device":               {m5Large(), root(nodeclass.AL2023, "/dev/xvda", 50, false), settings, "ephemeral-storage", 50 << 30},
		"Bottlerocket's data lies on its second":    {m5Large(), root(nodeclass.Bottlerocket, "/dev/xvdb", 50, false), settings, "ephemeral-storage", 50 << 30},
		"disk of the device that is called root":    {m5Large(), root(nodeclass.AL2023, "/dev/sdz", 50, true), settings, "ephemeral-storage", 50 << 30},
		"custom images use their last device":       {m5Large(), root(nodeclass.Custom, "/dev/sdz", 50, false), settings, "ephemeral-storage", 7 << 30},
		"local disks joined":                        {with(localDisk), nodeclass.Spec{Family: nodeclass.AL2023, InstanceStore: nodeclass.RAID0}, settings, "ephemeral-storage", 900e9},
		"Windows joins no local disks":              {with(localDisk), nodeclass.Spec{Family: nodeclass.Windows2022, InstanceStore: nodeclass.RAID0}, settings, "ephemeral-storage", 50 << 30},
		"local disks not joined":                    {with(localDisk), al2023, settings, "ephemeral-storage", 20 << 30},
		"SC-457 GPUs of NVIDIA":                     {gpus("NVIDIA", 4), al2023, settings, "nvidia.com/gpu", 4},
		"SC-457 which are not AMD's":                {gpus("NVIDIA", 4), al2023, settings, "amd.com/gpu", 0},
		"SC-457 GPUs of AMD":                        {gpus("AMD", 2), al2023, settings, "amd.com/gpu", 2},
		"SC-457 Gaudi":                              {gpus("Habana", 8), al2023, settings, "habana.ai/gaudi", 8},
		"SC-457 Gaudi is no GPU":                    {gpus("Habana", 8), al2023, settings, "nvidia.com/gpu", 0},
		"SC-457 EFA on each card":                   {fabric(2, 1), al2023, settings, "vpc.amazonaws.com/efa", 2},
		"SC-446 EFA as the class lists it":          {fabric(4, 1, 2, 3), listed, settings, "vpc.amazonaws.com/efa", 1},
		"SC-446 none where the class lists none":    {fabric(2, 1), nodeclass.Spec{Family: nodeclass.AL2023, Interfaces: listed.Interfaces[:1]}, settings, "vpc.amazonaws.com/efa", 0},
		"Neuron devices":                            {with(neuron), al2023, settings, "aws.amazon.com/neuron", 6},
		"Neuron cores":                              {with(neuron), al2023, settings, "aws.amazon.com/neuroncore", 12},
		"SC-452 enclaves where the type has them":   {with(enclaving), al2023, settings, ResourceEnclaves, 1},
		"SC-452 none where it has none":             {m5Large(), al2023, settings, ResourceEnclaves, 0},
		"SC-452 none on Windows":                    {with(enclaving), nodeclass.Spec{Family: nodeclass.Windows2022}, settings, ResourceEnclaves, 0},
		"SC-452 none by a launch template":          {with(enclaving), nodeclass.Spec{Family: nodeclass.AL2023, LaunchTemplate: "own"}, settings, ResourceEnclaves, 0},
		"no GPU, no resource":                       {m5Large(), al2023, settings, "nvidia.com/gpu", 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := capacityOf(convert(tt.info, "us-east-1", nil), tt.spec, "ami-1", tt.settings)
			if got.Get(tt.resource) != tt.want {
				t.Errorf("%s = %d, want %d", tt.resource, got.Get(tt.resource), tt.want)
			}
		})
	}
}

func TestInterfacesOfPods(t *testing.T) {
	trunk := convert(m5Large(), "us-east-1", nil)
	trunk.BranchENIs = 9
	for name, tt := range map[string]struct {
		spec nodeclass.Spec
		want int64
	}{
		"as many as the type has": {nodeclass.Spec{Family: nodeclass.AL2}, 9},
		"none where none are to":  {nodeclass.Spec{Family: nodeclass.AL2, NoPodInterfaces: true}, 0},
		"none on Windows":         {nodeclass.Spec{Family: nodeclass.Windows2022}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			got := capacityOf(trunk, tt.spec, "ami-1", Settings{})
			if n := got.Get("vpc.amazonaws.com/pod-eni"); n != tt.want {
				t.Errorf("pods may have %d interfaces, want %d", n, tt.want)
			}
		})
	}
}

func arm(i *types.InstanceTypeInfo) {
	i.ProcessorInfo.SupportedArchitectures = []types.ArchitectureType{types.ArchitectureTypeArm64}
}

func localDisk(i *types.InstanceTypeInfo) {
	i.InstanceStorageInfo = &types.InstanceStorageInfo{TotalSizeInGB: aws.Int64(900), NvmeSupport: types.EphemeralNvmeSupportRequired}
}

func TestAllocatable(t *testing.T) {
	const standard = 8192 - 615 - 574 - 100 // MiB: capacity, 11*29+255 for the kubelet, 100 for eviction
	tests := map[string]struct {
		family   nodeclass.Family
		kubelet  string
		resource string
		want     int64
	}{
		"cpu less 60m and 10m":                   {nodeclass.AL2023, `{}`, "cpu", 1930},
		"memory less the usual shares":           {nodeclass.AL2023, `{}`, "memory", standard << 20},
		"disk less 1 GiB and a tenth":            {nodeclass.AL2023, `{}`, "ephemeral-storage", 17 << 30},
		"pods are not reserved":                  {nodeclass.AL2023, `{}`, "pods", 29},
		"maxPods does not change AL2023's share": {nodeclass.AL2023, `{"maxPods":5}`, "memory", standard << 20},
		"maxPods does change Bottlerocket's":     {nodeclass.Bottlerocket, `{"maxPods":5}`, "memory", (8192 - 615 - 310 - 100) << 20},
		"what the user reserves counts instead":  {nodeclass.AL2023, `{"kubeReserved":{"cpu":"500m"}}`, "cpu", 1500},
		"other keys stay":                        {nodeclass.AL2023, `{"kubeReserved":{"cpu":"500m"}}`, "memory", standard << 20},
		"the system's share comes on top":        {nodeclass.AL2023, `{"systemReserved":{"cpu":"100m","pid":"100"}}`, "cpu", 1830},
		"a hard threshold as an amount":          {nodeclass.AL2023, `{"evictionHard":{"memory.available":"300Mi"}}`, "memory", (standard - 200) << 20},
		"a hard threshold as a share":            {nodeclass.AL2023, `{"evictionHard":{"nodefs.available":"50%"}}`, "ephemeral-storage", 9 << 30},
		"a threshold of 100% is none":            {nodeclass.AL2023, `{"evictionHard":{"memory.available":"100%"}}`, "memory", (standard + 100) << 20},
		"soft thresholds do not count":           {nodeclass.AL2023, `{"evictionSoft":{"memory.available":"4Gi"}}`, "memory", standard << 20},
		"never below zero":                       {nodeclass.AL2023, `{"kubeReserved":{"memory":"1Ti"}}`, "memory", 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			spec := nodeclass.Spec{Family: tt.family, Kubelet: kubelet(t, tt.kubelet)}
			typ := convert(m5Large(), "us-east-1", nil)
			got := allocatable(typ, spec, capacityOf(typ, spec, "ami-1", Settings{MemoryOverhead: 0.075}))
			if got.Get(tt.resource) != tt.want {
				t.Errorf("%s = %s, want %s", tt.resource, quantity.FormatAmount(tt.resource, got.Get(tt.resource)),
					quantity.FormatAmount(tt.resource, tt.want))
			}
		})
	}
}

func TestReservedCPU(t *testing.T) {
	for cpus, want := range map[int64]quantity.MilliCPU{1: 60, 2: 70, 4: 80, 8: 90, 64: 230, 96: 310} {
		if got := reservedCPU(cpus); got != want {
			t.Errorf("reservedCPU(%d) = %s, want %s", cpus, got, want)
		}
	}
}

type usd map[string]float64

func (u usd) OnDemandUSD(kind string) (float64, bool) { p, ok := u[kind]; return p, ok }
func (u usd) SpotUSD(kind string) (float64, bool)     { p, ok := u[kind]; return p / 2, ok }

func testTypes() []Type {
	gpu := with(func(i *types.InstanceTypeInfo) {
		i.InstanceType = "g4dn.xlarge"
		i.GpuInfo = &types.GpuInfo{Gpus: []types.GpuDeviceInfo{{Name: aws.String("T4"), Manufacturer: aws.String("NVIDIA"), Count: aws.Int32(1)}}}
	})
	graviton := with(func(i *types.InstanceTypeInfo) {
		arm(i)
		i.InstanceType, i.SupportedUsageClasses = "m6g.large", []types.UsageClassType{types.UsageClassTypeOnDemand}
	})
	var out []Type
	for _, i := range []types.InstanceTypeInfo{gpu, m5Large(), graviton} {
		t := convert(i, "us-east-1", nil)
		t.Zones = []string{"us-east-1a", "us-east-1b"}
		out = append(out, t)
	}
	return out
}

func testClass() nodeclass.Class {
	arch := func(a string) constraint.Requirements {
		return constraint.NewRequirements(constraint.Requirement{Key: cluster.LabelArch, Set: constraint.Values(a)})
	}
	return nodeclass.Class{Name: "default", Spec: nodeclass.Spec{Family: nodeclass.AL2023}, Resolved: nodeclass.Resolved{
		Subnets: []nodeclass.Subnet{
			{ID: "subnet-b", Zone: "us-east-1b", ZoneID: "use1-az2"}, {ID: "subnet-a1", Zone: "us-east-1a", ZoneID: "use1-az1"},
			{ID: "subnet-a2", Zone: "us-east-1a", ZoneID: "use1-az1"}, {ID: "subnet-z", Zone: "us-east-1z", ZoneID: "use1-az9"},
		},
		Images: []nodeclass.Image{{ID: "ami-arm", Requirements: arch("arm64")}, {ID: "ami-x86", Requirements: arch("amd64")}},
	}}
}

func TestKindsFollowTheImages(t *testing.T) {
	all, class := testTypes(), testClass()
	kinds := For(all, class, Settings{})
	if len(kinds.InstanceTypes) != 3 {
		t.Fatalf("got %d kinds, want 3", len(kinds.InstanceTypes))
	}
	if s, ok := kinds.Setup("m6g.large"); !ok || class.Resolved.Images[s.Image].ID != "ami-arm" || s.MaxPods != 29 {
		t.Errorf("Setup(m6g.large) = %+v, %v", s, ok)
	}
	class.Resolved.Images = class.Resolved.Images[:1]
	only := For(all, class, Settings{})
	if len(only.InstanceTypes) != 1 || only.InstanceTypes[0].Name != "m6g.large" {
		t.Errorf("with an arm64 image alone the kinds are %v", names(only.InstanceTypes))
	}
	if _, ok := only.Setup("m5.large"); ok {
		t.Error("Setup(m5.large) exists though no image boots it")
	}
	if &only.InstanceTypes[0].Labels[0] != &kinds.InstanceTypes[2].Labels[0] {
		t.Error("two classes do not share the labels of a type")
	}
}

// Instances of classes of the v1alpha5 API have labels of its own, and others have not.
func TestOlderLabels(t *testing.T) {
	class := testClass()
	class.Spec.OlderLabels = true
	all := testTypes()
	all[0].Accelerator.MemoryMiB = 8192
	instanceType, plain := For(all, class, Settings{}).InstanceTypes[0], For(all, testClass(), Settings{}).InstanceTypes[0]
	for key, want := range map[string]string{"instance-pods": "29", "instance-accelerator-memory": "8192", "instance-ami-id": "ami-x86"} {
		if got, _ := instanceType.Labels.Get("karpenter.k8s.aws/" + key); got != want {
			t.Errorf("%s of %s is %q, want %q", key, instanceType.Name, got, want)
		}
		if got, has := plain.Labels.Get("karpenter.k8s.aws/" + key); has {
			t.Errorf("%s is %q on machines of another class", key, got)
		}
	}
	if pods, _ := For(all[1:], class, Settings{}).InstanceTypes[0].Labels.Get("karpenter.k8s.aws/instance-accelerator-memory"); pods != "" {
		t.Errorf("a machine without accelerators has %s MiB of them", pods)
	}
}

func TestTypesThatCannotDoWhatTheClassNeedsAreLeftOut(t *testing.T) {
	plain := convert(m5Large(), "us-east-1", nil)
	xen := convert(with(func(i *types.InstanceTypeInfo) { i.Hypervisor = types.InstanceTypeHypervisorXen }), "us-east-1", nil)
	efa := convert(with(func(i *types.InstanceTypeInfo) {
		i.NetworkInfo.EfaInfo = &types.EfaInfo{MaximumEfaInterfaces: aws.Int32(1)}
		i.NetworkInfo.NetworkCards = append(i.NetworkInfo.NetworkCards, types.NetworkCardInfo{NetworkCardIndex: aws.Int32(1), MaximumNetworkInterfaces: aws.Int32(1)})
		i.ProcessorInfo.SupportedFeatures = []types.SupportedAdditionalProcessorFeature{types.SupportedAdditionalProcessorFeatureNestedVirtualization}
	}), "us-east-1", nil)
	first := convert(with(func(i *types.InstanceTypeInfo) { arm(i); i.InstanceType = "a1.large" }), "us-east-1", nil)
	old := convert(with(func(i *types.InstanceTypeInfo) { i.EbsInfo.EncryptionSupport = types.EbsEncryptionSupportUnsupported }), "us-east-1", nil)
	layout := func(list ...nodeclass.Interface) nodeclass.Spec { return nodeclass.Spec{Interfaces: list} }
	primary := nodeclass.Interface{Type: "interface"}
	tests := map[string]struct {
		typ  Type
		spec nodeclass.Spec
		want bool
	}{
		"nothing special":                        {xen, nodeclass.Spec{}, true},
		"SC-466 a1 under AL2023":                 {first, nodeclass.Spec{Family: nodeclass.AL2023}, false},
		"encrypted volumes where they can be":    {plain, nodeclass.Spec{Family: nodeclass.AL2023}, true},
		"encrypted volumes where they cannot be": {old, nodeclass.Spec{Family: nodeclass.AL2023}, false},
		"plain volumes where none is encrypted":  {old, nodeclass.Spec{Family: nodeclass.Custom}, true},
		"SC-466 a1 under AL2":                    {first, nodeclass.Spec{Family: nodeclass.AL2}, true},
		"connection tracking on Nitro":           {plain, nodeclass.Spec{Tracking: &nodeclass.Tracking{}}, true},
		"connection tracking on Xen":             {xen, nodeclass.Spec{Tracking: &nodeclass.Tracking{}}, false},
		"prefixes on Nitro":                      {plain, nodeclass.Spec{IPPrefixes: aws.Int32(1)}, true},
		"prefixes on Xen":                        {xen, nodeclass.Spec{IPPrefixes: aws.Int32(1)}, false},
		"no prefixes on Xen":                     {xen, nodeclass.Spec{IPPrefixes: aws.Int32(0)}, true},
		"nested machines where they are":         {efa, nodeclass.Spec{NestedVirtual: "enabled"}, true},
		"nested machines where they are not":     {plain, nodeclass.Spec{NestedVirtual: "enabled"}, false},
		"nested machines not wanted":             {plain, nodeclass.Spec{NestedVirtual: "disabled"}, true},
		"two interfaces on one card":             {plain, layout(primary, nodeclass.Interface{Device: 1, Type: "interface"}), true},
		"a second card that is not there":        {plain, layout(primary, nodeclass.Interface{Card: 1, Type: "interface"}), false},
		"EFA on a second card":                   {efa, layout(primary, nodeclass.Interface{Card: 1, Device: 1, Type: "efa-only"}), true},
		"EFA on a type without":                  {plain, layout(primary, nodeclass.Interface{Device: 1, Type: "efa-only"}), false},
		"more interfaces than the card has":      {efa, layout(primary, nodeclass.Interface{Card: 1, Type: "interface"}, nodeclass.Interface{Card: 1, Device: 1, Type: "interface"}), false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tt.typ.supports(nodeclass.Class{Spec: tt.spec}); got != tt.want {
				t.Errorf("supports = %v, want %v", got, tt.want)
			}
		})
	}
}

func TestOfferings(t *testing.T) {
	clock := func() time.Time { return time.Time{} }
	memory := capacity.New(clock)
	memory.AddOffering("m5.large", "us-east-1a", cluster.Spot, "")
	memory.AddSubnet("subnet-a1") // the zone has another
	memory.AddSubnet("subnet-b")  // the zone has none
	class := testClass()
	prices := price.New(usd{"m5.large": 0.096, "m6g.large": 0.077}).View()
	offered := For(testTypes(), class, Settings{}).Offered(class, Market{Prices: prices, Short: memory.View(), Free: func(string) (int64, bool) { return 3, true }})

	var got []string
	for _, k := range offered {
		for _, o := range k.Offerings {
			word := "not available"
			if o.Available {
				word = "available"
			}
			if full := strings.Contains(o.Why, "too few free addresses in subnet-b of us-east-1b (3 free, a node takes 1)"); full != (o.Zone == "us-east-1b") {
				t.Errorf("%s in %s is unavailable because of %q", k.Name, o.Zone, o.Why)
			}
			if !o.Priced {
				word += ", no price"
			}
			if tenancy, _ := o.Labels.Get(nodeclass.LabelTenancy); tenancy != nodeclass.TenancyDefault {
				word += ", " + tenancy
			}
			got = append(got, strings.Join([]string{k.Name, o.Zone, string(o.Option), o.Price.String(), word}, " "))
		}
	}
	want := []string{
		"g4dn.xlarge us-east-1a on-demand $0.000000/h not available, no price",
		"g4dn.xlarge us-east-1a on-demand $0.000000/h not available, no price, dedicated",
		"g4dn.xlarge us-east-1a spot $0.000000/h not available, no price",
		"g4dn.xlarge us-east-1a spot $0.000000/h not available, no price, dedicated",
		"g4dn.xlarge us-east-1b on-demand $0.000000/h not available, no price",
		"g4dn.xlarge us-east-1b on-demand $0.000000/h not available, no price, dedicated",
		"g4dn.xlarge us-east-1b spot $0.000000/h not available, no price",
		"g4dn.xlarge us-east-1b spot $0.000000/h not available, no price, dedicated",
		"m5.large us-east-1a on-demand $0.096000/h available",
		"m5.large us-east-1a on-demand $0.096000/h available, dedicated",
		"m5.large us-east-1a spot $0.048000/h not available",
		"m5.large us-east-1a spot $0.048000/h not available, dedicated",
		"m5.large us-east-1b on-demand $0.096000/h not available",
		"m5.large us-east-1b on-demand $0.096000/h not available, dedicated",
		"m5.large us-east-1b spot $0.048000/h not available",
		"m5.large us-east-1b spot $0.048000/h not available, dedicated",
		"m6g.large us-east-1a on-demand $0.077000/h available",
		"m6g.large us-east-1a on-demand $0.077000/h available, dedicated",
		"m6g.large us-east-1b on-demand $0.077000/h not available",
		"m6g.large us-east-1b on-demand $0.077000/h not available, dedicated",
	}
	if !slices.Equal(got, want) {
		t.Errorf("offers:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if zone, _ := offered[1].Offerings[0].Labels.Get("topology.k8s.aws/zone-id"); zone != "use1-az1" {
		t.Errorf("zone id of an offer in us-east-1a = %q, want use1-az1", zone)
	}
}

func names(instanceTypes []cluster.InstanceType) []string {
	var out []string
	for _, k := range instanceTypes {
		out = append(out, k.Name)
	}
	return out
}

// pagesOf serves types and offerings in pages of one.
type pagesOf struct {
	infos     []types.InstanceTypeInfo
	offerings []types.InstanceTypeOffering
}

func (p pagesOf) DescribeInstanceTypes(_ context.Context, in *ec2.DescribeInstanceTypesInput, _ ...func(*ec2.Options)) (*ec2.DescribeInstanceTypesOutput, error) {
	i, next := page(in.NextToken, len(p.infos))
	return &ec2.DescribeInstanceTypesOutput{InstanceTypes: p.infos[i : i+1], NextToken: next}, nil
}

func (p pagesOf) DescribeInstanceTypeOfferings(_ context.Context, in *ec2.DescribeInstanceTypeOfferingsInput, _ ...func(*ec2.Options)) (*ec2.DescribeInstanceTypeOfferingsOutput, error) {
	i, next := page(in.NextToken, len(p.offerings))
	return &ec2.DescribeInstanceTypeOfferingsOutput{InstanceTypeOfferings: p.offerings[i : i+1], NextToken: next}, nil
}

func page(token *string, n int) (int, *string) {
	i := len(aws.ToString(token))
	if i+1 == n {
		return i, nil
	}
	return i, aws.String(strings.Repeat("x", i+1))
}

func TestReadTakesAllPages(t *testing.T) {
	none := with(func(i *types.InstanceTypeInfo) { i.InstanceType, i.SupportedUsageClasses = "m0.large", nil })
	block := with(func(i *types.InstanceTypeInfo) {
		i.InstanceType, i.SupportedUsageClasses = "p6.huge", []types.UsageClassType{types.UsageClassTypeCapacityBlock}
	})
	small := with(func(i *types.InstanceTypeInfo) { i.InstanceType = "a1.tiny" })
	got, err := Read(t.Context(), pagesOf{
		infos: []types.InstanceTypeInfo{m5Large(), none, block, small},
		offerings: []types.InstanceTypeOffering{
			{InstanceType: "m5.large", Location: aws.String("us-east-1b")}, {InstanceType: "m5.large", Location: aws.String("us-east-1a")},
		},
	}, "us-east-1", nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 3 || got[0].Name != "a1.tiny" || got[1].Name != "m5.large" || got[2].Name != "p6.huge" {
		t.Fatalf("Read = %+v, want a1.tiny, m5.large and p6.huge: what is sold in no way is left out", got)
	}
	if !slices.Equal(got[1].Zones, []string{"us-east-1a", "us-east-1b"}) || got[0].Zones != nil {
		t.Errorf("zones = %v and %v", got[1].Zones, got[0].Zones)
	}
}

// What is offered in capacity blocks alone is there for classes that have a block of it.
func TestTypesOfCapacityBlocks(t *testing.T) {
	block := Type{Name: "p6.huge", Arch: "amd64", CPUs: 2, MemoryMiB: 8192, Blocks: true, Zones: []string{"us-east-1a"}}
	class := testClass()
	class.Resolved.Images = []nodeclass.Image{{ID: "ami-1"}}
	if k := For([]Type{block}, class, Settings{}); len(k.InstanceTypes) != 0 {
		t.Errorf("without a block the class becomes %v", names(k.InstanceTypes))
	}
	class.Resolved.Reservations = []nodeclass.Reservation{{ID: "cr-1", Kind: "p6.huge", Zone: "us-east-1a", Block: true}}
	k := For([]Type{block}, class, Settings{})
	if len(k.InstanceTypes) != 1 {
		t.Fatalf("with a block the class becomes %v, want p6.huge", names(k.InstanceTypes))
	}
	if offerings := k.Offered(class, Market{})[0].Offerings; len(offerings) != 1 || offerings[0].Reservation() != "cr-1" {
		t.Errorf("offers %+v, want that of the block alone", offerings)
	}
}

// A type for which an expression has no amount is left out, and counted; what other types
// keep for the kubelet is not for pods.
func TestExpressionsOfTheKubelet(t *testing.T) {
	any := nodeclass.Image{ID: "ami-1"}
	class := func(document string) nodeclass.Class {
		kubelet, err := nodeclass.ParseKubelet([]byte(document))
		if err != nil {
			t.Fatal(err)
		}
		return nodeclass.Class{Spec: nodeclass.Spec{Family: nodeclass.AL2023, Kubelet: kubelet}, Resolved: nodeclass.Resolved{Images: []nodeclass.Image{any}}}
	}
	all := []Type{
		{Name: "small", Arch: "amd64", CPUs: 2, MemoryMiB: 8192, ENIs: 3, AddressesByENI: 10},
		{Name: "wide", Arch: "amd64", CPUs: 8, MemoryMiB: 8192, ENIs: 3, AddressesByENI: 10},
	}
	k := For(all, class(`{"maxPods":"(vcpus - 4) * 10","systemReserved":{"cpu":"vcpus * 100"}}`), Settings{})
	if len(k.InstanceTypes) != 1 || k.InstanceTypes[0].Name != "wide" || k.Setups[0].MaxPods != 40 || k.InstanceTypes[0].Capacity.Pods != 40 {
		t.Errorf("kinds %+v, set up as %+v; want wide alone, for 40 pods", k.InstanceTypes, k.Setups)
	}
	if free := k.InstanceTypes[0].Allocatable.CPU; free != 8000-800-90 {
		t.Errorf("pods get %d thousandths of a core, want 8000 less 800 for the system and 90 for the kubelet", free)
	}
	if u := k.Unsized; u.Types != 1 || u.Of != 2 || u.First != "small" || !strings.Contains(u.Why.Error(), "kubelet.maxPods") {
		t.Errorf("left out: %+v; want small, for its maxPods", u)
	}
	if k := For(all, class(`{"maxPods":"max_pods + 1"}`), Settings{ReservedENIs: 1}); k.Crowded.Types != len(k.InstanceTypes) || k.Crowded.Pods != k.Crowded.Addresses+1 || k.Crowded.First != k.InstanceTypes[0].Name {
		t.Errorf("%+v run more pods than they have addresses for, want all of them, by one", k.Crowded)
	}
	if k := For(all, class(`{"maxPods":"max_pods"}`), Settings{ReservedENIs: 1}); k.Crowded.Types != 0 || k.Crowded.Of != len(k.InstanceTypes) {
		t.Errorf("%+v run more pods than they have addresses for, want none", k.Crowded)
	}
	nitro := []Type{all[0]}
	nitro[0].Nitro = true
	prefixed := class(``)
	prefixed.Spec.PodPrefixes = true
	if k := For(nitro, prefixed, Settings{}); k.Setups[0].MaxPods != 110 || k.InstanceTypes[0].Allocatable.Pods != 110 || k.InstanceTypes[0].Allocatable.Memory != (8192-11*29-255-100)<<20 || k.Crowded.Types != 0 {
		t.Errorf("with prefixes %+v are set up as %+v; want 110 pods, and memory kept as images do, for 29", k.InstanceTypes, k.Setups)
	}
	if k := For(all, class(`{"maxPods":"max_pods + 1"}`), Settings{ReservedENIs: 1}); k.Setups[0].MaxPods != 21 || k.Unsized.Types != 0 {
		t.Errorf("set up as %+v; want 21 pods, one more than two interfaces have addresses for", k.Setups)
	}
}

// The network plugin gives out addresses of IPv6 by prefix alone, and that on Nitro.
func TestTypesOtherThanNitroAreLeftOutWherePodsHaveIPv6(t *testing.T) {
	all := testTypes()
	xen := all[0]
	xen.Name, xen.Nitro = "xen", false
	all = append(all, xen)
	for ipv6, want := range map[bool]int{false: 1, true: 0} {
		kinds := For(all, testClass(), Settings{IPv6: ipv6})
		found := 0
		for _, k := range kinds.InstanceTypes {
			if k.Name == "xen" {
				found++
			}
		}
		if found != want || len(kinds.InstanceTypes) <= found {
			t.Errorf("IPv6 %v: %d kinds, %d of which are not Nitro's; want %d of them, and others", ipv6, len(kinds.InstanceTypes), found, want)
		}
	}
}

// Which limit of vCPUs a type counts against, as AWS lists the families.
func TestTypesCountAgainstALimit(t *testing.T) {
	for group, kinds := range map[string][]string{
		"Standard": {"a1.large", "c7gn.large", "d3en.xlarge", "h1.2xlarge", "i4i.large", "im4gn.large", "is4gen.large", "m5.metal", "r8g.large", "t3a.nano", "z1d.large", "c7i-flex.large"},
		"G and VT": {"g4dn.xlarge", "gr6.4xlarge", "vt1.3xlarge"}, "P": {"p5.48xlarge"}, "F": {"f2.6xlarge"}, "X": {"x2iedn.xlarge", "x8g.large"},
		"High Memory": {"u-6tb1.metal", "u7i-12tb.224xlarge"}, "HPC": {"hpc7g.4xlarge"}, "Inf": {"inf2.xlarge"}, "Trn": {"trn1.2xlarge"}, "DL": {"dl1.24xlarge"},
		"mac2": {"mac2.metal"},
	} {
		for _, kind := range kinds {
			if got := quotaOf(kind); got.OnDemand != group {
				t.Errorf("%s counts against %q, want %q", kind, got, group)
			}
		}
	}
}

// A limit that is reached makes what counts against it unavailable in every zone.
func TestOfferingsBeyondALimitAreNotAvailable(t *testing.T) {
	memory := capacity.New(func() time.Time { return time.Time{} })
	types := testTypes()
	for i := range types {
		types[i].Quota = quotaOf(types[i].Name)
	}
	memory.AddQuota("Standard", types[1].CPUs, cluster.OnDemand)
	prices := price.New(usd{"m5.large": 0.096, "g4dn.xlarge": 0.526}).View()
	for _, k := range For(types, testClass(), Settings{}).Offered(testClass(), Market{Prices: prices, Short: memory.View()}) {
		for _, o := range k.Offerings {
			if want := o.Priced && !(quotaOf(k.Name).OnDemand == "Standard" && o.Option == cluster.OnDemand); o.Available != want {
				t.Errorf("%s %s %s: available = %v, want %v", k.Name, o.Zone, o.Option, o.Available, want)
			}
		}
	}
}
