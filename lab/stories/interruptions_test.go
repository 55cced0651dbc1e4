package stories_test

import (
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// AWS says something of its instances, in a lab of its own: the queue concerns all in it.
func TestInterruptionMessages(t *testing.T) {
	t.Parallel()
	l := ownLab(t)
	for name, happen := range map[string]func(*story){
		"a spot machine is taken back":         (*story).spotMachineIsTakenBack,
		"the queue goes and comes back":        (*story).queueComesBack,
		"a recommendation and a retirement":    (*story).adviceAndRetirement,
		"nothing that AWS would not take back": (*story).onDemandStays,
	} {
		t.Run(name, func(t *testing.T) { happen(begin(t, l)) })
	}
}

// spotPool is a pool of the story's own that launches spot instances.
func (s *story) spotPool() {
	s.Helper()
	s.pool(template(s.namespace, "{key: kubernetes.io/arch, operator: In, values: [amd64]}",
		"{key: karpenter.sh/capacity-type, operator: In, values: [spot]}", "{key: karpenter.k8s.aws/instance-category, operator: In, values: [c, m, r]}"))
}

// spotMachineIsTakenBack: the instance in its place boots late, and the pod runs on the old
// one until that has started.
func (s *story) spotMachineIsTakenBack() {
	s.spotPool()
	old := s.oneEach(1)
	node := s.nodesOfPods()[0]
	s.report("next", "*", "--boot-after=20s")
	defer s.report("next", "*", "--mend")
	mustLab(s.T, 0, s.dir, "interrupt", node)
	s.awaitEvent(eventsOfCluster, "NodeClaim", old[0], "SpotInterrupted", "it ends at")
	s.awaitEvent(eventsOfCluster, "Node", node, "DrainWaiting", "1 pod stays until there is room for it on a node that has started")
	if !poll(limit, farEvery, func() bool {
		nodes := s.nodesOfPods() // first: where the pod is now it may be because of what the claims say by then
		started := slices.ContainsFunc(inPool(s.list(claims), s.namespace), func(c *unstructured.Unstructured) bool {
			return c.GetName() != old[0] && hasCondition(c, "Initialized")
		})
		if !started && !slices.Equal(nodes, []string{node}) {
			s.Fatalf("pods are on %v before another machine has started", nodes)
		}
		return started
	}) {
		s.Fatal("no other machine starts")
	}
	s.await("the old machine to go", claims, left(old, none))
	s.await("the pod to run", "v1/Pod", of("apart", running(1)))
	s.nothingTwice()
}

// nodesOfPods are the nodes that the story's pods run on.
func (s *story) nodesOfPods() (names []string) {
	s.Helper()
	var pods corev1.PodList
	if err := s.client.List(s.Context(), &pods, client.InNamespace(s.namespace)); err != nil {
		s.Fatal(err)
	}
	for i := range pods.Items {
		if p := &pods.Items[i]; p.Spec.NodeName != "" && p.DeletionTimestamp == nil {
			names = append(names, p.Spec.NodeName)
		}
	}
	return names
}

// spotStorm: AWS takes all instances back at once. All pods run again, each instance is
// replaced once, and none is left over.
func (s *story) spotStorm(machines int) {
	s.spotPool()
	old := s.oneEach(machines)
	began := time.Now()
	mustLab(s.T, 0, s.dir, "interrupt", "*")
	reported := time.Since(began)
	s.awaitFor(10*limit, "all machines to be replaced", claims, left(old, none))
	s.awaitFor(3*limit, "all pods to run", "v1/Pod", of("apart", running(machines)))
	took := time.Since(began)
	s.nothingTwice()
	launched := len(instances(s.T, s.dir, map[string][]string{poolTag: {s.namespace}}))
	if launched != 2*machines {
		s.Errorf("%d machines were bought in all, want %d for %d pods whose machines were all taken back once", launched, 2*machines, machines)
	}
	s.Logf("%d interruptions within %.0f s: all pods run again after %.0f s, on as many machines bought in place", machines, reported.Seconds(), took.Seconds())
}

// queueComesBack: without the queue every pool says so; with one of its name again
// interruption messages arrive, and no restart is needed.
func (s *story) queueComesBack() {
	s.spotPool()
	old := s.oneEach(1)
	config, env := awsOf(s.T, s.dir)
	account, name := sqs.NewFromConfig(config), aws.String(env["INTERRUPTION_QUEUE"])
	queue, err := account.GetQueueUrl(s.Context(), &sqs.GetQueueUrlInput{QueueName: name})
	if err != nil {
		s.Fatal(err)
	}
	if _, err := account.DeleteQueue(s.Context(), &sqs.DeleteQueueInput{QueueUrl: queue.QueueUrl}); err != nil {
		s.Fatal(err)
	}
	s.awaitEvent(eventsOfCluster, "NodePool", s.namespace, "QueueNotFound", "create it, or correct --interruption-queue")
	if _, err := account.CreateQueue(s.Context(), &sqs.CreateQueueInput{QueueName: name}); err != nil {
		s.Fatal(err)
	}
	mustLab(s.T, 0, s.dir, "interrupt", s.nodesOfPods()[0])
	s.awaitFor(3*limit, "the machine to be replaced", claims, left(old, none))
	s.await("the pod to run", "v1/Pod", of("apart", running(1)))
	s.nothingTwice()
}

// adviceAndRetirement: a pool that asks for it has a node cordoned on a recommendation; an
// instance that is to be retired is replaced.
func (s *story) adviceAndRetirement() {
	s.spotPool()
	s.annotate(pools, s.namespace, "daemok.sh/rebalance", "cordon")
	old := s.oneEach(1)
	node := s.nodesOfPods()[0]
	mustLab(s.T, 0, s.dir, "rebalance", node)
	s.awaitEvent(eventsOfCluster, "Node", node, "SpotRebalanceRecommendation", "the node is cordoned")
	s.await("the node to be cordoned", "v1/Node", func(seen []*unstructured.Unstructured) bool {
		for _, n := range named(seen, node) {
			cordoned, _, _ := unstructured.NestedBool(n.Object, "spec", "unschedulable")
			return cordoned
		}
		return false
	})
	s.await("its pod to stay", "v1/Pod", of("apart", running(1)))
	mustLab(s.T, 0, s.dir, "retire", node, "--in=1h")
	s.awaitEvent(eventsOfCluster, "Node", node, "InstanceUnhealthy", "A scheduled change of the instance was announced")
	s.awaitFor(3*limit, "the machine to be replaced", claims, left(old, none))
	s.await("the pod to run elsewhere", "v1/Pod", of("apart", running(1)))
	s.nothingTwice()
}

// onDemandStays: AWS takes spot instances back alone, and the lab says so.
func (s *story) onDemandStays() {
	s.pool("")
	s.oneEach(1)
	got := mustLab(s.T, 1, s.dir, "interrupt", s.nodesOfPods()[0])
	if want := "is no spot instance, and AWS interrupts no other"; !saysAll(got.stderr, []string{want}) {
		s.Errorf("interrupt says %q, want %q", got.stderr, want)
	}
	s.await("the pod to run still", "v1/Pod", of("apart", running(1)))
}
