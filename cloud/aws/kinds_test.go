package aws

import (
	"context"
	"errors"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws/capacity"
	"github.com/daemok/daemok/cloud/aws/catalog"
	"github.com/daemok/daemok/cloud/aws/client"
	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
)

// spot is a spot price history of one pool.
type spot string

func (s spot) DescribeSpotPriceHistory(context.Context, *ec2.DescribeSpotPriceHistoryInput, ...func(*ec2.Options)) (*ec2.DescribeSpotPriceHistoryOutput, error) {
	return &ec2.DescribeSpotPriceHistoryOutput{SpotPriceHistory: []types.SpotPrice{{InstanceType: "m5.large",
		AvailabilityZone: sdk.String("us-east-1a"), SpotPrice: sdk.String(string(s)), Timestamp: sdk.Time(time.Unix(0, 0))}}}, nil
}

// shop is a provider that has learnt one type, by a clock that stands still.
func shop(now *time.Time) *Provider {
	p := newProvider(Options{Cluster: "prod", Now: func() time.Time { return *now }}, client.Clients{Region: "us-east-1"})
	p.types, p.typesSeq = []catalog.Type{{Name: "m5.large", Arch: "amd64", CPUs: 2, MemoryMiB: 8192, Spot: true, OnDemand: true,
		Zones: []string{"us-east-1a"}, Labels: constraint.NewLabels(map[string]string{cluster.LabelArch: "amd64"})}}, 1
	return p
}

func shopClass(name, image string) cloud.Class {
	return cloud.Class{ID: "EC2NodeClass/" + name, Settings: &nodeclass.Class{Name: name, Spec: nodeclass.Spec{Family: nodeclass.AL2023},
		Resolved: nodeclass.Resolved{Subnets: []nodeclass.Subnet{{ID: "subnet-a", Zone: "us-east-1a", Free: time.Now().UnixNano()}},
			Images: []nodeclass.Image{{ID: image}}}}}
}

// A story of one catalogue: what changes its revision and what does not.
func TestARevisionStandsForContent(t *testing.T) {
	now := time.Date(2026, 11, 21, 2, 0, 0, 0, time.UTC)
	p := shop(&now)
	last := &cluster.Catalogue{}
	step := func(what string, image string, same bool) {
		t.Helper()
		got, err := p.Kinds(t.Context(), shopClass("default", image))
		if err != nil {
			t.Fatal(err)
		}
		if (got == last) != same || (got.Revision == last.Revision) != same {
			t.Errorf("%s: revision %d after %d, the same value: %v", what, got.Revision, last.Revision, got == last)
		}
		last = got
	}
	step("the first look", "ami-1", false)
	step("again, with other free addresses", "ami-1", true)
	step("another image", "ami-2", false)
	p.short.AddOffering("m5.large", "us-east-1a", cluster.Spot, "")
	step("spot is short", "ami-2", false)
	if last.InstanceTypes[0].Offerings[2].Available {
		t.Error("a short offer is shown as available")
	}
	p.short.AddOffering("c5.large", "us-east-1a", cluster.Spot, "")
	step("a type that is not sold here is short", "ami-2", true)
	now = now.Add(capacity.Keep)
	step("the shortage is over", "ami-2", false)
	p.short.AddOffering("m5.large", "us-east-1a", cluster.Spot, "")
	step("spot is short once more", "ami-2", false)
	now = now.Add(capacity.Keep)
	step("that is over", "ami-2", false)
	if o := last.InstanceTypes[0].Offerings[2]; !o.Available || !o.Doubtful {
		t.Errorf("an offer that was short twice in a row is shown as %+v, want it doubtful", o)
	}
	now = now.Add(2 * capacity.Keep)
	step("it is doubtful no more", "ami-2", false)
	if o := last.InstanceTypes[0].Offerings[2]; !o.Available || o.Doubtful {
		t.Errorf("an offer that was short long ago is shown as %+v", o)
	}
	if err := p.prices.RefreshSpot(t.Context(), spot("0.05"), now); err != nil {
		t.Fatal(err)
	}
	step("another spot price", "ami-2", false)
	if err := p.prices.RefreshSpot(t.Context(), spot("0.05"), now); err != nil {
		t.Fatal(err)
	}
	step("the same spot price", "ami-2", true)
	p.SawMemory("m5.large", "ami-2", 7<<30)
	step("a machine showed its memory", "ami-2", false)
	if got := last.InstanceTypes[0].Capacity.Memory; got != 7<<30 {
		t.Errorf("the type has %v, want what the machine showed", got)
	}
	p.SawMemory("m5.large", "ami-1", 6<<30)
	step("a machine of another image did", "ami-2", true)
	p.mu.Lock()
	p.typesSeq++
	p.mu.Unlock()
	step("types were read anew", "ami-2", false)
}

