package view

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/cost"
	"github.com/daemok/daemok/core/overlay"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/internal/brief"
	"github.com/daemok/daemok/observe/record"
)

// Status is where a node is between its launch and its end.
type Status string

// The statuses, in the order in which a node has them.
const (
	Pending     Status = "pending"     // a NodeClaim whose instance is not launched yet
	Joining     Status = "joining"     // its instance is launched, and is no node yet
	Starting    Status = "starting"    // it is a node, and lacks what its pool says it starts with
	Ready       Status = "ready"       // pods run there
	NotReady    Status = "not ready"   // its kubelet says so, or says nothing
	Cordoned    Status = "cordoned"    // somebody closed it to new pods
	Emptying    Status = "emptying"    // new pods go to other nodes while these have room
	Draining    Status = "draining"    // its pods are evicted
	Terminating Status = "terminating" // its instance is being terminated
)

// Statuses are all, in their order.
func Statuses() []Status {
	return []Status{Pending, Joining, Starting, Ready, NotReady, Cordoned, Emptying, Draining, Terminating}
}

// Node is a node, or an instance that is no node yet.
type Node struct {
	Name         string            `json:"name"` // of the node; empty: it is none yet
	Claim        string            `json:"nodeClaim,omitempty"`
	Instance     string            `json:"instance,omitempty"` // its ID
	Owner        Owner             `json:"owner"`
	Type         string            `json:"type,omitempty"`
	Zone         string            `json:"zone,omitempty"`
	CapacityType string            `json:"capacityType,omitempty"`
	Arch         string            `json:"arch,omitempty"`
	Cost         Cost              `json:"cost"`
	Created      time.Time         `json:"created,omitzero"`
	Expires      time.Time         `json:"expires,omitzero"`
	Status       Status            `json:"status"`
	Reason       string            `json:"reason,omitempty"` // of the status, where it needs one
	Until        time.Time         `json:"until,omitzero"`   // when the status ends at the latest
	Stays        string            `json:"stays,omitempty"`  // why it stays, or goes, as the controller decided
	Use          []Use             `json:"use"`              // cpu and memory first, then pods, then others by name
	Pods         []Pod             `json:"pods"`
	Labels       map[string]string `json:"labels,omitempty"`
}

// ID names the node, or its NodeClaim where it is none yet.
func (n *Node) ID() string {
	if n.Name == "" {
		return "nodeclaim/" + n.Claim
	}
	return n.Name
}

// Called is the name that people see: that of the NodeClaim where there is no node yet.
func (n *Node) Called() string {
	if n.Name == "" {
		return n.Claim
	}
	return n.Name
}

// UseOf is how much of a resource is taken; ok is false where the node has none.
func (n *Node) UseOf(resource string) (u Use, ok bool) {
	at := slices.IndexFunc(n.Use, func(u Use) bool { return u.Resource == resource })
	if at < 0 {
		return Use{}, false
	}
	return n.Use[at], true
}

// Owner is what made a node: a NodePool, a Provisioner, or a node group of another's.
type Owner struct {
	Kind string `json:"kind,omitempty"` // empty: it is not known
	Name string `json:"name,omitempty"`
}

// String prints "NodePool/default"; "-" where it is not known.
func (o Owner) String() string {
	if o.Kind == "" {
		return "-"
	}
	return o.Kind + "/" + o.Name
}

// Cost is what something costs.
type Cost struct {
	PerHour float64 `json:"perHour"`          // dollars
	Known   bool    `json:"known"`            // false: of some instance no price is known, and it is not counted
	Listed  bool    `json:"listed,omitempty"` // by the list price of an instance type: the account may pay less
}

// HoursPerMonth is how AWS counts them: 8,760 hours a year.
const HoursPerMonth = 730

// PerMonth is the cost of a month in dollars.
func (c Cost) PerMonth() float64 { return c.PerHour * HoursPerMonth }

// Use is how much of a resource is taken of a node, or of several.
type Use struct {
	Resource    string `json:"resource"`
	Requested   int64  `json:"requested"` // in the unit of the resource: thousandths of a core, bytes, pieces
	Allocatable int64  `json:"allocatable"`
	Used        *int64 `json:"used,omitempty"` // what is used in truth; nil: not known
}

// Share is what part of the resource is requested, from 0 to 1 or more.
func (u Use) Share() float64 {
	if u.Allocatable <= 0 {
		return 0
	}
	return float64(u.Requested) / float64(u.Allocatable)
}

