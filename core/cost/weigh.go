package cost

import (
	"math/bits"
	"slices"
	"strings"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/quantity"
)

// CoreInGiB is how many GiB of memory cost as much as one vCPU.
//
// Fargate prices the two apart: $0.04048 for a vCPU and $0.004445 for a GB an hour (Linux, x86, us-east-1), which is 9.1
// to 1. AWS's split cost allocation data for EKS weighs a vCPU-hour against a GB-hour 9 to 1, and derives that from
// Fargate's prices. Both are as AWS documents them: they were not read from a price list or a bill here. The on-demand
// prices of 559 current types in us-west-2 without devices or local disks, fitted by least squares of relative errors,
// come to $0.0364 and $0.00415: 8.8 to 1; those of the families c, m and r alone to 10.1 to 1. The marginal prices of
// core/bound are of no use here: where memory is not scarce they are zero for it, so that pods with much memory would
// cost nothing, and they jump from one plan to the next.
const CoreInGiB = 9

// What a core and a GiB cost on demand by that fit, in millionths of a dollar an hour.
const (
	listCore = 36_400
	listGiB  = 4_150
)

// deviceShare is the least part of a node's price that is for its accelerators. By the fit above they are half of the
// price of the median of 80 types that have any, and up to 87 %; where the list price of a type is known, what cpu and
// memory of that size do not explain is used instead, if it is more.
const deviceShare = 0.5

// scale is what the whole of a node weighs.
const scale = 1 << 40

// weights are how the price of one node is divided.
type weights struct {
	pods     []uint64 // as the node lists them
	headroom uint64   // room for pods that its instance was launched for
	free     uint64
	plain    float64 // the part of the price that is for cpu and memory
	size     float64 // of the node, in GiB
}

// weigh says how the price of a node is divided by what its pods request. list is what its type costs on demand; 0:
// it is not known.
func weigh(n *cluster.Node, list quantity.MicroUSDPerHour) weights {
	devices := devicesOf(n.Allocatable)
	w := weights{pods: make([]uint64, len(n.Pods)), plain: 1, size: worth(n.Allocatable)}
	if len(devices) > 0 {
		w.plain = 1 - forDevices(n.Capacity.Max(n.Allocatable), list)
	}
	rest := uint64(scale)
	for i := range n.Pods {
		w.pods[i] = w.of(n.Pods[i].Takes(), n.Allocatable, devices)
		rest -= min(rest, w.pods[i])
	}
	for i := range n.LaunchedFor {
		w.headroom += w.of(n.LaunchedFor[i].Shape.Requests, n.Allocatable, devices)
	}
	w.headroom = min(w.headroom, rest)
	w.free = rest - w.headroom
	return w
}

// of is what requests weigh on a node.
func (w *weights) of(requests, allocatable quantity.Resources, devices []string) uint64 {
	part := 0.0
	if w.size > 0 {
		part = float64(w.plain * min(1, worth(requests)/w.size))
	}
	if len(devices) > 0 {
		part += float64((1 - w.plain) * deviceOf(requests, allocatable, devices))
	}
	return uint64(part * scale)
}

// worth is what cpu and memory are worth, in GiB.
func worth(r quantity.Resources) float64 {
	return float64(CoreInGiB*float64(max(0, r.CPU))/1000) + float64(float64(max(0, r.Memory))/float64(quantity.GiB))
}

// deviceOf is which part of a node's devices is requested. A device may have several names, such as those of AWS
// Neuron: the largest part counts.
func deviceOf(requests, allocatable quantity.Resources, devices []string) float64 {
	part := 0.0
	for _, name := range devices {
		part = max(part, float64(max(0, requests.Get(name)))/float64(allocatable.Get(name)))
	}
	return min(1, part)
}

// forDevices is the part of the price of a node that is for its devices.
func forDevices(size quantity.Resources, list quantity.MicroUSDPerHour) float64 {
	if list <= 0 {
		return deviceShare
	}
	explained := float64(listCore * float64(size.CPU) / 1000)
	explained += float64(listGiB * float64(size.Memory) / float64(quantity.GiB))
	return max(deviceShare, 1-explained/float64(list))
}

// deviceMakers are the domains in which devices are named that cost much by themselves.
var deviceMakers = []string{"nvidia.com", "amd.com", "habana.ai", "gpu.intel.com"}

// devicesOf names the accelerators of a node: of other extended resources, such as network interfaces and huge
// pages, a share says nothing about cost.
func devicesOf(r quantity.Resources) []string {
	var out []string
	for _, e := range r.Extended {
		domain, name, _ := strings.Cut(e.Name, "/")
		neuron := domain == "aws.amazon.com" && strings.HasPrefix(name, "neuron")
		if e.Amount > 0 && (neuron || slices.Contains(deviceMakers, domain)) {
			out = append(out, e.Name)
		}
	}
	return out
}

// divide gives every pod of a node its part of the price, and the rest the causes for which it is idle.
func (w weights) divide(out *Node, n *cluster.Node, why *judge) {
	parts := split(int64(out.Price), append(slices.Clone(w.pods), w.headroom, w.free))
	out.Pods = make([]Share, len(n.Pods))
	for i := range n.Pods {
		out.Pods[i] = Share{&n.Pods[i], quantity.MicroUSDPerHour(parts[i])}
	}
	headroom := quantity.MicroUSDPerHour(parts[len(n.Pods)])
	free := quantity.MicroUSDPerHour(parts[len(n.Pods)+1])
	if w.size > 0 {
		gib := float64(w.plain*float64(out.Price)) / w.size
		out.core, out.gib = CoreInGiB*gib, gib
	}
	if headroom+free == 0 {
		return
	}
	cause, text := why.idle(n)
	if headroom > 0 && cause != Headroom {
		out.Idle = append(out.Idle, Idle{Headroom, "room for pods that it was launched for", headroom})
		headroom = 0
	}
	if free+headroom > 0 {
		out.Idle = append(out.Idle, Idle{cause, text, free + headroom})
	}
}

// split divides a price in proportion to weights, of which one is more than zero at least, by the largest remainder:
// parts add up to it exactly, and each is less than one unit from its share. Of equal remainders the first has it.
func split(price int64, weights []uint64) []int64 {
	var sum uint64
	for _, w := range weights {
		sum += w
	}
	out, rest := make([]int64, len(weights)), price
	remainders := make([]uint64, len(weights))
	for i, w := range weights {
		high, low := bits.Mul64(uint64(price), w)
		quotient, remainder := bits.Div64(high, low, sum)
		out[i], remainders[i] = int64(quotient), remainder
		rest -= out[i]
	}
	if rest == 0 {
		return out
	}
	order := make([]int, len(weights))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case remainders[a] > remainders[b]:
			return -1
		case remainders[a] < remainders[b]:
			return 1
		}
		return 0
	})
	for _, i := range order[:rest] {
		out[i]++
	}
	return out
}
