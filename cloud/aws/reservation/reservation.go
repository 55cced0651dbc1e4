// Package reservation finds the capacity reservations that a class selects, and knows how many
// instances each of them still has capacity for.
//
// It promises that instances just launched count as using a reservation until EC2 counts them itself,
// and that a reservation that EC2 called full counts as full until EC2 reports otherwise. The caller
// decides how often to ask.
package reservation

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/daemok/daemok/cloud/aws/fault"
	"github.com/daemok/daemok/cloud/aws/network"
	"github.com/daemok/daemok/cloud/aws/nodeclass"
)

// Finder looks reservations up.
type Finder struct {
	API ec2.DescribeCapacityReservationsAPIClient
}

// Found is a reservation and how many instances EC2 says that it has room for.
type Found struct {
	nodeclass.Reservation
	Free int64
}

// Find returns the active reservations that any of the terms of a class selects and that
// its instances can run in, by ID. That there are none is no error: reservations come and
// go. One that was made in a placement group is for instances of that group alone, and
// those of a group run in no other.
func (f Finder) Find(ctx context.Context, class nodeclass.Class) ([]Found, error) {
	found := map[string]Found{}
	for _, question := range questions(class.Spec.Reservations) {
		list, err := f.list(ctx, question)
		if err != nil {
			return nil, err
		}
		for i := range list {
			if usable(&list[i], class) {
				r := convert(&list[i])
				found[r.ID] = r
			}
		}
	}
	return slices.SortedFunc(maps.Values(found), func(a, b Found) int { return cmp.Compare(a.ID, b.ID) }), nil
}

// Named returns the reservations of these IDs that there are, whatever their state.
func (f Finder) Named(ctx context.Context, ids ...string) ([]nodeclass.Reservation, error) {
	list, err := f.list(ctx, &ec2.DescribeCapacityReservationsInput{CapacityReservationIds: ids})
	out := make([]nodeclass.Reservation, len(list))
	for i := range list {
		out[i] = convert(&list[i]).Reservation
	}
	return out, err
}

// list asks one question. Of several reservations that are named, EC2 returns nothing where
// one does not exist: then each is asked for by itself.
func (f Finder) list(ctx context.Context, question *ec2.DescribeCapacityReservationsInput) ([]types.CapacityReservation, error) {
	var out []types.CapacityReservation
	pages := ec2.NewDescribeCapacityReservationsPaginator(f.API, question)
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		switch ids := question.CapacityReservationIds; {
		case fault.NotFound(err) && len(ids) > 1:
			return f.listEach(ctx, question)
		case fault.NotFound(err) && len(ids) == 1:
			return nil, nil
		case err != nil:
			return nil, fault.Wrap("ec2:DescribeCapacityReservations", err)
		}
		out = append(out, page.CapacityReservations...)
	}
	return out, nil
}

func (f Finder) listEach(ctx context.Context, question *ec2.DescribeCapacityReservationsInput) ([]types.CapacityReservation, error) {
	var out []types.CapacityReservation
	for _, id := range question.CapacityReservationIds {
		list, err := f.list(ctx, &ec2.DescribeCapacityReservationsInput{CapacityReservationIds: []string{id}, Filters: question.Filters})
		if err != nil {
			return nil, err
		}
		out = append(out, list...)
	}
	return out, nil
}

// questions are one for all terms with an ID and one for each other term.
func questions(terms []nodeclass.ReservationTerm) []*ec2.DescribeCapacityReservationsInput {
	active := filter("state", string(types.CapacityReservationStateActive))
	var out []*ec2.DescribeCapacityReservationsInput
	var ids []string
	for _, t := range terms {
		if t.ID != "" {
			ids = append(ids, t.ID)
			continue
		}
		filters := append(network.TagFilters(t.Tags, false), active)
		if t.Owner != "" {
			filters = append(filters, filter("owner-id", t.Owner))
		}
		if t.Criteria != "" {
			filters = append(filters, filter("instance-match-criteria", t.Criteria))
		}
		out = append(out, &ec2.DescribeCapacityReservationsInput{Filters: filters})
	}
	if len(ids) > 0 {
		out = append(out, &ec2.DescribeCapacityReservationsInput{CapacityReservationIds: slices.Compact(slices.Sorted(slices.Values(ids))), Filters: []types.Filter{active}})
	}
	return out
}

func filter(name string, values ...string) types.Filter {
	return types.Filter{Name: aws.String(name), Values: values}
}

// usable leaves out what instances of the class cannot be launched into.
func usable(r *types.CapacityReservation, class nodeclass.Class) bool {
	platform := types.CapacityReservationInstancePlatformLinuxUnix
	if class.Spec.EffectiveFamily().Windows() {
		platform = types.CapacityReservationInstancePlatformWindows
	}
	group := ""
	if g := class.Resolved.Placement; g != nil {
		group = g.Name
	}
	if _, name, _ := strings.Cut(aws.ToString(r.PlacementGroupArn), ":placement-group/"); name != group {
		return false
	}
	if r.Tenancy == types.CapacityReservationTenancyDedicated && !class.Resolved.Placement.TakesDedicated() {
		return false
	}
	return r.State == types.CapacityReservationStateActive && r.InstancePlatform == platform
}

func convert(r *types.CapacityReservation) Found {
	out := Found{
		Reservation: nodeclass.Reservation{
			ID: aws.ToString(r.CapacityReservationId), Kind: aws.ToString(r.InstanceType), Zone: aws.ToString(r.AvailabilityZone),
			Owner: aws.ToString(r.OwnerId), Criteria: string(r.InstanceMatchCriteria),
			Block: r.ReservationType == types.CapacityReservationTypeCapacityBlock, Interruptible: aws.ToBool(r.Interruptible),
			Dedicated: r.Tenancy == types.CapacityReservationTenancyDedicated,
		},
		Free: int64(aws.ToInt32(r.AvailableInstanceCount)),
	}
	if r.EndDate != nil {
		out.EndsAt = r.EndDate.UTC()
	}
	return out
}
