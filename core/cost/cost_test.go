package cost_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/cost"
	"github.com/daemok/daemok/core/quantity"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// pool is a NodePool whose nodes may go at once.
func pool(name string) cluster.Pool {
	return cluster.Pool{ID: cluster.PoolID{Kind: "NodePool", Name: name},
		Policy: cluster.Policy{Empty: cluster.Allowance{Most: 1}, Drifted: cluster.Allowance{Most: 1}, Underutilized: cluster.Allowance{Most: 1}}}
}

// node is one of the pool default with 2 vCPUs and 8 GiB, for $0.104 an hour: a vCPU of it is $0.036, a GiB $0.004.
func node(name string, pods ...cluster.Pod) cluster.Node {
	return cluster.Node{Name: name, Claim: "claim-" + name, Pool: pool("default").ID, Price: 104_000, Initialized: true, Ready: true, Pods: pods,
		Labels: constraint.NewLabels(map[string]string{
			cluster.LabelZone: "us-west-2a", cluster.LabelCapacityType: "on-demand", cluster.LabelInstanceType: "m5.large", "rack": "r-" + name,
		}),
		Allocatable: quantity.Resources{CPU: 2000, Memory: 8 * quantity.GiB, Pods: 29}}
}

func pod(namespace, name, owner string, cpu quantity.MilliCPU, memory quantity.Bytes) cluster.Pod {
	return cluster.Pod{Namespace: namespace, Name: name, Owner: owner, Returns: true,
		Shape: &cluster.Shape{Namespace: namespace, Requests: quantity.Resources{CPU: cpu, Memory: memory, Pods: 1}}}
}

func daemon(name string, cpu quantity.MilliCPU) cluster.Pod {
	p := pod("kube-system", name, "DaemonSet/agent", cpu, 0)
	p.Daemon, p.Returns = true, false
	return p
}

func snapshot(nodes ...cluster.Node) *cluster.Snapshot {
	s := &cluster.Snapshot{Now: noon, Nodes: nodes, Pools: []cluster.Pool{pool("default")}}
	s.Sort()
	return s
}

// A vCPU costs as much as nine GiB, so that of $0.104 for 2 vCPUs and 8 GiB a vCPU is $0.036 and a GiB $0.004.
func TestPodsCostWhatTheyRequest(t *testing.T) {
	a := cost.Allocate(cost.Input{Snapshot: snapshot(node("a",
		pod("shop", "web-1", "Deployment/web", 1000, 0), pod("shop", "db-0", "StatefulSet/db", 0, 2*quantity.GiB), daemon("agent-1", 250)))})
	got := map[string]quantity.MicroUSDPerHour{}
	for _, share := range a.Nodes[0].Pods {
		got[share.Pod.Name] = share.Cost
	}
	got["idle"] = a.Nodes[0].Idle[0].Cost
	want := map[string]quantity.MicroUSDPerHour{"web-1": 36_000, "db-0": 8_000, "agent-1": 9_000, "idle": 51_000}
	if !reflect.DeepEqual(got, want) || a.Total != 104_000 {
		t.Errorf("got %v of %v, want %v of $0.104", got, a.Total, want)
	}
}

// What is left of a division goes to the largest remainders, the first of equal ones.
func TestNoMillionthIsLost(t *testing.T) {
	n := node("a", pod("x", "p1", "", 500, 2*quantity.GiB), pod("x", "p2", "", 500, 2*quantity.GiB), pod("x", "p3", "", 500, 2*quantity.GiB), pod("x", "p4", "", 500, 2*quantity.GiB))
	n.Price = 7
	a := cost.Allocate(cost.Input{Snapshot: snapshot(n)})
	var got []quantity.MicroUSDPerHour
	for _, share := range a.Nodes[0].Pods {
		got = append(got, share.Cost)
	}
	if want := []quantity.MicroUSDPerHour{2, 2, 2, 1}; !reflect.DeepEqual(got, want) {
		t.Errorf("7 millionths among four equal pods = %v, want %v", got, want)
	}
}

