package stories_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// AWS does what its users fear, in a lab of its own: commands to AWS concern all in it.
func TestOrdersToAWS(t *testing.T) {
	t.Parallel()
	l := ownLab(t)
	for name, happen := range map[string]func(*story){
		"an answer is lost, and calls are throttled": (*story).answerIsLost,
		"a zone is lost":                       (*story).zoneIsLost,
		"a right is taken away and given back": (*story).rightIsMissing,
	} {
		t.Run(name, func(t *testing.T) { happen(begin(t, l)) })
	}
}

// answerIsLost: AWS launches and does not say so, while it may be asked a tenth as often as usual. The
// instance is found, and no other is launched.
func (s *story) answerIsLost() {
	mustLab(s.T, 0, s.dir, "throttle", "*", "--times=0.1")
	mustLab(s.T, 0, s.dir, "fault", "CreateFleet", "InternalError", "--lost")
	if said := mustLab(s.T, 0, s.dir, "aws", "orders").stdout; !saysAll(said, []string{"throttle '*' --end", "calls of CreateFleet are to fail with InternalError"}) {
		s.Errorf("orders in force:\n%swant the limits and the fault", said)
	}
	s.pool("")
	s.oneEach(1)
	mustLab(s.T, 0, s.dir, "throttle", "*", "--end") // the story asks as well
	s.nothingTwice()
	if left := mustLab(s.T, 1, s.dir, "fault", "CreateFleet", "--end"); !strings.Contains(left.stderr, "CreateFleet has no faults") {
		s.Errorf("the fault has not struck: %s", left.stderr)
	}
}

// zoneIsLost: the node of a lost zone is not heard any more, pods that come find room elsewhere, and
// in the end it is ready again.
func (s *story) zoneIsLost() {
	s.pool(template(s.namespace, "{key: kubernetes.io/arch, operator: In, values: [amd64]}"))
	s.oneEach(1)
	node := s.nodesOfPods()[0]
	lost := *s.stableInstances()[0].Placement.AvailabilityZone
	mustLab(s.T, 0, s.dir, "outage", lost)
	if said := s.report("list", node); !strings.Contains(said, "silent") {
		s.Errorf("machine of the lost zone:\n%swant it silent", said)
	}
	s.oneEach(3)
	for _, i := range s.stableInstances() {
		if zone := *i.Placement.AvailabilityZone; zone == lost && *i.PrivateDnsName != node {
			s.Errorf("%s was bought in %s, which is lost", *i.InstanceId, zone)
		}
	}
	heard := func(yes bool) func([]*unstructured.Unstructured) bool {
		return func(nodes []*unstructured.Unstructured) bool { return joined(node)(nodes) == yes }
	}
	s.awaitFor(3*limit, "the node of the lost zone not to be heard", "v1/Node", heard(false))
	mustLab(s.T, 0, s.dir, "outage", lost, "--end")
	s.await("it to be heard again", "v1/Node", heard(true))
}

// rightIsMissing: a class whose instances may not be launched any more says which right is missing;
// pods wait, and run once it is there again.
func (s *story) rightIsMissing() {
	s.pool("")
	s.oneEach(1)
	s.account("deny", "CreateFleet")
	s.scale("apart", 2)
	s.awaitEvent(eventsOfCluster, "NodeClaim", s.namespace, "ec2:CreateFleet")
	s.account("allow", "CreateFleet")
	s.awaitFor(3*limit, "both pods to run", "v1/Pod", of("apart", running(2)))
	s.nothingTwice()
}
