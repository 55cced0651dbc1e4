package aws

import (
	"testing"
	"time"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/core/cluster"
)

// A spot instance that EC2 takes away makes its type in its zone risky; one that is given
// back does not.
func TestOfferingingsReportHowOftenInstancesWereTakenAway(t *testing.T) {
	a := openAccount(t)
	offerings := []cloud.OfferingChoice{{Kind: "m5.large", Zone: "us-east-1a", Option: cluster.Spot}, {Kind: "c5.large", Zone: "us-east-1b", Option: cluster.Spot}}
	var launched []cloud.Instance
	for i, o := range offerings {
		got, err := a.provider.Launch(t.Context(), cloud.LaunchRequest{Class: a.port(), Token: "t" + o.Kind, Batch: "b" + o.Kind, Count: 1, Options: offerings[i : i+1], Tags: map[string]string{"karpenter.sh/nodepool": "web"}})
		if err != nil {
			t.Fatal(err)
		}
		launched = append(launched, got...)
	}
	a.Advance(time.Hour)
	look := func() {
		t.Helper()
		if err := a.provider.RefreshSpot(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	look()
	a.server.Market().Interrupt(launched[0].ID)
	if _, err := a.provider.Terminate(t.Context(), launched[1].ID); err != nil {
		t.Fatal(err)
	}
	a.Advance(5 * time.Minute)
	look()
	for i, risky := range []bool{true, false} {
		if got := a.risk(t, offerings[i]); got > 0 != risky {
			t.Errorf("%s in %s: risk %v", offerings[i].Kind, offerings[i].Zone, got)
		}
	}
	if got := a.risk(t, cloud.OfferingChoice{Kind: "m5.large", Zone: "us-east-1a", Option: cluster.OnDemand}); got != 0 {
		t.Errorf("on demand: risk %v", got)
	}
	if got := a.risk(t, cloud.OfferingChoice{Kind: "m5.large", Zone: "us-east-1b", Option: cluster.Spot}); got != 0 {
		t.Errorf("in another zone: risk %v", got)
	}
}

// risk is what the catalogue says of an offering.
func (a *account) risk(t *testing.T, of cloud.OfferingChoice) float64 {
	t.Helper()
	c, err := a.provider.Kinds(t.Context(), a.port())
	if err != nil {
		t.Fatal(err)
	}
	for i := range c.InstanceTypes {
		for _, o := range c.InstanceTypes[i].Offerings {
			if c.InstanceTypes[i].Name == of.Kind && o.Zone == of.Zone && o.Option == of.Option {
				return o.Risk
			}
		}
	}
	t.Fatalf("nobody offers %v", of)
	return 0
}