// A GPU is at least half of the price of its node, whoever else runs there.
func TestDevicesDominate(t *testing.T) {
	gpu := func(p cluster.Pod, name string) cluster.Pod {
		p.Shape.Requests = p.Shape.Requests.With(name, 1)
		return p
	}
	for name, tt := range map[string]struct {
		resource string
		listed   quantity.MicroUSDPerHour
		want     quantity.MicroUSDPerHour // of a pod with the device and nothing else
	}{
		"half where the list price is not known": {"nvidia.com/gpu", 0, 500_000},
		"what cpu and memory do not explain":     {"nvidia.com/gpu", 1_060_000, 900_000},
		"half where they explain more":           {"nvidia.com/gpu", 150_000, 500_000},
		"an interface is no device":              {"vpc.amazonaws.com/pod-eni", 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			n := node("a", gpu(pod("ml", "train", "Job/train", 0, 0), tt.resource))
			n.Price = 1_000_000
			n.Allocatable = n.Allocatable.With(tt.resource, 1)
			n.Capacity = n.Allocatable
			s := snapshot(n)
			if tt.listed > 0 {
				s.Pools[0].Catalogue = &cluster.Catalogue{Revision: 1, InstanceTypes: []cluster.InstanceType{{Name: "m5.large",
					Offerings: []cluster.Offering{{Zone: "us-west-2a", Option: cluster.OnDemand, Price: tt.listed, Priced: true}}}}}
			}
			got := cost.Allocate(cost.Input{Snapshot: s}).Nodes[0].Pods[0].Cost
			if diff := got - tt.want; diff < -1000 || diff > 1000 {
				t.Errorf("a pod with the device costs %v, want about %v", got, tt.want)
			}
		})
	}
}

// Reserved capacity is nearly free to plans, and is billed on demand: a node in it costs what its tenancy does.
func TestReservedNodesCostWhatIsBilled(t *testing.T) {
	offering := func(zone, option, tenancy string, price quantity.MicroUSDPerHour) cluster.Offering {
		return cluster.Offering{Zone: zone, Option: cluster.Option(option), Price: price, Priced: true,
			Labels: constraint.NewLabels(map[string]string{
				cluster.LabelZone: zone, cluster.LabelCapacityType: option, "tenancy": tenancy})}
	}
	offered := &cluster.Catalogue{InstanceTypes: []cluster.InstanceType{{Name: "m5.large",
		Offerings: []cluster.Offering{offering("us-west-2a", "spot", "default", 30_000),
			offering("us-west-2b", "on-demand", "dedicated", 110_000),
			offering("us-west-2a", "on-demand", "default", 96_000),
			offering("us-west-2a", "on-demand", "dedicated", 106_000),
			offering("us-west-2a", "reserved", "default", 10)}}}}
	for name, tt := range map[string]struct {
		tenancy   string
		catalogue *cluster.Catalogue
		listed    quantity.MicroUSDPerHour
		want      quantity.MicroUSDPerHour
	}{
		"by the catalogue":       {"default", offered, 1, 96_000 + 4_000},
		"by its tenancy":         {"dedicated", offered, 1, 106_000 + 4_000},
		"by its list price":      {"default", nil, 90_000, 90_000},
		"not if it is not known": {"default", nil, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			n := node("a")
			n.Price, n.Labels = 10, n.Labels.With(cluster.LabelCapacityType, "reserved").With("tenancy", tt.tenancy)
			s := snapshot(n)
			s.Pools[0].InstanceCost, s.Pools[0].Catalogue = 4_000, tt.catalogue
			s.Instances = []cluster.Instance{{Claim: "b", Pool: n.Pool, Launched: true, Labels: n.Labels}}
			a := cost.Allocate(cost.Input{Snapshot: s,
				Listed: map[string]quantity.MicroUSDPerHour{"a": tt.listed, "b": tt.listed}})
			for _, n := range a.Nodes {
				if n.Price != tt.want || n.Priced != (tt.want > 0) {
					t.Errorf("%s costs %v, want %v", n.Name, n.Price, tt.want)
				}
			}
		})
	}
}

// A node whose price is not known is named, and is not free.
func TestUnknownPricesAreNamed(t *testing.T) {
	unknown, listed := node("b", pod("shop", "web-1", "Deployment/web", 1000, 0)), node("c", pod("shop", "web-2", "Deployment/web", 1000, 0))
	unknown.Price, listed.Price = 0, 0
	a := cost.Allocate(cost.Input{Snapshot: snapshot(node("a"), unknown, listed), Listed: map[string]quantity.MicroUSDPerHour{"c": 208_000, "a": 1}})
	if a.Total != 312_000 || a.Listed != 208_000 || !reflect.DeepEqual(a.Unpriced, []string{"b"}) {
		t.Errorf("total %v, of which %v listed, and not %v; want $0.312, $0.208 and [b]", a.Total, a.Listed, a.Unpriced)
	}
	for _, r := range a.By([]cost.Key{{Dimension: cost.Namespace}}, nil) {
		if !r.Idle && (r.PodCount != 2 || r.Unpriced != 1) {
			t.Errorf("%+v, want two pods, of which one is on a node without a price", r)
		}
	}
}

