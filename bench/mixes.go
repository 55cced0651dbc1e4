package bench

import (
	"fmt"
	"math/rand/v2"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/quantity"
)

// mixes are whole worlds, with rules that check other pods.
var mixes = map[string]func(w *world, o Options){
	"plain":        plainMix,
	"diverse":      diverseMix,
	"antiaffinity": func(w *world, o Options) { w.equalPods(o, apartByHost(0, "app", "nginx")) },
	"preferences":  preferencesMix,
	"existing":     existingMix,
	"chains":       chainsMix,
	"ports":        portsMix,
	"strangers":    strangersMix,
}

// world is a snapshot being made.
type world struct {
	*cluster.Snapshot
	r      *rand.Rand
	shapes map[string]*cluster.Shape
}

// wait adds a waiting pod. Pods with equal keys share a shape; make is asked
// for the first of them.
func (w *world) wait(key string, make func() cluster.Shape) {
	w.Waiting = append(w.Waiting, cluster.Pod{
		Namespace: "default", Name: fmt.Sprintf("pod-%06d", len(w.Waiting)), Shape: w.shape(key, make), Returns: true,
	})
}

func (w *world) shape(key string, make func() cluster.Shape) *cluster.Shape {
	if w.shapes[key] == nil {
		s := make()
		s.Namespace = "default"
		w.shapes[key] = &s
	}
	return w.shapes[key]
}

func requests(p pod) quantity.Resources {
	return quantity.Resources{CPU: quantity.MilliCPU(p.CPUMilli), Memory: quantity.Bytes(p.MemMi) * quantity.MiB, Pods: 1}
}

func labelled(key, value string) constraint.Labels {
	return constraint.NewLabels(map[string]string{key: value})
}

func choosing(key, value string) cluster.Selector {
	return cluster.Selector{Requirements: constraint.NewRequirements(constraint.Requirement{Key: key, Set: constraint.Values(value)})}
}

func spreadOver(topologyKey, key, value string) cluster.Spread {
	return cluster.Spread{Key: topologyKey, MaxSkew: 1, Selector: choosing(key, value)}
}

func near(apart bool, topologyKey, key, value string, weight int32) cluster.Neighbours {
	return cluster.Neighbours{Apart: apart, Key: topologyKey, Selector: choosing(key, value), Namespaces: []string{"default"}, Weight: weight}
}

func apartByHost(weight int32, key, value string) func(*cluster.Shape) {
	return func(s *cluster.Shape) {
		s.Labels = labelled(key, value)
		s.Neighbours = append(s.Neighbours, near(true, cluster.LabelHostname, key, value, weight))
	}
}

func plainMix(w *world, o Options) {
	for range o.Pods {
		p := distributions["plain"](w.r)
		w.wait(fmt.Sprint(p), func() cluster.Shape { return cluster.Shape{Requests: requests(p)} })
	}
}

// diverseMix is one fifth each of plain pods, pods spread over zones, pods
// spread over hosts, pods that are near each other by zone, and pods of which
// no two share a host. Nearly every pod is a shape of its own.
func diverseMix(w *world, o Options) {
	kinds := []func(key string, s *cluster.Shape, own, other string){
		func(_ string, _ *cluster.Shape, _, _ string) {},
		func(key string, s *cluster.Shape, own, other string) {
			s.Labels, s.Spread = labelled(key, own), []cluster.Spread{spreadOver(cluster.LabelZone, key, other)}
		},
		func(key string, s *cluster.Shape, own, other string) {
			s.Labels, s.Spread = labelled(key, own), []cluster.Spread{spreadOver(cluster.LabelHostname, key, other)}
		},
		func(key string, s *cluster.Shape, own, _ string) {
			s.Labels = labelled(key, own)
			s.Neighbours = []cluster.Neighbours{near(false, cluster.LabelZone, key, own, 0)}
		},
		func(_ string, s *cluster.Shape, _, _ string) { apartByHost(0, "app", "nginx")(s) },
	}
	keys := []string{"", "my-label", "my-label", "my-affinity", ""}
	for i := range o.Pods {
		k := i * len(kinds) / max(1, o.Pods)
		p, own, other := distributions["plain"](w.r), letter(w.r), letter(w.r)
		if keys[k] == "" {
			own, other = "", ""
		}
		w.wait(fmt.Sprint(k, p, own, other), func() cluster.Shape {
			s := cluster.Shape{Requests: requests(p)}
			kinds[k](keys[k], &s, own, other)
			return s
		})
	}
}

func letter(r *rand.Rand) string { return string(rune('a' + r.IntN(7))) }

// preferencesMix is equal pods that would rather be in one zone, alone in
// their zone, which cannot be, and alone on their host, which can.
func preferencesMix(w *world, o Options) {
	w.equalPods(o, func(s *cluster.Shape) {
		s.Labels = labelled("app", "nginx")
		s.Preferences = []cluster.Preference{{Weight: 100, Term: constraint.NewRequirements(
			constraint.Requirement{Key: cluster.LabelZone, Set: constraint.Values("zone-1")})}}
		s.Neighbours = []cluster.Neighbours{
			near(true, cluster.LabelZone, "app", "nginx", 50),
			near(true, cluster.LabelHostname, "app", "nginx", 10),
		}
	})
}

func (w *world) equalPods(o Options, with func(*cluster.Shape)) {
	p := distributions["plain"](w.r)
	for range o.Pods {
		w.wait("one", func() cluster.Shape {
			s := cluster.Shape{Requests: requests(p)}
			with(&s)
			return s
		})
	}
}

