package fakecloud

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/daemok/daemok/cloud/aws/ec2data"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/test/market"
)

// DefaultTypes is a short list in which every common choice occurs: sizes,
// ratios of memory, both architectures, a burstable type and a GPU.
func DefaultTypes() []string {
	return []string{
		"c5.large", "c5.xlarge", "c5.2xlarge", "c5.4xlarge", "c6g.large", "c6g.xlarge", "g4dn.xlarge",
		"m5.large", "m5.xlarge", "m5.2xlarge", "m5.4xlarge", "m6g.large", "m6g.xlarge",
		"r5.large", "r5.xlarge", "r5.2xlarge", "t3.medium", "t3.large",
	}
}

// AllTypes lists every type of a region that runs Linux nodes.
func AllTypes(region string) []string {
	var out []string
	for _, t := range ec2data.Load().OfferedIn(region) {
		if archOf(t) != "" && slices.Contains(t.Virtualization, "hvm") {
			out = append(out, t.Name)
		}
	}
	return out
}

// archOf is the Kubernetes word for a type's architecture; empty for Macs.
func archOf(t *ec2data.Type) string {
	switch {
	case t.IsARM():
		return "arm64"
	case slices.Contains(t.Architectures, "x86_64"):
		return "amd64"
	}
	return ""
}

// offered is what the market knows of a type.
func available(t *ec2data.Type, region string) market.Kind {
	k := market.Kind{
		Name: t.Name, Zones: t.OfferedZones(region), Interruption: t.Interruption[region],
		Slow: t.BareMetal || len(t.GPUs) > 0 || len(t.Accelerators) > 0,
	}
	if t.HasUsage("on-demand") {
		k.OnDemandUSD, _, _ = t.OnDemandUSD(region)
	}
	k.SpotUSD, _, _ = t.SpotUSD(region)
	return k
}

// instanceTypesOf builds the kinds of the named types, sorted by name, without
// offers.
func instanceTypesOf(region string, types []string) []cluster.InstanceType {
	var out []cluster.InstanceType
	for _, name := range types {
		t, ok := ec2data.Load().Type(name)
		if !ok || archOf(t) == "" {
			continue
		}
		total := capacity(t)
		out = append(out, cluster.InstanceType{
			Name: name, Labels: labels(t, region), Capacity: total, Allocatable: allocatable(total),
			Sustained: sustained(t), Attachable: attachable(t),
		})
	}
	return out
}

// Labels are those of nodes of a type in a region; false: EC2 has no such type.
func Labels(name, region string) (constraint.Labels, bool) {
	t, known := ec2data.Load().Type(name)
	if !known || archOf(t) == "" {
		return nil, false
	}
	return labels(t, region), true
}

const awsLabel = "karpenter.k8s.aws/"

// labels are those that every node of the type gets.
func labels(t *ec2data.Type, region string) constraint.Labels {
	m := map[string]string{
		cluster.LabelInstanceType: t.Name, cluster.LabelArch: archOf(t), "kubernetes.io/os": "linux",
		"topology.kubernetes.io/region": region,
		awsLabel + "instance-category":  t.Category, awsLabel + "instance-family": t.Family, awsLabel + "instance-size": t.Size,
		awsLabel + "instance-generation": strconv.Itoa(t.Generation),
		awsLabel + "instance-cpu":        strconv.Itoa(t.VCPUs), awsLabel + "instance-memory": strconv.FormatInt(t.MemoryMiB, 10),
		awsLabel + "instance-cpu-manufacturer":                strings.ToLower(t.CPUMaker),
		awsLabel + "instance-cpu-sustained-clock-speed-mhz":   strconv.Itoa(int(t.ClockGHz*1000 + 0.5)),
		awsLabel + "instance-hypervisor":                      t.Hypervisor,
		awsLabel + "nitro-sandbox":                            strconv.FormatBool(t.Enclaves()),
		awsLabel + "instance-encryption-in-transit-supported": strconv.FormatBool(t.EncryptsInTransit),
		awsLabel + "instance-network-bandwidth":               strconv.FormatInt(t.NetworkBaseMbps, 10),
		awsLabel + "instance-capability-flex":                 strconv.FormatBool(strings.HasSuffix(t.Family, "-flex")),
	}
	if t.EBS != nil {
		m[awsLabel+"instance-ebs-bandwidth"] = strconv.FormatInt(t.EBS.MaxMbps, 10)
	}
	if t.Storage != nil && t.Storage.NVMe == "required" {
		m[awsLabel+"instance-local-nvme"] = strconv.FormatInt(t.Storage.TotalGB, 10)
	}
	maps.Copy(m, deviceLabels(t))
	return constraint.NewLabels(m)
}

