package cost

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/quantity"
)

// Dimension is something that costs are grouped by.
type Dimension string

// The dimensions. Those of pods do not apply to what is idle.
const (
	Pool         Dimension = "pool"
	CapacityType Dimension = "capacity-type"
	Zone         Dimension = "zone"
	InstanceType Dimension = "instance-type"
	OfNode       Dimension = "node"
	NodeLabel    Dimension = "node-label" // with a key
	Namespace    Dimension = "namespace"
	Owner        Dimension = "owner"
	OfPod        Dimension = "pod"
	Label        Dimension = "label" // of pods, with a key
)

// Key is one dimension, with the label's key where it is one.
type Key struct {
	Dimension
	Label string
}

// String is the key as ParseKeys reads it.
func (k Key) String() string {
	if k.Label != "" {
		return string(k.Dimension) + "=" + k.Label
	}
	return string(k.Dimension)
}

// OfPods reports whether the key says something of pods alone, so that it does not apply to what is idle.
func (k Key) OfPods() bool {
	return slices.Contains([]Dimension{Namespace, Owner, OfPod, Label}, k.Dimension)
}

// plain are the dimensions without a key.
func plain() []Dimension {
	return []Dimension{Pool, Namespace, Owner, CapacityType, Zone, InstanceType, OfNode, OfPod}
}

// Keys are the words that ParseKeys reads; after those that end in an equal sign comes the key of a label.
func Keys() []string {
	var out []string
	for _, d := range plain() {
		out = append(out, string(d))
	}
	return append(out, string(Label)+"=", string(NodeLabel)+"=")
}

// ParseKeys reads keys with commas between, such as "pool,label=team". The error names the key and those there are.
func ParseKeys(text string) ([]Key, error) {
	var out []Key
	for word := range strings.SplitSeq(text, ",") {
		name, label, has := strings.Cut(strings.TrimSpace(word), "=")
		k := Key{Dimension(name), label}
		switch {
		case name == "nodepool" && !has:
			k.Dimension = Pool
		case (k.Dimension == Label || k.Dimension == NodeLabel) && label == "":
			return nil, fmt.Errorf("%q needs the key of a label: %s=team", word, name)
		case k.Dimension == Label || k.Dimension == NodeLabel:
		case has || !slices.Contains(plain(), k.Dimension):
			return nil, fmt.Errorf("costs cannot be grouped by %q: want pool, namespace, owner, label=KEY, "+
				"capacity-type, zone, instance-type, node-label=KEY, node or pod", word)
		}
		if slices.Contains(out, k) {
			return nil, fmt.Errorf("%q is there twice", k)
		}
		out = append(out, k)
	}
	return out, nil
}

// Row is what is alike by some keys.
type Row struct {
	Values   []string                           // of each key; empty: it has none, or the key does not apply
	Idle     bool                               // no pod is in it: keys of pods do not apply
	Pods     quantity.MicroUSDPerHour           // of pods, but for those of DaemonSets and static ones
	Daemons  quantity.MicroUSDPerHour           // of those: each node has its own
	Unused   map[Cause]quantity.MicroUSDPerHour // what is idle; nil: nothing is
	PodCount int                                // daemons too
	Nodes    int                                // those that a part of the row is on
	Unpriced int                                // of those, nodes whose price is not known
}

// Waste is what is idle, whatever the cause.
func (r *Row) Waste() quantity.MicroUSDPerHour {
	var sum quantity.MicroUSDPerHour
	for _, cost := range r.Unused {
		sum += cost
	}
	return sum
}

// Total is what the row costs.
func (r *Row) Total() quantity.MicroUSDPerHour { return r.Pods + r.Daemons + r.Waste() }

// Labels are those of pods, where costs are grouped by one: a snapshot has those labels alone that rules of
// scheduling read.
type Labels map[PodID]map[string]string

