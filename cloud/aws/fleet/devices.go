package fleet

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/daemok/daemok/cloud/aws/nodeclass"
)

const gib = 1 << 30

// blockDevices are the user's, else those of the family.
func blockDevices(spec nodeclass.Spec) []types.LaunchTemplateBlockDeviceMappingRequest {
	var out []types.LaunchTemplateBlockDeviceMappingRequest
	for _, d := range spec.Volumes() {
		out = append(out, types.LaunchTemplateBlockDeviceMappingRequest{DeviceName: aws.String(d.DeviceName), Ebs: ebs(d.EBS)})
	}
	return out
}

func ebs(e *nodeclass.EBS) *types.LaunchTemplateEbsBlockDeviceRequest {
	if e == nil {
		return nil
	}
	out := &types.LaunchTemplateEbsBlockDeviceRequest{
		DeleteOnTermination: e.DeleteOnTermination, Encrypted: e.Encrypted,
		Iops: narrow(e.IOPS), Throughput: narrow(e.Throughput), VolumeInitializationRate: e.InitializationRate,
		KmsKeyId: text(e.KMSKeyID), SnapshotId: text(e.SnapshotID), VolumeType: types.VolumeType(e.VolumeType),
	}
	if e.VolumeBytes > 0 {
		out.VolumeSize = aws.Int32(int32((e.VolumeBytes + gib - 1) / gib)) // EC2 counts in GiB
	}
	return out
}

// interfaces are the user's, else those of the fabric that is asked for, else one that is
// as plain as can be. Security groups belong to interfaces.
func interfaces(r Request, g group) []types.LaunchTemplateInstanceNetworkInterfaceSpecificationRequest {
	spec := r.Class.Spec
	list := spec.Interfaces
	if len(list) == 0 {
		list = g.fabric.Interfaces()
	}
	groups := make([]string, len(r.Class.Resolved.Groups))
	for i, g := range r.Class.Resolved.Groups {
		groups[i] = g.ID
	}
	out := make([]types.LaunchTemplateInstanceNetworkInterfaceSpecificationRequest, 0, len(list))
	for _, i := range list {
		nic := types.LaunchTemplateInstanceNetworkInterfaceSpecificationRequest{
			DeviceIndex: aws.Int32(i.Device), NetworkCardIndex: aws.Int32(i.Card), InterfaceType: aws.String(i.Type),
			Groups: groups, DeleteOnTermination: aws.Bool(true),
		}
		if i.Type != "efa-only" {
			nic.ConnectionTrackingSpecification = tracking(spec.Tracking)
		}
		if i.Card == 0 && i.Device == 0 {
			setPrimary(&nic, spec, r.Cluster.IPv6(), len(list) == 1)
		}
		out = append(out, nic)
	}
	return out
}

// setPrimary adds what only the first interface can have. Beside others it gets no
// public address, and EC2 does not let a launch say so. Prefixes are of the addresses that
// pods have.
func setPrimary(nic *types.LaunchTemplateInstanceNetworkInterfaceSpecificationRequest, spec nodeclass.Spec, ipv6, alone bool) {
	if alone || aws.ToBool(spec.PublicIP) {
		nic.AssociatePublicIpAddress = spec.PublicIP
	}
	if !ipv6 {
		nic.Ipv4PrefixCount = spec.IPPrefixes
		return
	}
	nic.Ipv6AddressCount, nic.PrimaryIpv6, nic.Ipv6PrefixCount = aws.Int32(1), aws.Bool(true), spec.IPPrefixes
}

func tracking(t *nodeclass.Tracking) *types.ConnectionTrackingSpecificationRequest {
	if t == nil {
		return nil
	}
	return &types.ConnectionTrackingSpecificationRequest{
		TcpEstablishedTimeout: t.TCPEstablished, UdpStreamTimeout: t.UDPStream, UdpTimeout: t.UDP,
	}
}

func narrow(n *int64) *int32 {
	if n == nil {
		return nil
	}
	return aws.Int32(int32(*n))
}

func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
