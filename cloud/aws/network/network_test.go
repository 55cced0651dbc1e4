package network

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/daemok/daemok/cloud/aws/nodeclass"
)

// fake answers by filters written as "name=value,value;name=value".
type fake struct {
	subnets map[string][]types.Subnet
	groups  map[string][]types.SecurityGroup
	asked   []string
}

func (f *fake) DescribeSubnets(_ context.Context, in *ec2.DescribeSubnetsInput, _ ...func(*ec2.Options)) (*ec2.DescribeSubnetsOutput, error) {
	f.asked = append(f.asked, write(in.Filters))
	return &ec2.DescribeSubnetsOutput{Subnets: f.subnets[write(in.Filters)]}, nil
}

func (f *fake) DescribeSecurityGroups(_ context.Context, in *ec2.DescribeSecurityGroupsInput, _ ...func(*ec2.Options)) (*ec2.DescribeSecurityGroupsOutput, error) {
	f.asked = append(f.asked, write(in.Filters))
	return &ec2.DescribeSecurityGroupsOutput{SecurityGroups: f.groups[write(in.Filters)]}, nil
}

func write(filters []types.Filter) string {
	words := make([]string, len(filters))
	for i, f := range filters {
		words[i] = aws.ToString(f.Name) + "=" + strings.Join(f.Values, ",")
	}
	return strings.Join(words, ";")
}

func subnet(id, zone string, free int32) types.Subnet {
	return types.Subnet{SubnetId: aws.String(id), AvailabilityZone: aws.String(zone), AvailabilityZoneId: aws.String(zone + "-id"),
		AvailableIpAddressCount: aws.Int32(free)}
}

