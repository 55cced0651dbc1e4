// Package catalog lists the instance types that a class can launch, with their labels, capacity and
// offerings, as values of the core.
//
// It promises one interned answer for equal input: instance types share their labels between classes,
// and offerings share theirs between instance types. It reads instance types from EC2 only when called
// to; its caller passes prices, unavailable offerings and classes.
package catalog

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/daemok/daemok/cloud/aws/ec2data"
	"github.com/daemok/daemok/cloud/aws/fault"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/quantity"
)

// Type is what matters of an instance type, whatever class uses it.
type Type struct {
	Name           string
	Arch           string // amd64 or arm64
	CPUs           int64
	MemoryMiB      int64
	ENIs           int64 // of the default network card
	AddressesByENI int64
	LocalGB        int64 // NVMe instance store in all
	EFAs           int64
	BranchENIs     int64
	GPU            Device
	Accelerator    Device  // Neuron devices, or Gaudi
	AcceleratorCPU int64   // Neuron cores of all devices
	CardENIs       []int64 // interfaces of each network card
	Nitro          bool    // it runs on Nitro, bare metal included
	NestedVirtual  bool    // it can run virtual machines
	PlainVolumes   bool    // its volumes cannot be encrypted
	Attachments    Attachments
	Sustained      quantity.MilliCPU // cpu that burstable types can use for ever; 0: all of it
	Quota          Quota             // the limits of vCPUs that it counts against
	Placements     []string          // strategies of placement groups that it can be in
	Spot, OnDemand bool
	Blocks         bool     // it is offered in capacity blocks
	Zones          []string // where it is offered, sorted
	Labels         constraint.Labels
}

// Device is an accelerator of an instance. Count is zero where there is none, and where the
// instance has a part of one.
type Device struct {
	Name, Maker string // in lower case: "t4", "nvidia"; empty: there is none
	Count       int64
	MemoryMiB   int64 // of one
}

type api interface {
	ec2.DescribeInstanceTypesAPIClient
	ec2.DescribeInstanceTypeOfferingsAPIClient
}

// Facts answers what EC2 does not say about types.
type Facts interface {
	// BranchENIs is how many pods of a type may have an interface of their own.
	BranchENIs(kind string) int64
	// NetworkMbps is the baseline bandwidth of a type; 0 where unknown.
	NetworkMbps(kind string) int64
}

// Read asks EC2 for all instance types of a region that can run nodes, and
// where each is offered. The answer is sorted by name.
func Read(ctx context.Context, client api, region string, facts Facts) ([]Type, error) {
	zones, err := readZones(ctx, client)
	if err != nil {
		return nil, err
	}
	var out []Type
	pages := ec2.NewDescribeInstanceTypesPaginator(client, &ec2.DescribeInstanceTypesInput{
		MaxResults: aws.Int32(100),
		Filters: []types.Filter{
			{Name: aws.String("supported-virtualization-type"), Values: []string{"hvm"}},
			{Name: aws.String("processor-info.supported-architecture"), Values: []string{"x86_64", "arm64"}},
		},
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fault.Wrap("ec2:DescribeInstanceTypes", err)
		}
		for _, info := range page.InstanceTypes {
			if t := convert(info, region, facts); t.CPUs > 0 && t.MemoryMiB > 0 && (t.OnDemand || t.Spot || t.Blocks) {
				t.Zones = zones[t.Name]
				out = append(out, t)
			}
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("ec2:DescribeInstanceTypes answered without a single type for region %s", region)
	}
	slices.SortFunc(out, func(a, b Type) int { return cmp.Compare(a.Name, b.Name) })
	return out, nil
}

// readZones returns the zones of each type, sorted. Names of zones are shared.
func readZones(ctx context.Context, client ec2.DescribeInstanceTypeOfferingsAPIClient) (map[string][]string, error) {
	names := map[string]string{}
	out := map[string][]string{}
	pages := ec2.NewDescribeInstanceTypeOfferingsPaginator(client, &ec2.DescribeInstanceTypeOfferingsInput{
		LocationType: types.LocationTypeAvailabilityZone, MaxResults: aws.Int32(1000),
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fault.Wrap("ec2:DescribeInstanceTypeOfferings", err)
		}
		for _, o := range page.InstanceTypeOfferings {
			zone := aws.ToString(o.Location)
			if _, known := names[zone]; !known {
				names[zone] = zone
			}
			out[string(o.InstanceType)] = append(out[string(o.InstanceType)], names[zone])
		}
	}
	for _, list := range out {
		slices.Sort(list)
	}
	return out, nil
}

func convert(info types.InstanceTypeInfo, region string, facts Facts) Type {
	t := Type{Name: string(info.InstanceType), Quota: quotaOf(string(info.InstanceType))}
	t.Nitro = info.Hypervisor == types.InstanceTypeHypervisorNitro || aws.ToBool(info.BareMetal)
	t.Spot = slices.Contains(info.SupportedUsageClasses, types.UsageClassTypeSpot)
	t.OnDemand = slices.Contains(info.SupportedUsageClasses, types.UsageClassTypeOnDemand)
	t.Blocks = slices.Contains(info.SupportedUsageClasses, types.UsageClassTypeCapacityBlock)
	t.PlainVolumes = info.EbsInfo != nil && info.EbsInfo.EncryptionSupport == types.EbsEncryptionSupportUnsupported
	if info.PlacementGroupInfo != nil {
		t.Placements = strategies(info.PlacementGroupInfo.SupportedStrategies)
	}
	if info.ProcessorInfo != nil {
		t.Arch = architecture(info.ProcessorInfo.SupportedArchitectures)
		t.NestedVirtual = slices.Contains(info.ProcessorInfo.SupportedFeatures, types.SupportedAdditionalProcessorFeatureNestedVirtualization)
	}
	if info.VCpuInfo != nil {
		t.CPUs = int64(aws.ToInt32(info.VCpuInfo.DefaultVCpus))
	}
	if info.MemoryInfo != nil {
		t.MemoryMiB = aws.ToInt64(info.MemoryInfo.SizeInMiB)
	}
	if s := info.InstanceStorageInfo; s != nil && s.NvmeSupport != types.EphemeralNvmeSupportUnsupported {
		t.LocalGB = aws.ToInt64(s.TotalSizeInGB)
	}
	if aws.ToBool(info.BurstablePerformanceSupported) {
		t.Sustained = quantity.MilliCPU(t.CPUs * ec2data.Baseline(t.Name))
	}
	t.Attachments = attachments(t, info)
	t.setNetwork(info.NetworkInfo)
	t.setDevices(info)
	if facts != nil {
		t.BranchENIs = facts.BranchENIs(t.Name)
	}
	t.Labels = labels(t, info, region, facts)
	return t
}

func strategies(list []types.PlacementGroupStrategy) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = string(s)
	}
	return out
}

