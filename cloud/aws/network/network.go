// Package network finds the subnets and security groups that a class selects, and knows which subnet
// of a zone has the most free addresses.
//
// It promises that addresses of instances just launched count as used until AWS counts them itself. It
// keeps no cache: the caller decides how often to ask.
package network

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/daemok/daemok/cloud/aws/fault"
	"github.com/daemok/daemok/cloud/aws/nodeclass"
)

type api interface {
	ec2.DescribeSubnetsAPIClient
	ec2.DescribeSecurityGroupsAPIClient
}

// Finder looks up networks.
type Finder struct {
	API     api
	Region  string // for words to users
	Cluster string // whose tag distinguishes its own security groups
}

// Subnets returns the subnets that any of the terms selects: most free
// addresses first, then by ID. It is a *nodeclass.MissingError when there are
// none.
func (f Finder) Subnets(ctx context.Context, terms []nodeclass.SubnetTerm) ([]nodeclass.Subnet, error) {
	found := map[string]nodeclass.Subnet{}
	for _, filters := range subnetFilters(terms) {
		pages := ec2.NewDescribeSubnetsPaginator(f.API, &ec2.DescribeSubnetsInput{Filters: filters})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				return nil, fault.Wrap("ec2:DescribeSubnets", err)
			}
			for _, s := range page.Subnets {
				found[aws.ToString(s.SubnetId)] = nodeclass.Subnet{
					ID: aws.ToString(s.SubnetId), Zone: aws.ToString(s.AvailabilityZone),
					ZoneID: aws.ToString(s.AvailabilityZoneId), Free: int64(aws.ToInt32(s.AvailableIpAddressCount)),
				}
			}
		}
	}
	if len(terms) == 0 {
		return nil, &nodeclass.MissingError{Reason: nodeclass.SubnetsNotFound, Letter: nodeclass.NoSubnetMatches, Text: "spec.subnetSelectorTerms selects nothing: name a tag, or subnets by ID"}
	}
	if len(found) == 0 {
		return nil, &nodeclass.MissingError{Reason: nodeclass.SubnetsNotFound, Letter: nodeclass.NoSubnetMatches, Text: fmt.Sprintf(
			"no subnet in %s matches spec.subnetSelectorTerms (%s): tag subnets so that they match, or change the terms", f.region(), describeSubnets(terms))}
	}
	return slices.SortedFunc(maps.Values(found), func(a, b nodeclass.Subnet) int {
		return cmp.Or(cmp.Compare(b.Free, a.Free), cmp.Compare(a.ID, b.ID))
	}), nil
}

// Groups returns the security groups that any of the terms selects, by ID. It
// is a *nodeclass.MissingError when there are none.
func (f Finder) Groups(ctx context.Context, terms []nodeclass.GroupTerm) ([]nodeclass.Group, error) {
	found := map[string]nodeclass.Group{}
	for _, filters := range groupFilters(terms) {
		pages := ec2.NewDescribeSecurityGroupsPaginator(f.API, &ec2.DescribeSecurityGroupsInput{Filters: filters})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				return nil, fault.Wrap("ec2:DescribeSecurityGroups", err)
			}
			for _, g := range page.SecurityGroups {
				found[aws.ToString(g.GroupId)] = nodeclass.Group{ID: aws.ToString(g.GroupId), Name: aws.ToString(g.GroupName), Owned: f.owned(g.Tags), EKS: f.byEKS(g.Tags)}
			}
		}
	}
	if len(terms) == 0 {
		return nil, &nodeclass.MissingError{Reason: nodeclass.SecurityGroupsNotFound, Letter: nodeclass.NoSecurityGroupMatches, Text: "spec.securityGroupSelectorTerms selects nothing: name a tag, or security groups by ID"}
	}
	if len(found) == 0 {
		return nil, &nodeclass.MissingError{Reason: nodeclass.SecurityGroupsNotFound, Letter: nodeclass.NoSecurityGroupMatches, Text: fmt.Sprintf(
			"no security group in %s matches spec.securityGroupSelectorTerms (%s): tag a security group so that it matches, or change the terms", f.region(), describeGroups(terms))}
	}
	return slices.SortedFunc(maps.Values(found), func(a, b nodeclass.Group) int { return cmp.Compare(a.ID, b.ID) }), nil
}