// chainMax is how many pods a chain of the mix chains has at most.
const chainMax = 30

// chainsMix is chains of pods, no two of which are alike: each must be on the
// host of the one before it, and the first of a chain may be anywhere.
func chainsMix(w *world, o Options) {
	for i, left := 0, 0; i < o.Pods; i++ {
		p, own, before, first := distributions["plain"](w.r), fmt.Sprint("n", i), fmt.Sprint("n", i-1), left == 0
		if first {
			left = 1 + w.r.IntN(chainMax)
		}
		left--
		w.wait(own, func() cluster.Shape {
			s := cluster.Shape{Requests: requests(p), Labels: labelled("app", own)}
			if !first {
				s.Neighbours = []cluster.Neighbours{near(false, cluster.LabelHostname, "app", before, 0)}
			}
			return s
		})
	}
}

// portsMix is pods of which no two are alike and that all want one port of
// their host.
func portsMix(w *world, o Options) {
	w.strangers(o, func(s *cluster.Shape) {
		s.Ports = []cluster.Port{{Protocol: "TCP", Number: 8080}}
	})
}

// strangersMix is pods of which no two are alike and that are all apart from
// each other by one label that they have in common.
func strangersMix(w *world, o Options) { w.strangers(o, apartByHost(0, "app", "nginx")) }

// strangers is pods of which each differs from all others in a label.
func (w *world) strangers(o Options, with func(*cluster.Shape)) {
	for i := range o.Pods {
		p, own := distributions["plain"](w.r), fmt.Sprint("n", i)
		w.wait(own, func() cluster.Shape {
			s := cluster.Shape{Requests: requests(p)}
			with(&s)
			s.Labels = s.Labels.With("own", own)
			return s
		})
	}
}

// perDeployment is how many pods each deployment of the mix existing has.
const perDeployment = 200

// existingMix is deployments that wait, as deployspread draws them, beside
// nodes about two thirds full of pods of the same deployments. Half of the
// deployments name the pool that they want.
func existingMix(w *world, o Options) {
	pools := max(1, o.Pools)
	deployments := max(1, (o.Pods+perDeployment-1)/perDeployment)
	makes := make([]func() cluster.Shape, deployments)
	for d := range makes {
		p := rounded(realistic(w.r))
		zones, hosts := rule(w.r, perDeployment)
		makes[d] = func() cluster.Shape {
			s := ruled(requests(p), fmt.Sprintf("app-%d", d), zones, hosts)
			if d%2 == 0 {
				s.NodeTerms = []constraint.Requirements{choosing(poolLabel, poolName(d/2%pools)).Requirements}
			}
			return s
		}
	}
	for i := range o.Pods {
		d := i % deployments
		w.wait(fmt.Sprint(d), makes[d])
	}
	for n := range o.Nodes {
		w.Nodes = append(w.Nodes, w.node(n, pools, deployments, makes))
	}
}

const poolLabel = "karpenter.sh/nodepool"

func poolName(i int) string { return fmt.Sprintf("pool-%03d", i) }

func (w *world) node(n, pools, deployments int, makes []func() cluster.Shape) cluster.Node {
	cores := choose(w.r, 8, 16, 32, 64)
	capacity := quantity.Resources{CPU: quantity.MilliCPU(1000 * cores), Memory: quantity.Bytes(4*cores) * quantity.GiB, Pods: 10 * cores}
	name, pool := fmt.Sprintf("node-%05d", n), poolName(n%pools)
	out := cluster.Node{
		Name: name, Claim: name, Pool: cluster.PoolID{Kind: "NodePool", Name: pool}, Ready: true, Initialized: true,
		Capacity: capacity, Allocatable: capacity.Sub(overhead),
		Labels: constraint.NewLabels(map[string]string{
			poolLabel: pool, cluster.LabelHostname: name, cluster.LabelZone: fmt.Sprintf("zone-%d", 1+n%3),
			cluster.LabelCapacityType: string(cluster.OnDemand), cluster.LabelArch: "amd64"}),
	}
	free, mine := out.Allocatable, map[int]bool{}
	for tries := 0; free.CPU > out.Allocatable.CPU/3 && tries < 200; tries++ {
		d := w.r.IntN(deployments)
		shape := w.shape(fmt.Sprint(d), makes[d])
		wrong := len(shape.NodeTerms) > 0 && !shape.NodeTerms[0].Get(poolLabel).Allows(pool)
		if wrong || len(shape.Neighbours) > 0 && mine[d] || !shape.Requests.FitsIn(free) {
			continue
		}
		mine[d] = true
		free = free.Sub(shape.Requests)
		out.Pods = append(out.Pods, cluster.Pod{Namespace: "default", Name: fmt.Sprintf("%s-%03d", name, len(out.Pods)), Shape: shape, Node: name, Returns: true})
	}
	return out
}

// rule draws what deployspread asks of a deployment: two in five are spread
// over zones, one in five of the small ones keeps its pods on hosts apart.
func rule(r *rand.Rand, replicas int) (zones, hosts bool) {
	u := r.Float64()
	return u < 0.4, u >= 0.4 && u < 0.6 && replicas <= 10
}

func ruled(amount quantity.Resources, app string, zones, hosts bool) cluster.Shape {
	s := cluster.Shape{Requests: amount}
	if zones {
		s.Labels, s.Spread = labelled("app", app), []cluster.Spread{spreadOver(cluster.LabelZone, "app", app)}
	}
	if hosts {
		apartByHost(0, "app", app)(&s)
	}
	return s
}
