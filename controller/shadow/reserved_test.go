package shadow

import (
	"strings"
	"testing"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/scenario"
)

// reserving is a cluster in which AWS says that so many instances are left of capacity reservation cr-1, with nodes
// that run in it.
func reserving(t *testing.T, left string, nodes ...string) *cluster.Snapshot {
	t.Helper()
	text := strings.Replace(offered, "  offer a spot 0.03\n",
		"  offer a reserved 0.00005 "+left+"\n    labels "+inReservation+" topology.kubernetes.io/zone=a\n", 1)
	var b strings.Builder
	b.WriteString(text + pool("default"))
	for _, name := range nodes {
		b.WriteString(strings.Replace(ofPool(name, 0, ""), "karpenter.sh/capacity-type=on-demand", inReservation, 1))
	}
	s, err := scenario.Parse(b.String())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const inReservation = "karpenter.sh/capacity-type=reserved karpenter.k8s.aws/capacity-reservation-id=cr-1"

// reserved is the offering of the reservation.
func reserved(s *cluster.Snapshot) *cluster.Offering {
	offerings := s.Pools[0].Catalogue.InstanceTypes[0].Offerings
	for i := range offerings {
		if offerings[i].Option == cluster.Reserved {
			return &offerings[i]
		}
	}
	return nil
}

// AWS does not count instances that exist in shadow mode alone: they use up a capacity reservation all the same.
func TestInstancesOfShadowModeUseUpACapacityReservation(t *testing.T) {
	w, _ := watching()
	two := func() *cluster.Snapshot { return w.Project(reserving(t, "stock=cr-1 left=2")) }
	launch := func(s *cluster.Snapshot, name string) {
		choice := plan.Choice{Kind: "c.small", Zone: "a", Option: cluster.Reserved, Price: 50}
		w.Launch(t.Context(), s, plan.Plan{Launches: []plan.Launch{{Name: name, Pool: s.Pools[0].ID, Choice: choice,
			Labels: reserved(s).Labels}}})
	}
	s := two()
	for left := int64(2); left > 0; left-- {
		if o := reserved(s); o.LeftOf("cr-1") != left || !o.Available {
			t.Errorf("%d are left, available: %t; want %d", o.LeftOf("cr-1"), o.Available, left)
		}
		launch(s, "new-1")
		s = two()
	}
	if o := reserved(s); o.LeftOf("cr-1") != 0 || o.Available {
		t.Errorf("%d are left, available: %t; want none", o.LeftOf("cr-1"), o.Available)
	}
}

// An instance that AWS counts and that has gone in shadow mode leaves its place in the capacity reservation. One that
// is there on both sides counts once.
func TestAnInstanceThatGoesInShadowModeLeavesItsCapacityReservation(t *testing.T) {
	w, _ := watching()
	full := func() *cluster.Snapshot { return reserving(t, "unavailable stock=cr-1", "a", "b") }
	s := full()
	seen := w.Project(s)
	if o := reserved(seen); o.LeftOf("cr-1") != 0 || o.Available || seen.Pools[0].Catalogue != s.Pools[0].Catalogue {
		t.Errorf("with both nodes on both sides %d are left, available: %t; want none", o.LeftOf("cr-1"), o.Available)
	}
	gone := []plan.Removal{{Node: "a", Reason: plan.Empty}}
	w.Move(t.Context(), seen, plan.Plan{Moves: []plan.Move{{Removals: gone}}}, nil)
	if o := reserved(w.Project(full())); o.Available {
		t.Error("an instance that is paid for still has its place")
	}
	later := full()
	later.Now = later.Now.Add(2 * time.Hour)
	if o := reserved(w.Project(later)); o.LeftOf("cr-1") != 1 || !o.Available {
		t.Errorf("without node a %d are left, available: %t; want 1", o.LeftOf("cr-1"), o.Available)
	}
	if o := reserved(s); o.LeftOf("cr-1") != 0 || o.Available {
		t.Error("the snapshot of the actual cluster has changed")
	}
}