// What is idle on a node is named by what would release it.
func TestIdleCostHasACause(t *testing.T) {
	web := pod("shop", "web-1", "Deployment/web", 1000, 0)
	var kept, withPDB, lone, expected = web, web, web, web
	kept.DoNotDisrupt, withPDB.PDBs, expected.Name = true, "web", "web-2"
	lone.Returns, lone.OneOff = false, "no controller created it"
	for name, tt := range map[string]struct {
		change func(*cluster.Snapshot, *cluster.Node)
		want   map[cost.Cause]quantity.MicroUSDPerHour
	}{
		"nothing holds it":             {func(*cluster.Snapshot, *cluster.Node) {}, only(cost.Fragmentation)},
		"it is drained":                {func(_ *cluster.Snapshot, n *cluster.Node) { n.Deleting = true }, only(cost.Leaving)},
		"it is of no pool":             {func(_ *cluster.Snapshot, n *cluster.Node) { n.Claim, n.DoNotDisrupt = "", true }, only(cost.Unmanaged)},
		"it is starting":               {func(_ *cluster.Snapshot, n *cluster.Node) { n.Initialized = false }, only(cost.Headroom)},
		"its annotation":               {func(_ *cluster.Snapshot, n *cluster.Node) { n.DoNotDisrupt = true }, only(cost.DoNotDisrupt)},
		"the annotation of a pod":      {func(_ *cluster.Snapshot, n *cluster.Node) { n.Pods = []cluster.Pod{kept} }, only(cost.DoNotDisrupt)},
		"a budget":                     {func(_ *cluster.Snapshot, n *cluster.Node) { n.Pods = []cluster.Pod{withPDB} }, only(cost.PDB)},
		"a pod that is not made again": {func(_ *cluster.Snapshot, n *cluster.Node) { n.Pods = []cluster.Pod{lone} }, only(cost.Work)},
		"its pool keeps nodes":         {func(s *cluster.Snapshot, _ *cluster.Node) { s.Pools[0].Policy.Never = true }, only(cost.Policy)},
		"consolidateAfter": {func(s *cluster.Snapshot, n *cluster.Node) {
			s.Pools[0].Policy.After, n.QuietSince = time.Hour, noon.Add(-time.Minute)
		}, only(cost.Policy)},
		"no budget of its pool": {func(s *cluster.Snapshot, _ *cluster.Node) { s.Pools[0].Policy.Underutilized = cluster.Allowance{} }, only(cost.Policy)},
		"half of it is for a pod to come": {func(_ *cluster.Snapshot, n *cluster.Node) {
			n.LaunchedFor = []cluster.Pod{pod("shop", "web-2", "Deployment/web", 500, 0)}
		}, map[cost.Cause]quantity.MicroUSDPerHour{cost.Headroom: 18_000, cost.Fragmentation: 50_000}},
		"more is for pods to come than is there": {func(_ *cluster.Snapshot, n *cluster.Node) {
			n.LaunchedFor = []cluster.Pod{pod("shop", "web-2", "Deployment/web", 8000, 0)}
		}, only(cost.Headroom)},
	} {
		t.Run(name, func(t *testing.T) {
			s := snapshot(node("a", web))
			s.PDBs = []cluster.PodDisruptionBudget{{Namespace: "shop", Name: "web"}}
			tt.change(s, &s.Nodes[0])
			if got := cost.Allocate(cost.Input{Snapshot: s}).ByCause(); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("idle %v, want %v", got, tt.want)
			}
		})
	}
}

// only is all that is idle beside one vCPU of a node.
func only(cause cost.Cause) map[cost.Cause]quantity.MicroUSDPerHour {
	return map[cost.Cause]quantity.MicroUSDPerHour{cause: 68_000}
}

