package cost

import (
	"cmp"
	"slices"
	"strings"

	"github.com/daemok/daemok/core/quantity"
)

// Used is what a pod was measured to use, in the mean of its samples.
type Used struct {
	CPU     quantity.MilliCPU
	Memory  quantity.Bytes
	Samples int
}

// OverRequest is what the pods of a row request and do not use. Pods of DaemonSets count too; pods that were not
// measured, and those on nodes without a known price, do not.
type OverRequest struct {
	Values                []string // of each key
	Pods                  int      // that were measured
	Requested, Used       quantity.Resources
	CPU, Memory           quantity.MicroUSDPerHour // what is requested and not used, pod by pod; none is less than zero
	SamplesLeast          int                      // of any of its pods
	UnderCPU, UnderMemory int                      // pods that use more than they request
}

// Total is what is requested and not used costs.
func (o *OverRequest) Total() quantity.MicroUSDPerHour { return o.CPU + o.Memory }

// OverRequested compares requests with usage, the most expensive first. What it comes to is an estimate, at the price
// of a core and a GiB of each pod's node: it is saved where requests are lowered so far that fewer or smaller nodes do.
func (a *Allocation) OverRequested(usage map[PodID]Used, keys []Key, labels Labels) []OverRequest {
	g := grouping{keys: keys, labels: labels}
	at, out := map[string]int{}, []OverRequest(nil)
	for i := range a.Nodes {
		n := &a.Nodes[i]
		for _, share := range n.Pods {
			used, measured := usage[Of(share.Pod)]
			if !measured || !n.Priced {
				continue
			}
			values := g.values(n, share.Pod)
			joined := strings.Join(values, "\x00")
			if _, known := at[joined]; !known {
				at[joined] = len(out)
				out = append(out, OverRequest{Values: values, SamplesLeast: used.Samples})
			}
			out[at[joined]].add(n, share.Pod.Takes(), used)
		}
	}
	slices.SortFunc(out, func(a, b OverRequest) int {
		return cmp.Or(cmp.Compare(b.Total(), a.Total()), slices.Compare(a.Values, b.Values))
	})
	return out
}

func (o *OverRequest) add(n *Node, requests quantity.Resources, used Used) {
	o.Pods++
	o.SamplesLeast = min(o.SamplesLeast, used.Samples)
	o.Requested = o.Requested.Add(quantity.Resources{CPU: requests.CPU, Memory: requests.Memory})
	o.Used = o.Used.Add(quantity.Resources{CPU: used.CPU, Memory: used.Memory})
	if over := requests.CPU - used.CPU; over > 0 {
		o.CPU += quantity.MicroUSDPerHour(float64(n.core * float64(over) / 1000))
	} else if over < 0 {
		o.UnderCPU++
	}
	if over := requests.Memory - used.Memory; over > 0 {
		o.Memory += quantity.MicroUSDPerHour(float64(n.gib * float64(over) / float64(quantity.GiB)))
	} else if over < 0 {
		o.UnderMemory++
	}
}
