package inspect

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// How long it takes until nodes are shown, and until all is, of an API server in the same process.
func BenchmarkFollow(b *testing.B) {
	for _, nodes := range []int{1000, 5000} {
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) {
			s := served(b)
			for i := range nodes {
				name := fmt.Sprintf("n%d", i)
				s.put(b, aNode(name))
				for j := range 30 {
					s.put(b, aPod(fmt.Sprintf("web-%d-%d", i, j), name))
				}
			}
			var first, whole time.Duration
			for b.Loop() {
				began := time.Now()
				ctx, stop := context.WithCancel(b.Context())
				source, err := Follow(ctx, NewTarget(), false)
				if err != nil {
					b.Fatal(err)
				}
				first += time.Since(began)
				for !isWhole(source.View()) {
					<-source.Changed()
				}
				whole += time.Since(began)
				stop()
			}
			b.ReportMetric(first.Seconds()/float64(b.N), "s-to-nodes/op")
			b.ReportMetric(whole.Seconds()/float64(b.N), "s-to-all/op")
			b.ReportMetric(0, "ns/op")
		})
	}
}
