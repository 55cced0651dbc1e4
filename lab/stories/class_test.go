package stories_test

import "testing"

const (
	classes  = "karpenter.k8s.aws/v1/EC2NodeClass"
	pools    = "karpenter.sh/v1/NodePool"
	claims   = "karpenter.sh/v1/NodeClaim"
	untagged = "{no-such-tag: anywhere}"
)

// What a class asks for and AWS does not have is named in its conditions and those of its
// pool, whose pods wait; those of another pool run.
func TestClassFindsNothing(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ change, condition, reason, letter string }{
		"no subnet":         {"subnetSelectorTerms: [{tags: " + untagged + "}]", "SubnetsReady", "SubnetsNotFound", "SubnetSelector did not match any Subnets"},
		"no security group": {"securityGroupSelectorTerms: [{tags: " + untagged + "}]", "SecurityGroupsReady", "SecurityGroupsNotFound", "SecurityGroupSelector did not match any SecurityGroups"},
		"no image":          {"amiFamily: AL2023\namiSelectorTerms: [{tags: " + untagged + "}]", "AMIsReady", "AMINotFound", "AMISelector did not match any AMIs"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := begin(t, shared)
			broken, whole := s.namespace+"-broken", s.namespace+"-whole"
			s.class(broken, tt.change)
			s.poolOf(broken, broken, "")
			s.class(whole, "")
			s.poolOf(whole, whole, "")
			s.workload("waits", broken, "1", 2)
			s.workload("runs", whole, "1", 2)

			s.awaitCondition(classes, broken, tt.condition, "False", tt.reason, tt.letter)
			s.awaitCondition(classes, broken, "Ready", "False", "SelectorTerms", "no-such-tag")
			s.awaitCondition(pools, broken, "NodeClassReady", "False", "no-such-tag")
			s.awaitEvent(eventsOfCluster, "NodePool", broken, "no-such-tag")
			s.await("the other pool's pods to run", "v1/Pod", of("runs", running(2)))
			s.await("no claim of the broken pool", claims, ofPool(broken, 0))
		})
	}
}

// A pool whose class does not exist says so, and its pods too; when the class
// comes they run.
func TestPoolNamesNoClass(t *testing.T) {
	t.Parallel()
	s := begin(t, shared)
	s.poolOf(s.namespace, s.namespace, "")
	s.workload("early", s.namespace, "1", 2)
	s.awaitCondition(pools, s.namespace, "NodeClassReady", "False", "NodeClassNotFound", s.namespace, "does not exist")
	s.awaitEvent(s.namespace, "Pod", "early-", "does not exist")
	s.awaitEvent(eventsOfCluster, "NodePool", s.namespace, "does not exist")
	s.class(s.namespace, "")
	s.awaitCondition(pools, s.namespace, "Ready", "True")
	s.await("the pods to run", "v1/Pod", of("early", running(2)))
}

// Types that the region lacks are named; the pool goes on with the others, unless there are
// none.
func TestPoolNamesTypesOfElsewhere(t *testing.T) {
	t.Parallel()
	s := begin(t, shared)
	some, none := s.namespace+"-some", s.namespace+"-none"
	s.class(s.namespace, "")
	s.poolOf(some, s.namespace, template(s.namespace, "{key: node.kubernetes.io/instance-type, operator: In, values: [m5.large, m99.huge]}"))
	s.poolOf(none, s.namespace, template(s.namespace, "{key: node.kubernetes.io/instance-type, operator: In, values: [m98.huge, m99.huge]}"))
	s.workload("runs", some, "1", 1)
	s.workload("waits", none, "1", 1)
	s.awaitCondition(pools, some, "ValidationSucceeded", "True", "m99.huge")
	s.awaitEvent(eventsOfCluster, "NodePool", some, "m99.huge")
	s.awaitCondition(pools, none, "ValidationSucceeded", "False", "m98.huge", "m99.huge")
	s.awaitCondition(pools, none, "Ready", "False")
	s.awaitEvent(s.namespace, "Pod", "waits-", none)
	s.await("the pod of the other pool to run", "v1/Pod", of("runs", running(1)))
}
