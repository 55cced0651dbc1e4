package boot

import (
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/daemok/daemok/cloud/aws/ec2data"
)

const (
	gib = int64(1) << 30
	mib = int64(1) << 20

	kubeletMaxPods = 110 // what a kubelet takes when it is not configured

	hypervisorShareMin = 0.017
)

// Hardware is what an instance finds out about itself.
type Hardware struct {
	Type        string
	Arch        string // amd64 or arm64
	VCPUs       int32
	MemoryMiB   int64 // nominal
	ENIs        int32 // network interfaces in all
	IPsPerENI   int32
	DiskGiB     int64 // of the volume that holds the kubelet's files
	LocalDiskGB int64 // instance store in all
	Devices     map[string]int64
}

// HypervisorShare is the part of a type's nominal memory that its hypervisor
// keeps: between 1.7 per cent and the most that types of its size are known to keep, 7.5
// or, of large ones, 5.3; the same for equal seed and type.
func HypervisorShare(seed uint64, machineType string, memoryMiB int64) float64 {
	h := fnv.New64a()
	h.Write([]byte(machineType))
	draw := rand.New(rand.NewPCG(seed, h.Sum64())).Float64()
	return hypervisorShareMin + draw*(ec2data.MemoryKept(memoryMiB)-hypervisorShareMin)
}

// PodsMax is how many pods the kubelet takes: as configured, else by the network
// interfaces, and no more than its limit per core allows.
func (s Settings) PodsMax(h Hardware) int32 {
	pods := s.MaxPods
	if pods == 0 && (s.ignoreENIs || h.ENIs == 0) {
		pods = kubeletMaxPods
	}
	if pods == 0 {
		pods = eniPods(h)
	}
	if s.PodsPerCore > 0 {
		pods = min(pods, s.PodsPerCore*h.VCPUs)
	}
	return pods
}

func eniPods(h Hardware) int32 { return h.ENIs*(h.IPsPerENI-1) + 2 }

// Resources returns the node's capacity and what of it pods may have. The
// error names an amount in the user data that is no quantity, which keeps a
// kubelet from starting.
func (s Settings) Resources(h Hardware, seed uint64) (capacity, allocatable corev1.ResourceList, err error) {
	capacity = s.capacity(h, seed)
	allocatable = capacity.DeepCopy()
	for _, reserved := range []map[string]string{s.kubeReserved(h), s.SystemReserved} {
		if err := subtract(allocatable, reserved); err != nil {
			return nil, nil, err
		}
	}
	for signal, name := range map[string]corev1.ResourceName{
		"memory.available": corev1.ResourceMemory, "nodefs.available": corev1.ResourceEphemeralStorage,
	} {
		amount, err := threshold(s.EvictionHard[signal], capacity[name])
		if err != nil {
			return nil, nil, fmt.Errorf("eviction threshold %s: %w", signal, err)
		}
		reduce(allocatable, name, amount)
	}
	return capacity, allocatable, nil
}

func (s Settings) capacity(h Hardware, seed uint64) corev1.ResourceList {
	kept := int64(float64(h.MemoryMiB*mib) * HypervisorShare(seed, h.Type, h.MemoryMiB))
	memory := (h.MemoryMiB*mib - kept) / 1024 * 1024 // kernels count in KiB
	disk := h.DiskGiB * gib
	if s.RAID0 && h.LocalDiskGB > 0 {
		disk = h.LocalDiskGB * 1_000_000_000
	}
	out := corev1.ResourceList{
		corev1.ResourceCPU:              *resource.NewQuantity(int64(h.VCPUs), resource.DecimalSI),
		corev1.ResourceMemory:           *resource.NewQuantity(memory, resource.BinarySI),
		corev1.ResourceEphemeralStorage: *resource.NewQuantity(disk/1024*1020, resource.BinarySI), // the file system's own share
		corev1.ResourcePods:             *resource.NewQuantity(int64(s.PodsMax(h)), resource.DecimalSI),
		"hugepages-1Gi":                 *resource.NewQuantity(0, resource.BinarySI),
		"hugepages-2Mi":                 *resource.NewQuantity(0, resource.BinarySI),
	}
	for name, count := range h.Devices {
		out[corev1.ResourceName(name)] = *resource.NewQuantity(count, resource.DecimalSI)
	}
	return out
}

// kubeReserved is the image's formula with what the user data says over it.
// A flag replaces the whole of it, a configuration file key by key.
func (s Settings) kubeReserved(h Hardware) map[string]string {
	scripted := s.Family == AL2 || s.Family == Ubuntu
	byFlag := scripted || s.Family == Windows
	if byFlag && s.KubeReserved != nil {
		return s.KubeReserved
	}
	pods := s.PodsMax(h)
	if scripted && h.ENIs > 0 {
		pods = eniPods(h) // bootstrap.sh computes before it reads the flags
	}
	return layer(map[string]string{
		"cpu":               reservedCPU(h.VCPUs),
		"memory":            fmt.Sprintf("%dMi", 255+11*int64(pods)),
		"ephemeral-storage": "1Gi",
	}, s.KubeReserved)
}

// reservedCPU is 6 % of the first core, 1 % of the second, 0.5 % of the next
// two and 0.25 % of each further one, in whole millicores.
func reservedCPU(vcpus int32) string {
	tenths := int32(0) // of a millicore
	for core := int32(1); core <= vcpus; core++ {
		switch {
		case core == 1:
			tenths += 600
		case core == 2:
			tenths += 100
		case core <= 4:
			tenths += 50
		default:
			tenths += 25
		}
	}
	return fmt.Sprintf("%dm", tenths/10)
}

func subtract(from corev1.ResourceList, amounts map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(amounts)) {
		if name == "pid" {
			continue // no resource of a node
		}
		amount, err := resource.ParseQuantity(amounts[name])
		if err != nil {
			return fmt.Errorf("reserved %s %q: %w", name, amounts[name], err)
		}
		reduce(from, corev1.ResourceName(name), amount)
	}
	return nil
}

// reduce never goes below zero, as the kubelet does not.
func reduce(list corev1.ResourceList, name corev1.ResourceName, by resource.Quantity) {
	have := list[name]
	have.Sub(by)
	if have.Sign() < 0 {
		have.Set(0)
	}
	list[name] = have
}

// threshold reads "100Mi" or "10%" of capacity; an empty text and 100 % are
// no threshold.
func threshold(text string, capacity resource.Quantity) (resource.Quantity, error) {
	percent, isPercent := strings.CutSuffix(text, "%")
	if text == "" || text == "100%" {
		return resource.Quantity{}, nil
	}
	if !isPercent {
		return resource.ParseQuantity(text)
	}
	share, err := strconv.ParseFloat(percent, 64)
	if err != nil {
		return resource.Quantity{}, err
	}
	return *resource.NewQuantity(int64(float64(capacity.Value())*share/100), resource.BinarySI), nil
}
