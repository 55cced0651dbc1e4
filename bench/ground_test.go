package bench_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/daemok/daemok/bench"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/parallel"
	"github.com/daemok/daemok/core/place"
	"github.com/daemok/daemok/core/quantity"
)

// BenchmarkGround asks for each node whether it may go, whether machines for less
// may replace it, and whether it is hopeless: by itself, and two at a time.
func BenchmarkGround(b *testing.B) {
	for _, o := range []bench.Options{
		{Nodes: 1000, Pools: 1}, {Nodes: 1000, Pools: 50}, {Nodes: 5000, Pools: 50},
	} {
		o.Mix, o.Pods, o.Seed = "existing", 33*o.Nodes, 42
		b.Run(fmt.Sprintf("%d-nodes-%d-pools", o.Nodes, o.Pools), func(b *testing.B) {
			s, _, err := bench.Snapshot(o)
			if err != nil {
				b.Fatal(err)
			}
			pods := 0
			for i := range s.Nodes {
				pods += len(s.Nodes[i].Pods)
			}
			runtime.GC()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for b.Loop() {
				at := time.Now()
				g := place.Survey(s, place.Taken{}, place.Options{})
				b.ReportMetric(float64(time.Since(at).Milliseconds()), "setup-ms")
				for name, q := range map[string]place.Question{
					"go": {}, "less": {Below: 1}, "half": {Below: 2}, "any": {Below: place.Any},
				} {
					at := time.Now()
					no := make([]bool, len(s.Nodes))
					parallel.Each(len(s.Nodes), func(i int) {
						q := q
						q.Leave = []int{i}
						if q.Below > 0 {
							q.Below = priceOf(&s.Nodes[i]) / q.Below
						}
						a := g.Ask(q)
						no[i] = a.Dear || len(a.Unplaced) > 0
					})
					yes := 0
					for _, n := range no {
						if !n {
							yes++
						}
					}
					b.ReportMetric(float64(time.Since(at).Microseconds())/float64(len(s.Nodes)), "µs/"+name)
					b.ReportMetric(100*float64(yes)/float64(len(s.Nodes)), "%yes/"+name)
				}
				at = time.Now()
				parallel.Each(len(s.Nodes), func(i int) { g.Hopeless(i, priceOf(&s.Nodes[i])) })
				b.ReportMetric(float64(time.Since(at).Microseconds())/float64(len(s.Nodes)), "µs/hopeless")
				runtime.GC()
				runtime.ReadMemStats(&after)
				b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/(1<<20), "MiB")
				runtime.KeepAlive(g)
			}
			b.ReportMetric(float64(pods), "pods")
		})
	}
}

// priceOf is about what the node costs.
func priceOf(n *cluster.Node) quantity.MicroUSDPerHour {
	return quantity.MicroUSDPerHour(48 * int64(n.Capacity.CPU))
}