// Pod is a pod on a node.
type Pod struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Owner     string `json:"owner,omitempty"` // "Deployment/web"
	CPU       int64  `json:"cpu"`             // requested, in thousandths of a core
	Memory    int64  `json:"memory"`          // requested, in bytes
	Daemon    bool   `json:"daemon,omitempty"`
	State     string `json:"state,omitempty"` // ending, starting, not ready; empty: it runs
	Keeps     string `json:"keeps,omitempty"` // why it keeps its node; empty: it does not

	Started time.Time `json:"-"` // when its node took it in; zero: it has not yet
}

// ofOthers are labels of nodes that other autoscalers or AWS make, and what these call what made them.
var ofOthers = [...]struct{ label, kind string }{
	{"eks.amazonaws.com/nodegroup", "managed node group"},
	{"alpha.eksctl.io/nodegroup-name", "node group"},
	{"kops.k8s.io/instancegroup", "instance group"},
	{"eks.amazonaws.com/fargate-profile", "Fargate profile"},
	{"karpenter.sh/nodepool", "NodePool"},
	{"karpenter.sh/provisioner-name", "Provisioner"},
}

func ownerOf(pool cluster.PoolID, labels constraint.Labels) Owner {
	if pool.Name != "" {
		return Owner{pool.Kind, pool.Name}
	}
	for _, o := range ofOthers {
		if name, has := labels.Get(o.label); has {
			return Owner{o.kind, name}
		}
	}
	if kind, _ := labels.Get("eks.amazonaws.com/compute-type"); kind == "fargate" {
		return Owner{"Fargate", ""}
	}
	return Owner{}
}

func label(l constraint.Labels, key string) string {
	v, _ := l.Get(key)
	return v
}

// place fills in what labels say of a node.
func (n *Node) place(l constraint.Labels) {
	n.Type, n.Zone, n.Arch = label(l, cluster.LabelInstanceType), label(l, cluster.LabelZone), label(l,
		cluster.LabelArch)
	n.CapacityType, n.Labels = label(l, cluster.LabelCapacityType), l.Map()
	isOurs := func(key, _ string) bool { return strings.Contains(key, "!") } // of the snapshot: no label has such a key
	maps.DeleteFunc(n.Labels, isOurs)
	if n.CapacityType == "" { // as managed node groups have it
		n.CapacityType = strings.ReplaceAll(strings.ToLower(label(l, "eks.amazonaws.com/capacityType")), "_", "-")
	}
}

func (k *known) node(n *cluster.Node) Node {
	out := Node{Name: n.Name, Claim: n.Claim, Instance: n.InstanceID, Owner: ownerOf(n.Pool, n.Labels),
		Created: n.CreatedAt, Expires: n.ExpiresAt, Pods: make([]Pod, len(n.Pods))}
	out.place(n.Labels)
	pool, _ := k.Snapshot.Pool(n.Pool)
	out.Cost = k.cost(&out, n.Labels, cost.Billed(k.Snapshot, n, pool))
	var requested quantity.Resources
	for i := range n.Pods {
		requested = requested.Add(n.Pods[i].Takes())
		out.Pods[i] = k.pod(&n.Pods[i])
	}
	out.Use = uses(n.Allocatable, requested)
	if used, has := k.Usage[n.Name]; has {
		for i := range out.Use {
			if u := &out.Use[i]; u.Resource == quantity.NameCPU || u.Resource == quantity.NameMemory {
				amount := used.Get(u.Resource)
				u.Used = &amount
			}
		}
	}
	if stay := k.says(record.Node, n.Name, record.TopicStay); stay != nil {
		out.Stays = because(stay)
	}
	out.Status, out.Reason, out.Until = k.status(n)
	return out
}

// cost is what a node costs: as it is known, else by the list price of its type.
func (k *known) cost(n *Node, of constraint.Labels, billed quantity.MicroUSDPerHour) Cost {
	if billed > 0 {
		return Cost{PerHour: billed.Dollars(), Known: true}
	}
	if k.Prices != nil {
		if dollars, ok := k.Prices.Price(n.Type, n.Zone, n.CapacityType); ok {
			price := overlay.ListPrice(k.Snapshot, quantity.USDPerHour(dollars), of)
			return Cost{PerHour: price.Dollars(), Known: true, Listed: true}
		}
	}
	return Cost{}
}

// because is a statement in one sentence.
func because(s *record.Statement) string {
	if s.Why == "" {
		return s.Said
	}
	return s.Said + ": " + s.Why
}

func uses(allocatable, requested quantity.Resources) []Use {
	out := make([]Use, 0, 4+len(allocatable.Extended))
	for _, name := range []string{quantity.NameCPU, quantity.NameMemory, quantity.NamePods, quantity.NameEphemeralStorage} {
		if has, takes := allocatable.Get(name), requested.Get(name); has > 0 || takes > 0 {
			out = append(out, Use{Resource: name, Requested: takes, Allocatable: has})
		}
	}
	for _, e := range allocatable.Extended {
		out = append(out, Use{Resource: e.Name, Requested: requested.Get(e.Name), Allocatable: e.Amount})
	}
	return out
}

