package catalog

import (
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/quantity"
)

// labels are those that every instance of a type gets under Linux.
func labels(t Type, info types.InstanceTypeInfo, region string, facts Facts) constraint.Labels {
	family, size, _ := strings.Cut(t.Name, ".")
	m := map[string]string{
		cluster.LabelInstanceType:   t.Name,
		cluster.LabelArch:           t.Arch,
		nodeclass.LabelOS:           "linux",
		nodeclass.LabelRegion:       region,
		nodeclass.LabelFamily:       family,
		nodeclass.LabelSize:         size,
		nodeclass.LabelCPU:          number(t.CPUs),
		nodeclass.LabelMemory:       number(t.MemoryMiB),
		nodeclass.LabelHypervisor:   string(info.Hypervisor),
		nodeclass.LabelNitroSandbox: strconv.FormatBool(info.NitroEnclavesSupport == types.NitroEnclavesSupportSupported),
		nodeclass.LabelFlex:         strconv.FormatBool(strings.Contains(family, "-flex")),
	}
	if category, generation, ok := splitFamily(family); ok {
		m[nodeclass.LabelCategory], m[nodeclass.LabelGeneration] = category, generation
	}
	if t.LocalGB > 0 {
		m[nodeclass.LabelLocalNVMe] = number(t.LocalGB)
	}
	addProcessor(m, info.ProcessorInfo)
	addBandwidth(m, t, info, facts)
	addDevices(m, t)
	return constraint.NewLabels(m)
}

func addProcessor(m map[string]string, p *types.ProcessorInfo) {
	if p == nil {
		return
	}
	if p.Manufacturer != nil {
		m[nodeclass.LabelCPUManufacturer] = kebab(p.Manufacturer)
	}
	if ghz := aws.ToFloat64(p.SustainedClockSpeedInGhz); ghz > 0 {
		m[nodeclass.LabelCPUClockMHz] = number(int64(math.Round(ghz * 1000)))
	}
}

func addBandwidth(m map[string]string, t Type, info types.InstanceTypeInfo, facts Facts) {
	if e := info.EbsInfo; e != nil && e.EbsOptimizedInfo != nil && e.EbsOptimizedSupport == types.EbsOptimizedSupportDefault {
		m[nodeclass.LabelEBSBandwidth] = number(int64(aws.ToInt32(e.EbsOptimizedInfo.MaximumBandwidthInMbps)))
	}
	if n := info.NetworkInfo; n != nil {
		m[nodeclass.LabelEncryption] = strconv.FormatBool(aws.ToBool(n.EncryptionInTransitSupported))
		mbps := networkMbps(n.NetworkCards)
		if mbps == 0 && facts != nil {
			mbps = facts.NetworkMbps(t.Name)
		}
		if mbps > 0 {
			m[nodeclass.LabelNetworkBandwidth] = number(mbps)
		}
	}
}

// networkMbps is the baseline of all cards together.
func networkMbps(cards []types.NetworkCardInfo) int64 {
	gbps := 0.0
	for _, c := range cards {
		gbps += aws.ToFloat64(c.BaselineBandwidthInGbps)
	}
	return int64(math.Round(gbps * 1000))
}

// addDevices labels GPUs and accelerators. A type with a part of a GPU has its labels with
// a count of zero, as EC2 counts whole ones.
func addDevices(m map[string]string, t Type) {
	if t.GPU.Name != "" {
		m[nodeclass.LabelGPUName], m[nodeclass.LabelGPUManufacturer] = t.GPU.Name, t.GPU.Maker
		m[nodeclass.LabelGPUCount], m[nodeclass.LabelGPUMemory] = number(t.GPU.Count), number(t.GPU.MemoryMiB)
	}
	if t.Accelerator.Count > 0 {
		m[nodeclass.LabelAccelName], m[nodeclass.LabelAccelMaker] = t.Accelerator.Name, t.Accelerator.Maker
		m[nodeclass.LabelAccelCount] = number(t.Accelerator.Count)
	}
}

// olderLabels are those that instances of the older API generation alone have: by the type,
// by what it is taken to hold and by its image, where that is known.
func olderLabels(t *Type, capacity quantity.Resources, image string) constraint.Labels {
	m := map[string]string{nodeclass.LabelPods: number(capacity.Pods)}
	if t.Accelerator.MemoryMiB > 0 {
		m[nodeclass.LabelAccelMemory] = number(t.Accelerator.MemoryMiB)
	}
	if image != "" {
		m[nodeclass.LabelImage] = image
	}
	return constraint.NewLabels(m)
}

// familyForm splits a family into its category and generation: "c7gn",
// "u-6tb1", "u7i-12tb".
var familyForm = regexp.MustCompile(`^([a-z]+)(?:-[0-9]+tb)?([0-9]+)`)

func splitFamily(family string) (category, generation string, ok bool) {
	parts := familyForm.FindStringSubmatch(family)
	if parts == nil {
		return "", "", false
	}
	return parts[1], parts[2], true
}

func number(n int64) string { return strconv.FormatInt(n, 10) }
