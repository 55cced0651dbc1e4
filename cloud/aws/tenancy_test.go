package aws

import (
	"math"
	"testing"
	"time"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/core/cluster"
)

// The instance gets hardware of its own, pays what the price list says of that, and is not
// used where default tenancy is asked for; what is short there is short there alone.
func TestADedicatedInstanceIsLaunchedAndPaidForAsOne(t *testing.T) {
	a := openAccount(t)
	if err := a.provider.RefreshOnDemand(t.Context()); err != nil {
		t.Fatal(err)
	}
	usual, alone := a.tenancies(t, "us-east-1a")
	if usual.Price >= alone.Price || !usual.Available || !alone.Available {
		t.Fatalf("offered as %+v and, dedicated, %+v; want both, dedicated more expensive", usual, alone)
	}
	for _, dedicated := range []bool{false, true} {
		token, want := "usual", usual
		if dedicated {
			token, want = "alone", alone
		}
		r := a.inZone(t, token, "us-east-1a", "", 1)
		r.Options[0].Dedicated = dedicated
		got, err := a.provider.Launch(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		listed := a.listed(t, token)
		if len(listed) != 1 || got[0].Dedicated != dedicated || listed[0].Dedicated != dedicated {
			t.Errorf("%s: bought %+v, listed %+v", token, got, listed)
		}
		if m, _ := a.server.Market().Machine(got[0].ID); math.Abs(m.PriceUSD*1e6-float64(want.Price)) > 1 {
			t.Errorf("%s: costs $%f an hour, and was offered at %s", token, m.PriceUSD, want.Price)
		}
	}
	a.provider.Short(cloud.OfferingChoice{Kind: "m5.large", Zone: "us-east-1a", Option: cluster.OnDemand, Dedicated: true})
	if usual, alone = a.tenancies(t, "us-east-1a"); !usual.Available || alone.Available {
		t.Errorf("with dedicated machines short, offered as %+v and, dedicated, %+v", usual, alone)
	}
	a.Advance(time.Hour)
	a.provider.Short(cloud.OfferingChoice{Kind: "m5.large", Zone: "us-east-1a", Option: cluster.OnDemand})
	if usual, alone = a.tenancies(t, "us-east-1a"); usual.Available || alone.Available {
		t.Errorf("with the type short, offered as %+v and, dedicated, %+v", usual, alone)
	}
}

// EC2 puts dedicated instances into cluster groups and those of two partitions alone.
func TestWhereEC2PutsNoDedicatedInstancesNoneAreOffered(t *testing.T) {
	for name, tt := range map[string]struct {
		strategy   string
		partitions int
		want       bool
	}{
		"a cluster group":        {nodeclass.Cluster, 0, true},
		"a spread group":         {nodeclass.Spread, 0, false},
		"a group of two parts":   {nodeclass.Partition, 2, true},
		"a group of three parts": {nodeclass.Partition, 3, false},
	} {
		t.Run(name, func(t *testing.T) {
			a := openAccount(t)
			a.group(t, tt.strategy, tt.partitions)
			usual, alone := a.tenancies(t, "us-east-1a")
			if usual.Zone == "" || (alone.Zone != "") != tt.want {
				t.Errorf("offered as %+v and, dedicated, %+v", usual, alone)
			}
			part, _ := usual.Labels.Get(nodeclass.LabelPlacementPartition)
			r := a.inZone(t, "t", "us-east-1a", part, 1)
			r.Options[0].Dedicated = true
			if got, err := a.provider.Launch(t.Context(), r); (err == nil) != tt.want {
				t.Errorf("EC2 answers %+v, %v to the launch of a dedicated machine", got, err)
			}
		})
	}
}

// tenancies are the offerings of m5.large on demand in a zone, of default and of dedicated
// tenancy; zero where there is none.
func (a *account) tenancies(t *testing.T, zone string) (usual, alone cluster.Offering) {
	t.Helper()
	for _, k := range a.kinds(t).InstanceTypes {
		for _, o := range k.Offerings {
			if k.Name != "m5.large" || o.Option != cluster.OnDemand || o.Zone != zone {
				continue
			}
			if tenancy, _ := o.Labels.Get(nodeclass.LabelTenancy); tenancy == nodeclass.TenancyDedicated {
				alone = o
			} else {
				usual = o
			}
		}
	}
	return usual, alone
}
