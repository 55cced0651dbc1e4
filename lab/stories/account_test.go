package stories_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// instances returns what EC2 shows of instances by a filter on each name.
func instances(t *testing.T, dir string, by map[string][]string) (all []types.Instance) {
	t.Helper()
	var filters []types.Filter
	for name, values := range by {
		filters = append(filters, types.Filter{Name: aws.String(name), Values: values})
	}
	c, _ := awsOf(t, dir)
	pages := ec2.NewDescribeInstancesPaginator(ec2.NewFromConfig(c), &ec2.DescribeInstancesInput{Filters: filters})
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range page.Reservations {
			all = append(all, r.Instances...)
		}
	}
	return all
}

// poolTag is on every instance of a pool.
const poolTag = "tag:karpenter.sh/nodepool"

// poolInstances returns the instances of a pool that are not ending.
func poolInstances(t *testing.T, dir, pool string) []types.Instance {
	t.Helper()
	return instances(t, dir, map[string][]string{
		poolTag: {pool}, "instance-state-name": {"pending", "running", "stopping", "stopped"},
	})
}

// settledInstances waits until every claim of the story's pool has a machine of
// its own and EC2, which knows what it sold only after a moment, shows them
// all. It returns what EC2 shows of the pool by then.
func (s *story) settledInstances() []types.Instance {
	s.Helper()
	var bought []types.Instance
	s.await("every claim to have a machine of its own that EC2 shows", claims, func(seen []*unstructured.Unstructured) bool {
		wanted := map[string]bool{}
		for _, c := range inPool(seen, s.namespace) {
			id := text(c, "status", "providerID")
			if id == "" || wanted[id] || c.GetDeletionTimestamp() != nil {
				return false
			}
			wanted[id] = true
		}
		if len(wanted) == 0 {
			return false
		}
		if !poll(limit, farEvery, func() bool {
			bought = poolInstances(s.T, s.dir, s.namespace)
			return len(missing(wanted, bought)) == 0
		}) {
			s.Fatalf("EC2 does not show machines %v", missing(wanted, bought))
		}
		return true
	})
	return bought
}

// missing returns the provider IDs that none of the instances has.
func missing(wanted map[string]bool, bought []types.Instance) map[string]bool {
	left := maps.Clone(wanted)
	for _, i := range bought {
		delete(left, fmt.Sprintf("aws:///%s/%s", *i.Placement.AvailabilityZone, *i.InstanceId))
	}
	return left
}

// nothingTwice checks that claims and instances of the story's pool are pairs.
func (s *story) nothingTwice() {
	s.Helper()
	bought := s.settledInstances()
	s.await("claims and instances to be pairs: "+describeInstances(bought), claims, ofPool(s.namespace, len(bought)))
}

// awaitNoInstances waits until EC2 shows no instance of the pool that is not
// ending.
func (s *story) awaitNoInstances() {
	s.Helper()
	var left []types.Instance
	if !poll(limit, farEvery, func() bool {
		left = poolInstances(s.T, s.dir, s.namespace)
		return len(left) == 0
	}) {
		s.Errorf("%s were left", describeInstances(left))
	}
}

func describeInstances(list []types.Instance) string {
	var words []string
	for _, i := range list {
		words = append(words, fmt.Sprintf("%s (%s, %s)", *i.InstanceId, i.InstanceType, i.State.Name))
	}
	return "[" + strings.Join(words, ", ") + "]"
}
