package stories_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const leases = "coordination.k8s.io/v1/Lease"

// takeover is how long a controller's lease lasts after its death, with some time for the
// next to detect it.
const takeover = limit

// ownLab starts a lab for one story alone.
func ownLab(t *testing.T, flags ...string) *lazyLab {
	t.Helper()
	return ownLabWith(t, nil, flags...)
}

// ownLabWith is ownLab whose controller has settings too, as NAME=VALUE.
func ownLabWith(t *testing.T, settings []string, flags ...string) *lazyLab {
	t.Helper()
	dir, err := os.MkdirTemp("", "lab-own-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stopAnyway(t, dir)
		if !t.Failed() { // else its logs are wanted
			_ = os.RemoveAll(dir)
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), labWithin)
	defer cancel()
	command := labCommand(ctx, dir, "up", append([]string{"--detach", "--time-scale=0"}, flags...)...)
	command.Env = append(os.Environ(), settings...)
	if said, err := command.CombinedOutput(); err != nil {
		t.Fatalf("lab up %s: %v\n%s", strings.Join(flags, " "), err, said)
	}
	return startedLab(dir)
}

// controller is one process of the product that a story runs itself.
type controller struct {
	story   *story
	name    string
	command *exec.Cmd
	log     string
}

// run starts a controller under a name for its log, with changed variables. It
// ends with the story.
func (s *story) run(name string, changes ...string) *controller {
	s.Helper()
	return s.runBuild(program("daemok-controller"), name, changes...)
}

// runBuild is run with the program at that path.
func (s *story) runBuild(path, name string, changes ...string) *controller {
	s.Helper()
	c := &controller{story: s, name: name, log: filepath.Join(s.dir, "logs", name)}
	log, err := os.OpenFile(c.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		s.Fatal(err)
	}
	defer log.Close()
	key := "AWS_ACCESS_KEY_ID=" + environment(s.T, s.dir)["CONTROLLER_AWS_ACCESS_KEY_ID"] // with the rights of its role alone
	c.command = controllerCommand(context.Background(), s.T, s.dir, append([]string{key}, changes...)...)
	c.command.Path, c.command.Stdout, c.command.Stderr = path, log, log
	if err := c.command.Start(); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() {
		if c.command.ProcessState == nil {
			_ = c.command.Process.Kill() // what it left is the lab's, which ends too
			_ = c.command.Wait()
		}
	})
	return c
}

func (c *controller) signal(sent syscall.Signal) {
	c.story.Helper()
	if err := c.command.Process.Signal(sent); err != nil {
		c.story.Fatalf("signal %v to controller %s: %v", sent, c.name, err)
	}
}

// kill ends the controller without warning.
func (c *controller) kill() {
	c.story.Helper()
	c.signal(syscall.SIGKILL)
	_ = c.command.Wait() // it was killed, and says so
}

// awaitEnd waits until the controller ends by itself.
func (c *controller) awaitEnd(within time.Duration) {
	c.story.Helper()
	ended := make(chan error, 1)
	go func() { ended <- c.command.Wait() }()
	select {
	case <-ended:
	case <-time.After(within):
		_ = c.command.Process.Kill() // its Wait is over then
		<-ended
		c.story.Fatalf("controller %s still ran %v after it had lost its lease; its log is %s", c.name, within, c.log)
	}
}

// awaitLeader waits until the controller holds the lease.
func (c *controller) awaitLeader(within time.Duration) {
	c.story.Helper()
	pid := fmt.Sprintf("_%d_", c.command.Process.Pid)
	s := *c.story
	s.namespace = "kube-system"
	s.awaitFor(within, "controller "+c.name+" to lead", leases, func(seen []*unstructured.Unstructured) bool {
		found := named(seen, "karpenter-leader-election")
		return len(found) == 1 && strings.Contains(text(found[0], "spec", "holderIdentity"), pid)
	})
}

// says counts the lines of the controller's log with these words.
func (c *controller) says(words string) int {
	c.story.Helper()
	content, err := os.ReadFile(c.log)
	if err != nil {
		c.story.Fatal(err)
	}
	return bytes.Count(content, []byte(words))
}

// awaitSays waits until the controller's log has the words.
func (c *controller) awaitSays(words string) {
	c.story.Helper()
	awaitFile(c.story.T, c.log, func(content []byte) bool { return bytes.Contains(content, []byte(words)) })
}