func TestRevisionsAreUniqueAcrossClasses(t *testing.T) {
	now := time.Unix(0, 0)
	p := shop(&now)
	a, _ := p.Kinds(t.Context(), shopClass("a", "ami-1"))
	b, _ := p.Kinds(t.Context(), shopClass("b", "ami-1"))
	if a.Revision == b.Revision {
		t.Errorf("two classes share revision %d, so one could be taken for the other", a.Revision)
	}
}

func TestKindsBeforeTypesAreRead(t *testing.T) {
	p := newProvider(Options{Cluster: "prod"}, client.Clients{Region: "us-east-1"})
	if _, err := p.Kinds(t.Context(), shopClass("default", "ami-1")); !errors.Is(err, ErrNotLearnt) {
		t.Errorf("Kinds = %v, want that nothing was learnt yet", err)
	}
	if _, err := shop(&time.Time{}).Kinds(t.Context(), cloud.Class{ID: "x", Settings: 5}); err == nil {
		t.Error("settings of another provider were taken")
	}
}

func TestLaunchRefusesWhatThePortForbids(t *testing.T) {
	offering := cloud.OfferingChoice{Kind: "m5.large", Zone: "us-east-1a", Option: cluster.Spot}
	other := offering
	other.Option = cluster.OnDemand
	alone := offering
	alone.Dedicated = true
	tests := map[string]cloud.LaunchRequest{
		"no machines":      {Token: "t", Options: []cloud.OfferingChoice{offering}},
		"no token":         {Count: 1, Options: []cloud.OfferingChoice{offering}},
		"no offers":        {Token: "t", Count: 1},
		"two ways to pay":  {Token: "t", Count: 1, Options: []cloud.OfferingChoice{offering, other}},
		"two tenancies":    {Token: "t", Count: 1, Options: []cloud.OfferingChoice{offering, alone}},
		"a token too long": {Token: string(make([]byte, tokenMax+1)), Count: 1, Options: []cloud.OfferingChoice{offering}},
	}
	now := time.Unix(0, 0)
	for name, r := range tests {
		r.Class = shopClass("default", "ami-1")
		if _, err := shop(&now).Launch(t.Context(), r); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// That pods have addresses of IPv6 may become known after the types.
func TestKindsOfAClusterWithIPv6(t *testing.T) {
	a := openAccount(t)
	counts := func() (xen, nitro int) {
		for _, k := range a.kinds(t).InstanceTypes {
			if hypervisor, _ := k.Labels.Get(nodeclass.LabelHypervisor); hypervisor == "xen" {
				xen++
			} else {
				nitro++
			}
		}
		return xen, nitro
	}
	if xen, nitro := counts(); xen == 0 || nitro == 0 {
		t.Fatalf("there are %d types of Xen and %d others, want some of each", xen, nitro)
	}
	a.provider.cluster.CIDR = "fd30:1::/108"
	if xen, nitro := counts(); xen > 0 || nitro == 0 {
		t.Errorf("with IPv6 there are %d types of Xen and %d others, want the others alone", xen, nitro)
	}
}