// An instance that is launched is paid for before it joins; one that is not launched costs nothing.
func TestInstancesBeingLaunchedAreHeadroom(t *testing.T) {
	s := snapshot()
	s.Pools[0].Catalogue = &cluster.Catalogue{Revision: 1, Disk: 1_000, InstanceTypes: []cluster.InstanceType{{Name: "m5.large",
		Offerings: []cluster.Offering{{Zone: "us-west-2a", Option: cluster.OnDemand, Price: 96_000, Priced: true}}}}}
	s.Instances = []cluster.Instance{
		{Claim: "a", Pool: s.Pools[0].ID, Launched: true}, {Claim: "b", Pool: s.Pools[0].ID},
		{Claim: "c", Pool: s.Pools[0].ID, Launched: true, Deleting: true}, {Claim: "d", Pool: cluster.PoolID{Name: "gone"}, Launched: true},
	}
	a := cost.Allocate(cost.Input{Snapshot: s})
	want := map[cost.Cause]quantity.MicroUSDPerHour{cost.Headroom: 97_000, cost.Leaving: 97_000}
	if got := a.ByCause(); !reflect.DeepEqual(got, want) || !reflect.DeepEqual(a.Unpriced, []string{"d"}) {
		t.Errorf("idle %v and without a price %v, want %v and [d]", got, a.Unpriced, want)
	}
}

// Whatever costs are grouped by, rows add up to the total, and the total to the prices of nodes.
func TestEveryDollarIsCountedOnce(t *testing.T) {
	groupings := []string{"pool", "namespace", "owner", "capacity-type", "zone", "instance-type", "node", "pod", "label=team", "node-label=rack",
		"pool,namespace", "owner,label=team", "zone,capacity-type,namespace"}
	for seed := range uint64(300) {
		s, listed := anySnapshot(rand.New(rand.NewPCG(seed, 1)))
		a := cost.Allocate(cost.Input{Snapshot: s, Listed: listed})
		var prices quantity.MicroUSDPerHour
		for _, n := range s.Nodes {
			if n.Price == 0 {
				n.Price = listed[n.Name]
			}
			prices += n.Price
		}
		if a.Total != prices {
			t.Fatalf("seed %d: the total is %v, nodes cost %v", seed, a.Total, prices)
		}
		for i, n := range a.Nodes {
			var sum quantity.MicroUSDPerHour
			for _, share := range n.Pods {
				sum += share.Cost
			}
			for _, idle := range n.Idle {
				sum += idle.Cost
				if idle.Cost <= 0 {
					t.Errorf("seed %d: %s has %v idle because of %s", seed, n.Name, idle.Cost, idle.Cause)
				}
			}
			if sum != n.Price {
				t.Fatalf("seed %d: parts of %s come to %v, want %v: %v", seed, a.Nodes[i].Name, sum, n.Price, s.Nodes[i])
			}
		}
		for _, by := range groupings {
			keys, err := cost.ParseKeys(by)
			if err != nil {
				t.Fatal(err)
			}
			var sum quantity.MicroUSDPerHour
			var pods int
			for _, r := range a.By(keys, nil) {
				sum, pods = sum+r.Total(), pods+r.PodCount
			}
			if sum != a.Total {
				t.Fatalf("seed %d: by %s rows come to %v, want %v", seed, by, sum, a.Total)
			}
			if want := podCount(s); pods != want {
				t.Fatalf("seed %d: by %s there are %d pods, want %d", seed, by, pods, want)
			}
		}
	}
}

func podCount(s *cluster.Snapshot) (n int) {
	for i := range s.Nodes {
		n += len(s.Nodes[i].Pods)
	}
	return n
}

// anySnapshot is a cluster of up to 20 nodes, of which some are full, too full, empty, without a price or with GPUs.
func anySnapshot(r *rand.Rand) (*cluster.Snapshot, map[string]quantity.MicroUSDPerHour) {
	s, listed := snapshot(), map[string]quantity.MicroUSDPerHour{}
	for i := range r.IntN(20) {
		n := node(fmt.Sprintf("n%02d", i))
		n.Price = quantity.MicroUSDPerHour(r.IntN(4) * r.IntN(40_000_000))
		if r.IntN(3) == 0 {
			listed[n.Name] = quantity.MicroUSDPerHour(r.IntN(1_000_000))
		}
		n.Allocatable.CPU = quantity.MilliCPU(r.IntN(4) * r.IntN(64_000))
		if r.IntN(3) == 0 {
			n.Allocatable = n.Allocatable.With("nvidia.com/gpu", int64(1+r.IntN(8)))
		}
		for j := range r.IntN(60) {
			p := pod([]string{"shop", "ml", "ops"}[r.IntN(3)], fmt.Sprintf("p%d-%d", i, j), []string{"", "Deployment/web", "Job/x"}[r.IntN(3)],
				quantity.MilliCPU(r.IntN(3000)), quantity.Bytes(r.Int64N(int64(2*quantity.GiB))))
			p.Shape.Labels = constraint.NewLabels(map[string]string{"team": []string{"a", "b"}[r.IntN(2)]})
			p.Daemon, p.DoNotDisrupt = r.IntN(6) == 0, r.IntN(200) == 0
			if r.IntN(5) == 0 {
				p.Shape.Requests = p.Shape.Requests.With("nvidia.com/gpu", 1)
			}
			if r.IntN(10) == 0 {
				n.LaunchedFor = append(n.LaunchedFor, p)
			} else {
				n.Pods = append(n.Pods, p)
			}
		}
		s.Nodes = append(s.Nodes, n)
	}
	s.Sort()
	return s, listed
}