// Of two controllers one works and one waits; when the first dies the second goes on. One
// that was paused past its lease finds another in its place when it wakes: it launches
// nothing and ends.
func TestTwoControllers(t *testing.T) {
	t.Parallel()
	s := begin(t, ownLab(t, "--controller=false"))
	first := s.run("first")
	first.awaitLeader(limit)
	second := s.run("second")
	s.pool("")
	s.workload("one", s.namespace, "1", 2)
	s.await("pods to run", "v1/Pod", of("one", running(2)))
	if n := second.says("created nodeclaim"); n > 0 {
		t.Errorf("the waiting controller ordered %d machines", n)
	}

	first.kill()
	s.workload("two", s.namespace, "1", 2)
	second.awaitLeader(takeover)
	s.await("pods to run under the second controller", "v1/Pod", of("two", running(2)))

	third := s.run("third")
	s.workload("three", s.namespace, "1", 5)
	s.await("pods that wait", "v1/Pod", of("three", func(pods []*unstructured.Unstructured) bool { return len(pods) == 5 }))
	second.signal(syscall.SIGSTOP) // as it gathers pods
	before := second.says("created nodeclaim")
	third.awaitLeader(takeover)
	s.await("pods to run under the third controller", "v1/Pod", of("three", running(5)))
	s.workload("four", s.namespace, "1", 5)
	second.signal(syscall.SIGCONT)
	second.awaitEnd(takeover)
	if n := second.says("created nodeclaim") - before; n > 0 {
		t.Errorf("the controller ordered %d machines after it had lost its lease", n)
	}
	s.await("pods to run as before", "v1/Pod", of("four", running(5)))
	s.nothingTwice()
	if code := second.command.ProcessState.ExitCode(); code != 1 || second.says("restarts, as a standby") == 0 {
		t.Errorf("the controller that lost its lease ended with code %d, want 1, and says what follows in %d lines", code, second.says("restarts, as a standby"))
	}
}

// The controller is killed at one moment after another of a scale-up, and started again:
// every pod runs in the end, and instances and claims are pairs. The lease of the dead is
// taken away, so that the story need not wait for it.
func TestAfterMinutesOfKilledControllers(t *testing.T) {
	aboutMinutes(t)
	t.Parallel()
	s := begin(t, ownLab(t, "--controller=false"))
	moments := []struct {
		name   string
		happen func(c *controller)
	}{
		{"a plan is made", func(c *controller) { c.awaitSays("made a plan") }},
		{"the first claim is there", func(c *controller) { s.await("a claim", claims, s.claimed("")) }},
		{"the purchase is announced", func(c *controller) {
			s.await("an attempt", claims, s.claimed("metadata/annotations/daemok.sh~launch-attempt"))
		}},
		{"the first machine is known", func(c *controller) { s.await("a machine", claims, s.claimed("status/providerID")) }},
		{"the first node has joined", func(c *controller) { s.await("a node", claims, s.claimed("status/nodeName")) }},
	}
	s.pool(template(s.namespace,
		"{key: karpenter.k8s.aws/instance-cpu, operator: In, values: ['2', '4']}",
		"{key: karpenter.sh/capacity-type, operator: In, values: [spot, on-demand]}"))
	for i, moment := range moments {
		c := s.run(fmt.Sprintf("killed-%d", i))
		c.awaitLeader(limit)
		s.workload("pods", s.namespace, "1", 30)
		moment.happen(c)
		c.kill()
		s.dropLease()
		again := s.run(fmt.Sprintf("again-%d", i))
		s.await("thirty pods to run though the controller was killed when "+moment.name, "v1/Pod", of("pods", running(30)))
		s.nothingTwice()
		s.workload("pods", s.namespace, "1", 0)
		s.await("the claims to go", claims, ofPool(s.namespace, 0))
		s.await("the nodes to go", "v1/Node", ofPool(s.namespace, 0))
		s.awaitNoInstances()
		again.kill()
		s.dropLease()
	}
}

// claimed holds when a claim of the story's pool has a field; the path's "~"
// stands for "/".
func (s *story) claimed(path string) func([]*unstructured.Unstructured) bool {
	return func(seen []*unstructured.Unstructured) bool {
		for _, c := range inPool(seen, s.namespace) {
			if path == "" || text(c, fields(path)...) != "" {
				return true
			}
		}
		return false
	}
}

func fields(path string) []string {
	parts := strings.Split(path, "/")
	for i := range parts {
		parts[i] = strings.ReplaceAll(parts[i], "~", "/")
	}
	return parts
}

func (s *story) dropLease() {
	s.Helper()
	err := s.resourceIn(leases, "kube-system").Delete(s.Context(), "karpenter-leader-election", metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		s.Fatal(err)
	}
}
