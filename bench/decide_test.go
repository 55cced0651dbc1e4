package bench_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/commitment"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/decide"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/core/share"
	"github.com/daemok/daemok/test/fakecloud"
	"github.com/daemok/daemok/test/market/clock"
)

// BenchmarkDecide makes the plan for pods of 40 sizes that nothing has room for, with the
// effort of the controller, from all that EC2 offers in us-east-1, spot and on demand,
// for the prices of one moment.
func BenchmarkDecide(b *testing.B) {
	prices := clock.NewVirtual(time.Date(2026, time.November, 22, 0, 0, 0, 0, time.UTC))
	offered := fakecloud.New(fakecloud.Options{Clock: prices, Seed: 1, Types: fakecloud.AllTypes("us-east-1")})
	for _, pods := range []int{4, 100, 500, 1000} {
		b.Run(fmt.Sprintf("%d-pods", pods), func(b *testing.B) { benchmarkDecide(b, waiting(b, offered, pods)) })
	}
}

// BenchmarkDecideWithCommitments makes the plan of 100 of these pods where Reserved Instances, and a Savings Plan for
// all types, are unused.
func BenchmarkDecideWithCommitments(b *testing.B) {
	prices := clock.NewVirtual(time.Date(2026, time.November, 22, 0, 0, 0, 0, time.UTC))
	from := fakecloud.New(fakecloud.Options{Clock: prices, Seed: 1, Types: fakecloud.AllTypes("us-east-1")})
	s := waiting(b, from, 100)
	s.Commitments = commitment.Commitments{
		Reserved: []commitment.ReservedInstances{{ID: "web", InstanceType: "m5.large", Count: 10, Flexible: true}},
		Plans:    []commitment.SavingsPlan{{ID: "compute", Commitment: 500_000, Discount: 0.28}},
	}
	benchmarkDecide(b, s)
}

// BenchmarkDecideOfManyPools makes the plan for pods of 36 pools of one class, four of each, as
// teams have them that keep apart.
func BenchmarkDecideOfManyPools(b *testing.B) {
	for _, limited := range []bool{false, true} {
		b.Run(map[bool]string{false: "unlimited", true: "limits"}[limited], func(b *testing.B) { decideOfManyPools(b, limited) })
	}
}

func decideOfManyPools(b *testing.B, limited bool) {
	b.Helper()
	prices := clock.NewVirtual(time.Date(2026, time.November, 22, 0, 0, 0, 0, time.UTC))
	s := waiting(b, fakecloud.New(fakecloud.Options{Clock: prices, Seed: 1, Types: fakecloud.AllTypes("us-east-1")}), 144)
	all := s.Pools[0]
	s.Pools = nil
	for i := range 36 {
		pool, team := all, constraint.Labels{{Key: "team", Value: fmt.Sprint(i)}}
		pool.ID.Name, pool.Labels = "team-"+team[0].Value, labels("karpenter.sh/nodepool", "team-"+team[0].Value, "team", team[0].Value)
		if limited {
			pool.Limits.Amounts = []quantity.Extended{{Name: quantity.NameCPU, Amount: 1_000_000}, {Name: quantity.NameMemory, Amount: int64(4000 * quantity.GiB)}}
		}
		s.Pools = append(s.Pools, pool)
		for j := range 4 {
			own := *s.Waiting[4*i+j].Shape
			own.NodeTerms = []constraint.Requirements{{{Key: "team", Set: constraint.Values(team[0].Value)}}}
			s.Waiting[4*i+j].Shape = &own
		}
	}
	s.Sort()
	benchmarkDecide(b, s)
}

