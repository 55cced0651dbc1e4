package viewer_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/daemok/daemok/core/scenario"
	"github.com/daemok/daemok/ui/view"
	"github.com/daemok/daemok/ui/viewer"
)

// A refresh is what a change of the cluster costs: its view, and the rows in their order with the screen. A key moves one row.
func BenchmarkRefresh(b *testing.B) {
	for _, nodes := range []int{1000, 5000} {
		in := many(b, nodes)
		views := []view.Cluster{view.Of(in), view.Of(in)} // one after the other is a change
		measured(b, fmt.Sprintf("view/nodes=%d", nodes), func(int) { view.Of(in) })
		source := &shown{cluster: &views[0]}
		m := viewer.New(source, viewer.Options{}, time.Time{})
		m.Update(tea.WindowSizeMsg{Width: 200, Height: 60})
		measured(b, fmt.Sprintf("screen/nodes=%d", nodes), func(i int) {
			source.cluster = &views[i%2]
			m.Update(viewer.Changed{})
			m.View()
		})
		measured(b, fmt.Sprintf("key/nodes=%d", nodes), func(int) {
			m.Update(tea.KeyPressMsg{Code: 'j', Text: "j"})
			m.View()
		})
	}
}

// measured runs something, and says how many milliseconds it takes, and how many of a processor: on a busy host those
// say more.
func measured(b *testing.B, name string, once func(i int)) {
	b.Helper()
	b.Run(name, func(b *testing.B) {
		before := processor(b)
		i := 0
		for b.Loop() {
			once(i)
			i++
		}
		b.ReportMetric((processor(b)-before).Seconds()*1000/float64(b.N), "cpu-ms/op")
		b.ReportMetric(b.Elapsed().Seconds()*1000/float64(b.N), "ms/op")
		b.ReportMetric(0, "ns/op")
	})
}

// processor is how much time of processors this process has had.
func processor(b *testing.B) time.Duration {
	b.Helper()
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		b.Fatal(err)
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}

// many is a cluster of so many nodes with 30 pods each.
func many(b *testing.B, nodes int) view.Input {
	b.Helper()
	var t strings.Builder
	t.WriteString("snapshot 7 2026-11-21T04:00:00Z\nshape web cpu=100m memory=128Mi\n" +
		"pool NodePool/default\n  labels karpenter.sh/nodepool=default\n")
	for i := range nodes {
		name := fmt.Sprintf("ip-10-%d-%d-%d.us-west-2.compute.internal", i/65536, i/256%256, i%256)
		fmt.Fprintf(&t, "node %s claim=default-%d pool=NodePool/default ready initialized price=0.0%d created=2026-11-%02dT%02d:00:00Z\n",
			name, i, 1+i%9, 1+i%20, i%24)
		fmt.Fprintf(&t, "  labels karpenter.sh/nodepool=default topology.kubernetes.io/zone=us-west-2%c "+
			"karpenter.sh/capacity-type=spot node.kubernetes.io/instance-type=m%d.xlarge kubernetes.io/arch=amd64\n", 'a'+i%3, 5+i%3)
		t.WriteString("  allocatable cpu=3900m memory=15Gi pods=58\n")
		for p := range 30 {
			fmt.Fprintf(&t, "  pod shop/web-%d-%d shape=web owner=ReplicaSet/web-%d started=2026-11-20T05:00:00Z\n", i, p, p)
		}
	}
	s, err := scenario.Parse(t.String())
	if err != nil {
		b.Fatal(err)
	}
	return view.Input{Snapshot: s}
}
