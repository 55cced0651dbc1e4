// Package scaling reads the Auto Scaling groups and EKS node groups of a cluster, with their launch
// templates.
//
// It promises to change nothing, and to name only subnets and security groups that EC2 knows; it
// reports the others as missing.
package scaling

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	scalingtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"github.com/daemok/daemok/cloud/aws/client"
	"github.com/daemok/daemok/cloud/aws/fault"
	"github.com/daemok/daemok/cloud/aws/pace"
	"github.com/daemok/daemok/cloud/nodegroup"
	"github.com/daemok/daemok/internal/pause"
)

// Reader reads groups of one region. Open makes one.
type Reader struct{ clients client.Clients }

// Open connects to AWS as the SDK is configured. An empty region is the one that the SDK
// finds.
func Open(ctx context.Context, region, agent string) (*Reader, error) {
	clients, err := client.New(ctx, region, agent, nil, nil, pace.New(time.Now, pause.For), client.Role{})
	return &Reader{clients}, err
}

// Groups are all groups that wanted picks by name and tags, by name.
func (r *Reader) Groups(ctx context.Context, wanted func(name string, tags map[string]string) bool) ([]nodegroup.Group, error) {
	var out []nodegroup.Group
	pages := autoscaling.NewDescribeAutoScalingGroupsPaginator(r.clients.Scaling, &autoscaling.DescribeAutoScalingGroupsInput{})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fault.Wrap("autoscaling:DescribeAutoScalingGroups", err)
		}
		for i := range page.AutoScalingGroups {
			g, tags := &page.AutoScalingGroups[i], map[string]string{}
			for _, t := range g.Tags {
				tags[aws.ToString(t.Key)] = aws.ToString(t.Value)
			}
			if !wanted(aws.ToString(g.AutoScalingGroupName), tags) {
				continue
			}
			one, err := r.group(ctx, g, tags)
			if err != nil {
				return nil, fmt.Errorf("read Auto Scaling group %s: %w", aws.ToString(g.AutoScalingGroupName), err)
			}
			out = append(out, one)
		}
	}
	slices.SortFunc(out, func(a, b nodegroup.Group) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

func (r *Reader) group(ctx context.Context, g *scalingtypes.AutoScalingGroup, tags map[string]string) (nodegroup.Group, error) {
	out := nodegroup.Group{
		Name: aws.ToString(g.AutoScalingGroupName), Managed: tags["eks:nodegroup-name"], Cluster: tags["eks:cluster-name"], Tags: tags, Launched: map[string]string{},
		Min: int(aws.ToInt32(g.MinSize)), Max: int(aws.ToInt32(g.MaxSize)), Desired: int(aws.ToInt32(g.DesiredCapacity)), OnDemand: true,
	}
	for _, t := range g.Tags {
		if aws.ToBool(t.PropagateAtLaunch) {
			out.Launched[aws.ToString(t.Key)] = aws.ToString(t.Value)
		}
	}
	for _, id := range strings.Split(aws.ToString(g.VPCZoneIdentifier), ",") {
		if id = strings.TrimSpace(id); id != "" {
			out.Subnets = append(out.Subnets, id)
		}
	}
	var err error
	if out.Managed != "" {
		err = r.managed(ctx, &out)
	} else {
		err = r.own(ctx, g, &out)
	}
	if err != nil {
		return out, err
	}
	slices.Sort(out.Subnets)
	return out, r.known(ctx, &out)
}

// own reads what the group itself says.
func (r *Reader) own(ctx context.Context, g *scalingtypes.AutoScalingGroup, out *nodegroup.Group) error {
	template := g.LaunchTemplate
	if mixed := g.MixedInstancesPolicy; mixed != nil && mixed.LaunchTemplate != nil {
		template = mixed.LaunchTemplate.LaunchTemplateSpecification
		for _, o := range mixed.LaunchTemplate.Overrides {
			if o.InstanceRequirements != nil {
				out.Unmanaged = append(out.Unmanaged, "its types are chosen by InstanceRequirements: list them in the overrides of its mixed instances policy, or write the NodePool's requirements by hand")
			}
			if o.InstanceType != nil {
				out.Types = append(out.Types, *o.InstanceType)
			}
		}
		if d := mixed.InstancesDistribution; d != nil {
			base, percent := aws.ToInt32(d.OnDemandBaseCapacity), int32(100)
			if d.OnDemandPercentageAboveBaseCapacity != nil {
				percent = *d.OnDemandPercentageAboveBaseCapacity
			}
			out.OnDemand, out.Spot = base > 0 || percent > 0, percent < 100
			if out.OnDemand && out.Spot {
				out.Share = fmt.Sprintf("%d on demand, and %d%% of what is beyond", base, percent)
			}
		}
	}
	if template == nil {
		out.Unmanaged = append(out.Unmanaged, "it has the launch configuration "+aws.ToString(g.LaunchConfigurationName)+": make a launch template of it first, in the EC2 console by \"Copy to launch template\"")
		return nil
	}
	return r.template(ctx, &types.LaunchTemplateSpecification{LaunchTemplateId: template.LaunchTemplateId, LaunchTemplateName: template.LaunchTemplateName, Version: template.Version}, out)
}

// managed reads what EKS knows of a group that it manages.
func (r *Reader) managed(ctx context.Context, out *nodegroup.Group) error {
	found, err := r.clients.EKS.DescribeNodegroup(ctx, &eks.DescribeNodegroupInput{ClusterName: &out.Cluster, NodegroupName: &out.Managed})
	if err != nil {
		return fault.Wrap("eks:DescribeNodegroup", err)
	}
	n := found.Nodegroup
	if n == nil {
		return errors.New("EKS answered without a node group")
	}
	out.Types, out.Labels, out.Subnets = n.InstanceTypes, n.Labels, n.Subnets
	out.Role = aws.ToString(n.NodeRole)[strings.LastIndex(aws.ToString(n.NodeRole), "/")+1:]
	out.Spot = n.CapacityType == ekstypes.CapacityTypesSpot
	out.OnDemand = !out.Spot
	for _, t := range n.Taints {
		effect := map[ekstypes.TaintEffect]string{ekstypes.TaintEffectNoSchedule: "NoSchedule", ekstypes.TaintEffectNoExecute: "NoExecute", ekstypes.TaintEffectPreferNoSchedule: "PreferNoSchedule"}[t.Effect]
		out.Taints = append(out.Taints, nodegroup.Taint{Key: aws.ToString(t.Key), Value: aws.ToString(t.Value), Effect: effect})
	}
	if n.AmiType != ekstypes.AMITypesCustom {
		out.Images = string(n.AmiType)
	}
	out.DiskGiB = int(aws.ToInt32(n.DiskSize))
	if t := n.LaunchTemplate; t != nil {
		if err := r.template(ctx, &types.LaunchTemplateSpecification{LaunchTemplateId: t.Id, LaunchTemplateName: onlyIf(t.Id == nil, t.Name), Version: t.Version}, out); err != nil {
			return err
		}
	}
	if len(out.SecurityGroups) > 0 {
		return nil
	}
	cluster, err := r.clients.EKS.DescribeCluster(ctx, &eks.DescribeClusterInput{Name: &out.Cluster})
	if err != nil {
		return fault.Wrap("eks:DescribeCluster", err)
	}
	if c := cluster.Cluster; c != nil && c.ResourcesVpcConfig != nil {
		out.SecurityGroups = []string{aws.ToString(c.ResourcesVpcConfig.ClusterSecurityGroupId)}
	}
	return nil
}

func onlyIf[T any](when bool, value *T) *T {
	if when {
		return value
	}
	return nil
}

// template reads what instances are launched as.
func (r *Reader) template(ctx context.Context, of *types.LaunchTemplateSpecification, out *nodegroup.Group) error {
	if of.LaunchTemplateId != nil {
		of.LaunchTemplateName = nil // one of them alone
	}
	version := aws.ToString(of.Version)
	if version == "" {
		version = "$Default"
	}
	found, err := r.clients.EC2.DescribeLaunchTemplateVersions(ctx, &ec2.DescribeLaunchTemplateVersionsInput{
		LaunchTemplateId: of.LaunchTemplateId, LaunchTemplateName: of.LaunchTemplateName, Versions: []string{version}})
	if err != nil {
		return fault.Wrap("ec2:DescribeLaunchTemplateVersions", err)
	}
	if len(found.LaunchTemplateVersions) == 0 || found.LaunchTemplateVersions[0].LaunchTemplateData == nil {
		return fmt.Errorf("its launch template has no version %s", version)
	}
	v := found.LaunchTemplateVersions[0]
	d := v.LaunchTemplateData
	out.Template = fmt.Sprintf("%s, version %d", aws.ToString(v.LaunchTemplateName), aws.ToInt64(v.VersionNumber))
	out.Image, out.KeyName = aws.ToString(d.ImageId), aws.ToString(d.KeyName)
	if len(out.Types) == 0 && d.InstanceType != "" {
		out.Types = []string{string(d.InstanceType)}
	}
	if len(out.Types) == 0 && d.InstanceRequirements != nil {
		out.Unmanaged = append(out.Unmanaged, "its launch template chooses types by InstanceRequirements: write the NodePool's requirements by hand")
	}
	if o := d.InstanceMarketOptions; o != nil && o.MarketType == types.MarketTypeSpot {
		out.Spot, out.OnDemand = true, false
	}
	data, err := base64.StdEncoding.DecodeString(aws.ToString(d.UserData))
	if err != nil {
		return fmt.Errorf("user data of launch template %s: %w", out.Template, err)
	}
	out.UserData = string(data)
	if p := d.IamInstanceProfile; p != nil {
		if out.Profile = aws.ToString(p.Name); out.Profile == "" {
			out.Profile = aws.ToString(p.Arn)[strings.LastIndex(aws.ToString(p.Arn), "/")+1:]
		}
	}
	if p := d.Placement; p != nil {
		out.Placement, out.Tenancy = aws.ToString(p.GroupName), string(p.Tenancy)
	}
	out.Monitoring = d.Monitoring != nil && aws.ToBool(d.Monitoring.Enabled)
	out.SecurityGroups = d.SecurityGroupIds
	for _, n := range d.NetworkInterfaces {
		if aws.ToInt32(n.DeviceIndex) == 0 {
			out.PublicIP = n.AssociatePublicIpAddress
			out.SecurityGroups = append(out.SecurityGroups, n.Groups...)
		}
	}
	if len(d.NetworkInterfaces) > 1 {
		out.Unmanaged = append(out.Unmanaged, "its launch template has several network interfaces: write networkInterfaces of the EC2NodeClass by hand")
	}
	if m := d.MetadataOptions; m != nil {
		out.Metadata = nodegroup.Metadata{Endpoint: string(m.HttpEndpoint), IPv6: string(m.HttpProtocolIpv6), Tokens: string(m.HttpTokens), Hops: int64(aws.ToInt32(m.HttpPutResponseHopLimit))}
	}
	for _, b := range d.BlockDeviceMappings {
		if b.Ebs == nil {
			continue
		}
		out.Devices = append(out.Devices, nodegroup.Device{
			Name: aws.ToString(b.DeviceName), Type: string(b.Ebs.VolumeType), Snapshot: aws.ToString(b.Ebs.SnapshotId), Key: aws.ToString(b.Ebs.KmsKeyId),
			SizeGiB: int64(aws.ToInt32(b.Ebs.VolumeSize)), IOPS: int64(aws.ToInt32(b.Ebs.Iops)), Throughput: int64(aws.ToInt32(b.Ebs.Throughput)),
			Encrypted: b.Ebs.Encrypted, DeletedWithItAll: b.Ebs.DeleteOnTermination,
		})
	}
	return r.image(ctx, out)
}

// image looks up what an image is called, which says its family.
func (r *Reader) image(ctx context.Context, out *nodegroup.Group) error {
	if !strings.HasPrefix(out.Image, "ami-") {
		return nil
	}
	found, err := r.clients.EC2.DescribeImages(ctx, &ec2.DescribeImagesInput{ImageIds: []string{out.Image}, IncludeDeprecated: aws.Bool(true)})
	switch {
	case fault.NotFound(err):
		out.Missing = append(out.Missing, out.Image)
	case err != nil:
		return fault.Wrap("ec2:DescribeImages", err)
	case len(found.Images) == 0:
		out.Missing = append(out.Missing, out.Image)
	default:
		out.ImageName = aws.ToString(found.Images[0].Name)
	}
	return nil
}

// known asks EC2 for the subnets and security groups that were named, and says which it
// does not have.
func (r *Reader) known(ctx context.Context, out *nodegroup.Group) error {
	slices.Sort(out.SecurityGroups)
	out.SecurityGroups = slices.Compact(out.SecurityGroups)
	have := map[string]bool{}
	if len(out.Subnets) > 0 {
		subnets, err := r.clients.EC2.DescribeSubnets(ctx, &ec2.DescribeSubnetsInput{Filters: []types.Filter{{Name: aws.String("subnet-id"), Values: out.Subnets}}})
		if err != nil {
			return fault.Wrap("ec2:DescribeSubnets", err)
		}
		for _, s := range subnets.Subnets {
			have[aws.ToString(s.SubnetId)] = true
		}
	}
	if len(out.SecurityGroups) > 0 {
		groups, err := r.clients.EC2.DescribeSecurityGroups(ctx, &ec2.DescribeSecurityGroupsInput{Filters: []types.Filter{{Name: aws.String("group-id"), Values: out.SecurityGroups}}})
		if err != nil {
			return fault.Wrap("ec2:DescribeSecurityGroups", err)
		}
		for _, g := range groups.SecurityGroups {
			have[aws.ToString(g.GroupId)] = true
		}
	}
	for _, id := range slices.Concat(out.Subnets, out.SecurityGroups) {
		if !have[id] {
			out.Missing = append(out.Missing, id)
		}
	}
	return nil
}
