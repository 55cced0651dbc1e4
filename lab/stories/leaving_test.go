package stories_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/daemok/daemok/lab/await"
)

// Nodes leave because they are no longer what their pool asks for, or it goes.
func TestPoolsLetNodesGo(t *testing.T) {
	t.Parallel()
	l := savingLab(t)
	for name, happen := range map[string]func(*story){
		"changed disks are rolled three at a time": (*story).disksAreRolled,
		"a deleted pool drains by its budget":      (*story).deletedPoolDrains,
		"a pool is rolled, with pauses":            (*story).rolled,
	} {
		t.Run(name, func(t *testing.T) { happen(begin(t, l)) })
	}
}

// Nodes leave, or may not, because of their pods.
func TestPodsLetNodesGo(t *testing.T) {
	t.Parallel()
	l := savingLab(t)
	for name, happen := range map[string]func(*story){
		"half of the pods leave":                   (*story).halfOfThePodsLeave,
		"a PodDisruptionBudget allows nothing":     (*story).budgetAllowsNothing,
		"a pod with a finalizer holds up its node": (*story).finalizerHoldsUp,
		"a DisruptionPolicy holds":                 (*story).policyHolds,
	} {
		t.Run(name, func(t *testing.T) { happen(begin(t, l)) })
	}
}

// savingLab is a lab whose controller lets every saving count: what moving pods costs
// is for times longer than a story.
func savingLab(t *testing.T) *lazyLab {
	t.Helper()
	l := ownLab(t, "--controller=false")
	begin(t, l).run("controller", "PAYBACK=off").awaitLeader(limit)
	return l
}

// moving is a pool whose nodes may go to save money as soon as it is quiet, of
// which so many may go at once.
func moving(budget string) string {
	return fmt.Sprintf(`disruption: {consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 1s, budgets: [{nodes: "%s"}]}`, budget)
}

// oneEach runs so many pods that each want a node of the pool to themselves, and
// returns the claims of those nodes.
func (s *story) oneEach(pods int) (nodes []string) {
	s.Helper()
	s.deploy("apart", int32(pods), from(s.namespace), asking(corev1.ResourceCPU, "1"), apart(hostLabel))
	s.awaitFor(3*limit, "a node for each pod", "v1/Pod", of("apart", running(pods)))
	s.await("a claim for each pod", claims, func(seen []*unstructured.Unstructured) bool {
		nodes = nil
		for _, c := range inPool(seen, s.namespace) {
			nodes = append(nodes, c.GetName())
		}
		return len(nodes) == pods
	})
	return nodes
}

// setBudget lets so many nodes of the story's pool go at once, from when it returns.
func (s *story) setBudget(nodes string) {
	s.Helper()
	s.patch(pools, s.namespace, fmt.Sprintf(`{"spec":{"disruption":{"budgets":[{"nodes":"%s"}]}}}`, nodes))
	s.await("the controller to have seen that", pools, func(seen []*unstructured.Unstructured) bool {
		pool := named(seen, s.namespace)
		return len(pool) == 1 && observed(pool[0])
	})
}

// observed holds when the conditions of an object are about what its spec says now.
func observed(o *unstructured.Unstructured) bool {
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	return slices.ContainsFunc(conditions, func(c any) bool {
		is := c.(map[string]any)
		return is["type"] == "Ready" && is["observedGeneration"] == o.GetGeneration()
	})
}

const pdbs = "policy/v1/PodDisruptionBudget"

// pdb makes a PodDisruptionBudget for the pods that oneEach runs, of which so many may
// be away, and waits until it is in force.
func (s *story) pdb(name string, away int32) {
	s.Helper()
	most := intstr.FromInt32(away)
	s.applyTyped(&policyv1.PodDisruptionBudget{
		TypeMeta: metav1.TypeMeta{APIVersion: "policy/v1", Kind: "PodDisruptionBudget"}, ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: policyv1.PodDisruptionBudgetSpec{Selector: workloadSelector("apart"), MaxUnavailable: &most},
	})
	s.await("the budget of pods to be in force", pdbs, func(seen []*unstructured.Unstructured) bool {
		return len(seen) == 1 && text(seen[0], "status", "observedGeneration") == fmt.Sprint(seen[0].GetGeneration())
	})
}

// growDisks changes what the disks of the class's instances are.
func (s *story) growDisks(size string) {
	s.Helper()
	s.patch(classes, s.namespace,
		fmt.Sprintf(`{"spec":{"blockDeviceMappings":[{"deviceName":"/dev/xvda","rootVolume":true,"ebs":{"volumeSize":"%s","volumeType":"gp3"}}]}}`, size))
}

