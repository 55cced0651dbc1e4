package leftover

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/daemok/daemok/cloud/aws/fault"
	"github.com/daemok/daemok/cloud/aws/nodeclass"
)

// Tags of the Amazon VPC CNI on the network interfaces that it makes for nodes.
const (
	tagPluginCluster = "cluster.k8s.amazonaws.com/name"
	tagPluginNode    = "node.k8s.amazonaws.com/instance_id"
)

// workloadTags begin the keys of tags on volumes that drivers made for workloads: these
// hold data that exists nowhere else.
var workloadTags = []string{"kubernetes.io/created-for/", "ebs.csi.aws.com/", "CSIVolumeName", "csi.storage.k8s.io/"}

// volumes are those of the cluster's instances that outlived these, as their class asked
// for.
func (s *Sweeper) volumes(ctx context.Context) ([]Thing, error) {
	pages := ec2.NewDescribeVolumesPaginator(s.clients.EC2, &ec2.DescribeVolumesInput{Filters: append(s.ofInstances(), detached())})
	var out []Thing
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fault.Wrap("ec2:DescribeVolumes", err)
		}
		for _, v := range page.Volumes {
			if s.ours(v.Tags) && !ofWorkload(v.Tags) {
				out = append(out, Thing{Volume, aws.ToString(v.VolumeId), fmt.Sprintf("%d GiB of %s, pool %s", aws.ToInt32(v.Size), v.VolumeType, poolOf(v.Tags)), tag(v.Tags, nodeclass.TagUID)})
			}
		}
	}
	return out, nil
}

func ofWorkload(tags []types.Tag) bool {
	return slices.ContainsFunc(tags, func(t types.Tag) bool {
		return slices.ContainsFunc(workloadTags, func(begin string) bool { return strings.HasPrefix(aws.ToString(t.Key), begin) })
	})
}

// interfaces are those of the cluster's instances, and those that its network plugin made
// for nodes, that are attached to nothing. They keep security groups and subnets from being
// deleted.
func (s *Sweeper) interfaces(ctx context.Context) ([]Thing, error) {
	var out []Thing
	ofPlugin := []types.Filter{{Name: aws.String("tag:" + tagPluginCluster), Values: []string{s.cluster}}, {Name: aws.String("tag-key"), Values: []string{tagPluginNode}}}
	for _, filters := range [][]types.Filter{s.ofInstances(), ofPlugin} {
		pages := ec2.NewDescribeNetworkInterfacesPaginator(s.clients.EC2, &ec2.DescribeNetworkInterfacesInput{Filters: append(filters, detached())})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				return nil, fault.Wrap("ec2:DescribeNetworkInterfaces", err)
			}
			for _, n := range page.NetworkInterfaces {
				thing := Thing{Interface, aws.ToString(n.NetworkInterfaceId), "in " + aws.ToString(n.SubnetId), tag(n.TagSet, nodeclass.TagUID)}
				if (s.ours(n.TagSet) || s.ofOurNode(n.TagSet)) && !slices.Contains(out, thing) {
					out = append(out, thing)
				}
			}
		}
	}
	return out, nil
}

// ofOurNode reports whether the network plugin made an interface for a node of the cluster,
// and no tag says that it belongs to something else.
func (s *Sweeper) ofOurNode(tags []types.Tag) bool {
	return tag(tags, tagPluginCluster) == s.cluster && !s.ofOthers(tags)
}

// ofInstances selects what was made with the cluster's instances that were launched for a
// pool or a class.
func (s *Sweeper) ofInstances() []types.Filter {
	return []types.Filter{s.owned(), {Name: aws.String("tag-key"), Values: []string{nodeclass.TagPool, nodeclass.TagClass, nodeclass.TagOlderPool}}}
}

func detached() types.Filter {
	return types.Filter{Name: aws.String("status"), Values: []string{"available"}}
}

// removeDetached removes volumes and interfaces, one after another: EC2 has no call for
// several.
func (s *Sweeper) removeDetached(ctx context.Context, things []Thing, report func(Thing, error)) {
	for _, t := range of(things, Volume) {
		_, err := s.clients.EC2.DeleteVolume(ctx, &ec2.DeleteVolumeInput{VolumeId: aws.String(t.Name)})
		report(t, unlessGone("ec2:DeleteVolume", err))
	}
	for _, t := range of(things, Interface) {
		_, err := s.clients.EC2.DeleteNetworkInterface(ctx, &ec2.DeleteNetworkInterfaceInput{NetworkInterfaceId: aws.String(t.Name)})
		report(t, unlessGone("ec2:DeleteNetworkInterface", err))
	}
}
