package aws

import (
	"strings"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/core/cluster"
)

// ofOwn is a class of a launch template that the user made, under a name of their own.
func ofOwn(t *testing.T, a *account) nodeclass.Class {
	t.Helper()
	usual := a.class
	_, err := a.admin.EC2.CreateLaunchTemplate(t.Context(), &ec2.CreateLaunchTemplateInput{
		LaunchTemplateName: sdk.String("golden"), LaunchTemplateData: &types.RequestLaunchTemplateData{
			ImageId: sdk.String(usual.Resolved.Images[0].ID), SecurityGroupIds: []string{usual.Resolved.Groups[0].ID}, InstanceType: "t3.nano",
		}})
	if err != nil {
		t.Fatal(err)
	}
	a.Advance(time.Minute) // it is seen everywhere by now
	class := nodeclass.Class{Kind: "AWSNodeTemplate", Name: "default", Spec: nodeclass.Spec{Subnets: usual.Spec.Subnets, Family: nodeclass.AL2, LaunchTemplate: "golden", Tags: map[string]string{"team": "web"}}}
	if class.Resolved, err = a.provider.Resolve(t.Context(), class); err != nil {
		t.Fatal(err)
	}
	return class
}

// Instances are launched from a launch template of the user's own: of the types and in the
// zones that were chosen, with our tags, and all else as it says. It is neither made nor
// removed.
func TestInstancesAreLaunchedFromATemplateOfTheUsersOwn(t *testing.T) {
	a := openAccount(t)
	a.server.Enforce("test", "") // the policies do not cover templates of the user's own
	class := ofOwn(t, a)
	if err := a.provider.Verify(t.Context(), class); err != nil {
		t.Fatalf("Verify = %v", err)
	}
	zone := class.Resolved.Subnets[0].Zone
	launched, err := a.provider.Launch(t.Context(), cloud.LaunchRequest{
		Class: cloud.Class{ID: class.ID(), Settings: class}, Count: 2, Token: "token-1", Tags: map[string]string{"Name": "from-golden"},
		Options: []cloud.OfferingChoice{{Kind: "m5.large", Zone: zone, Option: cluster.OnDemand}, {Kind: "c5.xlarge", Zone: zone, Option: cluster.OnDemand, Priority: 1}},
	})
	if err != nil || len(launched) != 2 {
		t.Fatalf("Launch = %v, %v", launched, err)
	}
	a.Advance(time.Minute)
	seen, err := a.provider.List(t.Context(), cloud.Filter{})
	if err != nil || len(seen) != 2 {
		t.Fatalf("List = %v, %v", seen, err)
	}
	for _, m := range seen {
		if m.Kind != "m5.large" || m.Zone != zone || m.Image != a.class.Resolved.Images[0].ID || m.Tags["team"] != "web" || m.Tags["Name"] != "from-golden" {
			t.Errorf("the machine is a %s in %s with image %s and tags %v", m.Kind, m.Zone, m.Image, m.Tags)
		}
	}
	apart, err := a.provider.Launch(t.Context(), cloud.LaunchRequest{
		Class: cloud.Class{ID: class.ID(), Settings: class}, Count: 1, Token: "token-2",
		Options: []cloud.OfferingChoice{{Kind: "m5.large", Zone: zone, Option: cluster.OnDemand, Dedicated: true}},
	})
	if err != nil {
		t.Fatal(err)
	}
	a.Advance(time.Minute)
	if seen, err = a.provider.List(t.Context(), cloud.Filter{}); err != nil || len(seen) != 3 {
		t.Fatalf("List = %v, %v", seen, err)
	}
	for _, m := range seen {
		if dedicated := m.ID == apart[0].ID; m.Dedicated != dedicated {
			t.Errorf("instance %s is of dedicated tenancy: %v, want %v", m.ID, m.Dedicated, dedicated)
		}
	}
	a.Advance(24 * time.Hour)
	if err := a.provider.RefreshTemplates(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := a.provider.Forget(t.Context(), class); err != nil {
		t.Fatal(err)
	}
	if calls := a.server.Calls(); calls["CreateLaunchTemplate"] != 1 || calls["DeleteLaunchTemplate"] != 0 {
		t.Errorf("templates were made %d times, the user's own among them, and removed %d times", calls["CreateLaunchTemplate"], calls["DeleteLaunchTemplate"])
	}
}

// A template that is not there is reported before anything is launched, and when it has
// gone meanwhile; no call waits for it to appear.
func TestATemplateOfTheUsersOwnThatIsNotThere(t *testing.T) {
	a := openAccount(t)
	a.server.Enforce("test", "") // the policies do not cover templates of the user's own
	class := ofOwn(t, a)
	class.Spec.LaunchTemplate = "silver"
	_, launched := a.provider.Launch(t.Context(), cloud.LaunchRequest{
		Class: cloud.Class{ID: class.ID(), Settings: class}, Count: 1, Token: "token-1",
		Options: []cloud.OfferingChoice{{Kind: "m5.large", Zone: class.Resolved.Subnets[0].Zone, Option: cluster.OnDemand}},
	})
	for what, err := range map[string]error{"Verify": a.provider.Verify(t.Context(), class), "Launch": launched} {
		if refused := refusal(t, err); refused.Reason != "LaunchTemplateNotFound" || !strings.Contains(refused.Cause, `no launch template is named "silver"`) {
			t.Errorf("%s: %v", what, refused)
		}
	}
	if calls := a.server.Calls()["CreateFleet"]; calls != 2 {
		t.Errorf("a fleet was asked for %d times, want once and once as a dry run", calls)
	}
}