func deviceLabels(t *ec2data.Type) map[string]string {
	m := map[string]string{}
	if len(t.GPUs) == 1 && t.GPUs[0].Maker != "Habana" {
		g := t.GPUs[0]
		m[awsLabel+"instance-gpu-name"], m[awsLabel+"instance-gpu-manufacturer"] = word(g.Name), word(g.Maker)
		m[awsLabel+"instance-gpu-count"], m[awsLabel+"instance-gpu-memory"] = strconv.Itoa(g.Count), strconv.FormatInt(g.MemoryMiB, 10)
	}
	for _, a := range t.Accelerators {
		if a.Cores > 0 {
			m[awsLabel+"instance-accelerator-name"], m[awsLabel+"instance-accelerator-manufacturer"] = word(a.Name), "aws"
			m[awsLabel+"instance-accelerator-count"] = strconv.Itoa(a.Count)
		}
	}
	return m
}

// word makes a label value of a name: lower case, joined by dashes.
func word(name string) string { return strings.ReplaceAll(strings.ToLower(name), " ", "-") }

// capacity is all that an instance of the type has, as a controller that has
// not seen one yet must assume: the hypervisor keeps 7.5 % of the memory.
func capacity(t *ec2data.Type) quantity.Resources {
	mib := t.MemoryMiB
	if t.IsARM() {
		mib -= 64
	}
	out := quantity.Resources{
		CPU:              quantity.MilliCPU(t.VCPUs * 1000),
		Memory:           quantity.Bytes(mib-(mib*75+999)/1000) * quantity.MiB,
		EphemeralStorage: 20 * quantity.GiB,
		Pods:             int64(t.NetworkCards[0].ENIsMax*(t.IPv4PerENI-1) + 2),
	}
	for name, n := range devices(t) {
		if n > 0 {
			out = out.With(name, n)
		}
	}
	return out
}

// sustained is the cpu that a burstable type can use for ever; 0 for others.
func sustained(t *ec2data.Type) quantity.MilliCPU {
	if !t.Burstable {
		return 0
	}
	return quantity.MilliCPU(int64(t.VCPUs) * ec2data.Baseline(t.Name))
}

// attachable is how many volumes an instance takes beside its root.
func attachable(t *ec2data.Type) []cluster.Attachable {
	if t.EBSAttachMax == 0 {
		return nil
	}
	return []cluster.Attachable{{Driver: "ebs.csi.aws.com", Count: int64(max(0, t.EBSAttachMax-1))}}
}

func devices(t *ec2data.Type) map[string]int64 {
	out := map[string]int64{"vpc.amazonaws.com/efa": int64(t.EFAInterfaces)}
	if t.Trunking {
		out["vpc.amazonaws.com/pod-eni"] = int64(t.BranchENIs)
	}
	names := map[string]string{"NVIDIA": "nvidia.com/gpu", "AMD": "amd.com/gpu", "Habana": "habana.ai/gaudi"}
	for _, g := range t.GPUs {
		out[names[g.Maker]] += int64(g.Count)
	}
	for _, a := range t.Accelerators {
		if a.Cores > 0 {
			out["aws.amazon.com/neuron"] += int64(a.Count)
			out["aws.amazon.com/neuroncore"] += int64(a.Count * a.Cores)
		}
	}
	return out
}

// allocatable is what is left for pods: less what the kubelet reserves by
// the number of cores and pods, and less its eviction thresholds.
func allocatable(total quantity.Resources) quantity.Resources {
	reserved := quantity.Resources{
		CPU:              reservedCPU(int64(total.CPU / 1000)),
		Memory:           quantity.Bytes(255+11*total.Pods+100) * quantity.MiB,
		EphemeralStorage: quantity.GiB + total.EphemeralStorage/10,
	}
	return total.Sub(reserved).ClampNegative()
}

// reservedCPU is 60m for the first core, 10m for the second, 5m for each of
// the next two and 2.5m for each further one.
func reservedCPU(cores int64) quantity.MilliCPU {
	tenths := int64(0)
	for i, share := range []int64{600, 100, 50, 50} {
		if int64(i) < cores {
			tenths += share
		}
	}
	return quantity.MilliCPU((tenths + 25*max(0, cores-4)) / 10)
}
