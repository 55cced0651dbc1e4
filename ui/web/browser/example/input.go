package example

import (
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/observe/record"
	"github.com/daemok/daemok/ui/view"
)

// Input implements view.Inputs: a snapshot of the same nodes and pods.
func (c *Cluster) Input() *view.Input {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := &cluster.Snapshot{Revision: c.now.Revision + 1, Now: c.at}
	b := builder{shapes: map[shapeKey]*cluster.Shape{}, catalogue: catalogue()}
	for i := range c.now.Pools {
		s.Pools = append(s.Pools, b.pool(&c.now.Pools[i]))
	}
	for i := range c.now.Nodes {
		if n := &c.now.Nodes[i]; n.Name == "" {
			s.Instances = append(s.Instances, b.instance(n))
		} else {
			s.Nodes = append(s.Nodes, b.node(n))
		}
	}
	in := &view.Input{Snapshot: s, Offers: true, Controller: c.now.Controller}
	for i := range c.now.Waiting {
		b.waiting(in, &c.now.Waiting[i])
	}
	for _, e := range c.now.Events {
		in.Statements = append(in.Statements, record.Statement{
			About: e.About, Said: e.Said, Why: e.Why, More: e.More, From: e.At,
		})
	}
	s.Sort()
	return in
}

type shapeKey struct {
	namespace   string
	cpu, memory int64
}

// builder makes parts of a snapshot.
type builder struct {
	shapes    map[shapeKey]*cluster.Shape
	catalogue *cluster.Catalogue
}

// catalogue has the instance types of the example in all zones; spot costs a third.
func catalogue() *cluster.Catalogue {
	c := &cluster.Catalogue{Revision: 1}
	for _, t := range types {
		k := cluster.InstanceType{
			Name: t.name, Capacity: resources(t.cpu, t.memory, podsMost),
			Labels: constraint.NewLabels(map[string]string{
				cluster.LabelInstanceType: t.name, cluster.LabelArch: "amd64",
			}),
		}
		k.Allocatable = k.Capacity
		for _, zone := range zones {
			for _, option := range []cluster.Option{cluster.OnDemand, cluster.Spot} {
				price := quantity.USDPerHour(t.dollars)
				if option == cluster.Spot {
					price /= 3
				}
				k.Offerings = append(k.Offerings, cluster.Offering{
					Zone: zone, Option: option, Priced: true, Available: true, Price: price,
					Labels: constraint.NewLabels(map[string]string{
						cluster.LabelZone: zone, cluster.LabelCapacityType: string(option),
					}),
				})
			}
		}
		c.InstanceTypes = append(c.InstanceTypes, k)
	}
	return c
}

func (b *builder) pool(p *view.Pool) cluster.Pool {
	out := cluster.Pool{
		ID: cluster.PoolID{Kind: p.Kind, Name: p.Name}, Weight: p.Weight, Catalogue: b.catalogue, Used: cluster.Used{Nodes: int64(p.Nodes)},
		Labels: constraint.NewLabels(map[string]string{"karpenter.sh/nodepool": p.Name}),
		Policy: cluster.Policy{
			Empty: cluster.Allowance{Most: p.Allowed}, Underutilized: cluster.Allowance{Most: p.Allowed},
			Drifted: cluster.Allowance{Most: p.Allowed}, After: time.Minute,
		},
	}
	for _, l := range p.Limits {
		out.Limits.Amounts = append(out.Limits.Amounts, quantity.Extended{Name: l.Resource, Amount: l.Limit})
	}
	return out
}

func (b *builder) node(n *view.Node) cluster.Node {
	labels := map[string]string{
		cluster.LabelHostname: n.Name, cluster.LabelArch: n.Arch, cluster.LabelCapacityType: n.CapacityType,
		"karpenter.sh/nodepool": n.Owner.Name,
	}
	for key, value := range n.Labels {
		labels[key] = value
	}
	room := resources(n.Use[0].Allocatable, n.Use[1].Allocatable, n.Use[2].Allocatable)
	out := cluster.Node{
		Name: n.Name, Claim: n.Claim, Pool: poolOf(n), InstanceID: n.Instance, Labels: constraint.NewLabels(labels),
		Allocatable: room, Capacity: room, Price: quantity.USDPerHour(n.Cost.PerHour), CreatedAt: n.Created,
		QuietSince: n.Created, Ready: n.Status != view.NotReady, Initialized: true,
		Deleting: n.Status == view.Draining || n.Status == view.Terminating, InstanceEnds: n.Status == view.Terminating,
	}
	if n.Status == view.Cordoned {
		out.Taints = []constraint.Taint{{Key: "node.kubernetes.io/unschedulable", Effect: constraint.NoSchedule}}
	}
	for i := range n.Pods {
		p := &n.Pods[i]
		out.Pods = append(out.Pods, cluster.Pod{
			Namespace: p.Namespace, Name: p.Name, Owner: p.Owner, Node: n.Name,
			Shape: b.shape(p.Namespace, p.CPU, p.Memory), CreatedAt: n.Created, StartedAt: n.Created, Daemon: p.Daemon,
			Ending: p.State == "ending", Unready: p.State == "not ready", Pending: p.State == "starting",
			Returns: !p.Daemon && p.State != "ending", Protection: cluster.Protection{DoNotDisrupt: p.Keeps != ""},
		})
	}
	return out
}

func poolOf(n *view.Node) cluster.PoolID {
	return cluster.PoolID{Kind: n.Owner.Kind, Name: n.Owner.Name}
}

func resources(cpu, memory, pods int64) quantity.Resources {
	return quantity.Resources{CPU: quantity.MilliCPU(cpu), Memory: quantity.Bytes(memory), Pods: pods}
}

func (b *builder) instance(n *view.Node) cluster.Instance {
	return cluster.Instance{
		Claim: n.Claim, Pool: poolOf(n), Labels: constraint.NewLabels(n.Labels),
		CreatedAt: n.Created, Launching: true, Launched: n.Status == view.Joining, Planned: true,
	}
}

// waiting adds pods of a row, and why they have no place.
func (b *builder) waiting(in *view.Input, w *view.Waiting) {
	shape := b.shape(w.Namespace, 500, gib)
	for i := range w.Count {
		name := podOf(w, i)
		in.Snapshot.Waiting = append(in.Snapshot.Waiting, cluster.Pod{
			Namespace: w.Namespace, Name: name, Owner: w.Owner, Shape: shape, CreatedAt: w.Since, Returns: true,
		})
		in.Statements = append(in.Statements, record.Statement{
			About: record.Object{Kind: record.Pod, Name: w.Namespace + "/" + name}, Topic: record.TopicPlace,
			Said: "has no place", Why: w.Reason, From: w.Since,
		})
	}
}

// shape has pods of equal requests share one.
func (b *builder) shape(namespace string, cpu, memory int64) *cluster.Shape {
	key := shapeKey{namespace, cpu, memory}
	s := b.shapes[key]
	if s == nil {
		s = &cluster.Shape{
			Namespace: namespace,
			Requests:  resources(cpu, memory, 1),
		}
		b.shapes[key] = s
	}
	return s
}
