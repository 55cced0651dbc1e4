package cost_test

import (
	"testing"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/cost"
	"github.com/daemok/daemok/core/overlay"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
)

// offered is m5.large on demand for $0.096 an hour, and in a reservation for next to nothing.
func offered() *cluster.Catalogue {
	offering := func(option cluster.Option, price quantity.MicroUSDPerHour) cluster.Offering {
		return cluster.Offering{Zone: "us-west-2a", Option: option, Price: price, Priced: true,
			Labels: constraint.NewLabels(map[string]string{
				cluster.LabelZone: "us-west-2a", cluster.LabelCapacityType: string(option)})}
	}
	return &cluster.Catalogue{InstanceTypes: []cluster.InstanceType{{Name: "m5.large",
		Labels:    constraint.NewLabels(map[string]string{cluster.LabelInstanceType: "m5.large"}),
		Offerings: []cluster.Offering{offering(cluster.OnDemand, 96_000), offering(cluster.Reserved, 10)}}}}
}

// An instance that is not launched yet is shown with what it is going to be billed at: on demand, where it can be
// launched into reservations alone.
func TestInstancesAreBilledAsTheyAreLaunched(t *testing.T) {
	p := pool("default")
	p.Catalogue, p.InstanceCost = offered(), 4_000
	for name, tt := range map[string]struct {
		may  []string
		want quantity.MicroUSDPerHour
	}{
		"into a reservation alone":          {[]string{"reserved"}, 100_000},
		"into a reservation, or on demand":  {[]string{"on-demand", "reserved"}, 4_010},
		"on demand":                         {[]string{"on-demand"}, 100_000},
		"as spot, which has no known price": {[]string{"spot"}, 0},
	} {
		m := cluster.Instance{Claim: "a", Pool: p.ID, Requirements: constraint.NewRequirements(
			constraint.Requirement{Key: cluster.LabelCapacityType, Set: constraint.Values(tt.may...)})}
		if got := cost.BilledInstance(&cluster.Snapshot{}, &m, &p); got != tt.want {
			t.Errorf("launched %s it costs %v, want %v", name, got, tt.want)
		}
	}
	if got := cost.BilledInstance(&cluster.Snapshot{}, &cluster.Instance{Claim: "a"}, nil); got != 0 {
		t.Errorf("an instance without a pool costs %v, want 0: not known", got)
	}
}

// Of a reserved node overlays change what AWS bills, on demand, and not what plans count. Those of other capacity types
// are not for it.
func TestOverlaysChangeTheBillOfReservedNodes(t *testing.T) {
	of := func(option string) constraint.Requirements {
		return constraint.NewRequirements(
			constraint.Requirement{Key: cluster.LabelCapacityType, Set: constraint.Values(option)})
	}
	less := cluster.PriceChange{How: cluster.PriceGrows, Percent: -10}
	onDemand := of("on-demand")
	is := cluster.PriceChange{How: cluster.PriceIs, Amount: 50_000}
	for name, tt := range map[string]struct {
		by   cluster.Overlay
		want quantity.MicroUSDPerHour
	}{
		"a discount for all":           {cluster.Overlay{Name: "a", Price: less}, 86_400},
		"a discount on reservations":   {cluster.Overlay{Name: "a", Price: less, Requirements: of("reserved")}, 86_400},
		"a discount on demand":         {cluster.Overlay{Name: "a", Price: less, Requirements: onDemand}, 96_000},
		"a price of reservations":      {cluster.Overlay{Name: "a", Price: is, Requirements: of("reserved")}, 50_000},
		"a price on demand":            {cluster.Overlay{Name: "a", Price: is, Requirements: onDemand}, 96_000},
		"one that says nothing of any": {cluster.Overlay{Name: "a"}, 96_000},
	} {
		n := node("a")
		n.Price, n.Labels = 10, n.Labels.With(cluster.LabelCapacityType, "reserved")
		s := snapshot(n)
		s.Pools[0].Catalogue, s.Overlays = offered(), []cluster.Overlay{tt.by}
		s.Instances = []cluster.Instance{
			{Claim: "launched", Pool: n.Pool, Launched: true, Labels: n.Labels},
			{Claim: "asked", Pool: n.Pool, Requirements: of("reserved")},
		}
		overlay.Apply(s)
		if got := cost.Billed(s, &s.Nodes[0], &s.Pools[0]); got != tt.want {
			t.Errorf("with %s a reserved node costs %v, want %v", name, got, tt.want)
		}
		for i := range s.Instances {
			if got := cost.BilledInstance(s, &s.Instances[i], &s.Pools[0]); got != tt.want {
				t.Errorf("with %s an instance that is %s costs %v, want %v", name, s.Instances[i].Claim, got, tt.want)
			}
		}
	}
}

// A plan that terminates a reserved node saves nothing: the reservation is billed before and after.
func TestPlansSaveWhatTheBillSaves(t *testing.T) {
	n := node("a")
	n.Price, n.Labels = 10, n.Labels.With(cluster.LabelCapacityType, "reserved")
	s := snapshot(n, node("b"))
	s.Pools[0].Catalogue = offered()
	s.Instances = []cluster.Instance{{Claim: "c", Pool: n.Pool, Launched: true, Labels: n.Labels}}
	decided := plan.Plan{CostBefore: 104_020, CostAfter: 104_010}
	got := cost.AsBilled(s, decided)
	if total := cost.Allocate(cost.Input{Snapshot: s}).Total; got.CostBefore != total || total != 296_000 {
		t.Errorf("the cluster costs %v before the plan, and %v on other screens; want $0.296", got.CostBefore, total)
	}
	if got.Savings() != decided.Savings() {
		t.Errorf("the plan saves %v, want %v", got.Savings(), decided.Savings())
	}
}
