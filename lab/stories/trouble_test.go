package stories_test

import (
	"regexp"
	"strconv"
	"syscall"
	"testing"
)

// The API server goes away under the controller and comes back: what is asked
// for afterwards is done as before.
func TestControllerOutlivesTheAPIServer(t *testing.T) {
	s := begin(t, shared)
	s.pool()
	s.inflate(1)
	s.await("the first pod to run", "v1/Pod", running(1))
	mustLab(t, 0, s.dir, "restart", "apiserver")
	s.inflate(3)
	s.await("three pods to run", "v1/Pod", running(3))
}

// The controller is killed as soon as it has decided, and started again by the
// lab: the pods get their machines, and no machine is bought twice.
func TestControllerKilledWhileLaunching(t *testing.T) {
	s := begin(t, shared)
	s.pool()
	s.inflate(3)
	s.await("the claims", "karpenter.sh/v1/NodeClaim", s.poolHas(some))
	s.kill("controller")
	s.await("three pods to run", "v1/Pod", running(3))
	s.nothingTwice()
}

// kill ends a component of the lab without warning; the lab starts it again.
func (s *story) kill(component string) {
	s.Helper()
	pid := s.pid(component)
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		s.Fatal(err)
	}
	awaitDead(s.T, []int{pid})
}

// pid is the process of a component of the lab.
func (s *story) pid(component string) int {
	s.Helper()
	line := regexp.MustCompile(`(?m)^` + component + ` +pid=(\d+) `)
	found := line.FindStringSubmatch(mustLab(s.T, 0, s.dir, "status").stdout)
	if found == nil {
		s.Fatalf("the lab does not run %s", component)
	}
	pid, err := strconv.Atoi(found[1])
	if err != nil || pid == 0 {
		s.Fatalf("%s has process %q, which is none", component, found[1])
	}
	return pid
}