func (k *known) pod(p *cluster.Pod) Pod {
	takes := p.Takes()
	out := Pod{Namespace: p.Namespace, Name: p.Name, Owner: p.Owner, CPU: int64(takes.CPU),
		Memory: int64(takes.Memory), Daemon: p.Daemon, Started: p.StartedAt}
	switch {
	case p.Ending:
		out.State = "ending"
	case p.Pending:
		out.State = "starting"
	case p.Unready:
		out.State = "not ready"
	}
	out.Keeps = keeps(p)
	return out
}

// keeps is why a pod keeps its node.
func keeps(p *cluster.Pod) string {
	switch {
	case p.DoNotDisrupt && p.DoNotEvict:
		return "annotation karpenter.sh/do-not-evict"
	case p.DoNotDisrupt && p.NotSafeToEvict:
		return `annotation cluster-autoscaler.kubernetes.io/safe-to-evict "false"`
	case p.DoNotDisrupt && !p.ProtectedUntil.IsZero():
		return "annotation karpenter.sh/do-not-disrupt until " + p.ProtectedUntil.UTC().Format(time.RFC3339)
	case p.DoNotDisrupt:
		return "annotation karpenter.sh/do-not-disrupt"
	case p.Kept:
		return "PodDisruptionBudget " + strings.ReplaceAll(p.PDBs, ",", ", ")
	}
	return ""
}

// status is where the node is, why, and until when at the latest.
func (k *known) status(n *cluster.Node) (status Status, reason string, until time.Time) {
	goes := cmp.Or(k.went[instanceOf{n.Name, n.Claim}], k.went[instanceOf{node: n.Name}])
	until = k.Deadlines[n.Claim]
	if !n.EndsAt.IsZero() && (until.IsZero() || n.EndsAt.Before(until)) {
		until = n.EndsAt
	}
	switch {
	case n.InstanceEnds:
		return Terminating, goes, until
	case n.Deleting:
		return Draining, strings.Join(brief.NonEmpty(goes, blockers(n)), "; "), until
	case !n.EndsAt.IsZero():
		return Draining, "AWS takes the instance away", until
	case !n.Ready && n.Initialized:
		return NotReady, ailing(n), time.Time{}
	case n.Claim != "" && !n.Initialized:
		return Starting, ailing(n), time.Time{}
	case slices.ContainsFunc(n.Taints, func(t constraint.Taint) bool { return t.Key == "node.kubernetes.io/unschedulable" }):
		return Cordoned, "", time.Time{}
	case n.Emptying():
		return Emptying, "", time.Time{}
	case !n.Ready:
		return NotReady, ailing(n), time.Time{}
	}
	return Ready, "", time.Time{}
}

// blockers are the pods that a drain waits for, and why; empty: there are none.
func blockers(n *cluster.Node) string {
	var out []string
	for i := range n.Pods {
		p := &n.Pods[i]
		if why := keeps(p); why != "" && !p.Daemon && !p.Mirror && !p.Uprooted {
			out = append(out, fmt.Sprintf("pod %s/%s stays: %s", p.Namespace, p.Name, why))
		}
	}
	const most = 2
	if more := len(out) - most; more > 0 {
		out = append(out[:most], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(out, "; ")
}

// ailing is what makes the node unhealthy.
func ailing(n *cluster.Node) string {
	var out []string
	for _, a := range n.Ailments {
		out = append(out, fmt.Sprintf("condition %s is %s", a.Condition, a.Status))
	}
	return strings.Join(out, ", ")
}

func (k *known) instance(m *cluster.Instance) Node {
	out := Node{Claim: m.Claim, Owner: ownerOf(m.Pool, m.Labels), Created: m.CreatedAt, Status: Pending, Pods: []Pod{}}
	out.place(m.Labels)
	if m.Launched {
		out.Status = Joining
	}
	if fails := k.says(record.Claim, m.Claim, record.TopicLaunch); fails != nil && !m.Launched {
		out.Reason = because(fails)
	} else if n := len(m.LaunchedFor); n > 0 {
		out.Reason = "for " + brief.Counted(n, "pod")
	}
	if m.Deleting {
		out.Status, out.Until = Terminating, k.Deadlines[m.Claim]
	}
	var requested quantity.Resources
	for i := range m.LaunchedFor {
		requested = requested.Add(m.LaunchedFor[i].Shape.Requests)
	}
	out.Use = uses(m.Allocatable, requested)
	pool, _ := k.Snapshot.Pool(m.Pool)
	out.Cost = k.cost(&out, m.Labels, cost.BilledInstance(k.Snapshot, m, pool))
	return out
}