// left holds when exactly n of the claims are still there.
func left(old []string, n func(int) bool) func([]*unstructured.Unstructured) bool {
	return func(seen []*unstructured.Unstructured) bool { return n(len(still(seen, old))) }
}

func still(seen []*unstructured.Unstructured, old []string) (found []string) {
	for _, c := range seen {
		if slices.Contains(old, c.GetName()) {
			found = append(found, c.GetName())
		}
	}
	return found
}

func none(n int) bool { return n == 0 }

// watchGoing follows the claims until the returned function is called, which says how many
// of them were going, or had a reason to, at one time. Those whose instance is being given
// back count for no budget any more.
func (s *story) watchGoing(old []string) func() int {
	s.Helper()
	most := 0
	var watchErr error
	ctx, stop := context.WithCancel(s.Context())
	done, all := make(chan struct{}), s.resource(claims)
	go func() {
		defer close(done)
		watchErr = await.Until(ctx, all, metav1.ListOptions{}, func(seen []*unstructured.Unstructured) (bool, error) {
			going := 0
			for _, c := range seen {
				if slices.Contains(old, c.GetName()) && !hasCondition(c, "InstanceTerminating") && (c.GetDeletionTimestamp() != nil || hasCondition(c, "DisruptionReason")) {
					going++
				}
			}
			most = max(most, going)
			return false, nil
		})
	}()
	return func() int {
		stop()
		<-done
		if watchErr != nil && !errors.Is(watchErr, context.Canceled) {
			s.Error(watchErr)
		}
		return most
	}
}

// never watches for a while that something does not come to hold.
func (s *story) never(length time.Duration, what, kind string, holds func([]*unstructured.Unstructured) bool) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), length)
	defer cancel()
	err := await.Until(ctx, s.resource(kind), metav1.ListOptions{}, func(seen []*unstructured.Unstructured) (bool, error) { return holds(seen), nil })
	if err == nil {
		s.Errorf("%s, which must not be", what)
	}
}

// disksAreRolled: ten nodes get other disks, three at a time; a user stops that halfway and
// lets it go on.
func (s *story) disksAreRolled() {
	s.pool(moving("3"))
	old := s.oneEach(10)
	most := s.watchGoing(old)
	began := time.Now()
	s.growDisks("33Gi")
	s.awaitFor(2*limit, "some of the nodes to be new", claims, left(old, func(n int) bool { return n <= 7 }))
	s.setBudget("0")
	paused := 0
	s.await("what was under way to come to an end", claims, func(seen []*unstructured.Unstructured) bool {
		for _, c := range inPool(seen, s.namespace) {
			if c.GetDeletionTimestamp() != nil || hasCondition(c, "DisruptionReason") {
				return false
			}
		}
		paused = len(still(seen, old))
		return true
	})
	if paused == 0 {
		s.Fatal("nothing was left when it was stopped: the story shows nothing")
	}
	s.never(15*time.Second, "a node went while no node may", claims, left(old, func(n int) bool { return n < paused }))
	s.setBudget("3")
	s.awaitFor(4*limit, "all nodes to be new", claims, left(old, none))
	s.await("all pods to run", "v1/Pod", of("apart", running(10)))
	if got := most(); got > 3 {
		s.Errorf("%d nodes went at once, and three may", got)
	}
	s.Logf("ten nodes with other disks, three at a time, in %.0f s, of which it was stopped for 15 s with %d to go", time.Since(began).Seconds(), paused)
}

// halfOfThePodsLeave: the others come together on fewer or smaller instances.
func (s *story) halfOfThePodsLeave() {
	s.pool(moving("0")) // so that all are there when they are counted
	s.workload("many", s.namespace, "1500m", 40)
	s.deploy("apart", 4, from(s.namespace), asking(corev1.ResourceCPU, "1"), apart(hostLabel))
	s.awaitFor(2*limit, "all pods to run", "v1/Pod", running(44))
	before, _ := s.bill()
	s.workload("many", s.namespace, "1500m", 20)
	s.deploy("apart", 1, from(s.namespace), asking(corev1.ResourceCPU, "1"), apart(hostLabel))
	s.setBudget("100%")
	var after float64
	var machines int
	if !poll(3*limit, farEvery, func() bool {
		after, machines = s.bill()
		return after < 0.6*before
	}) {
		s.Errorf("half of the pods left, and of $%.2f an hour $%.2f are left", before, after)
	}
	s.await("all pods that are left to run", "v1/Pod", running(21))
	s.Logf("half of the pods left: $%.2f an hour became $%.2f, on %d machines", before, after, machines)
}