func (t *Type) setNetwork(n *types.NetworkInfo) {
	if n == nil {
		return
	}
	t.ENIs = int64(aws.ToInt32(n.MaximumNetworkInterfaces))
	t.AddressesByENI = int64(aws.ToInt32(n.Ipv4AddressesPerInterface))
	for _, card := range n.NetworkCards { // pods get addresses on the default card alone
		t.CardENIs = append(t.CardENIs, int64(aws.ToInt32(card.MaximumNetworkInterfaces)))
		if aws.ToInt32(card.NetworkCardIndex) == aws.ToInt32(n.DefaultNetworkCardIndex) && card.MaximumNetworkInterfaces != nil {
			t.ENIs = int64(*card.MaximumNetworkInterfaces)
		}
	}
	if n.EfaInfo != nil {
		t.EFAs = int64(aws.ToInt32(n.EfaInfo.MaximumEfaInterfaces))
	}
}

// setDevices takes GPUs, and of other accelerators Neuron devices before
// those of the older list. Gaudi is a GPU by EC2's list and an accelerator
// by its label.
func (t *Type) setDevices(info types.InstanceTypeInfo) {
	if g := info.GpuInfo; g != nil && len(g.Gpus) == 1 {
		d := Device{Name: kebab(g.Gpus[0].Name), Maker: kebab(g.Gpus[0].Manufacturer), Count: int64(aws.ToInt32(g.Gpus[0].Count))}
		if g.Gpus[0].MemoryInfo != nil {
			d.MemoryMiB = int64(aws.ToInt32(g.Gpus[0].MemoryInfo.SizeInMiB))
		}
		if d.Maker == "habana" {
			t.Accelerator = d
		} else {
			t.GPU = d
		}
	}
	if n := info.NeuronInfo; n != nil && len(n.NeuronDevices) == 1 {
		d := n.NeuronDevices[0]
		t.Accelerator = Device{Name: kebab(d.Name), Maker: "aws", Count: int64(aws.ToInt32(d.Count))}
		if d.MemoryInfo != nil {
			t.Accelerator.MemoryMiB = int64(aws.ToInt32(d.MemoryInfo.SizeInMiB))
		}
		if d.CoreInfo != nil {
			t.AcceleratorCPU = t.Accelerator.Count * int64(aws.ToInt32(d.CoreInfo.Count))
		}
		return
	}
	if a := info.InferenceAcceleratorInfo; a != nil && len(a.Accelerators) == 1 && t.Accelerator.Count == 0 {
		t.Accelerator = Device{Name: kebab(a.Accelerators[0].Name), Maker: kebab(a.Accelerators[0].Manufacturer),
			Count: int64(aws.ToInt32(a.Accelerators[0].Count))}
		if memory := a.Accelerators[0].MemoryInfo; memory != nil {
			t.Accelerator.MemoryMiB = int64(aws.ToInt32(memory.SizeInMiB))
		}
	}
}

// architecture is the first that nodes can have; 32 bits are left out.
func architecture(list []types.ArchitectureType) string {
	switch {
	case slices.Contains(list, types.ArchitectureTypeX8664):
		return "amd64"
	case slices.Contains(list, types.ArchitectureTypeArm64):
		return "arm64"
	}
	return ""
}

func kebab(text *string) string {
	return strings.ToLower(strings.ReplaceAll(aws.ToString(text), " ", "-"))
}

// offeredAs lists the launch options of a type in their order.
func (t Type) offeredAs() []cluster.Option {
	var out []cluster.Option
	if t.OnDemand {
		out = append(out, cluster.OnDemand)
	}
	if t.Spot {
		out = append(out, cluster.Spot)
	}
	return out
}
