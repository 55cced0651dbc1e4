package record_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/observe/record"
)

// BenchmarkMinutes writes down plans that keep 1,000 nodes with 20 pods each and
// leave 5,000 pods, over and over: with words that are new, and with the same.
func BenchmarkMinutes(b *testing.B) {
	shape := &cluster.Shape{Namespace: "default", Requests: quantity.Resources{CPU: 100, Memory: quantity.GiB, Pods: 1}}
	s := &cluster.Snapshot{Now: time.Date(2026, 11, 21, 4, 0, 0, 0, time.UTC)}
	p := plan.Plan{Asked: true}
	pods := func(n int, name string) (out []cluster.Pod) {
		for i := range n {
			out = append(out, cluster.Pod{Namespace: "default", Name: fmt.Sprintf("%s-%d", name, i), Shape: shape, Returns: true})
		}
		return out
	}
	for i := range 1000 {
		name := fmt.Sprintf("ip-10-0-%d", i)
		s.Nodes = append(s.Nodes, cluster.Node{Name: name, Claim: "default-" + name, Ready: true, Initialized: true, Pods: pods(20, name)})
		p.Kept = append(p.Kept, plan.Kept{Node: name, Reason: plan.Underutilized, Why: "no room on other nodes for its pods, and no instances for its pods save 70 % of its price"})
	}
	p.Unplaced = []plan.Unplaced{{Shape: shape, Pods: pods(5000, "web"), Reasons: []plan.Reason{{Text: "limit cpu is 4 short"}}}}
	for name, again := range map[string]bool{"new": false, "again": true} {
		b.Run(name, func(b *testing.B) {
			clerk := &record.Clerk{Record: &record.Record{}, Now: time.Now}
			for range 100 { // until all is recorded that comes later
				clerk.Explain(s, p)
			}
			for b.Loop() {
				if !again {
					clerk.Record = &record.Record{}
				}
				clerk.Planned(s, p, 0)
				clerk.Explain(s, p)
			}
		})
	}
}
