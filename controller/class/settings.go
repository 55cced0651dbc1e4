package class

import (
	"encoding/json"
	"fmt"

	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/kube/api"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	"github.com/daemok/daemok/kube/api/mark"
	"github.com/daemok/daemok/kube/translate"
)

// Settings is the class as the AWS adapter takes it: the user's spec and, from its status
// and its annotations, what was found for it. With an error, which names what of it cannot
// be read, it is good for looking things up and nothing else.
func Settings(c *Subject) (nodeclass.Class, error) {
	out := nodeclass.Class{Kind: c.Kind.Name, Name: c.GetName(), UID: string(c.GetUID()), Spec: c.Spec}
	if c.For != "" {
		out.Kind, out.Name = KindProvisioner, c.For
	}
	if c.Unread != nil {
		return out, fmt.Errorf("%s: %w", c.ID(), c.Unread)
	}
	resolved, err := resolvedOf(c)
	if err != nil {
		return out, fmt.Errorf("status of %s: %w", c.ID(), err)
	}
	out.Resolved = resolved
	return out, nil
}

func specOf(c *awsv1.EC2NodeClass) (nodeclass.Spec, error) {
	s := &c.Spec
	kubelet, err := kubeletOf(s.Kubelet)
	overhead, _ := mark.MemoryOverhead(c.Annotations) // one that means nothing is warned of, and says nothing
	out := nodeclass.Spec{
		Family:            nodeclass.Family(c.Family()),
		UserData:          value(s.UserData),
		Role:              s.Role,
		InstanceProfile:   value(s.InstanceProfile),
		Tags:              s.Tags,
		Kubelet:           kubelet,
		PodPrefixes:       c.Annotations[api.AnnotationPodDensity] == api.PrefixDelegation,
		MemoryOverhead:    overhead,
		PublicIP:          s.AssociatePublicIPAddress,
		IPPrefixes:        s.IPPrefixCount,
		DetailedMonitored: value(s.DetailedMonitoring),
		Metadata:          metadataOf(s.MetadataOptions),
		Context:           value(s.Context),
	}
	for _, t := range s.SubnetSelectorTerms {
		out.Subnets = append(out.Subnets, subnetTerm(t))
	}
	for _, t := range s.SecurityGroupSelectorTerms {
		out.Groups = append(out.Groups, groupTerm(t))
	}
	for _, t := range s.AMISelectorTerms {
		out.Images = append(out.Images, nodeclass.ImageTerm{
			Alias: t.Alias, ID: t.ID, Name: t.Name, Owner: t.Owner, SSMParameter: t.SSMParameter, Tags: t.Tags,
		})
	}
	for _, t := range s.CapacityReservationSelectorTerms {
		out.Reservations = append(out.Reservations, nodeclass.ReservationTerm{ID: t.ID, Owner: t.OwnerID, Criteria: t.InstanceMatchCriteria, Tags: t.Tags})
	}
	if g := s.PlacementGroupSelector; g != nil {
		out.Placement = &nodeclass.PlacementTerm{ID: g.ID, Name: g.Name}
	}
	for _, d := range s.BlockDeviceMappings {
		out.BlockDevices = append(out.BlockDevices, nodeclass.BlockDevice{DeviceName: value(d.DeviceName), Root: d.RootVolume, EBS: volumeOf(d.EBS)})
	}
	for _, n := range s.NetworkInterfaces {
		out.Interfaces = append(out.Interfaces, nodeclass.Interface{Card: n.NetworkCardIndex, Device: n.DeviceIndex, Type: string(n.InterfaceType)})
	}
	if s.InstanceStorePolicy != nil {
		out.InstanceStore = nodeclass.InstanceStore(*s.InstanceStorePolicy)
	}
	if t := s.ConnectionTracking; t != nil {
		out.Tracking = &nodeclass.Tracking{TCPEstablished: t.TCPEstablishedTimeout, UDPStream: t.UDPStreamTimeout, UDP: t.UDPTimeout}
	}
	if s.CPUOptions != nil {
		out.NestedVirtual = value(s.CPUOptions.NestedVirtualization)
	}
	return out, err
}

