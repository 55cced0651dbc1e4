package bench_test

import (
	"fmt"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/daemok/daemok/bench"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/parallel"
	"github.com/daemok/daemok/core/place"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/core/removal"
)

// BenchmarkSimulator asks for each node whether it may go, whether instances at half its price
// may replace it, and what instances for its pods cost: in a cluster with a third of it
// free, and in one with next to nothing.
func BenchmarkSimulator(b *testing.B) {
	for _, o := range []bench.Options{{Nodes: 1000, Pools: 1}, {Nodes: 1000, Pools: 50}, {Nodes: 5000, Pools: 50}} {
		for _, full := range []bool{false, true} {
			o.Mix, o.Pods, o.Seed = "existing", 33*o.Nodes, 42
			b.Run(fmt.Sprintf("%d-nodes-%d-pools-full-%v", o.Nodes, o.Pools, full), func(b *testing.B) {
				s, _, err := bench.Snapshot(o)
				if err != nil {
					b.Fatal(err)
				}
				benchmarkSimulator(b, s, full)
			})
		}
	}
}

func benchmarkSimulator(b *testing.B, s *cluster.Snapshot, full bool) {
	for i := range s.Nodes {
		if full {
			fill(&s.Nodes[i])
		}
	}
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	each := func(name string, do func(i int)) {
		at := busy(b)
		parallel.Each(len(s.Nodes), do)
		b.ReportMetric(float64((busy(b)-at).Microseconds())/float64(len(s.Nodes)), "cpu-µs/"+name)
	}
	for b.Loop() {
		at := busy(b)
		g := removal.New(s, removal.Taken{}, place.Options{})
		b.ReportMetric(float64((busy(b) - at).Milliseconds()), "setup-cpu-ms")
		for _, c := range []struct {
			name  string
			share float64 // of the node's price that others may cost; less than 0: any
		}{{"go", 0}, {"replace", 0.5}, {"buy", -1}} {
			yes := make([]float64, len(s.Nodes))
			each(c.name, func(i int) {
				q := removal.Question{Leave: []int{i}, Below: removal.Any}
				if c.share >= 0 {
					q.Below = quantity.MicroUSDPerHour(float64(c.share * float64(priceOf(&s.Nodes[i]))))
				}
				if a := g.Ask(q); !a.Expensive && len(a.Unplaced) == 0 {
					yes[i] = 1
				}
			})
			sum := 0.0
			for _, v := range yes {
				sum += v
			}
			b.ReportMetric(100*sum/float64(len(s.Nodes)), "%"+c.name)
		}
		each("hopeless", func(i int) { g.Hopeless(i, priceOf(&s.Nodes[i])) })
		runtime.GC()
		runtime.ReadMemStats(&after)
		start := busy(b)
		for i := range 50 {
			if a := g.Ask(removal.Question{Leave: []int{i}, Below: removal.Any}); len(a.Unplaced) == 0 {
				g.Take([]int{i}, a)
			}
		}
		b.ReportMetric(float64((busy(b)-start).Microseconds())/50, "cpu-µs/take")
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/(1<<20), "MiB")
		runtime.KeepAlive(g)
	}
}

// BenchmarkRehome searches once more for places for the pods of a node, before it goes,
// where a third of the cluster is free.
func BenchmarkRehome(b *testing.B) {
	for _, o := range []bench.Options{{Nodes: 1000, Pools: 1}, {Nodes: 1000, Pools: 50}, {Nodes: 5000, Pools: 50}} {
		o.Mix, o.Pods, o.Seed = "existing", 33*o.Nodes, 42
		b.Run(fmt.Sprintf("%d-nodes-%d-pools", o.Nodes, o.Pools), func(b *testing.B) {
			s, _, err := bench.Snapshot(o)
			if err != nil {
				b.Fatal(err)
			}
			for i := range s.Nodes {
				for j := range s.Nodes[i].Pods {
					s.Nodes[i].Pods[j].UID = fmt.Sprint(i, "-", j)
				}
			}
			n := &s.Nodes[len(s.Nodes)/2]
			leaving := removal.Drain{Nodes: map[string]bool{n.Name: true}, Pods: map[string]bool{}}
			for j := range n.Pods {
				leaving.Pods[n.Pods[j].UID] = true
			}
			at, looks := busy(b), 0
			for b.Loop() {
				looks++
				if _, left := removal.Rehome(s, leaving); len(left) > 0 {
					b.Fatalf("no place for %v", left)
				}
			}
			b.ReportMetric(float64((busy(b)-at).Microseconds())/float64(looks), "cpu-µs/look")
		})
	}
}

