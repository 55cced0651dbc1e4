package rights

import (
	"reflect"
	"testing"

	"github.com/daemok/daemok/cloud/aws/nodeclass"
)

func TestUseOf(t *testing.T) {
	alias := []nodeclass.ImageTerm{{Alias: "al2023@latest"}}
	for name, tt := range map[string]struct {
		classes []nodeclass.Spec
		want    Use
	}{
		"no class": {nil, Use{}},
		"a role and an alias, twice": {[]nodeclass.Spec{{Role: "nodes", Images: alias}, {Role: "nodes", Images: alias}},
			Use{Features: []Feature{InstanceProfiles, ImageParameters}, Roles: []string{"nodes"}}},
		"a profile of the user's own, and an image by its ID": {[]nodeclass.Spec{{InstanceProfile: "mine", Images: []nodeclass.ImageTerm{{ID: "ami-1"}}}},
			Use{Profiles: []string{"mine"}}},
		"parameters, one of which is AWS's": {[]nodeclass.Spec{{Role: "nodes", Images: []nodeclass.ImageTerm{
			{SSMParameter: "/images/web"}, {SSMParameter: "/aws/service/eks/image_id"}, {SSMParameter: "arn:aws:ssm:us-east-1::parameter/aws/service/x"}}}},
			Use{Features: []Feature{InstanceProfiles, ImageParameters}, Roles: []string{"nodes"}, Parameters: []string{"/images/web"}}},
		"reservations and a placement group": {[]nodeclass.Spec{{Role: "b", Reservations: []nodeclass.ReservationTerm{{ID: "cr-1"}}}, {Role: "a", Placement: &nodeclass.PlacementTerm{Name: "near"}}},
			Use{Features: []Feature{InstanceProfiles, CapacityReservations, PlacementGroups}, Roles: []string{"a", "b"}}},
		"tags": {[]nodeclass.Spec{{InstanceProfile: "mine", Tags: map[string]string{"team": "web", "env": "prod"}}, {InstanceProfile: "mine", Tags: map[string]string{"team": "db"}}},
			Use{Profiles: []string{"mine"}, TagKeys: []string{"env", "team"}}},
		"a launch template of the user's own": {[]nodeclass.Spec{{LaunchTemplate: "mine", Role: "nodes"}}, Use{Templates: []string{"mine"}}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := UseOf(tt.classes); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

func TestNamesBecomeARNs(t *testing.T) {
	s := Scope{Partition: PartitionOf("cn-north-1"), Account: "1", Region: "cn-north-1"}
	for name, want := range map[string]string{
		"nodes": "arn:aws-cn:iam::1:role/nodes", "teams/web/nodes": "arn:aws-cn:iam::1:role/teams/web/nodes", "arn:aws-cn:iam::2:role/theirs": "arn:aws-cn:iam::2:role/theirs",
	} {
		if got := s.RoleARN(name); got != want {
			t.Errorf("RoleARN(%s) = %s, want %s", name, got, want)
		}
	}
	for name, want := range map[string]string{
		"/images/web": "arn:aws-cn:ssm:cn-north-1:1:parameter/images/web", "web": "arn:aws-cn:ssm:cn-north-1:1:parameter/web", "arn:aws-cn:ssm:cn-north-1:2:parameter/web": "arn:aws-cn:ssm:cn-north-1:2:parameter/web",
	} {
		if got := s.ParameterARN(name); got != want {
			t.Errorf("ParameterARN(%s) = %s, want %s", name, got, want)
		}
	}
	if got := PartitionOf("us-gov-west-1") + " " + PartitionOf("eu-west-1"); got != "aws-us-gov aws" {
		t.Errorf("the partitions are %s, want aws-us-gov aws", got)
	}
}
