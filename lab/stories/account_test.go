package stories_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
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

// stableInstances are those of the story's pool, as stableIn finds them.
func (s *story) stableInstances() []types.Instance {
	s.Helper()
	return s.stableIn(s.namespace)
}

// stableIn waits until every claim of a pool has an instance of its own and EC2, which
// knows what it offered only after a moment, shows them all. It returns what EC2 shows of
// the pool by then.
func (s *story) stableIn(pool string) []types.Instance {
	s.Helper()
	var launched []types.Instance
	if !poll(limit, farEvery, func() bool {
		wanted := s.machinesOfClaims(pool)
		launched = poolInstances(s.T, s.dir, pool)
		return len(wanted) > 0 && len(missing(wanted, launched)) == 0 && maps.Equal(wanted, s.machinesOfClaims(pool))
	}) {
		s.Fatalf("EC2 shows %s, and the claims are\n%s", describeInstances(launched),
			describe(inPool(s.list(claims), pool)))
	}
	return launched
}

// machinesOfClaims are the provider IDs that the claims of a pool have, none while one has
// no instance of its own or is on its way out.
func (s *story) machinesOfClaims(pool string) map[string]bool {
	s.Helper()
	ids := map[string]bool{}
	for _, c := range inPool(s.list(claims), pool) {
		id := text(c, "status", "providerID")
		if id == "" || ids[id] || c.GetDeletionTimestamp() != nil || hasCondition(c, "DisruptionReason") {
			return nil
		}
		ids[id] = true
	}
	return ids
}

// missing returns the provider IDs that none of the instances has.
func missing(wanted map[string]bool, launched []types.Instance) map[string]bool {
	left := maps.Clone(wanted)
	for _, i := range launched {
		delete(left, fmt.Sprintf("aws:///%s/%s", *i.Placement.AvailabilityZone, *i.InstanceId))
	}
	return left
}

// nothingTwice checks that claims and instances of the story's pool are pairs.
func (s *story) nothingTwice() {
	s.Helper()
	s.nothingTwiceIn(s.namespace)
}

// nothingTwiceIn checks that claims and instances of a pool are pairs, and returns the instances.
func (s *story) nothingTwiceIn(pool string) []types.Instance {
	s.Helper()
	launched := s.stableIn(pool)
	s.await("claims and instances to be pairs: "+describeInstances(launched), claims, ofPool(pool, len(launched)))
	return launched
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