// busy is how long processors have worked for this process.
func busy(b *testing.B) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// fill leaves a twentieth of the node free.
func fill(n *cluster.Node) {
	var used quantity.Resources
	for i := range n.Pods {
		used = used.Add(n.Pods[i].Shape.Requests)
	}
	n.Allocatable.CPU, n.Allocatable.Memory = used.CPU*21/20, used.Memory*21/20
}

// priceOf is about what the node costs.
func priceOf(n *cluster.Node) quantity.MicroUSDPerHour {
	return quantity.MicroUSDPerHour(48 * int64(n.Capacity.CPU))
}

// TestQuestionsInLargeClusters compares answers with what Place says where the nodes are
// going away: with many nodes, pools that offer the same, and instances chosen together.
func TestQuestionsInLargeClusters(t *testing.T) {
	for _, o := range []bench.Options{{Nodes: 150, Pools: 1}, {Nodes: 300, Pools: 20}, {Nodes: 150, Pools: 3, Capacity: "any", Daemons: "200m,300Mi,2"}} {
		for _, full := range []bool{false, true} {
			o.Mix, o.Pods, o.Seed = "existing", 33*o.Nodes, 7
			s, _, err := bench.Snapshot(o)
			if err != nil {
				t.Fatal(err)
			}
			s.Waiting = nil
			for i := range s.Nodes {
				if full {
					fill(&s.Nodes[i])
				}
			}
			g := removal.New(s, removal.Taken{}, place.Options{})
			for i := range 12 {
				q := removal.Question{Below: removal.Any}
				for j := range 1 + i%5 {
					q.Leave = append(q.Leave, (7*i+31*j)%len(s.Nodes))
				}
				got, want := g.Ask(q), place.Place(leaving(s, q.Leave), place.Options{})
				if text(&got) != text(&want) {
					t.Fatalf("%+v full %v: %v leave:\n%s\nwant\n%s", o, full, q.Leave, text(&got), text(&want))
				}
				if i%3 == 1 && len(got.Launches) == 0 && len(got.Unplaced) == 0 {
					g.Take(q.Leave, got)
					s = gone(s, q.Leave, got.Placements)
				}
			}
		}
	}
}

func leaving(s *cluster.Snapshot, nodes []int) *cluster.Snapshot {
	out := *s
	out.Nodes = slices.Clone(s.Nodes)
	for _, at := range nodes {
		out.Nodes[at].Deleting = true
	}
	return &out
}

// gone is the snapshot in which nodes are going away and their pods are elsewhere.
func gone(s *cluster.Snapshot, nodes []int, at []plan.Placement) *cluster.Snapshot {
	out := leaving(s, nodes)
	for _, i := range nodes {
		out.Nodes[i].Pods = nil
	}
	for _, p := range at {
		i := slices.IndexFunc(out.Nodes, func(n cluster.Node) bool { return n.Name == p.Target })
		out.Nodes[i].Pods = append(slices.Clip(out.Nodes[i].Pods), p.Pod)
	}
	return out
}

func text(r *place.Result) string {
	p := plan.Plan{Launches: r.Launches, Placements: r.Placements, SpotMore: r.SpotMore}
	left := 0
	for _, u := range r.Unplaced {
		left += len(u.Pods)
	}
	return fmt.Sprint(r.Cost, r.Unpriced, left, "\n", p.String())
}
