package instance

import (
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/daemok/daemok/cloud"
)

// takenBySpot begins the reasons of EC2 for which it ends spot instances unasked:
// Server.SpotInstanceTermination and Server.SpotInstanceShutdown.
const takenBySpot = "Server.SpotInstance"

// Spot returns the spot instances of the cluster that are on their way or run.
func (s *Store) Spot(ctx context.Context) ([]cloud.Instance, error) {
	found, err := s.describe(ctx, append(s.owned(), filter("instance-lifecycle", string(types.InstanceLifecycleTypeSpot)),
		filter("instance-state-name", string(cloud.Pending), string(cloud.Running))), nil)
	if err != nil {
		return nil, err
	}
	out := make([]cloud.Instance, 0, len(found))
	for _, i := range s.dropStrangers(found) {
		out = append(out, convert(i))
	}
	return out, nil
}

// Taken returns those of the instances that EC2 took away, as far as it still knows of
// them: for about an hour. Their tags may be gone before, so that it is for instances that
// are known to be of the cluster.
func (s *Store) Taken(ctx context.Context, ids []string) ([]string, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	found, err := s.describe(ctx, nil, ids)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, i := range found {
		if i.StateReason != nil && strings.HasPrefix(aws.ToString(i.StateReason.Code), takenBySpot) {
			out = append(out, aws.ToString(i.InstanceId))
		}
	}
	return out, nil
}