// budgetAllowsNothing: nodes whose pods may not be evicted stay, however much they drifted,
// until the budget is gone.
func (s *story) budgetAllowsNothing() {
	s.pool(moving("100%"))
	old := s.oneEach(2)
	s.pdb("none", 0)
	s.growDisks("34Gi")
	for _, name := range old {
		s.awaitCondition(claims, name, "Drifted", "True")
	}
	s.never(15*time.Second, "a node is on its way out whose pod nobody may evict", claims, func(seen []*unstructured.Unstructured) bool {
		own := inPool(seen, s.namespace) // nodes of stories before may still be going
		return len(own) != 2 || slices.ContainsFunc(own, func(c *unstructured.Unstructured) bool { return hasCondition(c, "DisruptionReason") })
	})
	s.drop(pdbs, "none")
	s.awaitFor(2*limit, "the nodes to be new", claims, left(old, none))
	s.await("both pods to run", "v1/Pod", of("apart", running(2)))
}

// finalizerHoldsUp: a pod that a finalizer keeps holds its node, which takes no other pods,
// while the one in its place runs; when it may go all is as it should be.
func (s *story) finalizerHoldsUp() {
	s.pool(moving("100%"))
	old := s.oneEach(1)
	name := ""
	s.await("the pod", "v1/Pod", func(seen []*unstructured.Unstructured) bool {
		name = seen[0].GetName()
		return true
	})
	s.patch("v1/Pod", name, `{"metadata":{"finalizers":["example.com/mine"]}}`)
	s.growDisks("35Gi")
	s.awaitFor(2*limit, "the pod in its place to run, and the pod to wait for its finalizer", "v1/Pod", func(seen []*unstructured.Unstructured) bool {
		waits, runs := false, false
		for _, p := range seen {
			waits = waits || p.GetName() == name && p.GetDeletionTimestamp() != nil
			runs = runs || p.GetName() != name && text(p, "status", "phase") == "Running"
		}
		return waits && runs
	})
	s.await("the old node to be on its way out, and a new one", claims, func(seen []*unstructured.Unstructured) bool {
		all := inPool(seen, s.namespace)
		return len(all) == 2 && slices.ContainsFunc(all, func(c *unstructured.Unstructured) bool {
			return c.GetName() == old[0] && c.GetDeletionTimestamp() != nil
		})
	})
	s.patch("v1/Pod", name, `{"metadata":{"finalizers":null}}`)
	s.await("the old node to be gone", claims, left(old, none))
	s.await("one pod to run", "v1/Pod", running(1))
}

// deletedPoolDrains: a pool that is deleted waits while there is no other for its
// pods, and then gives its nodes up one at a time; another goes at once, whatever
// its budget says, when it is asked to.
func (s *story) deletedPoolDrains() {
	s.class(s.namespace, "")
	wants := template(s.namespace, "{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}", "{key: karpenter.k8s.aws/instance-category, operator: In, values: [c, m, r]}",
		"{key: kubernetes.io/arch, operator: In, values: [amd64]}", fmt.Sprintf("{key: example.com/story, operator: In, values: [%s]}", s.namespace)) + "\n"
	s.poolOf(s.namespace, s.namespace, wants+moving("1"))
	s.deploy("apart", 3, on("example.com/story", s.namespace), asking(corev1.ResourceCPU, "1"), apart(hostLabel))
	s.awaitFor(2*limit, "the pods to run", "v1/Pod", running(3))
	var old []string
	s.await("their claims", claims, func(seen []*unstructured.Unstructured) bool {
		old = nil
		for _, c := range inPool(seen, s.namespace) {
			old = append(old, c.GetName())
		}
		return len(old) == 3
	})
	most := s.watchGoing(old)
	s.drop(pools, s.namespace)
	s.awaitCondition(pools, s.namespace, "Drained", "False", "NodesStay", "nodes left: 3, going: 0", "no place for its pods", "daemok.sh/delete=fast")
	s.never(10*time.Second, "a node went whose pod has no other place", claims, left(old, func(n int) bool { return n < 3 }))
	other := s.namespace + "-other"
	s.poolOf(other, s.namespace, wants+moving("0"))
	gone := func(pool string) func([]*unstructured.Unstructured) bool {
		return func(seen []*unstructured.Unstructured) bool { return len(named(seen, pool)) == 0 }
	}
	s.awaitFor(4*limit, "the pool to be gone", pools, gone(s.namespace))
	s.await("none of its claims", claims, left(old, none))
	s.await("the pods to run elsewhere", "v1/Pod", running(3))
	if got := most(); got > 1 {
		s.Errorf("%d nodes went at once, and one may", got)
	}
	s.drop(pools, other)
	s.awaitCondition(pools, other, "Drained", "False", "NodesStay", "nodes left: 3, going: 0, allowed now: 0", "which holds for ever", "kubectl edit nodepool "+other)
	s.annotate(pools, other, "daemok.sh/delete", "fast")
	s.await("the other pool to be gone", pools, gone(other))
	s.awaitFor(2*limit, "its claims to be gone", claims, ofPool(other, 0))
}

