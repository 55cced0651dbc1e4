package fleet

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/cloud/aws/userdata"
	"github.com/daemok/daemok/core/cluster"
)

// templatePrefix begins the name of every launch template of ours.
const templatePrefix = "daemok.sh/"

// template is a launch template before it is made. Its name is a hash over
// all the rest, so that a template of that name is this one. One of the user's own is
// its name alone.
type template struct {
	name string
	data *types.RequestLaunchTemplateData
	tags []types.Tag
}

func templateOf(r Request, g group, kubelet nodeclass.Kubelet) (template, error) {
	if own := r.Class.Spec.LaunchTemplate; own != "" {
		return template{name: own}, nil
	}
	return newTemplate(r, g, kubelet)
}

func newTemplate(r Request, g group, kubelet nodeclass.Kubelet) (template, error) {
	text, err := userdata.Render(userDataInput(r, g, kubelet))
	if err != nil {
		return template{}, refuse(err)
	}
	t := template{data: templateData(r, g, text), tags: ec2Tags(lastingTags(r))}
	content, err := json.Marshal(struct {
		Data *types.RequestLaunchTemplateData
		Tags []types.Tag
	}{t.data, t.tags})
	if err != nil {
		return template{}, fmt.Errorf("hash launch template of class %s: %w", r.Class.Name, err)
	}
	sum := sha256.Sum256(content)
	t.name = templatePrefix + hex.EncodeToString(sum[:16])
	return t, nil
}

// input is the call that makes the template.
func (t template) input() *ec2.CreateLaunchTemplateInput {
	return &ec2.CreateLaunchTemplateInput{
		LaunchTemplateName: aws.String(t.name), LaunchTemplateData: t.data,
		TagSpecifications: []types.TagSpecification{{ResourceType: types.ResourceTypeLaunchTemplate, Tags: t.tags}},
	}
}

// refuse says why user data cannot be written, in the words of conditions.
func refuse(err error) error {
	reason := "LaunchFailed"
	if _, tooLarge := errors.AsType[*userdata.TooLargeError](err); tooLarge {
		reason = "UserDataSizeLimitExceeded"
	}
	if errors.Is(err, userdata.ErrNoCIDR) {
		reason = "ClusterCIDRResolutionFailed"
	}
	return &cloud.RefusedError{Reason: reason, Cause: err.Error()}
}

func userDataInput(r Request, g group, kubelet nodeclass.Kubelet) userdata.Input {
	in := userdata.Input{
		Family: r.Class.Spec.EffectiveFamily(), Cluster: r.Cluster, Kubelet: kubelet, MaxPods: g.maxPods,
		Labels: r.Launch.Node.Labels, RAID0: r.Class.Spec.InstanceStore == nodeclass.RAID0,
		Version: r.Class.Image(g.image).Release(), User: r.Class.Spec.UserData,
	}
	for _, t := range r.Launch.Node.Taints {
		in.Taints = append(in.Taints, userdata.Taint(t))
	}
	return in
}

func templateData(r Request, g group, text string) *types.RequestLaunchTemplateData {
	spec := r.Class.Spec
	data := &types.RequestLaunchTemplateData{
		ImageId:                          aws.String(r.Class.Image(g.image).ID),
		UserData:                         aws.String(base64.StdEncoding.EncodeToString([]byte(text))),
		BlockDeviceMappings:              blockDevices(spec),
		NetworkInterfaces:                interfaces(r, g),
		MetadataOptions:                  metadata(spec.Metadata),
		Monitoring:                       &types.LaunchTemplatesMonitoringRequest{Enabled: aws.Bool(spec.DetailedMonitored)},
		TagSpecifications:                templateTags(r),
		CapacityReservationSpecification: reservationOf(r, g),
	}
	if r.Class.Resolved.Profile != "" {
		data.IamInstanceProfile = &types.LaunchTemplateIamInstanceProfileSpecificationRequest{Name: aws.String(r.Class.Resolved.Profile)}
	}
	data.Placement = placementOf(r, g)
	if market := marketOf(r, g.reservedCapacity); market != "" {
		data.InstanceMarketOptions = &types.LaunchTemplateInstanceMarketOptionsRequest{MarketType: market}
	}
	if spec.NestedVirtual != "" {
		data.CpuOptions = &types.LaunchTemplateCpuOptionsRequest{
			NestedVirtualization: types.NestedVirtualizationSpecification(spec.NestedVirtual),
		}
	}
	if g.enclaves {
		data.EnclaveOptions = &types.LaunchTemplateEnclaveOptionsRequest{Enabled: aws.Bool(true)}
	}
	return data
}

