package sim_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/test/sim"
)

// sizes offers instances of two and of eight cores, for a price by their cores.
func sizes() *cluster.Catalogue {
	out := &cluster.Catalogue{Revision: 1}
	for name, cores := range map[string]int64{"large": 2, "xlarge": 8} {
		has := quantity.Resources{CPU: quantity.MilliCPU(1000 * cores), Memory: quantity.Bytes(4*cores) * quantity.GiB, Pods: 20}
		out.InstanceTypes = append(out.InstanceTypes, cluster.InstanceType{Name: name, Capacity: has, Allocatable: has, Labels: constraint.NewLabels(map[string]string{cluster.LabelInstanceType: name}),
			Offerings: []cluster.Offering{{Zone: "a", Option: cluster.OnDemand, Price: quantity.MicroUSDPerHour(50_000 * cores), Priced: true, Available: true,
				Labels: constraint.NewLabels(map[string]string{cluster.LabelZone: "a", cluster.LabelCapacityType: string(cluster.OnDemand)})}}})
	}
	if out.InstanceTypes[0].Name != "large" {
		out.InstanceTypes[0], out.InstanceTypes[1] = out.InstanceTypes[1], out.InstanceTypes[0]
	}
	return out
}

// oneNode is a pod of seven cores for an hour beside one of a core that stays, on one instance of eight under the pool.
func oneNode(p sim.RuledPool, hours int) sim.Replay {
	job := func(name string, cores int64, to time.Duration) sim.Job {
		return sim.Job{Name: name, Shape: &cluster.Shape{Namespace: "default", Requests: quantity.Resources{CPU: quantity.MilliCPU(1000 * cores), Memory: quantity.GiB, Pods: 1}}, To: to}
	}
	p.ID = cluster.PoolID{Kind: "NodePool", Name: "p"}
	if p.Catalogue = sizes(); p.Rules == nil {
		p.Rules = func(int64, time.Time) cluster.Policy {
			return cluster.Policy{Empty: cluster.Allowance{Most: 1}, Underutilized: cluster.Allowance{Most: 1}, Drifted: cluster.Allowance{Most: 1}}
		}
	}
	return sim.Replay{Options: sim.Options{Seed: 1, Decide: decided}, Ruled: []sim.RuledPool{p}, Jobs: []sim.Job{job("big", 7, time.Hour), job("small", 1, 100*time.Hour)},
		For: time.Duration(hours) * time.Hour}
}

// The rules of a pool are asked as time passes, with the number of its nodes: what they forbid until noon happens then.
func TestRulesOfPoolsChangeWithTime(t *testing.T) {
	opens := time.Date(2026, 11, 21, 7, 0, 0, 0, time.UTC) // the third hour
	most := int64(0)
	r := oneNode(sim.RuledPool{Rules: func(nodes int64, now time.Time) (out cluster.Policy) {
		most = max(most, nodes)
		if out.BudgetsChange = opens; !now.Before(opens) {
			out.Underutilized.Most, out.BudgetsChange = nodes, time.Time{}
		}
		return out
	}}, 4).Run()
	if r.Wrong != nil {
		t.Fatal(r.Wrong)
	}
	at := strings.Index(r.Text, "begin move")
	if r.Meter.Evictions != 1 || r.Meter.Launched != 2 || at < 0 || !strings.HasPrefix(r.Text[strings.LastIndexByte(r.Text[:at], '\n')+1:], "03:0") {
		t.Errorf("%d evictions and %d instances; want one of each at the third hour\n%s", r.Meter.Evictions, r.Meter.Launched, r.Text)
	}
	if most < 1 || most > 2 {
		t.Errorf("rules are asked about up to %d nodes, want 1 or 2", most)
	}
}