// The API server answers no client for longer than a lease, in the middle of moves. Nothing
// is deleted meanwhile, and afterwards everything comes to its end.
func TestNodesStayWhileTheAPIServerCannotBeReached(t *testing.T) {
	t.Parallel()
	s := begin(t, ownLab(t, "--controller=false"))
	s.run("controller", "PAYBACK=off").awaitLeader(limit)
	s.pool(moving("100%"))
	old := s.oneEach(3)
	server := s.pid("apiserver")
	s.growDisks("36Gi")
	s.await("moves to have begun", claims, func(seen []*unstructured.Unstructured) bool {
		return slices.ContainsFunc(seen, func(c *unstructured.Unstructured) bool { return hasCondition(c, "DisruptionReason") })
	})
	if err := syscall.Kill(server, syscall.SIGSTOP); err != nil {
		s.Fatal(err)
	}
	offered := len(poolInstances(s.T, s.dir, s.namespace))
	time.Sleep(25 * time.Second) // longer than the lease of the leader
	if now := len(poolInstances(s.T, s.dir, s.namespace)); now < offered {
		s.Errorf("of %d machines %d are left, and nobody could say whether pods were on them", offered, now)
	}
	if err := syscall.Kill(server, syscall.SIGCONT); err != nil {
		s.Fatal(err)
	}
	s.run("controller-2", "PAYBACK=off") // the first has ended, as its lease did
	s.awaitFor(4*limit, "all nodes to be new", claims, left(old, none))
	s.awaitFor(2*limit, "all pods to run", "v1/Pod", of("apart", running(3)))
	s.nothingTwice()
}

// Fifty nodes drift under load: a pool lets ten of them go at a time, and a
// PodDisruptionBudget is kept all the way. Pods come meanwhile.
func TestAfterMinutesOfDrift(t *testing.T) {
	aboutMinutes(t)
	t.Parallel()
	const nodes, atOnce = 50, 10
	s := begin(t, ownLab(t, "--controller=true"))
	s.pool(moving(strconv.Itoa(atOnce)))
	old := s.oneEach(nodes)
	s.pdb("few", atOnce)
	most, least := s.watchGoing(old), s.watchLeast("apart")
	began := time.Now()
	s.growDisks("37Gi")
	for i := range 5 {
		s.workload(fmt.Sprintf("load-%d", i), s.namespace, "500m", 10)
		s.awaitFor(2*limit, "further pods to run", "v1/Pod", of(fmt.Sprintf("load-%d", i), running(10)))
	}
	s.awaitFor(10*limit, "all nodes to be new", claims, left(old, none))
	took := time.Since(began)
	s.awaitFor(2*limit, "all pods to run", "v1/Pod", running(nodes+50))
	if got := most(); got > atOnce {
		s.Errorf("%d nodes went at once, and %d may", got, atOnce)
	}
	if got := least(); got < nodes-atOnce {
		s.Errorf("at one time %d pods ran, and the PodDisruptionBudget asks for %d", got, nodes-atOnce)
	}
	s.Logf("fifty nodes replaced in %.0f s", took.Seconds())
	s.nothingTwice()
}

// watchLeast follows the pods of a workload until the returned function is called, which
// returns the fewest that ran at one time.
func (s *story) watchLeast(workload string) func() int {
	s.Helper()
	least := 1 << 30
	var watchErr error
	ctx, stop := context.WithCancel(s.Context())
	done, all := make(chan struct{}), s.resource("v1/Pod")
	go func() {
		defer close(done)
		watchErr = await.Until(ctx, all, metav1.ListOptions{}, func(seen []*unstructured.Unstructured) (bool, error) {
			run := 0
			for _, p := range seen {
				if strings.HasPrefix(p.GetName(), workload) && text(p, "status", "phase") == "Running" && p.GetDeletionTimestamp() == nil {
					run++
				}
			}
			least = min(least, run)
			return false, nil
		})
	}()
	return func() int {
		stop()
		<-done
		if watchErr != nil && !errors.Is(watchErr, context.Canceled) {
			s.Error(watchErr)
		}
		return least
	}
}
