package stories_test

import (
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/daemok/daemok/observe"
	"github.com/daemok/daemok/observe/alias"
	ofCluster "github.com/daemok/daemok/observe/state"
)

// rarely are the metrics of the document that the story need not bring, and
// what does bring them.
var rarely = map[string]string{
	"daemok_shadow_cost":                                                   "shadow mode",
	"daemok_shadow_dollars_total":                                          "shadow mode",
	"daemok_shadow_nodes":                                                  "shadow mode",
	"daemok_shadow_nodes_launched_total":                                   "shadow mode",
	"daemok_shadow_nodes_terminated_total":                                 "shadow mode",
	"daemok_shadow_pods_evicted_total":                                     "shadow mode",
	"daemok_interruption_queue_readable":                                   "a queue",
	"daemok_nodes_emptying":                                                "a pool of several nodes, of which one could empty",
	"daemok_disruption_blocked_nodes":                                      "a node that is kept",
	"operator_awsnodetemplate_termination_duration_seconds":                "an AWSNodeTemplate",
	"operator_capacitybuffer_status_condition_count":                       "a CapacityBuffer",
	"operator_capacitybuffer_status_condition_current_status_seconds":      "the same",
	"operator_capacitybuffer_status_condition_transition_seconds":          "the same",
	"operator_capacitybuffer_status_condition_transitions_total":           "the same",
	"operator_capacitybuffer_termination_current_time_seconds":             "the same",
	"operator_capacitybuffer_termination_duration_seconds":                 "the same",
	"daemok_capacityquotas_limit":                                          "a CapacityQuota",
	"daemok_capacityquotas_usage":                                          "the same",
	"daemok_commitments_pay":                                               "a ConfigMap that lists commitments",
	"daemok_commitments_unused_percent":                                    "the same",
	"operator_provisioningrequest_status_condition_count":                  "a ProvisioningRequest",
	"operator_provisioningrequest_status_condition_current_status_seconds": "the same",
	"operator_provisioningrequest_status_condition_transition_seconds":     "the same",
	"operator_provisioningrequest_status_condition_transitions_total":      "the same",
	"operator_provisioningrequest_termination_current_time_seconds":        "the same",
	"operator_provisioningrequest_termination_duration_seconds":            "the same",
	"operator_ec2nodeclass_termination_duration_seconds":                   "a class that is deleted",
	"operator_nodeoverlay_status_condition_count":                          "a NodeOverlay",
	"operator_nodeoverlay_status_condition_current_status_seconds":         "the same",
	"operator_nodeoverlay_status_condition_transition_seconds":             "the same",
	"operator_nodeoverlay_status_condition_transitions_total":              "the same",
	"operator_nodeoverlay_termination_current_time_seconds":                "the same",
	"operator_nodeoverlay_termination_duration_seconds":                    "the same",
	"operator_nodepool_termination_duration_seconds":                       "a pool that is deleted",
	"operator_termination_current_time_seconds":                            "an object on its way out",
	"daemok_capacity_reservations_idle_instances":                          "a class that selects capacity reservations",
	"daemok_nodes_adopted_total":                                           "a machine that is taken over",
	"daemok_disruption_breaker_tripped":                                    "a DisruptionPolicy with a breaker",
	"karpenter_cloudprovider_errors_total":                                 "a call that fails",
	"karpenter_cloudprovider_instance_launch_failures_total":               "a type that is sold out",
	"karpenter_cloudprovider_instance_termination_failures_total":          "a machine that cannot be given back",
	"karpenter_ec2nodeclasses_userdata_bytes":                              "a class whose parts are found, once types are known",
	"karpenter_interruption_instance_status_unhealthy_total":               "a machine that fails a status check",
	"karpenter_nodeclaims_unhealthy_disrupted_total":                       "a node that is repaired",
	"karpenter_pods_eviction_requests_total":                               "a pod on a node that goes",
	"karpenter_pods_provisioning_scheduling_undecided_time_seconds":        "a pod that no plan has seen yet",
	"karpenter_pods_provisioning_unbound_time_seconds":                     "a pod whose machine is on its way",
	"karpenter_pods_provisioning_unstarted_time_seconds":                   "the same",
	"karpenter_voluntary_disruption_failed_validations_total":              "a pod that comes to a node about to go",
	"karpenter_voluntary_disruption_queue_failures_total":                  "a node that cannot be let go",
	"operator_awsnodetemplate_status_condition_count":                      "an AWSNodeTemplate",
	"operator_awsnodetemplate_status_condition_current_status_seconds":     "an AWSNodeTemplate",
	"operator_awsnodetemplate_status_condition_transition_seconds":         "an AWSNodeTemplate",
	"operator_awsnodetemplate_status_condition_transitions_total":          "an AWSNodeTemplate",
	"operator_awsnodetemplate_termination_current_time_seconds":            "an AWSNodeTemplate",
	"operator_ec2nodeclass_status_condition_transition_seconds":            "a class that was ready and is not",
	"operator_ec2nodeclass_termination_current_time_seconds":               "a class on its way out",
	"operator_node_termination_current_time_seconds":                       "a node on its way out",
	"operator_nodeclaim_termination_current_time_seconds":                  "a claim on its way out",
	"operator_nodepool_termination_current_time_seconds":                   "a pool on its way out",
	"operator_provisioner_status_condition_count":                          "a Provisioner",
	"operator_provisioner_status_condition_current_status_seconds":         "a Provisioner",
	"operator_provisioner_status_condition_transition_seconds":             "a Provisioner",
	"operator_provisioner_status_condition_transitions_total":              "a Provisioner",
	"operator_provisioner_termination_current_time_seconds":                "a Provisioner",
	"operator_provisioner_termination_duration_seconds":                    "a Provisioner",
}

