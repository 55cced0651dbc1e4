package bench_test

import (
	"fmt"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/daemok/daemok/bench"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/parallel"
	"github.com/daemok/daemok/core/place"
	"github.com/daemok/daemok/core/quantity"
)

// BenchmarkGround asks for each node whether it may go, whether machines at half
// its price may replace it, and what machines for its pods cost: in a cluster with
// a third of it free, and in one with next to nothing.
func BenchmarkGround(b *testing.B) {
	for _, o := range []bench.Options{{Nodes: 1000, Pools: 1}, {Nodes: 1000, Pools: 50}, {Nodes: 5000, Pools: 50}} {
		for _, full := range []bool{false, true} {
			o.Mix, o.Pods, o.Seed = "existing", 33*o.Nodes, 42
			b.Run(fmt.Sprintf("%d-nodes-%d-pools-full-%v", o.Nodes, o.Pools, full), func(b *testing.B) {
				s, _, err := bench.Snapshot(o)
				if err != nil {
					b.Fatal(err)
				}
				benchmarkGround(b, s, full)
			})
		}
	}
}

func benchmarkGround(b *testing.B, s *cluster.Snapshot, full bool) {
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
		g := place.Survey(s, place.Taken{}, place.Options{})
		b.ReportMetric(float64((busy(b) - at).Milliseconds()), "setup-cpu-ms")
		for _, c := range []struct {
			name  string
			share float64 // of the node's price that others may cost; less than 0: any
		}{{"go", 0}, {"replace", 0.5}, {"buy", -1}} {
			yes := make([]float64, len(s.Nodes))
			each(c.name, func(i int) {
				q := place.Question{Leave: []int{i}, Below: place.Any}
				if c.share >= 0 {
					q.Below = quantity.MicroUSDPerHour(float64(c.share * float64(priceOf(&s.Nodes[i]))))
				}
				if a := g.Ask(q); !a.Dear && len(a.Unplaced) == 0 {
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
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/(1<<20), "MiB")
		runtime.KeepAlive(g)
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
