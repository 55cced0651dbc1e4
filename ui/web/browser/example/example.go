// Package example makes clusters that no one has, and changes them, so that the pages can be tried and measured.
//
// It promises the same cluster for the same numbers. It is for tests and pictures alone.
package example

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/observe/record"
	"github.com/daemok/daemok/ui/view"
)

// Cluster is a view.Source whose cluster changes when its methods are called. It is safe for concurrent use.
type Cluster struct {
	changed chan struct{}

	mu     sync.Mutex
	random *rand.Rand
	at     time.Time
	now    view.Cluster
	came   int
}

// instanceType is what nodes of the example are.
type instanceType struct {
	name        string
	cpu, memory int64
	dollars     float64
}

const (
	core     = 1000
	gib      = 1 << 30
	podsMost = 58
)

var types = []instanceType{
	{"m5.large", 2 * core, 8 * gib, 0.107}, {"m5.xlarge", 4 * core, 16 * gib, 0.214}, {"c6i.2xlarge", 8 * core, 16 * gib, 0.382}, {"r6g.xlarge", 4 * core, 32 * gib, 0.225},
}

var (
	pools      = []string{"batch", "default", "general-arm"}
	zones      = []string{"eu-west-1a", "eu-west-1b", "eu-west-1c"}
	namespaces = []string{"shop", "search", "billing", "jobs"}
)

// New makes a cluster of so many nodes, each with about so many pods, as of a moment.
func New(at time.Time, nodes, podsPerNode int) *Cluster {
	c := &Cluster{changed: make(chan struct{}, 1), random: rand.New(rand.NewPCG(7, uint64(nodes))), at: at} //nolint:gosec // the same each time
	for i := range nodes {
		c.now.Nodes = append(c.now.Nodes, c.node(i, podsPerNode))
	}
	for i, name := range pools {
		c.now.Pools = append(c.now.Pools, view.Pool{
			Kind: "NodePool", Name: name, Weight: 10 * i, Ready: true, Allowed: int64(nodes/10 + 1), Policies: "WhenEmptyOrUnderutilized",
			Limits: []view.Limit{{Resource: "cpu", Used: int64(nodes) * core, Limit: int64(nodes+8) * 2 * core}},
		})
	}
	c.now.Controller = &view.Controller{Standing: view.Acting, Leader: "daemok-7d9c5b6f4-x2x8p", Renewed: at, Version: "v0.1.0", Ready: 2, Wanted: 2, Record: at}
	c.now.Events, c.now.Waiting, c.now.Problems, c.now.Troubles = []view.Event{}, []view.Waiting{}, []view.Problem{}, []string{}
	c.sum()
	return c
}

func (c *Cluster) node(i, pods int) view.Node {
	t := types[c.random.IntN(len(types))]
	zone, pool := zones[i%len(zones)], pools[c.random.IntN(len(pools))]
	n := view.Node{
		Name: fmt.Sprintf("ip-10-%d-%d-%d.eu-west-1.compute.internal", i/60000, i/250%240, i%250+4), Claim: fmt.Sprintf("%s-%05d", pool, i), Instance: fmt.Sprintf("i-%017x", i+0x1234567),
		Owner: view.Owner{Kind: "NodePool", Name: pool}, Type: t.name, Zone: zone, CapacityType: []string{"spot", "on-demand"}[c.random.IntN(2)], Arch: "amd64",
		Cost: view.Cost{PerHour: t.dollars, Known: true}, Created: c.at.Add(-time.Duration(c.random.IntN(90000)) * time.Second), Status: view.Ready,
		Labels: map[string]string{"team": namespaces[i%len(namespaces)], "node.kubernetes.io/instance-type": t.name, "topology.kubernetes.io/zone": zone, "karpenter.sh/nodepool": pool},
		Use: []view.Use{
			{Resource: quantity.NameCPU, Allocatable: t.cpu}, {Resource: quantity.NameMemory, Allocatable: t.memory},
			{Resource: quantity.NamePods, Allocatable: podsMost},
		},
		Pods: []view.Pod{},
	}
	full := 0.25 + 0.7*c.random.Float64()
	for j := range pods {
		p := view.Pod{
			Namespace: namespaces[c.random.IntN(len(namespaces))], CPU: int64(float64(t.cpu) * full / float64(pods)), Memory: int64(float64(t.memory) * full * 0.9 / float64(pods)),
		}
		if j < 2 {
			p.Namespace, p.Daemon, p.Owner = "kube-system", true, "DaemonSet/aws-node"
			p.Name = fmt.Sprintf("aws-node-%05x%d", i, j)
		} else {
			p.Owner = []string{"Deployment/web", "Deployment/api", "StatefulSet/db", "Job/report"}[c.random.IntN(4)]
			_, name, _ := strings.Cut(p.Owner, "/")
			p.Name = fmt.Sprintf("%s-%06x", name, i*100+j)
		}
		n.Pods = append(n.Pods, p)
	}
	if i%17 == 3 && pods > 3 {
		n.Pods[3].Keeps = "annotation karpenter.sh/do-not-disrupt"
		n.Stays = "might go, because underutilized: pod " + n.Pods[3].Name + " has annotation karpenter.sh/do-not-disrupt"
	}
	requested(&n)
	return n
}

