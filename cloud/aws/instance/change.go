package instance

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws/fault"
)

// terminateMax is how many machines one call gives back.
const terminateMax = 500

// Terminate gives machines back. Those that are unknown, not of this cluster
// or terminated are reported in gone, sorted.
func (s *Store) Terminate(ctx context.Context, ids ...string) (gone []string, err error) {
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	if len(ids) == 0 {
		return nil, nil
	}
	found, err := s.describe(ctx, nil, ids)
	if err != nil {
		return nil, err
	}
	live, gone := s.divide(ids, found)
	var errs []error
	for some := range slices.Chunk(live, terminateMax) {
		more, err := s.terminate(ctx, some)
		gone, errs = append(gone, more...), append(errs, err)
	}
	slices.Sort(gone)
	return gone, errors.Join(errs...)
}

// divide tells which of the ids are to be terminated and which are gone.
func (s *Store) divide(ids []string, found []types.Instance) (live, gone []string) {
	byID := map[string]types.Instance{}
	for _, i := range found {
		byID[aws.ToString(i.InstanceId)] = i
	}
	for _, id := range ids {
		switch i, known := byID[id]; {
		case !known && s.isYoung(id):
			live = append(live, id)
		case !known, !s.ours(i) && !s.isYoung(id), i.State != nil && i.State.Name == types.InstanceStateNameTerminated:
			gone = append(gone, id)
		default:
			live = append(live, id)
		}
	}
	return live, gone
}

// terminate calls for many at once and, when EC2 does not know one of them,
// for each alone.
func (s *Store) terminate(ctx context.Context, ids []string) (gone []string, err error) {
	_, err = s.api.TerminateInstances(ctx, &ec2.TerminateInstancesInput{InstanceIds: ids})
	switch {
	case err == nil:
		return nil, nil
	case !fault.NotFound(err):
		return nil, fault.Wrap("ec2:TerminateInstances", err)
	case len(ids) == 1 && s.isYoung(ids[0]):
		return nil, nil // not visible yet: the caller repeats
	case len(ids) == 1:
		return ids, nil
	}
	var errs []error
	for _, id := range ids {
		more, err := s.terminate(ctx, []string{id})
		gone, errs = append(gone, more...), append(errs, err)
	}
	return gone, errors.Join(errs...)
}

// Tag adds tags to a machine. It is a *cloud.NotFoundError for one that is
// gone, not visible yet, or not of this cluster.
func (s *Store) Tag(ctx context.Context, id string, tags map[string]string) error {
	if !s.isYoung(id) {
		found, err := s.describe(ctx, s.owned(), []string{id})
		if err != nil {
			return err
		}
		if len(found) == 0 || found[0].State != nil && found[0].State.Name == types.InstanceStateNameTerminated {
			return &cloud.NotFoundError{MachineID: id}
		}
	}
	list := make([]types.Tag, 0, len(tags))
	for _, k := range slices.Sorted(maps.Keys(tags)) {
		list = append(list, types.Tag{Key: aws.String(k), Value: aws.String(tags[k])})
	}
	_, err := s.api.CreateTags(ctx, &ec2.CreateTagsInput{Resources: []string{id}, Tags: list})
	if fault.NotFound(err) {
		return &cloud.NotFoundError{MachineID: id}
	}
	return fault.Wrap("ec2:CreateTags", err)
}
