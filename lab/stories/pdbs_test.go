package stories_test

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const policies = "daemok.sh/v1alpha1/DisruptionPolicy"

// policy applies a DisruptionPolicy about the story's pool, in place of the one
// before; it goes with the story.
func (s *story) policy(asks string) {
	s.Helper()
	s.own(policies, fmt.Sprintf(`
apiVersion: daemok.sh/v1alpha1
kind: DisruptionPolicy
metadata: {name: %[1]s}
spec:
  nodePools: {names: [%[1]s]}
`, s.namespace), asks)
}

// awaitPolicy waits until the story's DisruptionPolicy says something of its pool.
func (s *story) awaitPolicy(allowed int64, because string) {
	s.Helper()
	s.await(fmt.Sprintf("the policy to allow %d, because %q", allowed, because), policies, func(seen []*unstructured.Unstructured) bool {
		return slices.ContainsFunc(named(seen, s.namespace), func(p *unstructured.Unstructured) bool {
			pools, _, _ := unstructured.NestedSlice(p.Object, "status", "pools")
			if len(pools) != 1 {
				return false
			}
			of := pools[0].(map[string]any)
			return of["allowed"] == allowed && strings.Contains(fmt.Sprint(of["because"]), because)
		})
	})
}

// stable waits until no node of the story's pool is on its way out, and says which of the
// old ones are left.
func (s *story) stable(old []string) (found []string) {
	s.Helper()
	s.awaitFor(2*limit, "what was under way to come to an end", claims, func(seen []*unstructured.Unstructured) bool {
		found = still(seen, old)
		return !slices.ContainsFunc(inPool(seen, s.namespace), func(c *unstructured.Unstructured) bool {
			return c.GetDeletionTimestamp() != nil || hasCondition(c, "DisruptionReason") || !hasCondition(c, "Initialized")
		})
	})
	return found
}

// policyHolds: nodes that have drifted wait for a window, and say when it opens;
// a breaker lets one go, trips, and lets the next go once that is acknowledged.
func (s *story) policyHolds() {
	s.pool(moving("100%"))
	old := s.oneEach(3)
	opens := time.Now().UTC().Add(12 * time.Hour).Truncate(time.Minute)
	s.policy(fmt.Sprintf(`windows: [{start: "%s", duration: 1h}]`, opens.Format("15:04")))
	closed := fmt.Sprintf("no window of DisruptionPolicy %s is open, the next opens %s", s.namespace, opens.Format(time.RFC3339))
	s.awaitPolicy(0, closed)
	s.growDisks("38Gi")
	for _, name := range old {
		s.awaitCondition(claims, name, "Drifted", "True")
	}
	s.awaitEvent(eventsOfCluster, "NodePool", s.namespace, "No allowed disruptions for Drifted: "+closed)
	s.never(10*time.Second, "a node went though no window is open", claims, left(old, func(n int) bool { return n < 3 }))

	s.policy(`breaker: {nodes: "1", within: 30m}`)
	s.awaitCondition(policies, s.namespace, "BreakerClosed", "False", "nodes went within 30m, and it stops at 1", "acknowledged")
	if got := len(s.stable(old)); got != 2 {
		s.Errorf("%d of 3 nodes are left when the breaker has tripped, and it lets one go", got)
	}
	s.awaitPolicy(0, "the breaker of DisruptionPolicy "+s.namespace+" tripped: ")
	s.never(10*time.Second, "a node went though the breaker has tripped", claims, left(old, func(n int) bool { return n < 2 }))
	tripped := text(named(s.list(policies), s.namespace)[0], "status", "breaker", "trippedAt")
	s.annotate(policies, s.namespace, "daemok.sh/acknowledged", tripped)
	s.awaitFor(2*limit, "one more node to be new", claims, left(old, func(n int) bool { return n == 1 }))
	s.awaitCondition(policies, s.namespace, "BreakerClosed", "False", "nodes went within 30m, and it stops at 1", "acknowledged")
}

// roll runs the command for the story's pool, and returns what it says.
func (s *story) roll(flags ...string) string {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), 3*limit)
	defer cancel()
	command := exec.CommandContext(ctx, program("daemok"), append([]string{"roll", "nodepool", s.namespace, "--kubeconfig", filepath.Join(s.dir, "kubeconfig")}, flags...)...)
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		s.Fatalf("daemok roll %s: %v\n%s%s", strings.Join(flags, " "), err, &stdout, &stderr)
	}
	return stdout.String()
}

// rolled: all nodes of a pool are replaced one after another because a user wants that; it
// is paused, goes on, is called off, and in the end carried through.
func (s *story) rolled() {
	s.pool(moving("1"))
	old := s.oneEach(4)
	said := func(got, want string) {
		s.Helper()
		if !strings.HasPrefix(got, want) {
			s.Errorf("daemok roll says\n%s, want it to begin with\n%s", got, want)
		}
	}
	stays := func(why string, nodes []string) {
		s.Helper()
		if len(nodes) == 0 {
			s.Fatalf("no node was left when %s: the story shows nothing", why)
		}
		s.never(10*time.Second, "a node went though "+why, claims, left(nodes, func(n int) bool { return n < len(nodes) }))
	}
	if got := s.roll("--all", "--no-wait"); !strings.HasPrefix(got, s.namespace+": ") || !strings.Contains(got, " to go, ") {
		s.Errorf("daemok roll --all says\n%s, want how many are to go", got) // the first may be going by then
	}
	s.awaitFor(2*limit, "a node to be new", claims, left(old, func(n int) bool { return n <= 3 }))
	said(s.roll("--pause"), s.namespace+": ")
	paused := s.stable(old)
	said(s.roll("--status"), fmt.Sprintf("%s: %d to go, none may now: the roll of NodePool/%s is paused\n", s.namespace, len(paused), s.namespace))
	stays("the roll is paused", paused)

	said(s.roll("--resume", "--no-wait"), s.namespace+": ")
	s.awaitFor(2*limit, "a further node to be new", claims, left(paused, func(n int) bool { return n < len(paused) }))
	s.roll("--abort")
	kept := s.stable(old)
	var status string // what was launched for the roll may still go
	if !poll(limit, farEvery, func() bool {
		status = s.roll("--status")
		return strings.HasPrefix(status, s.namespace+": nothing is left to replace\n")
	}) {
		s.Errorf("daemok roll --status says\n%s after the roll was called off, want nothing left to replace", status)
	}
	stays("the roll was called off", kept)

	s.setBudget("100%")
	if got := s.roll("--all"); !strings.Contains(got, s.namespace+": nothing is left to replace\ndone in ") {
		s.Errorf("daemok roll --all ends with\n%s", got)
	}
	if got := s.stable(old); len(got) > 0 {
		s.Errorf("it ended with the nodes %v still there", got)
	}
	s.await("all pods to run", "v1/Pod", of("apart", running(4)))
}