// owned says whether the tags have the cluster's, whatever its value is: that is how load
// balancer controllers find an instance's group.
func (f Finder) owned(tags []types.Tag) bool {
	return slices.ContainsFunc(tags, func(t types.Tag) bool { return aws.ToString(t.Key) == nodeclass.TagOwned+f.Cluster })
}

// byEKS says whether the tags are those of the group that EKS makes for the cluster.
func (f Finder) byEKS(tags []types.Tag) bool {
	return slices.ContainsFunc(tags, func(t types.Tag) bool {
		return aws.ToString(t.Key) == nodeclass.TagOfEKS && aws.ToString(t.Value) == f.Cluster
	})
}

func (f Finder) region() string { return cmp.Or(f.Region, "this region") }

// subnetFilters makes one set of filters for all terms with an ID alone, and one
// for each other term.
func subnetFilters(terms []nodeclass.SubnetTerm) [][]types.Filter {
	var ids []string
	var out [][]types.Filter
	for _, t := range terms {
		if t.ID != "" && len(t.Tags) == 0 {
			ids = append(ids, t.ID)
			continue
		}
		out = append(out, WithID(TagFilters(t.Tags, t.Commas), "subnet-id", t.ID))
	}
	return withValues(out, "subnet-id", ids)
}

func groupFilters(terms []nodeclass.GroupTerm) [][]types.Filter {
	var ids, names []string
	var out [][]types.Filter
	for _, t := range terms {
		switch {
		case t.ID != "" && len(t.Tags) == 0:
			ids = append(ids, t.ID)
		case t.Name != "":
			names = append(names, t.Name)
		default:
			out = append(out, WithID(TagFilters(t.Tags, t.Commas), "group-id", t.ID))
		}
	}
	return withValues(withValues(out, "group-id", ids), "group-name", names)
}

func withValues(sets [][]types.Filter, name string, values []string) [][]types.Filter {
	if len(values) == 0 {
		return sets
	}
	return append(sets, []types.Filter{{Name: aws.String(name), Values: values}})
}

// WithID asks for one ID beside what filters ask for; an empty one asks for nothing.
func WithID(filters []types.Filter, name, id string) []types.Filter {
	if id == "" {
		return filters
	}
	return append(filters, types.Filter{Name: aws.String(name), Values: []string{id}})
}

// TagFilters turns tags of a term into filters, sorted by key. The value "*"
// asks that the tag exists. With commas, a value is several that these part, any of
// which may be the tag's.
func TagFilters(tags map[string]string, commas bool) []types.Filter {
	var out []types.Filter
	for _, k := range slices.Sorted(maps.Keys(tags)) {
		if tags[k] == "*" {
			out = append(out, types.Filter{Name: aws.String("tag-key"), Values: []string{k}})
			continue
		}
		values := []string{tags[k]}
		if commas {
			values = nodeclass.PartedByCommas(tags[k])
		}
		out = append(out, types.Filter{Name: aws.String("tag:" + k), Values: values})
	}
	return out
}

func describeSubnets(terms []nodeclass.SubnetTerm) string {
	words := make([]string, len(terms))
	for i, t := range terms {
		words[i] = describe(t.ID, "", t.Tags)
	}
	return strings.Join(words, "; or ")
}

func describeGroups(terms []nodeclass.GroupTerm) string {
	words := make([]string, len(terms))
	for i, t := range terms {
		words[i] = describe(t.ID, t.Name, t.Tags)
	}
	return strings.Join(words, "; or ")
}

func describe(id, name string, tags map[string]string) string {
	var words []string
	if id != "" {
		words = append(words, "id "+id)
	}
	if name != "" {
		words = append(words, "name "+name)
	}
	for _, k := range slices.Sorted(maps.Keys(tags)) {
		words = append(words, "tag "+k+"="+tags[k])
	}
	return strings.Join(words, ", ")
}
