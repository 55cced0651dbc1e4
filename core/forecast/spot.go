package forecast

import (
	"slices"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/feasibility"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
)

// What the scheduler counts for a pod that asks for no cpu or memory.
const (
	assumedCPU    = quantity.MilliCPU(100)
	assumedMemory = 200 * quantity.MiB
)

// shared lists the volumes that pods of the shape may share with others on a node.
func shared(s *cluster.Shape) []cluster.Volume {
	var out []cluster.Volume
	for _, v := range s.Volumes {
		if v.Claim != "" {
			out = append(out, v)
		}
	}
	return out
}

// attach takes off what volumes use that pods share, where they are not attached
// yet.
func (x *spot) attach(d amount.Dims, volumes []cluster.Volume) {
	for _, v := range volumes {
		if slices.Contains(x.claims, v.Claim) {
			continue
		}
		x.claims = append(slices.Clip(x.claims), v.Claim)
		if at, known := d.Driver(v.Driver); known {
			x.free[at]--
		}
	}
}

// attaches reports whether there is room for the volumes that pods of the shape share.
func (x *spot) attaches(d amount.Dims, k *kind) bool {
	if len(k.shared) == 0 {
		return true
	}
	with := spot{free: slices.Clone(x.free), claims: x.claims}
	with.attach(d, k.shared)
	for at := len(d.Resources); at < len(with.free); at++ {
		if with.free[at] -= k.need[at]; with.free[at] < 0 && with.free[at] < x.free[at] {
			return false
		}
	}
	return true
}

// free is what the node has left beside volumes that pods share; a driver that it
// does not name has no limit.
func free(d amount.Dims, n *cluster.Node, daemons []cluster.Daemon) []int64 {
	out := d.Vector(feasibility.Free(n, daemons), n.Attachable)
	for i := range n.Pods {
		for _, v := range n.Pods[i].Shape.Volumes {
			if at, known := d.Driver(v.Driver); known && v.Claim == "" {
				out[at]--
			}
		}
	}
	return out
}

func scored(s *cluster.Shape) [2]int64 {
	cpu, memory := s.Requests.CPU, s.Requests.Memory
	if cpu == 0 {
		cpu = assumedCPU
	}
	if memory == 0 {
		memory = assumedMemory
	}
	return [2]int64{min(int64(cpu), amount.Beyond), min(int64(memory), amount.Beyond)}
}

// spot is a node, or an instance as the node that it becomes.
type spot struct {
	model   *model
	node    *cluster.Node
	free    []int64
	all     [2]int64 // cpu and memory that are there for pods
	taken   [2]int64 // of it
	count   [2]int64 // likewise, as LeastAllocated counts
	ports   []cluster.Port
	claims  []string           // volumes that pods share: attached
	avoid   []constraint.Taint // PreferNoSchedule
	joins   []plan.Join        // with whose instances it opens together
	ordered bool               // before this plan

	place   int     // on the board; negative before it joins
	domains []int32 // by key of counters
	counts  []int64 // by counter: pods that run here; none at all: on an instance
}

func (w *World) spotOf(n *cluster.Node) *spot {
	x := &spot{node: n, free: free(w.dims, n, w.snapshot.Daemons), ports: feasibility.Ports(n, w.snapshot.Daemons),
		all: [2]int64{min(int64(n.Allocatable.CPU), amount.Beyond), min(int64(n.Allocatable.Memory), amount.Beyond)}, place: -1}
	for i := range n.Pods {
		x.attach(w.dims, shared(n.Pods[i].Shape))
	}
	x.taken = [2]int64{x.all[0] - x.free[amount.CPU], x.all[1] - x.free[amount.Memory]}
	x.count = x.taken
	for _, t := range feasibility.LastingTaints(n) {
		if t.Effect == constraint.PreferNoSchedule {
			x.avoid = append(x.avoid, t)
		}
	}
	return x
}

// instances lists what is being launched and what the plan launches, as nodes.
func (w *World) instances(launches []plan.Launch, joining []plan.Joining) []*spot {
	joins := map[string][]plan.Join{}
	for _, j := range joining {
		joins[j.Claim] = j.Joins
	}
	var out []*spot
	for _, x := range w.ordered {
		same := *x
		same.joins = joins[x.node.Claim]
		out = append(out, &same)
	}
	for i := range launches {
		if x := w.launch(&launches[i]); x != nil {
			out = append(out, x)
		}
	}
	return out
}

// Node is the node that a launch becomes if its choice is had; nil where the
// snapshot does not know what that is.
func (w *World) Node(l *plan.Launch) *cluster.Node {
	pool := w.pools[l.Pool]
	if pool == nil {
		return nil
	}
	instanceType := pool.Catalogue.InstanceType(l.Choice.Kind)
	if instanceType == nil {
		return nil
	}
	labels := pool.Pool.Labels.Merge(instanceType.Labels).Merge(l.Labels)
	if o := l.Offering(pool.Catalogue); o != nil {
		labels = labels.Merge(o.Labels)
	}
	allocatable, _ := instanceType.Ordered(l.Requests)
	n := w.node(l.Name, l.Pool, labels, pool.Taints, allocatable, instanceType.Attachable)
	n.Price = l.Choice.Price
	return n
}

func (w *World) node(name string, pool cluster.PoolID, labels constraint.Labels, taints []constraint.Taint,
	allocatable quantity.Resources, attachable []cluster.Attachable) *cluster.Node {
	for _, key := range feasibility.Promised() {
		labels = labels.With(key, "true")
	}
	return &cluster.Node{Name: name, Claim: name, Pool: pool, Labels: labels.With(cluster.LabelHostname, name), Taints: taints,
		Allocatable: allocatable, Capacity: allocatable, Attachable: attachable, Ready: true, Initialized: true}
}
