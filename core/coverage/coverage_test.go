package coverage_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/coverage"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/core/scenario"
)

// offers is one instance type in two zones, one for Windows, and a pool of each.
const offers = `
catalogue all 1
kind m5.large cpu=2 memory=8Gi pods=20
  labels node.kubernetes.io/instance-type=m5.large kubernetes.io/os=linux
  offer a on-demand 0.1
  offer b on-demand 0.1
  offer a spot 0.03
  offer a reserved 0.00001 stock=cr-1 left=1
kind m5.xlarge cpu=4 memory=16Gi pods=20
  labels node.kubernetes.io/instance-type=m5.xlarge kubernetes.io/os=windows
  offer a on-demand 0.2
pool NodePool/default catalogue=all
`

func node(name, option string, more string) string {
	return "node " + name + " claim=" + name + " pool=NodePool/default price=0.1" + more + "\n" +
		"  labels node.kubernetes.io/instance-type=m5.large topology.kubernetes.io/zone=a " +
		"karpenter.sh/capacity-type=" + option + "\n"
}

func parse(t *testing.T, text string) *cluster.Snapshot {
	t.Helper()
	s, err := scenario.Parse(offers + text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestLeft(t *testing.T) {
	const two = "reserved-instances ri type=m5.large count=2\n"
	const foreign = two + "node n\n  labels node.kubernetes.io/instance-type=m5.large topology.kubernetes.io/zone=b"
	const launching = two + "machine m pool=NodePool/default\n  require karpenter.sh/capacity-type In on-demand"
	const held = "catalogue held 1\nkind m5.large cpu=2 memory=8Gi pods=20\n" +
		"  labels node.kubernetes.io/instance-type=m5.large\n  offer a reserved 0.00001 stock=cr-2 left=1\n" +
		"    labels karpenter.k8s.aws/capacity-reservation-id=cr-2 karpenter.sh/capacity-type=reserved\n" +
		"pool NodePool/r catalogue=held\n"
	for name, tt := range map[string]struct {
		text    string
		without []string
		left    int64
	}{
		"nothing runs":                     {two, nil, 32},
		"an instance on demand":            {two + node("n", "on-demand", ""), nil, 16},
		"one that is leaving":              {two + node("n", "on-demand", " deleting"), nil, 32},
		"one that would leave":             {two + node("n", "on-demand", ""), []string{"n"}, 32},
		"a spot instance":                  {two + node("n", "spot", ""), nil, 32},
		"one in a capacity reservation":    {two + node("n", "reserved", ""), nil, 16},
		"a reservation is billed for ever": {two + node("n", "reserved", ""), []string{"n"}, 16},
		"an unused place in a reservation": {two + held, nil, 16},
		"one that is being launched":       {launching, nil, 16},
		"one that may be spot":             {launching + " spot", nil, 32},
		"a node of no pool":                {foreign, nil, 16},
		"a node of Windows":                {foreign + " kubernetes.io/os=windows", nil, 32},
	} {
		if got := coverage.FleetOf(parse(t, tt.text)).Left(tt.without...); len(got) != 1 || got[0].Left != tt.left {
			t.Errorf("%s: %+v is left, want %d", name, got, tt.left)
		}
	}
}

func TestOffered(t *testing.T) {
	covered := func(s *cluster.Snapshot) (out []string) {
		for _, k := range coverage.Offered(s).Pools[0].Catalogue.InstanceTypes {
			for _, o := range k.Offerings {
				if o.Covered() {
					out = append(out, fmt.Sprintf("%s in %s by %s at %v of %v", k.Name, o.Zone, o.Cover.By, o.Price, o.ListPrice()))
				}
			}
		}
		return out
	}
	for name, tt := range map[string]struct {
		text string
		want []string
	}{
		"without commitments": {"", nil},
		"regional instances": {"reserved-instances ri type=m5.large count=1\n", []string{
			"m5.large in a by ri at $0.000010/h of $0.100000/h", "m5.large in b by ri at $0.000010/h of $0.100000/h"}},
		"zonal instances": {"reserved-instances ri type=m5.large count=1 zone=b\n", []string{
			"m5.large in b by ri at $0.000010/h of $0.100000/h"}},
		"a part of an instance": {"savings-plan sp commitment=0.02 discount=0.2\n", []string{
			"m5.large in a by sp at $0.075000/h of $0.100000/h", "m5.large in b by sp at $0.075000/h of $0.100000/h"}},
		"Windows has none":    {"reserved-instances ri type=m5.xlarge count=1\n", nil},
		"a part that is used": {"savings-plan sp commitment=0.02 discount=0.2\n" + node("n", "on-demand", ""), nil},
	} {
		if got := covered(parse(t, tt.text)); !slices.Equal(got, tt.want) {
			t.Errorf("%s: covered are %q, want %q", name, got, tt.want)
		}
	}
	s := parse(t, "reserved-instances ri type=m5.large count=1\n")
	if s.Pools[0].Uncommitted = true; covered(s) != nil {
		t.Errorf("a pool that plans without commitments has %q", covered(s))
	}
}

// What commitments would pay for nodes of no pool alone they pay for no others, so that the cost changes as the bill does.
func TestNodesOfNoPoolComeFirst(t *testing.T) {
	const foreign = "node f\n  labels node.kubernetes.io/instance-type=m5.large topology.kubernetes.io/zone=a\n"
	for text, want := range map[string]quantity.MicroUSDPerHour{
		"reserved-instances ri type=m5.large count=1\n" + foreign + node("a", "on-demand", ""):          0,
		"reserved-instances ri type=m5.large count=2\n" + foreign + node("a", "on-demand", ""):          100_000,
		"reserved-instances ri type=m5.large count=1 zone=b\n" + foreign + node("a", "on-demand", ""):   0,
		"savings-plan sp commitment=0.12 discount=0.2\n" + foreign + node("a", "on-demand", ""):         50_000,
		"reserved-instances ri type=m5.large count=1\n" + foreign + node("a", "on-demand", " deleting"): 0,
	} {
		if got := coverage.PaidFor(parse(t, text)); got != want {
			t.Errorf("commitments pay %v, want %v, with\n%s", got, want, text)
		}
	}
}

func TestBill(t *testing.T) {
	s := parse(t, "reserved-instances ri type=m5.large count=1\n"+node("a", "on-demand", "")+node("b", "on-demand", ""))
	if got := coverage.PaidFor(s); got != 100_000 {
		t.Errorf("commitments pay %v, want $0.1", got)
	}
	b := coverage.BillOf(s)
	check := func(what string, got, want quantity.MicroUSDPerHour) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	check("b takes over what a used", b.Covered("a"), 0)
	check("neither is left", b.Pays(coverage.Change{Nodes: []string{"a", "b"}}), -100_000)
	b.Carry(coverage.Change{Nodes: []string{"a"}})
	check("no other takes over what b uses", b.Covered("b"), 100_000)
	launch := plan.Launch{Name: "new"}
	launch.Choice = plan.Choice{Kind: "m5.large", Zone: "b", Option: cluster.OnDemand, Price: 100_000, Priced: true}
	check("another takes it over", b.Pays(coverage.Change{Nodes: []string{"b"}, Launches: []plan.Launch{launch}}), 0)
	check("a node that is not there", b.Covered("c"), 0)
	var none *coverage.Bill
	check("without commitments", none.Covered("a")+none.Pays(coverage.Change{Nodes: []string{"a"}}), 0)
}
