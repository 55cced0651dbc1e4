package stories_test

import (
	"context"
	"testing"
	"time"
)

// shortFor is how long the controller does not ask again for what AWS did not have, with
// some time for the next check.
const shortFor = 3*time.Minute + limit

// twoTypes is a template that can launch the cheap c5d.large or the more expensive
// m5d.large and nothing else; no other story's pool has either for its first
// choice.
func twoTypes(class string) string {
	return template(class, "{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}",
		"{key: node.kubernetes.io/instance-type, operator: In, values: [c5d.large, m5d.large]}")
}

// ice has the lab run out of a type; it is plentiful again after the story.
func (s *story) ice(kind string) {
	s.Helper()
	mustLab(s.T, 0, s.dir, "ice", kind)
	s.Cleanup(func() {
		if got, err := lab(context.Background(), s.dir, "ice", kind, "--melt"); err != nil || got.code != 0 {
			s.Errorf("have %s again: %v %s", kind, err, got.stderr)
		}
	})
}

func (s *story) melt(kind string) {
	s.Helper()
	mustLab(s.T, 0, s.dir, "ice", kind, "--melt")
}

// AWS has none of the type that is cheapest: the next is launched within the
// same breath, and nothing is left of the first try.
func TestFirstChoiceIsUnavailable(t *testing.T) {
	t.Parallel()
	s := begin(t, shared)
	s.pool(twoTypes(s.namespace))
	s.ice("c5d.large")
	s.workload("pods", s.namespace, "1", 1)
	s.await("the pod to run", "v1/Pod", of("pods", running(1)))
	s.await("one claim for the other type", claims, ofPool(s.namespace, 1))
	if got := s.stableInstances(); len(got) != 1 || got[0].InstanceType != "m5d.large" {
		t.Errorf("bought %v, want one m5d.large", describeInstances(got))
	}
}

// AWS has none of what the pool may launch: the pods wait and say so, nothing is launched,
// and once AWS has some again they run without intervention.
func TestNothingIsToBeHad(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for minutes until AWS is asked again")
	}
	s := begin(t, shared)
	s.pool(template(s.namespace, "{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}",
		"{key: node.kubernetes.io/instance-type, operator: In, values: [r5n.large, r5dn.large]}"))
	s.ice("r5*n.large")
	s.workload("pods", s.namespace, "1", 2)
	s.awaitEvent(eventsOfCluster, "NodeClaim", s.namespace, "InsufficientCapacityError")
	s.awaitEvent(s.namespace, "Pod", "pods-", s.namespace, "insufficient capacity")
	s.await("no claim", claims, ofPool(s.namespace, 0))
	if got := poolInstances(t, s.dir, s.namespace); len(got) > 0 {
		t.Errorf("bought %v, want nothing", describeInstances(got))
	}
	s.melt("r5*n.large")
	t.Parallel() // only now: the minutes until AWS is asked again pass while all other stories run
	s.awaitFor(shortFor, "the pods to run", "v1/Pod", of("pods", running(2)))
}
