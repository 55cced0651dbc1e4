package instance

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws/fault"
	"github.com/daemok/daemok/cloud/aws/gather"
	"github.com/daemok/daemok/cloud/aws/nodeclass"
)

// tagScalingGroup is what EC2 Auto Scaling puts on instances of its groups, those of
// managed node groups included.
const tagScalingGroup = "aws:autoscaling:groupName"

// Adoptable returns an instance that the cluster may take over, whatever launched it. It
// runs and carries a tag of this cluster, none of another cluster's, and no Auto Scaling
// group would replace it.
//
// Callers of the same moment share one DescribeInstances for up to looksMax instances.
func (s *Store) Adoptable(ctx context.Context, id string) (cloud.Instance, error) {
	answers, err := s.strays.Ask(ctx, id)
	if err != nil {
		return cloud.Instance{}, err
	}
	a := answers[id]
	if a.Err != nil {
		return cloud.Instance{}, a.Err
	}
	if a.Value == nil {
		return cloud.Instance{}, &cloud.NotFoundError{InstanceID: id}
	}
	m := convert(*a.Value)
	if why := s.whyNotAdopt(m); why != "" {
		return cloud.Instance{}, &cloud.RefusedError{Reason: cloud.NotAdoptable, Cause: why}
	}
	return m, nil
}

// lookAtAny finds instances by ID, those of other clusters included.
func (s *Store) lookAtAny(ctx context.Context, ids []string) map[string]gather.Answer[*types.Instance] {
	return s.lookAmong(ctx, []types.Filter{notTerminated()}, ids)
}

// whyNotAdopt says what keeps the cluster from taking an instance over; empty: nothing.
func (s *Store) whyNotAdopt(m cloud.Instance) string {
	if m.State != cloud.Running {
		return fmt.Sprintf("instance %s is %s; only a running one can be adopted", m.ID, m.State)
	}
	for _, key := range slices.Sorted(maps.Keys(m.Tags)) {
		name, ofCluster := strings.CutPrefix(key, nodeclass.TagOwned)
		if ofCluster && name != s.cluster && m.Tags[key] == nodeclass.ClusterOwned {
			return fmt.Sprintf("instance %s is owned by cluster %s, by its tag %s", m.ID, name, key)
		}
	}
	if name, reported := m.Tags[nodeclass.TagEKS]; reported && name != s.cluster {
		return fmt.Sprintf("instance %s is of cluster %s, by its tag %s", m.ID, name, nodeclass.TagEKS)
	}
	if uid, is := s.stranger(m.Tags); is {
		return fmt.Sprintf("instance %s is of another cluster called %s, by its tag %s: %s; remove the tag if that cluster is gone", m.ID, s.cluster, nodeclass.TagUID, uid)
	}
	if _, ours := m.Tags[nodeclass.TagOwned+s.cluster]; !ours {
		return fmt.Sprintf("instance %s has no tag %s; add that tag, with the value %s, if it is this cluster's",
			m.ID, nodeclass.TagOwned+s.cluster, nodeclass.ClusterOwned)
	}
	if group := m.Tags[tagScalingGroup]; group != "" {
		return fmt.Sprintf("instance %s is of the Auto Scaling group %s, which would replace it; detach it from the group first", m.ID, group)
	}
	return ""
}

// Adopt puts tags on an instance that Adoptable has shown: own ones in any case, those of
// its class where it has none of the key. It asks for nothing where all are there. It is a
// *cloud.NotFoundError for an instance that EC2 does not know.
func (s *Store) Adopt(ctx context.Context, m cloud.Instance, own, ofClass map[string]string) error {
	lacks := map[string]string{}
	for key, value := range ofClass {
		if _, there := m.Tags[key]; !there {
			lacks[key] = value
		}
	}
	for key, value := range own {
		if is, there := m.Tags[key]; !there || is != value {
			lacks[key] = value
		}
	}
	if len(lacks) == 0 {
		return nil
	}
	return s.createTags(ctx, m.ID, lacks)
}

func (s *Store) createTags(ctx context.Context, id string, tags map[string]string) error {
	list := make([]types.Tag, 0, len(tags))
	for _, k := range slices.Sorted(maps.Keys(tags)) {
		list = append(list, types.Tag{Key: aws.String(k), Value: aws.String(tags[k])})
	}
	_, err := s.api.CreateTags(ctx, &ec2.CreateTagsInput{Resources: []string{id}, Tags: list})
	if fault.NotFound(err) {
		return &cloud.NotFoundError{InstanceID: id}
	}
	return fault.Wrap("ec2:CreateTags", err)
}