// endpoint is where a controller of a story serves.
type endpoint struct {
	*story
	port string
}

// freeEndpoint is one that no process serves yet. Its port is below those that systems hand out, so that no other lab
// gets it before it is served.
func (s *story) freeEndpoint() endpoint {
	s.Helper()
	for range 100 {
		port := strconv.Itoa(20000 + rand.IntN(10000))
		if l, err := net.Listen("tcp", "127.0.0.1:"+port); err == nil {
			l.Close()
			return endpoint{s, port}
		}
	}
	s.Fatal("a hundred ports are taken")
	return endpoint{}
}

// get returns the status and the text of a page, 0 without an answer.
func (e endpoint) get(page string) (int, string) {
	e.Helper()
	r, err := http.NewRequestWithContext(e.Context(), http.MethodGet, "http://127.0.0.1:"+e.port+page, nil)
	if err != nil {
		e.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		e.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

// awaitOK waits until a page is answered with 200.
func (e endpoint) awaitOK(page string) {
	e.Helper()
	status, text := 0, ""
	if !poll(limit, farEvery, func() bool {
		status, text = e.get(page)
		return status == http.StatusOK
	}) {
		e.Fatalf("%s says %d %s, want 200", page, status, text)
	}
}

// families reads what a controller measures, by name. It must be of the
// product's own table, or of a library that the document names.
func (e endpoint) families() map[string]*dto.MetricFamily {
	e.Helper()
	status, text := e.get("/metrics")
	if status != http.StatusOK {
		e.Fatalf("/metrics says %d %s", status, text)
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	all, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		e.Fatal(err)
	}
	defined := map[string]observe.Definition{}
	for _, d := range observe.Definitions() {
		defined[d.Name] = d
	}
	further := map[string]bool{}
	for _, r := range append(alias.WorkQueues(), alias.Legacy()...) {
		further[r.To] = true
	}
	for name, f := range all {
		d, ours := defined[name]
		switch {
		case ours:
			e.agrees(d, f)
		case !ofLibrary(name) && !further[name]:
			e.Errorf("%s is measured and not documented", name)
		}
	}
	return all
}

// agrees checks a family's type and labels.
func (e endpoint) agrees(d observe.Definition, f *dto.MetricFamily) {
	e.Helper()
	if got := strings.ToLower(f.GetType().String()); got != string(d.Kind) {
		e.Errorf("%s is a %s, want a %s", d.Name, got, d.Kind)
	}
	want := slices.Sorted(slices.Values(d.LabelNames()))
	var got []string
	for _, l := range f.GetMetric()[0].GetLabel() {
		got = append(got, l.GetName())
	}
	if slices.Sort(got); !slices.Equal(got, want) {
		e.Errorf("%s has labels %v, want %v", d.Name, got, want)
	}
}

// awaitFamilies reads until all that the story brings are measured, since the
// controller sees a pod run a moment after the API server does; what is still
// missing in the end is not there.
func (e endpoint) awaitFamilies(names []string) (seen map[string]*dto.MetricFamily) {
	e.Helper()
	poll(limit, farEvery, func() bool {
		seen = e.families()
		return !slices.ContainsFunc(names, func(name string) bool { return seen[name] == nil && rarely[name] == "" })
	})
	return seen
}

func ofLibrary(name string) bool {
	return slices.ContainsFunc([]string{"controller_runtime_", "workqueue_", "leader_election_master_status", "certwatcher_", "rest_client_", "go_", "process_"},
		func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// A controller answers that it lives and is ready, be it the one that leads or one that
// waits; what it measures is what the document says.
func TestControllerReportsHowItDoes(t *testing.T) {
	t.Parallel()
	s := begin(t, ownLab(t, "--controller=false"))
	health, metrics := s.freeEndpoint(), s.freeEndpoint()
	waiting, second := s.freeEndpoint(), s.freeEndpoint()
	s.run("leads", "HEALTH_PROBE_PORT="+health.port, "METRICS_PORT="+metrics.port).awaitLeader(limit)
	s.run("waits", "HEALTH_PROBE_PORT="+waiting.port, "METRICS_PORT="+second.port)
	for _, e := range []endpoint{health, waiting} {
		e.awaitOK("/healthz")
		e.awaitOK("/readyz")
	}
	state := map[string]bool{}
	for _, name := range ofCluster.Names() {
		state[name] = true
	}
	start := metrics.families()
	for _, d := range observe.Definitions() {
		ends := strings.HasPrefix(d.Name, "operator_") && strings.HasSuffix(d.Name, "_termination_duration_seconds") // once an object of the Kind has gone
		if len(d.LabelNames()) == 0 && start[d.Name] == nil && !ends && rarely[d.Name] == "" {
			t.Errorf("%s is not measured from the start", d.Name)
		}
	}

	s.pool("limits: {cpu: 64}")
	s.daemon("agent")
	s.workload("web", s.namespace, "1", 1)
	s.workload("giant", s.namespace, "10k", 1)
	s.await("the pod and the daemon beside it to run", "v1/Pod", func(pods []*unstructured.Unstructured) bool { return countRunning(pods) == 2 })
	s.awaitEvent(s.namespace, "Pod", "giant-", "FailedScheduling")
	seen := metrics.awaitFamilies(append(ofCluster.Names(), "daemok_namespace_cost")) // which pods on nodes have
	for name := range second.families() {
		if state[name] {
			t.Errorf("the controller that waits tells of the cluster: %s", name)
		}
	}
	s.workload("web", s.namespace, "1", 0)
	s.await("the claim to go", claims, ofPool(s.namespace, 0))
	s.await("the node to go", "v1/Node", ofPool(s.namespace, 0))
	var late []string // reported once the last write is answered
	for _, d := range observe.Definitions() {
		if seen[d.Name] == nil {
			late = append(late, d.Name)
		}
	}
	maps.Copy(seen, metrics.awaitFamilies(late))
	unknown := maps.Clone(rarely)
	for _, d := range observe.Definitions() {
		delete(unknown, d.Name)
		if seen[d.Name] == nil && rarely[d.Name] == "" {
			t.Errorf("%s is documented and not measured", d.Name)
		}
	}
	if len(unknown) > 0 {
		t.Errorf("these are not documented at all: %v", unknown)
	}
}

// daemon has a pod on each node of the story's pool.
func (s *story) daemon(name string) {
	s.Helper()
	s.applyTyped(&appsv1.DaemonSet{
		TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "DaemonSet"}, ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.DaemonSetSpec{Selector: workloadSelector(name), Template: podOf(name, []preference{from(s.namespace), limitedTo(corev1.ResourceMemory, "64Mi")})},
	})
}

// limitedTo requests so much of a resource for each pod, and allows no more.
func limitedTo(name corev1.ResourceName, amount string) preference {
	return func(_ string, pod *corev1.PodTemplateSpec) {
		pod.Spec.Containers[0].Resources.Limits = corev1.ResourceList{name: resource.MustParse(amount)}
	}
}
