package retire_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/place"
	"github.com/daemok/daemok/core/retire"
	"github.com/daemok/daemok/core/scenario"
)

// TestWhatASearchLeavesTheNextOneFinds: of forty nodes two at a time have room on a
// cheaper machine together. A search that may do little for groups of each size
// lets some of them go, and the next ones the others, until none is left that one
// without a bound would find.
func TestWhatASearchLeavesTheNextOneFinds(t *testing.T) {
	s := pairs(t, 40)
	little := retire.Options{Groups: 1}
	all := going(look(s, retire.Options{}, place.Options{}))
	if len(all) != 40 {
		t.Fatalf("without a bound %d of 40 nodes go: %s", len(all), all)
	}
	first := going(look(s, little, place.Options{}))
	if len(first) == 0 || len(first) >= 40 {
		t.Errorf("a search that may do little lets %d of 40 nodes go at once: %s", len(first), first)
	}
	for range 10 {
		gone := going(look(s, little, place.Options{}))
		s.Nodes = slices.DeleteFunc(s.Nodes, func(n cluster.Node) bool { return slices.Contains(gone, n.Name) })
	}
	if len(s.Nodes) > 0 {
		t.Errorf("after ten searches %d nodes are left that a search without a bound lets go", len(s.Nodes))
	}
}

// pairs is a cluster of so many nodes with a pod each, which has no room on another
// of them and on no cheaper machine alone.
func pairs(t *testing.T, nodes int) *cluster.Snapshot {
	t.Helper()
	shop, err := os.ReadFile("../decide/testdata/shop.txt")
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	fmt.Fprintf(&text, `%s
snapshot 1 2026-11-21T04:00:00Z
shape web cpu=2200m memory=1Gi
pool NodePool/default catalogue=shop
  labels karpenter.sh/nodepool=default
  require karpenter.sh/capacity-type In on-demand
  require kubernetes.io/arch In amd64
  policy after=30s
  allow 100
`, shop)
	for i := range nodes {
		fmt.Fprintf(&text, `node n%02d claim=n%02d pool=NodePool/default ready initialized price=0.17 created=2026-11-20T04:00:00Z quiet-since=2026-11-21T03:00:00Z
  labels karpenter.sh/nodepool=default topology.kubernetes.io/zone=a karpenter.sh/capacity-type=on-demand node.kubernetes.io/instance-type=own kubernetes.io/arch=amd64 kubernetes.io/hostname=n%02d
  allocatable cpu=3900m memory=30Gi pods=40
  pod default/web-%02d shape=web returns started=2026-11-20T05:00:00Z
`, i, i, i, i)
	}
	s, err := scenario.Parse(text.String())
	if err != nil {
		t.Fatal(err)
	}
	return s
}
