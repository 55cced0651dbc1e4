package stories_test

import (
	"flag"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/daemok/daemok/bench"
	"github.com/daemok/daemok/cloud/aws/bill"
	"github.com/daemok/daemok/core/cluster"
)

var figures = flag.Bool("figures", false, "also run the stories that print figures: a thousand pods on demand and on spot, five hundred by the clock")

// A thousand pods of forty deployments, sized as people do: all run, and the instances that
// EC2 has offered cost what the plan said they would come to, though they join one by one
// and the scheduler knows no plan. Instances take a tenth of the time here that they take
// in life.
func TestTheBillIsWhatThePlanSaid(t *testing.T) {
	if !*figures {
		t.Skip("pays for a thousand pods: make bill")
	}
	promised, paid, plans := payFor(t, "on-demand")
	near(t, promised, paid, 0.03, 0.15, plans)
}

// Of the spot offerings that a request names AWS takes one by price and by how much it has
// of it. The plan says what that comes to in the mean, and one cluster of a few large
// instances may well pay half as much again, or less: several are judged together, and each
// is printed.
func TestTheBillOnSpotIsNearWhatThePlanSaid(t *testing.T) {
	if !*figures {
		t.Skip("prints figures, and takes minutes: make bill")
	}
	const clusters = 5
	var promised, paid float64
	for i := range clusters {
		if !t.Run(fmt.Sprint("cluster ", i+1), func(t *testing.T) {
			said, was, _ := payFor(t, "spot")
			promised, paid = promised+said, paid+was
		}) {
			return // without all of them there is nothing to judge
		}
	}
	t.Logf("all clusters: to come to $%.2f, $%.2f are paid, %+.1f %%", promised, paid, 100*(paid/promised-1))
	near(t, promised, paid, 0.25, 0.15, nil)
}

// near fails where the bill is more, or less, than so much of what plans said off it. Less
// is paid at times, when cheap offerings were not scarce.
func near(t *testing.T, promised, paid, more, less float64, plans []string) {
	t.Helper()
	if off := paid/promised - 1; off > more || off < -less {
		t.Errorf("the bill is %.1f %% off what the plan said, want %.0f %% more at most, and %.0f %% less\n%s", 100*off, 100*more, 100*less, strings.Join(plans, "\n"))
	}
}

// payFor has a new cluster of its own launch instances for a thousand pods, and returns what its first
// plan said they would come to, what is paid for them, both in dollars an hour, and all plans.
func payFor(t *testing.T, option string) (promised, paid float64, plans []string) {
	t.Helper()
	const pods = 1000
	s := begin(t, ownLab(t, "--controller=true", "--time-scale=0.1"))
	s.class(s.namespace, "")
	s.deployAll(pods, 40)
	s.awaitFor(3*limit, "all pods to have met the scheduler", "v1/Pod", func(seen []*unstructured.Unstructured) bool { return countScheduled(seen) == pods })
	created := time.Now()
	s.poolOf(s.namespace, s.namespace, template(s.namespace, "{key: kubernetes.io/arch, operator: In, values: [amd64]}",
		"{key: karpenter.sh/capacity-type, operator: In, values: ["+option+"]}",
		"{key: karpenter.k8s.aws/instance-category, operator: In, values: [c, m, r]}")) // so late that one plan is made for all
	s.awaitFor(4*limit, "all pods to run", "v1/Pod", running(pods))

	said := controllerSays(t, s.dir, "made a plan")
	if len(said) == 0 {
		t.Fatal("no plan was made")
	}
	first := said[0]
	if waiting := field(t, first, "waiting"); waiting != strconv.Itoa(pods) {
		t.Fatalf("the first plan is for %s pods, want all: %s", waiting, first)
	}
	planned, promised := amount(t, first, "launchCostUSDPerHour"), amount(t, first, "likelyCostUSDPerHour")
	paid, machines := s.bill()
	launches, _ := strconv.Atoi(field(t, first, "launches"))
	t.Logf("%d pods run after %.0f s; planned %d machines for $%.2f, to come to $%.2f; %d machines for $%.2f are paid, %+.1f %% of what was said and %+.1f %% of what was planned; %.0f %% of the pods are on a kind of node planned for so many",
		pods, time.Since(created).Seconds(), launches, planned, promised, machines, paid, 100*(paid/promised-1), 100*(paid/planned-1), 100*s.asPlanned())
	return promised, paid, said
}

// deployAll makes deployments with pods of sizes as people choose them.
func (s *story) deployAll(pods, deployments int) {
	s.Helper()
	work, _, err := bench.Snapshot(bench.Options{Generate: "realistic", Pods: pods, Classes: deployments, Seed: 43})
	if err != nil {
		s.Fatal(err)
	}
	replicas := map[*cluster.Shape]int32{}
	for i := range work.Waiting {
		replicas[work.Waiting[i].Shape]++
	}
	for i, shape := range work.Shapes() {
		s.deploy(fmt.Sprintf("d%02d", i), replicas[shape], from(s.namespace),
			asking(corev1.ResourceCPU, fmt.Sprintf("%dm", shape.Requests.CPU)), asking(corev1.ResourceMemory, strconv.FormatInt(int64(shape.Requests.Memory), 10)))
	}
}

// bill is what EC2 charges by the hour for the pool's instances that run, and
// how many these are.
func (s *story) bill() (dollars float64, machines int) {
	s.Helper()
	c, _ := awsOf(s.T, s.dir)
	dollars, machines, err := bill.Of(s.Context(), c, s.namespace)
	if err != nil {
		s.Fatal(err)
	}
	return dollars, machines
}

// asPlanned is the share of pods that are on an instance type for which plans had so many:
// of each type the lesser of what was planned and what is there.
func (s *story) asPlanned() float64 {
	s.Helper()
	planned, there, all := map[string]int{}, map[string]int{}, 0
	for _, line := range controllerSays(s.T, s.dir, "created nodeclaim") {
		n, err := strconv.Atoi(field(s.T, line, "pods"))
		if err != nil {
			s.Fatal(err)
		}
		planned[field(s.T, line, "type")] += n
	}
	var nodes corev1.NodeList
	var pods corev1.PodList
	if err := s.client.List(s.Context(), &nodes); err != nil {
		s.Fatal(err)
	}
	if err := s.client.List(s.Context(), &pods); err != nil {
		s.Fatal(err)
	}
	kinds := map[string]string{}
	for i := range nodes.Items {
		kinds[nodes.Items[i].Name] = nodes.Items[i].Labels[corev1.LabelInstanceTypeStable]
	}
	for i := range pods.Items {
		if p := &pods.Items[i]; p.Namespace == s.namespace {
			there[kinds[p.Spec.NodeName]]++
			all++
		}
	}
	same := 0
	for kind, n := range there {
		same += min(n, planned[kind])
	}
	return float64(same) / float64(max(1, all))
}

// field returns a value of a line of the controller's log.
func field(t *testing.T, line, name string) string {
	t.Helper()
	found := regexp.MustCompile(`"` + name + `":"?([^",}]*)`).FindStringSubmatch(line)
	if found == nil {
		t.Fatalf("the log says no %s: %s", name, line)
	}
	return found[1]
}

func amount(t *testing.T, line, name string) float64 {
	t.Helper()
	value, err := strconv.ParseFloat(field(t, line, name), 64)
	if err != nil {
		t.Fatal(err)
	}
	return value
}