// BenchmarkDecideBesideOneTenant makes the plans for 3,000 pods of one namespace, no two of one shape,
// with anti-affinity and spread, that wait beside three pods of another namespace. first-cpu-ms is what
// the first plan takes, which has to have these three; plans is how many there are in all.
func BenchmarkDecideBesideOneTenant(b *testing.B) {
	prices := clock.NewVirtual(time.Date(2026, time.November, 22, 0, 0, 0, 0, time.UTC))
	s := waiting(b, fakecloud.New(fakecloud.Options{Clock: prices, Seed: 1, Types: fakecloud.AllTypes("us-east-1")}), 3)
	for i := range 3000 {
		app := cluster.Selector{Requirements: constraint.Requirements{{Key: "app", Set: constraint.Values(fmt.Sprint(i % 300))}}}
		s.Waiting = append(s.Waiting, cluster.Pod{Namespace: "large", Name: fmt.Sprintf("pod-%04d", i), UID: fmt.Sprintf("large-%04d", i), Returns: true, Shape: &cluster.Shape{
			Namespace: "large", Labels: labels("app", fmt.Sprint(i%300)),
			Requests:   quantity.Resources{CPU: quantity.MilliCPU(100 + i), Memory: quantity.Bytes(128+i) << 20, Pods: 1},
			Spread:     []cluster.Spread{{Key: cluster.LabelZone, MaxSkew: 1, Selector: app}},
			Neighbours: []cluster.Neighbours{{Apart: true, Key: cluster.LabelHostname, Selector: app, Namespaces: []string{"large"}}}}})
	}
	for i := range 3 {
		s.Waiting[i].UID = fmt.Sprint("small-", i)
	}
	s.Sort()
	before, plans := busy(b), 0
	var first time.Duration
	for b.Loop() {
		done, began := map[string]bool{}, busy(b)
		for rest := 1; rest > 0; plans++ {
			part := share.Next(s, done, share.Effort)
			effort := decide.Usual(part.Snapshot)
			effort.Disruption, effort.Part = 0, part.Rest > 0
			if p := decide.Decide(part.Snapshot, decide.Policy{}, effort); len(p.Launches) == 0 {
				b.Fatal("a plan launches nothing")
			}
			if len(done) == 0 {
				first += busy(b) - began
			}
			for i := range part.Snapshot.Waiting {
				done[part.Snapshot.Waiting[i].UID] = false
			}
			if _, ok := done["small-0"]; !ok {
				b.Fatal("the first plan leaves the other namespace out")
			}
			rest = part.Rest
		}
	}
	b.ReportMetric(float64((busy(b)-before).Milliseconds())/float64(b.N), "cpu-ms/op")
	b.ReportMetric(float64(first.Milliseconds())/float64(b.N), "first-cpu-ms")
	b.ReportMetric(float64(plans)/float64(b.N), "plans")
}

func benchmarkDecide(b *testing.B, s *cluster.Snapshot) {
	before := busy(b)
	var cost quantity.MicroUSDPerHour
	instances := 0
	for b.Loop() {
		p := decide.Decide(s, decide.Policy{}, decide.Usual(s))
		cost, instances = p.LaunchCost(), len(p.Launches)
	}
	b.ReportMetric(float64((busy(b)-before).Milliseconds())/float64(b.N), "cpu-ms/op")
	b.ReportMetric(float64(instances), "machines")
	b.ReportMetric(float64(cost)/1e6, "$/h")
}

// waiting is a cluster of one pool that may launch anything, without nodes.
func waiting(b *testing.B, from cloud.Catalog, pods int) *cluster.Snapshot {
	offered, err := from.Kinds(b.Context(), cloud.Class{ID: "default"})
	if err != nil {
		b.Fatal(err)
	}
	s := &cluster.Snapshot{Revision: 1, Pools: []cluster.Pool{{
		ID: cluster.PoolID{Name: "default"}, Labels: labels("karpenter.sh/nodepool", "default"), Catalogue: offered,
	}}}
	shapes := make([]*cluster.Shape, 40)
	for i := range shapes {
		shapes[i] = &cluster.Shape{Namespace: "default", Labels: labels("app", fmt.Sprint(i)), Requests: quantity.Resources{
			CPU: quantity.MilliCPU(1000 + 150*i%3000), Memory: quantity.Bytes(256+320*i%5000) << 20, Pods: 1}}
	}
	for i := range pods {
		s.Waiting = append(s.Waiting, cluster.Pod{Namespace: "default", Name: fmt.Sprintf("web-%04d", i), Shape: shapes[i%len(shapes)], Returns: true})
	}
	s.Sort()
	return s
}