func TestSubnetsOfAllTermsMostFreeFirst(t *testing.T) {
	f := &fake{subnets: map[string][]types.Subnet{
		"subnet-id=subnet-1,subnet-2":   {subnet("subnet-1", "a", 5), subnet("subnet-2", "b", 50)},
		"tag:env=prod*;tag-key=private": {subnet("subnet-2", "b", 50), subnet("subnet-0", "c", 5)},
	}}
	got, err := Finder{API: f}.Subnets(t.Context(), []nodeclass.SubnetTerm{
		{ID: "subnet-1"}, {Tags: map[string]string{"private": "*", "env": "prod*"}}, {ID: "subnet-2"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(f.asked) != 2 {
		t.Errorf("asked %q: terms with ids go in one call, every other in its own", f.asked)
	}
	want := []nodeclass.Subnet{{ID: "subnet-2", Zone: "b", ZoneID: "b-id", Free: 50}, {ID: "subnet-0", Zone: "c", ZoneID: "c-id", Free: 5},
		{ID: "subnet-1", Zone: "a", ZoneID: "a-id", Free: 5}}
	if !slices.Equal(got, want) {
		t.Errorf("Subnets = %v, want %v", got, want)
	}
}

func TestGroupsByIDNameAndTags(t *testing.T) {
	group := func(id string) types.SecurityGroup {
		return types.SecurityGroup{GroupId: aws.String(id), GroupName: aws.String("name-" + id)}
	}
	f := &fake{groups: map[string][]types.SecurityGroup{
		"group-id=sg-3": {group("sg-3")}, "group-name=web": {group("sg-2")}, "tag:a=b": {group("sg-1"), group("sg-3")},
	}}
	got, err := Finder{API: f}.Groups(t.Context(), []nodeclass.GroupTerm{{ID: "sg-3"}, {Name: "web"}, {Tags: map[string]string{"a": "b"}}})
	if err != nil {
		t.Fatal(err)
	}
	want := []nodeclass.Group{{ID: "sg-1", Name: "name-sg-1"}, {ID: "sg-2", Name: "name-sg-2"}, {ID: "sg-3", Name: "name-sg-3"}}
	if !slices.Equal(got, want) {
		t.Errorf("Groups = %v, want %v", got, want)
	}
}

func TestGroupsWithTheClustersTagAreOwned(t *testing.T) {
	group := func(id, tag string) types.SecurityGroup {
		return types.SecurityGroup{GroupId: aws.String(id), Tags: []types.Tag{{Key: aws.String(tag), Value: aws.String("shared")}}}
	}
	f := &fake{groups: map[string][]types.SecurityGroup{"tag:a=b": {
		group("sg-1", "kubernetes.io/cluster/prod"), group("sg-2", "kubernetes.io/cluster/prod-2"), group("sg-3", "team"),
	}}}
	got, err := Finder{API: f, Cluster: "prod"}.Groups(t.Context(), []nodeclass.GroupTerm{{Tags: map[string]string{"a": "b"}}})
	if err != nil || !got[0].Owned || got[1].Owned || got[2].Owned {
		t.Errorf("Groups = %+v, %v; want sg-1 owned alone", got, err)
	}
}

func TestNothingFoundNamesTheSelector(t *testing.T) {
	_, err := Finder{API: &fake{}}.Subnets(t.Context(), []nodeclass.SubnetTerm{{Tags: map[string]string{"karpenter.sh/discovery": "prod"}}, {ID: "subnet-9"}})
	missing, ok := errors.AsType[*nodeclass.MissingError](err)
	if !ok || missing.Reason != "SubnetsNotFound" || !strings.Contains(missing.Text, "tag karpenter.sh/discovery=prod; or id subnet-9") {
		t.Errorf("Subnets = %v, want SubnetsNotFound naming the terms", err)
	}
	_, err = Finder{API: &fake{}}.Groups(t.Context(), []nodeclass.GroupTerm{{Name: "web"}})
	missing, ok = errors.AsType[*nodeclass.MissingError](err)
	if !ok || missing.Reason != "SecurityGroupsNotFound" || !strings.Contains(missing.Text, "name web") {
		t.Errorf("Groups = %v, want SecurityGroupsNotFound naming the terms", err)
	}
}

// A selection by nothing is reported as that, and not as a tag that nothing has.
func TestNoTermsSelectNothing(t *testing.T) {
	_, noSubnets := Finder{API: &fake{}}.Subnets(t.Context(), nil)
	_, noGroups := Finder{API: &fake{}}.Groups(t.Context(), nil)
	for want, err := range map[string]error{"spec.subnetSelectorTerms selects nothing: name a tag": noSubnets, "spec.securityGroupSelectorTerms selects nothing: name a tag": noGroups} {
		if missing, ok := errors.AsType[*nodeclass.MissingError](err); !ok || !strings.HasPrefix(missing.Text, want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func ids(subnets []nodeclass.Subnet) string {
	var out []string
	for _, s := range subnets {
		out = append(out, s.ID)
	}
	return strings.Join(out, " ")
}

// A story of one zone with two subnets: each launch goes where most addresses
// are left, counting those that AWS has not counted yet.
func TestChooseFollowsTheAddresses(t *testing.T) {
	all := []nodeclass.Subnet{{ID: "s1", Zone: "a", Free: 100}, {ID: "s2", Zone: "a", Free: 90}, {ID: "s3", Zone: "b", Free: 1}}
	var a Addresses
	usable := func(string) bool { return true }
	step := func(what, want string) {
		t.Helper()
		if got := ids(a.Choose(all, usable)); got != want {
			t.Errorf("%s: chose %s, want %s", what, got, want)
		}
	}
	step("nothing known but what was resolved", "s1 s3")
	a.Saw(all)
	step("the same from AWS", "s1 s3")
	done := a.Reserve(all[:1], 20)
	step("20 addresses are being taken in s1", "s2 s3")
	done(map[string]int64{"s1": 5})
	step("only 5 were taken", "s1 s3")
	a.Reserve(all[:1], 20)(map[string]int64{"s1": 20})
	step("25 were taken in all", "s2 s3")
	a.Saw(all)
	step("AWS has counted itself", "s1 s3")
	usable = func(id string) bool { return id != "s1" && id != "s3" }
	step("s1 and s3 are full: another subnet of the zone, or none other", "s2 s3")
}
