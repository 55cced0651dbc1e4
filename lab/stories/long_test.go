package stories_test

import (
	"flag"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

var long = flag.Bool("long", false, "run the stories that take minutes")

// aboutMinutes skips a story in which minutes must go by, or the processors are kept busy for as long.
func aboutMinutes(t *testing.T) {
	t.Helper()
	if !*long {
		t.Skip("takes minutes; run it with -args -long, or make lab-long")
	}
}

// What the controller does after minutes, or checks every few.
func TestAfterMinutes(t *testing.T) {
	aboutMinutes(t)
	t.Parallel()
	l := ownLab(t)
	for name, happen := range map[string]func(*story){
		"images are released":         (*story).imagesAreReleased,
		"a node's role is not mapped": (*story).roleIsNotMapped,
		"a node stays unhealthy":      (*story).nodeIsRepaired,
		"calls are throttled":         (*story).callsAreThrottled,
	} {
		t.Run(name, func(t *testing.T) { happen(begin(t, l)) })
	}
	t.Run("two hundred spot instances are taken back at once", func(t *testing.T) { begin(t, ownLab(t)).spotStorm(200) })
}

// callsAreThrottled: AWS may be asked a tenth as often as usual while 500 pods wait. All run, and
// nothing is launched twice.
func (s *story) callsAreThrottled() {
	mustLab(s.T, 0, s.dir, "throttle", "*", "--times=0.1")
	defer mustLab(s.T, 0, s.dir, "throttle", "*", "--end")
	s.pool("")
	began := time.Now()
	for i := range 5 {
		s.workload(fmt.Sprintf("web-%d", i), s.namespace, "900m", 100)
	}
	s.awaitFor(5*limit, "all pods to run", "v1/Pod", running(500))
	s.Logf("500 pods run after %.0f s, on %d machines", time.Since(began).Seconds(), len(s.stableInstances()))
	s.nothingTwice()
}

// imagesAreReleased: four weeks later AWS has a newer image of the name that the class asks for. Nodes drift, and are
// replaced one at a time, as the budget says.
func (s *story) imagesAreReleased() {
	s.class(s.namespace, `{amiFamily: AL2023, amiSelectorTerms: [{name: "amazon-eks-node-al2023-x86_64-standard-*", owner: amazon}]}`)
	s.poolOf(s.namespace, s.namespace, moving("1"))
	old := s.oneEach(3)
	most := s.watchGoing(old)
	mustLab(s.T, 0, s.dir, "clock", "--forward=672h")
	s.awaitFor(10*limit, "all nodes to have the newer image", claims, left(old, none))
	s.awaitFor(2*limit, "all pods to run", "v1/Pod", of("apart", running(3)))
	if got := most(); got > 1 {
		s.Errorf("%d nodes went at once, and one may", got)
	}
	s.nothingTwice()
}

// roleIsNotMapped: the instance runs and its node does not come. The claim says what that may be, and all
// is well once it is put right.
func (s *story) roleIsNotMapped() {
	role := "KarpenterNodeRole-" + environment(s.T, s.dir)["CLUSTER_NAME"]
	s.account("unmap-role", role)
	s.pool("")
	s.deploy("apart", 1, from(s.namespace), asking(corev1.ResourceCPU, "1"))
	s.awaitFor(4*limit, "the claim to say what keeps its node away", claims, func(seen []*unstructured.Unstructured) bool {
		for _, c := range inPool(seen, s.namespace) {
			return saysAll(compact(c.Object["status"]), []string{"role is not mapped", "EC2_LINUX", "aws-auth"})
		}
		return false
	})
	s.account("map-role", role)
	s.awaitFor(3*limit, "the pod to run", "v1/Pod", of("apart", running(1)))
	s.nothingTwice()
}

// nodeIsRepaired: a node reports for too long what its pool has repaired. Another instance takes its
// place.
func (s *story) nodeIsRepaired() {
	s.pool("")
	s.annotate(pools, s.namespace, "daemok.sh/repair", "KernelDeadlock:True=1m, most=1")
	old := s.oneEach(1)
	node := s.nodesOfPods()[0]
	s.report("condition", node, "KernelDeadlock=True")
	s.awaitFor(4*limit, "the machine to be replaced", claims, left(old, none))
	s.awaitEvent(eventsOfCluster, "Node", node, "NodeRepair", "KernelDeadlock")
	s.awaitFor(2*limit, "the pod to run elsewhere", "v1/Pod", of("apart", running(1)))
	s.nothingTwice()
}