// By groups everything that is allocated: rows add up to the total. The most expensive comes first, of equal ones the
// first by its values. Without keys there is one row.
func (a *Allocation) By(keys []Key, labels Labels) []Row {
	g := grouping{keys: keys, labels: labels, at: map[string]int{}}
	ofPods := slices.ContainsFunc(keys, Key.OfPods)
	for i := range a.Nodes {
		n := &a.Nodes[i]
		if !ofPods {
			r := g.row(n, nil, i)
			for _, share := range n.Pods {
				r.add(share)
			}
			r.waste(n.Idle)
			continue
		}
		for _, share := range n.Pods {
			g.row(n, share.Pod, i).add(share)
		}
		if len(n.Idle) > 0 {
			r := g.row(n, nil, i)
			r.Idle = true
			r.waste(n.Idle)
		}
	}
	slices.SortFunc(g.rows, func(a, b Row) int {
		first := cmp.Or(cmp.Compare(b.Total(), a.Total()), slices.Compare(a.Values, b.Values))
		return cmp.Or(first, compareIdle(a.Idle, b.Idle))
	})
	return g.rows
}

// add counts a pod.
func (r *Row) add(share Share) {
	r.PodCount++
	if share.Pod.Daemon || share.Pod.Mirror {
		r.Daemons += share.Cost
	} else {
		r.Pods += share.Cost
	}
}

// waste counts what is idle.
func (r *Row) waste(list []Idle) {
	for _, idle := range list {
		if r.Unused == nil {
			r.Unused = map[Cause]quantity.MicroUSDPerHour{}
		}
		r.Unused[idle.Cause] += idle.Cost
	}
}

func compareIdle(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// grouping collects rows.
type grouping struct {
	keys   []Key
	labels Labels
	at     map[string]int
	rows   []Row
	last   []int // by row: the node that it was counted on last
	joined []byte
}

// values are those of all keys.
func (g *grouping) values(n *Node, p *cluster.Pod) []string {
	out := make([]string, len(g.keys))
	for i, k := range g.keys {
		out[i] = g.value(k, n, p)
	}
	return out
}

// row is that of a pod on a node, or of what is idle there.
func (g *grouping) row(n *Node, p *cluster.Pod, node int) *Row {
	g.joined = g.joined[:0]
	for _, k := range g.keys {
		g.joined = append(append(g.joined, g.value(k, n, p)...), 0)
	}
	if p == nil {
		g.joined = append(g.joined, "idle"...)
	}
	at, known := g.at[string(g.joined)]
	if !known {
		at = len(g.rows)
		g.at[string(g.joined)] = at
		g.rows, g.last = append(g.rows, Row{Values: g.values(n, p)}), append(g.last, -1)
	}
	r := &g.rows[at]
	if g.last[at] != node {
		g.last[at] = node
		r.Nodes++
		if !n.Priced {
			r.Unpriced++
		}
	}
	return r
}

// value is what a key says; p is nil for what is idle.
func (g *grouping) value(k Key, n *Node, p *cluster.Pod) string {
	if !k.OfPods() {
		return n.value(k)
	}
	if p == nil {
		return ""
	}
	switch k.Dimension {
	case Namespace:
		return p.Namespace
	case OfPod:
		return p.Namespace + "/" + p.Name
	case Owner:
		return g.owner(p)
	}
	if labels, known := g.labels[Of(p)]; known {
		return labels[k.Label]
	}
	value, _ := p.Shape.Labels.Get(k.Label)
	return value
}

// owner names the workload of a pod, with its namespace where rows do not have that anyway.
func (g *grouping) owner(p *cluster.Pod) string {
	name := cmp.Or(p.Owner, "Pod/"+p.Name)
	if slices.Contains(g.keys, Key{Dimension: Namespace}) {
		return name
	}
	return p.Namespace + "/" + name
}

// value is what a key says of a node.
func (n *Node) value(k Key) string {
	key := k.Label
	switch k.Dimension {
	case Pool:
		return PoolName(n.Pool)
	case OfNode:
		return n.Name
	case CapacityType:
		key = cluster.LabelCapacityType
	case Zone:
		key = cluster.LabelZone
	case InstanceType:
		key = cluster.LabelInstanceType
	}
	value, has := n.Labels.Get(key)
	if !has && k.Dimension == CapacityType {
		return groupCapacityType(n)
	}
	return value
}

// groupCapacityType is the capacity type of a node of an EKS node group, in the words of other nodes.
func groupCapacityType(n *Node) string {
	value, _ := n.Labels.Get("eks.amazonaws.com/capacityType")
	return strings.ReplaceAll(strings.ToLower(value), "_", "-")
}

// PoolName is a pool as rows name it: a NodePool by its name, another one with its kind.
func PoolName(id cluster.PoolID) string {
	switch id.Kind {
	case "":
		return ""
	case "NodePool":
		return id.Name
	}
	return id.String()
}