// requested adds up what the pods of a node request.
func requested(n *view.Node) {
	n.Use = slices.Clone(n.Use)
	for i := range n.Use {
		n.Use[i].Requested = 0
	}
	for i := range n.Pods {
		n.Use[0].Requested += n.Pods[i].CPU
		n.Use[1].Requested += n.Pods[i].Memory
		n.Use[2].Requested++
	}
}

// sum adds up the totals. Who calls it holds mu, or made c.
func (c *Cluster) sum() {
	t := view.Totals{Nodes: len(c.now.Nodes), ByStatus: map[view.Status]int{}, ByOption: map[string]int{}, Cost: view.Cost{Known: true}, PoolCost: view.Cost{Known: true}}
	t.Use = []view.Use{{Resource: quantity.NameCPU}, {Resource: quantity.NameMemory}}
	c.now.Pools = slices.Clone(c.now.Pools)
	for i := range c.now.Pools {
		c.now.Pools[i].Nodes, c.now.Pools[i].Cost = 0, view.Cost{Known: true}
	}
	for i := range c.now.Nodes {
		n := &c.now.Nodes[i]
		t.ByStatus[n.Status]++
		t.ByOption[n.CapacityType]++
		t.Pods += len(n.Pods)
		t.Cost.PerHour += n.Cost.PerHour
		for u := range t.Use {
			t.Use[u].Requested += n.Use[u].Requested
			t.Use[u].Allocatable += n.Use[u].Allocatable
		}
		for p := range c.now.Pools {
			if c.now.Pools[p].Name == n.Owner.Name {
				c.now.Pools[p].Nodes++
				c.now.Pools[p].Cost.PerHour += n.Cost.PerHour
			}
		}
	}
	for i := range c.now.Waiting {
		t.Waiting += c.now.Waiting[i].Count
		if c.now.Waiting[i].Stuck() {
			t.Unplaced += c.now.Waiting[i].Count
		}
	}
	t.PoolCost, t.Bound = t.Cost, t.Cost.PerHour*0.93
	gap := 1/0.93 - 1
	t.Gap = &gap
	c.now.Totals = t
}

// View implements view.Source.
func (c *Cluster) View() *view.Cluster {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.now
	out.At = c.at
	return &out
}

// Changed implements view.Source.
func (c *Cluster) Changed() <-chan struct{} { return c.changed }

