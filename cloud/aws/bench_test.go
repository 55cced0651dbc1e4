package aws

import (
	"runtime"
	"testing"

	"github.com/daemok/daemok/cloud/aws/capacity"
	"github.com/daemok/daemok/cloud/aws/catalog"
	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/cloud/aws/price"
)

// BenchmarkCatalogue works out from what EC2 reports all types of a region what a class can
// become and what it costs, as a changed class or size of instances does. It prints how
// much of it stays in memory: heapMiB for the types and one class, and moreMiB for each
// further one.
func BenchmarkCatalogue(b *testing.B) {
	a := openAccount(b)
	offered := func() (int, any) {
		types, err := catalog.Read(b.Context(), a.provider.clients.EC2, a.provider.Region(), a.provider.facts)
		if err != nil {
			b.Fatal(err)
		}
		return len(types), [2]any{types, work(a.provider, types, a.class)}
	}
	n, one := 0, any(nil)
	first := grows(func() { n, one = offered() })
	var other any
	more := grows(func() { other = work(a.provider, a.provider.types, a.class) })
	for b.Loop() {
		other = work(a.provider, a.provider.types, a.class)
	}
	b.ReportMetric(float64(n), "types")
	b.ReportMetric(first, "heapMiB")
	b.ReportMetric(more, "moreMiB")
	runtime.KeepAlive(one)
	runtime.KeepAlive(other)
}

func work(p *Provider, types []catalog.Type, class nodeclass.Class) any {
	kinds := catalog.For(types, class, catalog.Settings{MemoryOverhead: 0.075})
	now := catalog.Market{Prices: price.New(p.facts).View(), Short: capacity.New(p.options.Now).View()}
	return [2]any{kinds, kinds.Offered(class, now)}
}

// grows is by how many MiB the heap in use grows.
func grows(do func()) float64 {
	heap := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc) // far from its end
	}
	before := heap()
	do()
	return float64(heap()-before) / (1 << 20)
}