// reservationOf says which reservation instances run in: the one that they are
// launched from and nothing else, or none. Where reservations are left alone EC2 does
// as it does without a word.
func reservationOf(r Request, g group) *types.LaunchTemplateCapacityReservationSpecificationRequest {
	switch {
	case g.reservedCapacity != "":
		return &types.LaunchTemplateCapacityReservationSpecificationRequest{
			CapacityReservationPreference: types.CapacityReservationPreferenceCapacityReservationsOnly,
			CapacityReservationTarget:     &types.CapacityReservationTarget{CapacityReservationId: aws.String(g.reservedCapacity)},
		}
	case r.OpenReservations:
		return nil
	}
	return &types.LaunchTemplateCapacityReservationSpecificationRequest{CapacityReservationPreference: types.CapacityReservationPreferenceNone}
}

// placementOf says which placement group instances are put into, which partition of it
// where that is not left to EC2, and that their tenancy is dedicated; nil where there is
// nothing to say.
func placementOf(r Request, g group) *types.LaunchTemplatePlacementRequest {
	of := r.Class.Resolved.Placement
	if of == nil && !g.dedicated {
		return nil
	}
	out := &types.LaunchTemplatePlacementRequest{}
	if g.dedicated {
		out.Tenancy = types.TenancyDedicated
	}
	if of != nil {
		out.GroupId = aws.String(of.ID)
	}
	if part, err := strconv.ParseInt(g.part, 10, 32); err == nil {
		out.PartitionNumber = aws.Int32(int32(part))
	}
	return out
}

// marketOf is the market that instances of a reservation are launched on; empty for the
// usual one.
func marketOf(r Request, reservedCapacity string) types.MarketType {
	at := slices.IndexFunc(r.Class.Resolved.Reservations, func(x nodeclass.Reservation) bool { return x.ID == reservedCapacity })
	switch {
	case reservedCapacity == "" || at < 0:
		return ""
	case r.Class.Resolved.Reservations[at].Interruptible:
		return types.MarketTypeInterruptibleCapacityReservation
	case r.Class.Resolved.Reservations[at].Block:
		return types.MarketTypeCapacityBlock
	}
	return ""
}

// templateTags are for what EC2 makes beside instances and volumes. Spot
// requests may be named for spot alone: EC2 refuses them otherwise.
func templateTags(r Request) []types.LaunchTemplateTagSpecificationRequest {
	tags := ec2Tags(lastingTags(r))
	out := []types.LaunchTemplateTagSpecificationRequest{{ResourceType: types.ResourceTypeNetworkInterface, Tags: tags}}
	if r.option() == cluster.Spot {
		out = append(out, types.LaunchTemplateTagSpecificationRequest{ResourceType: types.ResourceTypeSpotInstancesRequest, Tags: tags})
	}
	return out
}

func metadata(m nodeclass.Metadata) *types.LaunchTemplateInstanceMetadataOptionsRequest {
	if m == (nodeclass.Metadata{}) {
		m = nodeclass.DefaultMetadata()
	}
	return &types.LaunchTemplateInstanceMetadataOptionsRequest{
		HttpEndpoint:            types.LaunchTemplateInstanceMetadataEndpointState(m.Endpoint),
		HttpProtocolIpv6:        types.LaunchTemplateInstanceMetadataProtocolIpv6(m.IPv6),
		HttpPutResponseHopLimit: aws.Int32(m.HopLimit),
		HttpTokens:              types.LaunchTemplateHttpTokensState(m.Tokens),
		InstanceMetadataTags:    types.LaunchTemplateInstanceMetadataTagsStateDisabled,
	}
}
