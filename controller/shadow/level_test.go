package shadow

import (
	"strings"
	"testing"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/core/scenario"
	"github.com/daemok/daemok/observe/comparison"
)

// costs are what both sides would cost in an hour as they are in a snapshot.
func costs(w *World, noted func() comparison.History, s *cluster.Snapshot) (actual, shadow quantity.MicroUSDPerHour) {
	before := noted()
	for range 2 {
		w.Project(s)
		again := *s
		again.Now, s = s.Now.Add(time.Minute), &again
	}
	h := noted()
	hourly := func(of func(comparison.History) float64) quantity.MicroUSDPerHour {
		return quantity.MicroUSDPerHour((of(h)-of(before))*60*1e6 + .5)
	}
	return hourly(func(h comparison.History) float64 { return h.Actual.Dollars }),
		hourly(func(h comparison.History) float64 { return h.Shadow.Dollars })
}

// Nodes and instances of pools that keep a number of nodes cost the same on both sides, with volumes and what is
// declared for each; nodes of no pool count apart from them.
func TestNodesThatAreNotScaledCostTheSameOnBothSides(t *testing.T) {
	disk := strings.Replace(offered, "catalogue shop 1\n", "catalogue shop 1 disk=0.01\n", 1)
	kept := strings.Replace(pool("kept"), "pool NodePool/kept", "pool NodePool/kept replicas=1", 1)
	ofKept := strings.ReplaceAll(ofPool("k1", 1, ""), "/default", "/kept")
	instance := "machine k2 pool=NodePool/kept launched\n" +
		"  labels karpenter.sh/capacity-type=on-demand" +
		" topology.kubernetes.io/zone=a node.kubernetes.io/instance-type=c.small\n  allocatable cpu=1900m memory=3Gi pods=20\n"
	s, err := scenario.Parse(disk + pool("default") + kept + ofPool("d1", 1, "") + ofKept + instance +
		"node outside ready initialized\n  allocatable cpu=1 memory=1Gi pods=10\n")
	if err != nil {
		t.Fatal(err)
	}
	for i := range s.Pools {
		s.Pools[i].InstanceCost = 2_000
	}
	w, noted := watching()
	const want = 3 * (80_000 + 10_000 + 2_000)
	if actual, shadow := costs(w, noted, s); actual != want || shadow != want {
		t.Errorf("$%v and $%v an hour, want $%v on both sides", actual, shadow, quantity.MicroUSDPerHour(want))
	}
	if h := noted(); h.Outside != 1 || h.Static != 1 || h.Unpriced != 1 {
		t.Errorf("%d nodes of no pool, %d of pools with replicas, %d without a price; want 1 of each", h.Outside,
			h.Static, h.Unpriced)
	}
}

// A node that exists in shadow mode alone follows the prices of the cloud, as nodes of the actual cluster do.
func TestANodeOfShadowModeAloneFollowsPrices(t *testing.T) {
	at := func(price, text string) *cluster.Snapshot {
		s, err := scenario.Parse(strings.Replace(offered, "spot 0.03", "spot "+price, 1) + pool("default") + text)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	spot := func(price string) string {
		return strings.NewReplacer("on-demand", "spot", "price=0.08", "price="+price).Replace(ofPool("a", 0, ""))
	}
	w, noted := watching()
	seen := w.Project(at("0.03", spot("0.03")))
	offering := seen.Pools[0].Catalogue.InstanceTypes[0].Offerings[1]
	w.Launch(t.Context(), seen, plan.Plan{Launches: []plan.Launch{{Name: "new-1", Pool: seen.Pools[0].ID,
		Choice: plan.Choice{Kind: "c.small", Zone: "a", Option: cluster.Spot, Price: 30_000}, Labels: offering.Labels}}})
	if actual, shadow := costs(w, noted, at("0.05", spot("0.05"))); actual != 50_000 || shadow != 100_000 {
		t.Errorf("$%v and $%v an hour, want $0.05 and twice that", actual, shadow)
	}
	if _, shadow := costs(w, noted, at("0.04", "")); shadow != 80_000 {
		t.Errorf("$%v an hour where both nodes exist in shadow mode alone, want twice $0.04", shadow)
	}
}

// What commitments pay counts on neither side: of two nodes one is paid for, and where shadow mode goes on with that one
// alone it costs nothing.
func TestCommitmentsPayOnBothSides(t *testing.T) {
	const reserved = "reserved-instances web type=c.small count=1\n"
	both := reserved + pool("default") + ofPool("a", 0, "") + ofPool("b", 0, "")
	w, noted := watching()
	s := parsed(t, both)
	if actual, shadow := costs(w, noted, s); actual != 80_000 || shadow != 80_000 {
		t.Errorf("$%v and $%v an hour, want $0.08 on both sides, for one node of two", actual, shadow)
	}
	s.Now = s.Now.Add(2 * time.Minute)
	w.Move(t.Context(), w.Project(s), plan.Plan{Moves: []plan.Move{{
		Removals: []plan.Removal{{Node: "a", Reason: plan.Empty, Note: "empty"}},
	}}}, nil)
	later := parsed(t, both)
	later.Now = later.Now.Add(10 * time.Minute)
	w.Project(later)
	if actual, shadow := costs(w, noted, later); actual != 80_000 || shadow != 0 {
		t.Errorf("$%v and $%v an hour, want $0.08, and nothing where one node is left", actual, shadow)
	}
}
