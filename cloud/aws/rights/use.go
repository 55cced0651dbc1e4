package rights

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/daemok/daemok/cloud/aws/nodeclass"
)

// Use is what the classes of a cluster need rights for. All lists are sorted and have nothing twice.
type Use struct {
	Features   []Feature // that classes decide on, in the order of Features
	Roles      []string  // of nodes, as classes name them
	Profiles   []string  // instance profiles that classes name, whose roles have to be found
	Parameters []string  // SSM parameters that are not AWS's own, by name or ARN
	TagKeys    []string  // of the classes' own tags
	Templates  []string  // launch templates of the user's own: no statement covers them
}

// UseOf is what these classes use.
func UseOf(classes []nodeclass.Spec) Use {
	var u Use
	used := map[Feature]bool{}
	for _, c := range classes {
		u.TagKeys = slices.AppendSeq(u.TagKeys, maps.Keys(c.Tags))
		switch {
		case c.LaunchTemplate != "":
			u.Templates = append(u.Templates, c.LaunchTemplate)
		case c.InstanceProfile != "":
			u.Profiles = append(u.Profiles, c.InstanceProfile)
		case c.Role != "":
			u.Roles = append(u.Roles, c.Role)
			used[InstanceProfiles] = true
		}
		used[CapacityReservations] = used[CapacityReservations] || len(c.Reservations) > 0
		used[PlacementGroups] = used[PlacementGroups] || c.Placement != nil
		for _, image := range c.Images {
			used[ImageParameters] = used[ImageParameters] || image.Alias != "" || image.SSMParameter != ""
			if image.SSMParameter != "" && !ofAWS(image.SSMParameter) {
				u.Parameters = append(u.Parameters, image.SSMParameter)
			}
		}
	}
	for _, f := range Features() {
		if used[f] {
			u.Features = append(u.Features, f)
		}
	}
	for _, list := range []*[]string{&u.Roles, &u.Profiles, &u.Parameters, &u.TagKeys, &u.Templates} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return u
}

// ofAWS reports whether a parameter is one of those that ReadImageParameters allows in any case.
func ofAWS(parameter string) bool {
	_, name, isARN := strings.Cut(parameter, ":parameter")
	if !isARN {
		name = parameter
	}
	return strings.HasPrefix(name, "/aws/service/")
}

// RoleARN is the ARN of a role that is given by its name, with its path or without, or by its ARN.
func (s Scope) RoleARN(role string) string {
	if strings.HasPrefix(role, "arn:") {
		return role
	}
	return fmt.Sprintf("arn:%s:iam::%s:role/%s", s.Partition, s.Account, strings.TrimPrefix(role, "/"))
}

// ParameterARN is the ARN of an SSM parameter of the account that is given by its name, or by its ARN.
func (s Scope) ParameterARN(parameter string) string {
	if strings.HasPrefix(parameter, "arn:") {
		return parameter
	}
	return s.arn("ssm", "parameter/"+strings.TrimPrefix(parameter, "/"))
}

// partitions are AWS's, by how their regions begin; the others are of the partition aws.
var partitions = map[string]string{"cn-": "aws-cn", "us-gov-": "aws-us-gov", "us-iso-": "aws-iso", "us-isob-": "aws-iso-b", "eu-isoe-": "aws-iso-e", "us-isof-": "aws-iso-f", "eusc-": "aws-eusc"}

// PartitionOf is the partition that a region belongs to.
func PartitionOf(region string) string {
	for prefix, partition := range partitions {
		if strings.HasPrefix(region, prefix) {
			return partition
		}
	}
	return "aws"
}

// Partitions are all of them, sorted.
func Partitions() []string {
	return slices.Sorted(slices.Values(slices.AppendSeq([]string{"aws"}, maps.Values(partitions))))
}

// ClusterARN is the ARN of the scope's cluster in EKS.
func (s Scope) ClusterARN() string { return s.arn("eks", "cluster/"+s.Cluster) }

// QueueName is the name of the scope's interruption queue; empty: none.
func (s Scope) QueueName() string { return s.Queue[strings.LastIndex(s.Queue, ":")+1:] }