// edit changes the cluster at a moment.
func (c *Cluster) edit(at time.Time, change func()) {
	c.mu.Lock()
	c.at = at
	c.now.Nodes = slices.Clone(c.now.Nodes) // views that were handed out stay as they are
	change()
	c.now.Revision++
	c.sum()
	c.mu.Unlock()
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

// Change makes so many small changes: pods come, go, and become ready.
func (c *Cluster) Change(at time.Time, changes int) {
	c.edit(at, func() {
		for range changes {
			n := &c.now.Nodes[c.random.IntN(len(c.now.Nodes))]
			if n.Name == "" { // no pod runs there yet
				continue
			}
			n.Pods = slices.Clone(n.Pods)
			switch chance := c.random.IntN(3); {
			case chance == 0 || len(n.Pods) == 0:
				c.came++
				n.Pods = append(n.Pods, view.Pod{Namespace: "shop", Name: fmt.Sprintf("web-new-%d", c.came), Owner: "Deployment/web", CPU: 50, Memory: 64 << 20, State: "starting"})
			case chance == 1 && len(n.Pods) > 4:
				n.Pods = n.Pods[:len(n.Pods)-1]
			default:
				p := &n.Pods[c.random.IntN(len(n.Pods))]
				p.State = map[string]string{"": "not ready", "not ready": "", "starting": ""}[p.State]
			}
			requested(n)
		}
	})
}

// Become gives a node a status, and its pods what goes with it.
func (c *Cluster) Become(at time.Time, node int, status view.Status, reason string) {
	c.edit(at, func() {
		n := &c.now.Nodes[node]
		n.Status, n.Reason, n.Pods = status, reason, slices.Clone(n.Pods)
		switch status {
		case view.Draining, view.Terminating:
			n.Until = at.Add(14 * time.Minute)
			for i := range n.Pods {
				if !n.Pods[i].Daemon && (i%2 == 0 || status == view.Terminating) {
					n.Pods[i].State = "ending"
				}
			}
			c.happened(view.Event{At: at, About: record.Object{Kind: record.Node, Name: n.Name}, Said: "was disrupted: Underutilized", Why: reason})
		case view.Pending, view.Joining:
			n.Name, n.Pods = "", []view.Pod{}
			c.happened(view.Event{At: at, About: record.Object{Kind: record.Claim, Name: n.Claim}, Said: "was created: " + n.Type + " in " + n.Zone, Why: "3 pods of shop/Deployment/web are pending"})
		}
		requested(n)
	})
}

func (c *Cluster) happened(e view.Event) { c.now.Events = append([]view.Event{e}, c.now.Events...) }

// Wait adds pods that wait.
func (c *Cluster) Wait(at time.Time, w view.Waiting) {
	c.edit(at, func() {
		c.now.Waiting = append(slices.Clone(c.now.Waiting), w)
		c.now.Came = slices.Clone(c.now.Came)
		for i := range w.Count {
			c.now.Came = append(c.now.Came, view.Came{Namespace: w.Namespace, Name: podOf(&w, i), At: w.Since})
		}
		if w.Stuck() {
			c.now.Problems = append([]view.Problem{{Severity: view.Failure, About: w.Name(), Text: fmt.Sprintf("%d pods: %s", w.Count, w.Reason)}}, c.now.Problems...)
		}
	})
}

// podOf is the name of one of the pods that wait.
func podOf(w *view.Waiting, i int) string {
	name := w.Pods[min(i, len(w.Pods)-1)]
	if i < len(w.Pods) {
		return name
	}
	return fmt.Sprintf("%s-%d", name, i)
}

// Place puts all pods that wait on nodes that have joined, one on each.
func (c *Cluster) Place(at time.Time) {
	c.edit(at, func() {
		var joined []*view.Node
		for i := range c.now.Nodes {
			if n := &c.now.Nodes[i]; n.Name != "" {
				joined = append(joined, n)
			}
		}
		for i, p := range c.now.Came {
			n := joined[i%len(joined)]
			n.Pods = append(slices.Clone(n.Pods), view.Pod{
				Namespace: p.Namespace, Name: p.Name, CPU: 50, Memory: 64 << 20, State: "starting", Started: at,
			})
			requested(n)
		}
		c.now.Waiting, c.now.Came, c.now.Problems = []view.Waiting{}, nil, []view.Problem{}
	})
}

// Rename gives a node another name, and its first pod another one.
func (c *Cluster) Rename(at time.Time, node int, name, pod string) {
	c.edit(at, func() {
		n := &c.now.Nodes[node]
		n.Name, n.Pods = name, slices.Clone(n.Pods)
		n.Pods[0].Name = pod
	})
}