// subnetTerm is a term of which an ID decides alone: tags beside it are reported, and
// ignored.
func subnetTerm(t awsv1.SubnetSelectorTerm) nodeclass.SubnetTerm {
	if t.ID != "" {
		return nodeclass.SubnetTerm{ID: t.ID}
	}
	return nodeclass.SubnetTerm{Tags: t.Tags}
}

// groupTerm is a term of which an ID decides alone, and else a name.
func groupTerm(t awsv1.SecurityGroupSelectorTerm) nodeclass.GroupTerm {
	switch {
	case t.ID != "":
		return nodeclass.GroupTerm{ID: t.ID}
	case t.Name != "":
		return nodeclass.GroupTerm{Name: t.Name}
	}
	return nodeclass.GroupTerm{Tags: t.Tags}
}

func kubeletOf(k *awsv1.Kubelet) (nodeclass.Kubelet, error) {
	if k == nil {
		return nodeclass.Kubelet{}, nil
	}
	document, err := json.Marshal(k)
	if err != nil {
		return nodeclass.Kubelet{}, fmt.Errorf("spec.kubelet: %w", err)
	}
	out, err := nodeclass.ParseKubelet(document)
	if err != nil {
		return nodeclass.Kubelet{}, fmt.Errorf("spec.kubelet: %w", err)
	}
	return out, nil
}

func metadataOf(m *awsv1.MetadataOptions) nodeclass.Metadata {
	out := nodeclass.DefaultMetadata()
	if m == nil {
		return out
	}
	out.Endpoint = orDefault(m.HTTPEndpoint, out.Endpoint)
	out.IPv6 = orDefault(m.HTTPProtocolIPv6, out.IPv6)
	out.Tokens = orDefault(m.HTTPTokens, out.Tokens)
	if m.HTTPPutResponseHopLimit != nil {
		out.HopLimit = int32(*m.HTTPPutResponseHopLimit)
	}
	return out
}

func volumeOf(d *awsv1.BlockDevice) *nodeclass.EBS {
	if d == nil {
		return nil
	}
	out := &nodeclass.EBS{
		DeleteOnTermination: d.DeleteOnTermination,
		Encrypted:           d.Encrypted,
		IOPS:                d.IOPS,
		Throughput:          d.Throughput,
		InitializationRate:  d.VolumeInitializationRate,
		KMSKeyID:            value(d.KMSKeyID),
		SnapshotID:          value(d.SnapshotID),
		VolumeType:          value(d.VolumeType),
	}
	if d.VolumeSize != nil {
		size := d.VolumeSize.Quantity()
		out.VolumeBytes = size.Value()
	}
	return out
}

func resolvedOf(c *Subject) (nodeclass.Resolved, error) {
	s := &c.Status
	out := nodeclass.Resolved{Profile: s.InstanceProfile, Placement: placementOf(c), Reservations: reservationsOf(c)}
	for _, n := range s.Subnets {
		out.Subnets = append(out.Subnets, nodeclass.Subnet{ID: n.ID, Zone: n.Zone, ZoneID: n.ZoneID})
	}
	for _, g := range s.SecurityGroups {
		out.Groups = append(out.Groups, nodeclass.Group{ID: g.ID, Name: g.Name})
	}
	for _, a := range s.AMIs {
		image := nodeclass.Image{ID: a.ID, Name: a.Name, Deprecated: a.Deprecated}
		for _, e := range a.Requirements {
			r, err := translate.Requirement(e.Key, string(e.Operator), e.Values)
			if err != nil {
				return nodeclass.Resolved{}, fmt.Errorf("image %s: %w", a.ID, err)
			}
			image.Requirements = image.Requirements.And(r)
		}
		out.Images = append(out.Images, image)
	}
	return out, nil
}

// requirementsOf writes an image's requirements for the status.
func requirementsOf(rs constraint.Requirements) []requirement {
	out := []requirement{}
	for _, r := range translate.RequirementList(rs) {
		out = append(out, requirement{Key: r.Key, Operator: r.Operator, Values: r.Values})
	}
	return out
}

func value[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}

func orDefault(p *string, otherwise string) string {
	if p == nil {
		return otherwise
	}
	return *p
}