// A key that is misspelt is named with those that there are.
func TestParseKeys(t *testing.T) {
	for text, want := range map[string]string{
		"team":  `costs cannot be grouped by "team": want pool, namespace, owner, label=KEY, capacity-type, zone, instance-type, node-label=KEY, node or pod`,
		"label": `"label" needs the key of a label: label=team`, "pool,pool": `"pool" is there twice`, "pool,nodepool": `"pool" is there twice`,
		"zone=a": `costs cannot be grouped by "zone=a": want pool, namespace, owner, label=KEY, capacity-type, zone, instance-type, node-label=KEY, node or pod`,
		"":       `costs cannot be grouped by "": want pool, namespace, owner, label=KEY, capacity-type, zone, instance-type, node-label=KEY, node or pod`,
	} {
		if _, err := cost.ParseKeys(text); err == nil || err.Error() != want {
			t.Errorf("ParseKeys(%q): %v, want %s", text, err, want)
		}
	}
}

// What is requested and not used is priced like the node of each pod; a pod that uses more saves nothing for another.
func TestOverRequested(t *testing.T) {
	s := snapshot(node("a", pod("shop", "web-1", "Deployment/web", 1000, quantity.GiB), pod("shop", "web-2", "Deployment/web", 500, quantity.GiB), pod("shop", "web-3", "Deployment/web", 100, 0)))
	a := cost.Allocate(cost.Input{Snapshot: s})
	got := a.OverRequested(map[cost.PodID]cost.Used{
		{Namespace: "shop", Name: "web-1"}: {CPU: 250, Memory: quantity.GiB / 2, Samples: 3},
		{Namespace: "shop", Name: "web-2"}: {CPU: 600, Memory: quantity.GiB, Samples: 1},
	}, []cost.Key{{Dimension: cost.Owner}}, nil)
	want := []cost.OverRequest{{Values: []string{"shop/Deployment/web"}, Pods: 2, CPU: 27_000, Memory: 2_000, SamplesLeast: 1, UnderCPU: 1,
		Requested: quantity.Resources{CPU: 1500, Memory: 2 * quantity.GiB}, Used: quantity.Resources{CPU: 850, Memory: quantity.GiB + quantity.GiB/2}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

// A user may ask for some pods alone: then nothing idle is shown, and the total is theirs.
func TestOnlySomePods(t *testing.T) {
	a := cost.Allocate(cost.Input{Snapshot: snapshot(node("a", pod("shop", "web-1", "Deployment/web", 1000, 0), daemon("agent-1", 250)), node("b"))})
	some := a.Only(map[cost.PodID]bool{{Namespace: "shop", Name: "web-1"}: true})
	if some.Total != 36_000 || len(some.Nodes) != 1 || len(some.ByCause()) != 0 {
		t.Errorf("%v of %d nodes, idle %v; want $0.036 of one, and nothing idle", some.Total, len(some.Nodes), some.ByCause())
	}
}

// A thousand nodes with twenty thousand pods.
func BenchmarkAllocate(b *testing.B) {
	s := snapshot()
	for i := range 1000 {
		n := node(fmt.Sprintf("n%04d", i))
		for j := range 20 {
			n.Pods = append(n.Pods, pod(fmt.Sprintf("ns%02d", (i+j)%50), fmt.Sprintf("p%d-%d", i, j), fmt.Sprintf("Deployment/d%d", (i*j)%700), 90, 300*quantity.MiB))
		}
		s.Nodes = append(s.Nodes, n)
	}
	s.Sort()
	keys, _ := cost.ParseKeys("namespace,owner")
	b.Run("allocate", func(b *testing.B) {
		for b.Loop() {
			cost.Allocate(cost.Input{Snapshot: s})
		}
	})
	a := cost.Allocate(cost.Input{Snapshot: s})
	b.Run("group", func(b *testing.B) {
		for b.Loop() {
			a.By(keys, nil)
		}
	})
}
