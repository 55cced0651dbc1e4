package fleet

import (
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
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
// The fleet names a template that need not exist. It calls nobody.
func Rehearse(r Request) (Rehearsal, error) {
	o, err := build(r)
	if err != nil {
		return Rehearsal{}, err
	}
	if len(o.offers) != 1 {
		return Rehearsal{}, errors.New("a rehearsal is of one offer")
	}
	fleet := *o.fleet
	fleet.DryRun, fleet.ClientToken = aws.Bool(true), nil // nothing is done that could be done twice
	if len(o.templates) == 0 {
		return Rehearsal{Fleet: &fleet}, nil
	}
	template := o.templates[0].input()
	template.DryRun = aws.Bool(true)
	subnet, _ := subnetIn(r.Subnets, o.offers[0].Zone)
	return Rehearsal{Template: template, Fleet: &fleet, Run: runInput(r, o.templates[0], o.offers[0].Kind, subnet.ID)}, nil
}

// runInput asks for one machine without a template, which is not there. It
// has what EC2 checks rights on: image, profile, subnet, groups, tags, and the
// placement group and capacity reservation, if any.
func runInput(r Request, t template, kind, subnet string) *ec2.RunInstancesInput {
	tags := ec2Tags(allTags(r))
	groups := make([]string, len(r.Class.Resolved.Groups))
	for i, g := range r.Class.Resolved.Groups {
		groups[i] = g.ID
	}
	in := &ec2.RunInstancesInput{
		DryRun: aws.Bool(true), MinCount: aws.Int32(1), MaxCount: aws.Int32(1),
		ImageId: t.data.ImageId, InstanceType: types.InstanceType(kind),
		SubnetId: aws.String(subnet), SecurityGroupIds: groups,
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
	if r.Class.Resolved.Profile != "" {
		in.IamInstanceProfile = &types.IamInstanceProfileSpecification{Name: aws.String(r.Class.Resolved.Profile)}
	}
	return in
}
