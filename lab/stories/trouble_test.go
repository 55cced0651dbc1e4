package stories_test

import (
	"regexp"
	"strconv"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// What breaks a lab for everybody in it happens in one that no other story
// uses, one trouble after another.
func TestTrouble(t *testing.T) {
	t.Parallel()
	rough := ownLab(t, "--nodes=2")
	for name, happen := range map[string]func(*story){
		"the API server goes":                      func(s *story) { s.outlives("apiserver") },
		"the controllers go":                       func(s *story) { s.outlives("controller-manager") },
		"the scheduler goes":                       func(s *story) { s.outlives("scheduler") },
		"the API server goes under the controller": (*story).controllerOutlivesAPIServer,
		"the controller is killed":                 (*story).controllerKilledWhileLaunching,
	} {
		t.Run(name, func(t *testing.T) { happen(begin(t, rough)) })
	}
}

// outlives restarts a part of the control plane under everybody who uses it:
// what was there stays, and what is asked for after it is done.
func (s *story) outlives(component string) {
	s.Helper()
	s.deploy("before", 2, onStanding(), asking(corev1.ResourceCPU, "10m"))
	s.await("two pods to run", "v1/Pod", running(2))
	mustLab(s.T, 0, s.dir, "restart", component)
	s.deploy("after", 3, onStanding(), asking(corev1.ResourceCPU, "10m"))
	s.await("three pods more to run", "v1/Pod", running(5))
}

// controllerOutlivesAPIServer has the API server go away under the controller
// and come back: what is asked for afterwards is done as before.
func (s *story) controllerOutlivesAPIServer() {
	s.Helper()
	s.pool("")
	s.workload("inflate", s.namespace, "1", 1)
	s.await("the first pod to run", "v1/Pod", running(1))
	mustLab(s.T, 0, s.dir, "restart", "apiserver")
	s.workload("inflate", s.namespace, "1", 3)
	s.await("three pods to run", "v1/Pod", running(3))
}

// controllerKilledWhileLaunching kills the controller as soon as it has decided; the lab
// starts it again, and it waits for the lease of the dead: the pods get their instances,
// and no instance is launched twice.
func (s *story) controllerKilledWhileLaunching() {
	s.Helper()
	s.pool("")
	s.workload("inflate", s.namespace, "1", 3)
	s.await("the claims", claims, s.claimed(""))
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