// A node is replaced shortly before it expires, whatever the budgets allow, and so is that one.
func TestNodesOfRuledPoolsExpire(t *testing.T) {
	none := func(int64, time.Time) cluster.Policy { return cluster.Policy{Never: true} }
	for name, tt := range map[string]struct {
		expires  time.Duration
		launched int
	}{"never": {0, 1}, "after two hours": {2 * time.Hour, 3}, "after one hour": {time.Hour, 5}} {
		r := oneNode(sim.RuledPool{Rules: none, Expires: tt.expires}, 4).Run()
		if r.Wrong != nil || r.Meter.Launched != tt.launched {
			t.Errorf("%s: %d instances, %v; want %d\n%s", name, r.Meter.Launched, r.Wrong, tt.launched, r.Text)
		}
	}
}

// A spot instance in zone a is interrupted soon after it has started. Its pod stays until another one has started: in zone b, since
// there is none in zone a for three minutes. Two minutes after the warning the first is gone.
func TestInterruptedSpotInstancesAreReplacedElsewhere(t *testing.T) {
	r := oneNode(sim.RuledPool{}, 1)
	r.Seed, r.Jobs = 2, r.Jobs[1:]
	for i := range r.Ruled[0].Catalogue.InstanceTypes {
		k := &r.Ruled[0].Catalogue.InstanceTypes[i]
		for _, zone := range []string{"a", "b"} {
			o := k.Offerings[0]
			o.Zone, o.Option = zone, cluster.Spot
			o.Labels = constraint.NewLabels(map[string]string{cluster.LabelZone: zone, cluster.LabelCapacityType: string(cluster.Spot)})
			k.Offerings = append(k.Offerings, o)
		}
		k.Offerings = k.Offerings[1:]
	}
	r.Ruled[0].Requirements = constraint.NewRequirements(constraint.Requirement{Key: cluster.LabelInstanceType, Set: constraint.Values("large")})
	r.Spot.Interruptions = func(kind, zone string) float64 {
		if zone == "a" {
			return 12
		}
		return 0
	}
	got := r.Run()
	if got.Wrong != nil || got.Meter.Interrupted != 1 || got.Meter.Launched != 2 {
		t.Fatalf("%d interruptions, %d instances, %v; want 1 and 2\n%s", got.Meter.Interrupted, got.Meter.Launched, got.Wrong, got.Text)
	}
	at := 0
	for _, what := range []string{"p-0001 is large in a, spot", "small-1 runs on p-0001", "p-0001 is interrupted", "p-0002 is large in b, spot", "p-0002 has started", "small-1 is evicted from p-0001",
		"small-2 runs on p-0002", "p-0001 is gone"} {
		next := strings.Index(got.Text[at:], what)
		if next < 0 {
			t.Fatalf("it does not say %q after what comes before\n%s", what, got.Text)
		}
		at += next
	}
}

// A pod that must not be disturbed keeps its expired node for the termination grace period alone.
func TestGraceOfRuledPoolsEnds(t *testing.T) {
	r := oneNode(sim.RuledPool{Expires: 2 * time.Hour, Grace: 10 * time.Minute}, 3)
	r.Services = []sim.Service{{Name: "kept", MaxUnavailable: 0, Shape: r.Jobs[1].Shape, Replicas: []sim.Replicas{{Count: 1}}}}
	r.Jobs = nil
	got := r.Run()
	if got.Wrong != nil {
		t.Fatal(got.Wrong)
	}
	if !strings.Contains(got.Text, "its grace period is over") || !strings.Contains(got.Text, "02:1") {
		t.Errorf("the pod keeps its node, or goes too early\n%s", got.Text)
	}
}

// Instances may boot as those of a measurement did.
func TestInstancesBootAsAsked(t *testing.T) {
	r := oneNode(sim.RuledPool{}, 1)
	r.Boots = func(*rand.Rand) time.Duration { return 10 * time.Minute }
	got := r.Run()
	if got.Wrong != nil || len(got.Waits) != 2 || slices.Min(got.Waits) < 10*time.Minute || slices.Max(got.Waits) > 11*time.Minute {
		t.Errorf("pods wait %v, %v; want them to wait for ten minutes\n%s", got.Waits, got.Wrong, got.Text)
	}
}
