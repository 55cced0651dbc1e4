package stories_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// What AWS does not have, or has no more, is launched elsewhere.
func TestAfterMinutesElsewhere(t *testing.T) {
	aboutMinutes(t)
	t.Parallel()
	l := ownLabWith(t, []string{"ENABLE_ZONAL_SHIFT=true"})
	for name, happen := range map[string]func(*story){
		"a zone is lost, and its nodes are replaced": (*story).zoneIsReplaced,
		"the preferred family is sold out":           (*story).familyIsShort,
		"work is shifted away from a zone":           (*story).zoneIsShifted,
		"a reservation is reclaimed":                 (*story).reservationIsReclaimed,
		"launches are refused, and a boot fails":     (*story).launchesFail,
	} {
		t.Run(name, func(t *testing.T) { happen(begin(t, l)) })
	}
}

// zoneIsReplaced: a zone is lost and stays so. The nodes that were there are replaced in other zones.
func (s *story) zoneIsReplaced() {
	s.pool(template(s.namespace, "{key: kubernetes.io/arch, operator: In, values: [amd64]}"))
	s.oneEach(3)
	lost := *s.stableInstances()[0].Placement.AvailabilityZone
	mustLab(s.T, 0, s.dir, "outage", lost)
	defer mustLab(s.T, 0, s.dir, "outage", lost, "--end")
	s.awaitFor(10*limit, "no claim in the lost zone", claims, func(seen []*unstructured.Unstructured) bool {
		return !slices.ContainsFunc(inPool(seen, s.namespace), func(c *unstructured.Unstructured) bool { return c.GetLabels()[zoneLabel] == lost })
	})
	s.awaitFor(3*limit, "all pods to run", "v1/Pod", of("apart", running(3)))
	for _, i := range s.stableInstances() {
		if *i.Placement.AvailabilityZone == lost {
			s.Errorf("%s is in %s, which is lost", *i.InstanceId, lost)
		}
	}
	s.nothingTwice()
}

// familyIsShort: AWS has none of the family that the weightier pool launches. The 200 pods that it was to be launched
// for run on instances of another pool.
func (s *story) familyIsShort() {
	other := s.namespace + "-other"
	s.class(s.namespace, "")
	s.poolOf(s.namespace, s.namespace, "weight: 50\n"+template(s.namespace, "{key: karpenter.k8s.aws/instance-family, operator: In, values: [c5]}"))
	s.poolOf(other, s.namespace, template(s.namespace, "{key: karpenter.k8s.aws/instance-family, operator: In, values: [m5]}"))
	mustLab(s.T, 0, s.dir, "ice", "c5.*")
	defer mustLab(s.T, 0, s.dir, "ice", "c5.*", "--melt")
	began := time.Now()
	s.deploy("web", 200, on("karpenter.k8s.aws/ec2nodeclass", s.namespace), asking(corev1.ResourceCPU, "900m"))
	s.awaitFor(5*limit, "all pods to run", "v1/Pod", of("web", running(200)))
	took := time.Since(began)
	launched := s.nothingTwiceIn(other)
	s.Logf("200 pods run after %.1f s, on %d machines of the other family", took.Seconds(), len(launched))
	if left := poolInstances(s.T, s.dir, s.namespace); len(left) > 0 {
		s.Errorf("%s were bought of the family that is sold out", describeInstances(left))
	}
	s.await("no claim for the family that is sold out", claims, ofPool(s.namespace, 0))
}

// zoneIsShifted: while work is shifted away from a zone nothing is launched there. A pod that may run there alone waits
// and says until when, and runs once the shift has ended.
func (s *story) zoneIsShifted() {
	const zone = "us-east-1a"
	s.pool("")
	mustLab(s.T, 0, s.dir, "shift", zone, "--for=1h")
	s.awaitEvent(eventsOfCluster, "EC2NodeClass", s.namespace, "ZonalShiftActive", zone)
	s.deploy("there", 1, from(s.namespace), on(zoneLabel, zone), asking(corev1.ResourceCPU, "1"))
	s.awaitEvent(s.namespace, "Pod", "there", "zone "+zone+" is shifted away from until")
	mustLab(s.T, 0, s.dir, "shift", zone, "--end")
	s.awaitFor(3*limit, "the pod to run", "v1/Pod", of("there", running(1)))
	s.nothingTwice()
}

// reservationIsReclaimed: an instance of an interruptible reservation is taken back, and one on demand takes its
// place.
func (s *story) reservationIsReclaimed() {
	said := mustLab(s.T, 0, s.dir, "reserve", "m5.large", "us-east-1a", "1", "--interruptible", "--tag=team="+s.namespace).stdout
	id := strings.TrimSpace(strings.TrimPrefix(said, "lab: reserved "))
	s.class(s.namespace, "capacityReservationSelectorTerms: [{tags: {team: "+s.namespace+"}}]")
	s.poolOf(s.namespace, s.namespace, template(s.namespace, "{key: karpenter.k8s.aws/instance-family, operator: In, values: [m5]}",
		"{key: karpenter.sh/capacity-type, operator: In, values: [reserved, on-demand]}"))
	old := s.oneEach(1)
	if got := s.stableInstances()[0].CapacityReservationId; got == nil || *got != id {
		s.Fatalf("the machine runs in reservation %v, want %s", got, id)
	}
	mustLab(s.T, 0, s.dir, "reclaim", id)
	s.awaitFor(4*limit, "the machine to be replaced", claims, left(old, none))
	s.awaitEvent(eventsOfCluster, "NodeClaim", s.namespace, "CapacityReservationInstanceInterrupted", "reserved capacity is taken back")
	s.awaitFor(2*limit, "the pod to run elsewhere", "v1/Pod", of("apart", running(1)))
	if got := s.stableInstances()[0].CapacityReservationId; got != nil && *got != "" {
		s.Errorf("the machine in its place runs in reservation %s, which was reclaimed", *got)
	}
	s.nothingTwice()
}

// launchesFail: launches in a zone are refused, and the first instance elsewhere ends before it runs. Another is
// launched.
func (s *story) launchesFail() {
	const zone = "us-east-1a"
	mustLab(s.T, 0, s.dir, "refuse", "*", "UnfulfillableCapacity", "--zone="+zone)
	defer mustLab(s.T, 0, s.dir, "refuse", "*", "--end")
	s.report("boots", "--fail=1", "--reason=Client.VolumeLimitExceeded")
	s.pool("")
	s.oneEach(1)
	for _, i := range s.stableInstances() {
		if *i.Placement.AvailabilityZone == zone {
			s.Errorf("%s was bought in %s, where launches are refused", *i.InstanceId, zone)
		}
	}
	if all := instances(s.T, s.dir, map[string][]string{poolTag: {s.namespace}}); len(all) != 2 {
		s.Errorf("%s were bought, want one that ends before it runs and one more", describeInstances(all))
	}
	s.nothingTwice()
}
