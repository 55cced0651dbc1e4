package fleet

import (
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/daemok/daemok/cloud/aws/userdata"
)

// Rehearsal is the calls that a launch makes, as dry runs: EC2 checks rights
// and parameters and does nothing.
type Rehearsal struct {
	Template *ec2.CreateLaunchTemplateInput // nil: it is one of the user's own
	Fleet    *ec2.CreateFleetInput
	Run      *ec2.RunInstancesInput // never made in earnest; EC2 checks with it what a fleet checks only when it launches; nil with Template
}

// Rehearse builds the calls for a request with one offer by the same code as
// a launch, so that tags and settings which rights may depend on are equal.
// The fleet names a template that need not exist. It calls none.
func Rehearse(r Request) (Rehearsal, error) {
	o, err := build(r)
	if err != nil {
		return Rehearsal{}, err
	}
	if len(o.offerings) != 1 {
		return Rehearsal{}, errors.New("a dry run takes one offering")
	}
	fleet := *o.fleet
	fleet.DryRun, fleet.ClientToken = aws.Bool(true), nil // nothing is done that could be done twice
	if len(o.templates) == 0 {
		return Rehearsal{Fleet: &fleet}, nil
	}
	template := o.templates[0].input()
	template.DryRun = aws.Bool(true)
	subnet, _ := subnetIn(r.Subnets, o.offerings[0].Zone)
	return Rehearsal{Template: template, Fleet: &fleet, Run: runInput(r, o.templates[0], o.offerings[0].Kind, subnet.ID)}, nil
}

// UserDataBytes is how long the user data is, as merged, of an instance of the request's
// first offering; nothing with a launch template of the user's own. Where no launch could
// send it the refusal says why. It calls none.
func UserDataBytes(r Request) (int, error) {
	g, ok := groupOf(r, r.Launch.Options[0])
	if !ok || r.Class.Spec.LaunchTemplate != "" {
		return 0, nil
	}
	setup, _ := r.Kinds.Setup(r.Launch.Options[0].Kind)
	text, err := userdata.Render(userDataInput(r, g, *setup.Kubelet))
	if tooLarge, ok := errors.AsType[*userdata.TooLargeError](err); ok {
		return tooLarge.Bytes, refuse(err)
	}
	if err != nil {
		return 0, refuse(err)
	}
	return len(text), nil
}

// runInput asks for one instance without a template, which is not there. It says all that
// the template would which policies can depend on: those that demand encrypted volumes or
// IMDSv2, say, would refuse a call that is silent on these.
func runInput(r Request, t template, kind, subnet string) *ec2.RunInstancesInput {
	tags := ec2Tags(allTags(r))
	in := &ec2.RunInstancesInput{
		DryRun: aws.Bool(true), MinCount: aws.Int32(1), MaxCount: aws.Int32(1),
		ImageId: t.data.ImageId, InstanceType: types.InstanceType(kind),
		BlockDeviceMappings: runDevices(t.data.BlockDeviceMappings), NetworkInterfaces: runInterfaces(t.data.NetworkInterfaces, subnet),
		MetadataOptions: runMetadata(t.data.MetadataOptions), Monitoring: &types.RunInstancesMonitoringEnabled{Enabled: t.data.Monitoring.Enabled},
		TagSpecifications: []types.TagSpecification{
			{ResourceType: types.ResourceTypeInstance, Tags: tags}, {ResourceType: types.ResourceTypeVolume, Tags: tags},
			{ResourceType: types.ResourceTypeNetworkInterface, Tags: tags},
		},
	}
	if spec := t.data.CapacityReservationSpecification; spec != nil {
		in.CapacityReservationSpecification = &types.CapacityReservationSpecification{
			CapacityReservationPreference: spec.CapacityReservationPreference, CapacityReservationTarget: spec.CapacityReservationTarget,
		}
	}
	if market := t.data.InstanceMarketOptions; market != nil {
		in.InstanceMarketOptions = &types.InstanceMarketOptionsRequest{MarketType: market.MarketType}
	}
	if p := t.data.Placement; p != nil {
		in.Placement = &types.Placement{GroupId: p.GroupId, PartitionNumber: p.PartitionNumber, Tenancy: p.Tenancy}
	}
	if cpu := t.data.CpuOptions; cpu != nil {
		in.CpuOptions = &types.CpuOptionsRequest{NestedVirtualization: cpu.NestedVirtualization}
	}
	if r.Class.Resolved.Profile != "" {
		in.IamInstanceProfile = &types.IamInstanceProfileSpecification{Name: aws.String(r.Class.Resolved.Profile)}
	}
	return in
}

func runDevices(list []types.LaunchTemplateBlockDeviceMappingRequest) []types.BlockDeviceMapping {
	var out []types.BlockDeviceMapping
	for _, d := range list {
		to := types.BlockDeviceMapping{DeviceName: d.DeviceName}
		if e := d.Ebs; e != nil {
			to.Ebs = &types.EbsBlockDevice{
				DeleteOnTermination: e.DeleteOnTermination, Encrypted: e.Encrypted, Iops: e.Iops, KmsKeyId: e.KmsKeyId, SnapshotId: e.SnapshotId,
				Throughput: e.Throughput, VolumeInitializationRate: e.VolumeInitializationRate, VolumeSize: e.VolumeSize, VolumeType: e.VolumeType,
			}
		}
		out = append(out, to)
	}
	return out
}

// runInterfaces are the template's, in a subnet, which a fleet names for them.
func runInterfaces(list []types.LaunchTemplateInstanceNetworkInterfaceSpecificationRequest, subnet string) []types.InstanceNetworkInterfaceSpecification {
	var out []types.InstanceNetworkInterfaceSpecification
	for _, n := range list {
		out = append(out, types.InstanceNetworkInterfaceSpecification{
			SubnetId: aws.String(subnet), DeviceIndex: n.DeviceIndex, NetworkCardIndex: n.NetworkCardIndex, InterfaceType: n.InterfaceType,
			Groups: n.Groups, DeleteOnTermination: n.DeleteOnTermination, AssociatePublicIpAddress: n.AssociatePublicIpAddress,
			ConnectionTrackingSpecification: n.ConnectionTrackingSpecification, Ipv4PrefixCount: n.Ipv4PrefixCount,
			Ipv6AddressCount: n.Ipv6AddressCount, Ipv6PrefixCount: n.Ipv6PrefixCount, PrimaryIpv6: n.PrimaryIpv6,
		})
	}
	return out
}

func runMetadata(m *types.LaunchTemplateInstanceMetadataOptionsRequest) *types.InstanceMetadataOptionsRequest {
	return &types.InstanceMetadataOptionsRequest{
		HttpEndpoint: types.InstanceMetadataEndpointState(m.HttpEndpoint), HttpProtocolIpv6: types.InstanceMetadataProtocolState(m.HttpProtocolIpv6),
		HttpPutResponseHopLimit: m.HttpPutResponseHopLimit, HttpTokens: types.HttpTokensState(m.HttpTokens),
		InstanceMetadataTags: types.InstanceMetadataTagsState(m.InstanceMetadataTags),
	}
}
