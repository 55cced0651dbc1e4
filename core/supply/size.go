package supply

import (
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/quantity"
)

// How large an instance may be beside all that pods ask for. Half of the last instance of an instance type is idle on average,
// and an instance goes only once all of its pods have gone: of few large instances more is idle while the number of
// pods changes. Source: daemok simulate with a day of services-b, which costs 7 % less with a twelfth than with
// instances of any size, and 4 and 6 % more with an eighth and a twenty-fifth than with a twelfth.
const (
	largestShare = 1.0 / 12
	largestPods  = 2 // or so many times the largest pod
)

// smallEnough is never too large: in a small cluster there is little to save.
var smallEnough = quantity.Resources{CPU: 8000, Memory: 64 * quantity.GiB}

// Sizes says which instances are too large for the cluster.
type Sizes struct {
	all  quantity.Resources // that pods ask for
	most quantity.Resources // of each resource, that is never too large
}

// SizesOf counts what pods on nodes ask for and those that wait.
func SizesOf(s *cluster.Snapshot) *Sizes {
	out := &Sizes{most: smallEnough}
	for i := range s.Waiting {
		out.see(&s.Waiting[i], true)
	}
	for i := range s.Nodes {
		for j := range s.Nodes[i].Pods {
			out.see(&s.Nodes[i].Pods[j], s.Nodes[i].Deleting)
		}
	}
	return out
}

func (z *Sizes) see(p *cluster.Pod, waits bool) {
	need := p.Shape.Requests
	z.all = z.all.Add(need)
	if !waits {
		return
	}
	for range largestPods - 1 {
		need = need.Add(p.Shape.Requests)
	}
	z.most = z.most.Max(need)
}

// TooLarge reports whether an instance has more than its share of cpu and memory, in the mean of both.
func (z *Sizes) TooLarge(has quantity.Resources) bool {
	if has.CPU <= z.most.CPU && has.Memory <= z.most.Memory || z.all.CPU <= 0 || z.all.Memory <= 0 {
		return false
	}
	return float64(has.CPU)/float64(z.all.CPU)+float64(has.Memory)/float64(z.all.Memory) > 2*largestShare
}
