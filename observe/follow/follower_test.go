package follow

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/cache/informertest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/kube/api"
	v1 "github.com/daemok/daemok/kube/api/autoscaling/v1"
	"github.com/daemok/daemok/kube/api/autoscaling/v1beta1"
	awsv1alpha1 "github.com/daemok/daemok/kube/api/aws/v1alpha1"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/observe"
	"github.com/daemok/daemok/test/scraped"
)

var start = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// story is a follower, the watches it hears of and the time.
type story struct {
	*Follower
	t        *testing.T
	now      time.Time
	leading  bool
	registry *prometheus.Registry
	pods     handler[*corev1.Pod]
	claims   handler[*karpv1.NodeClaim]
	nodes    handler[*corev1.Node]
}

func begin(t *testing.T) *story {
	s := &story{t: t, now: start, leading: true, registry: prometheus.NewPedanticRegistry()}
	s.Follower = &Follower{
		Metrics: observe.NewMetrics(s.registry, "", "", "", ""), Objects: true,
		Leading: func() bool { return s.leading }, Now: func() time.Time { return s.now },
	}
	s.registry.MustRegister(s.Follower)
	s.pods = handler[*corev1.Pod]{s.podSeen, s.podGone}
	s.claims = handler[*karpv1.NodeClaim]{s.claimSeen, s.claimGone}
	s.nodes = handler[*corev1.Node]{s.nodeSeen, s.nodeGone}
	return s
}

func (s *story) after(d time.Duration) { s.now = s.now.Add(d) }

// says checks the series of a metric, as observetest writes them.
func (s *story) says(name string, want ...string) {
	s.t.Helper()
	got, err := scraped.Lines(s.registry, name)
	if err != nil {
		s.t.Fatal(err)
	}
	for i := range got {
		got[i] = strings.TrimPrefix(got[i], name+" ")
	}
	if !slices.Equal(got, want) {
		s.t.Errorf("at %v: %s says %q, want %q", s.now.Sub(start), name, got, want)
	}
}

func pod(change ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default", UID: "u", CreationTimestamp: metav1.Time{Time: start}}}
	p.Status.Phase = corev1.PodPending
	for _, f := range change {
		f(p)
	}
	return p
}

func onNode(p *corev1.Pod) { p.Spec.NodeName = "n1" }

func running(p *corev1.Pod) {
	onNode(p)
	p.Status.Phase = corev1.PodRunning
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
}

func planned(uid string) plan.Plan {
	return plan.Plan{Placements: []plan.Placement{{Pod: cluster.Pod{UID: uid}, On: plan.OnLaunch, Target: "new-1"}}}
}

// SC-15: each moment of a pod is measured once, and forgotten with the pod.
func TestAPodIsFollowedUntilItStarts(t *testing.T) {
	s := begin(t)
	s.after(time.Second)
	s.pods.OnAdd(pod(), false)
	s.after(time.Second)
	s.says(undecided, "name=web namespace=default 1")
	s.says(unbound, "name=web namespace=default 2")
	s.says(planUnbound)

	s.Decided(plan.Plan{Unplaced: []plan.Unplaced{{Pods: []cluster.Pod{{UID: "u"}}}}})
	s.says(undecided)
	s.says("karpenter_pods_scheduling_decision_duration_seconds", "1 in 1s")
	s.after(10 * time.Second)
	s.Decided(planned("u"))
	s.Decided(planned("u"))
	s.says("karpenter_pods_scheduling_decision_duration_seconds", "1 in 1s")
	s.after(30 * time.Second)
	s.says(planUnbound, "name=web namespace=default 30")

	s.pods.OnUpdate(pod(), pod(onNode))
	s.says("karpenter_pods_bound_duration_seconds", "1 in 42s")
	s.says("karpenter_pods_provisioning_bound_duration_seconds", "1 in 30s")
	s.says(unbound)
	s.after(5 * time.Second)
	s.says(unstarted, "name=web namespace=default 47")
	s.says(planUnstarted, "name=web namespace=default 35")

	s.pods.OnUpdate(pod(onNode), pod(running))
	s.says("karpenter_pods_startup_duration_seconds", "1 in 47s")
	s.says("karpenter_pods_provisioning_startup_duration_seconds", "1 in 35s")
	s.says(unstarted)
	if len(s.Follower.pods) != 0 {
		t.Errorf("%d pods are kept after they have started", len(s.Follower.pods))
	}
}

// Another process may have planned for a pod before this one led: its wait there is no time to a decision here.
func TestPodsFromBeforeAChangeOfLeaderHaveNoTimeToTheirDecision(t *testing.T) {
	s := begin(t)
	s.leading = false
	s.pods.OnAdd(pod(), false)
	s.after(15 * time.Second)
	s.leading = true
	s.Decided(planned("u"))
	s.says("karpenter_pods_scheduling_decision_duration_seconds")
	s.says(undecided)
	later := pod()
	later.Name, later.UID = "web-2", "v"
	s.pods.OnAdd(later, false)
	s.after(time.Second)
	s.Decided(planned("v"))
	s.says("karpenter_pods_scheduling_decision_duration_seconds", "1 in 1s")
}

// A watch that was cut shows a pod in the place of one of its name that has gone meanwhile as a change of that one.
func TestAPodOfTheSameNameIsAnother(t *testing.T) {
	s := begin(t)
	s.pods.OnAdd(pod(), false)
	s.after(time.Minute)
	other := pod()
	other.UID, other.CreationTimestamp = "v", metav1.Time{Time: s.now}
	s.pods.OnUpdate(pod(), other)
	s.after(time.Second)
	s.says(unbound, "name=web namespace=default 1")
}

func TestAPodThatFlapsHasStartedOnce(t *testing.T) {
	s := begin(t)
	s.pods.OnAdd(pod(), false)
	s.pods.OnUpdate(pod(), pod(running))
	s.pods.OnUpdate(pod(running), pod(onNode))
	s.pods.OnUpdate(pod(onNode), pod(running))
	s.says("karpenter_pods_startup_duration_seconds", "1 in 0s")
	s.says("karpenter_pods_bound_duration_seconds", "1 in 0s")
}

func TestWhatWasThereBeforeIsNothingNew(t *testing.T) {
	s := begin(t)
	s.after(time.Hour)
	s.pods.OnAdd(pod(running), true)
	bound := pod(onNode)
	bound.UID = "v"
	s.pods.OnAdd(bound, true)
	s.says("karpenter_pods_startup_duration_seconds")
	s.says("karpenter_pods_bound_duration_seconds")
	s.says(unstarted, "name=web namespace=default 3600")
	started := pod(running)
	started.UID = types.UID("v")
	s.pods.OnUpdate(bound, started)
	s.says("karpenter_pods_startup_duration_seconds", "1 in 3600s")
	s.says("karpenter_pods_bound_duration_seconds")
}

func TestPodsThatEndWithoutStartingAreForgotten(t *testing.T) {
	s := begin(t)
	s.pods.OnAdd(pod(), false)
	s.pods.OnDelete(pod())
	other := pod(func(p *corev1.Pod) { p.UID = "v" })
	s.pods.OnAdd(other, false)
	s.pods.OnUpdate(other, pod(onNode, func(p *corev1.Pod) { p.UID, p.Status.Phase = "v", corev1.PodFailed }))
	s.says(unstarted)
	if len(s.Follower.pods) != 0 {
		t.Errorf("%d pods are kept", len(s.Follower.pods))
	}
}

func TestOnlyTheLeaderCounts(t *testing.T) {
	s := begin(t)
	s.leading = false
	s.pods.OnAdd(pod(), false)
	s.says(unbound)
	s.pods.OnUpdate(pod(), pod(onNode))
	s.leading = true
	s.says("karpenter_pods_bound_duration_seconds")
	s.after(time.Second)
	s.pods.OnUpdate(pod(onNode), pod(running)) // what it saw before counts from now on
	s.says("karpenter_pods_startup_duration_seconds", "1 in 1s")
}

func claim(change ...func(*karpv1.NodeClaim)) *karpv1.NodeClaim {
	c := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "web-1", Labels: map[string]string{api.LabelNodePool: "web"}}}
	for _, f := range change {
		f(c)
	}
	return c
}

func TestAClaimIsFollowedToItsEnd(t *testing.T) {
	s := begin(t)
	unknown := func(c *karpv1.NodeClaim) { condition.SetUnknown(c, karpv1.ClaimDrained, "Draining", "", start) }
	drained := func(c *karpv1.NodeClaim) {
		c.DeletionTimestamp = &metav1.Time{Time: start}
		condition.SetTrue(c, karpv1.ClaimDrained, start.Add(8*time.Second))
	}
	ending := func(c *karpv1.NodeClaim) {
		drained(c)
		condition.SetTrue(c, karpv1.ClaimInstanceTerminating, start.Add(10*time.Second))
	}
	s.claims.OnAdd(claim(), false)
	s.claims.OnUpdate(claim(), claim(unknown))
	s.claims.OnUpdate(claim(unknown), claim(unknown, drained))
	s.claims.OnUpdate(claim(unknown, drained), claim(unknown, ending))
	s.after(40 * time.Second)
	s.claims.OnDelete(claim(unknown, ending))

	s.says("karpenter_nodes_drained_total", "nodepool=web 1")
	s.says("karpenter_nodeclaims_termination_duration_seconds", "nodepool=web 1 in 40s")
	s.says("karpenter_nodeclaims_instance_termination_duration_seconds", "nodepool=web 1 in 30s")
	s.says("operator_nodeclaim_termination_duration_seconds", "1 in 40s")
	s.says("operator_nodeclaim_status_condition_transitions_total",
		"reason=Drained status=True type=Drained 1", "reason=Draining status=Unknown type=Drained 1",
		"reason=InstanceTerminating status=True type=InstanceTerminating 1")
	s.says("operator_nodeclaim_status_condition_transition_seconds", "status=True type=Drained 1 in 8s")
}

// SC-276
func TestANodeIsFollowedToItsEnd(t *testing.T) {
	s := begin(t)
	node := func(name, pool string) *corev1.Node {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.Time{Time: start}}}
		if pool != "" {
			n.Labels = map[string]string{api.LabelNodePool: pool}
		}
		return n
	}
	silent := node("n1", "web")
	silent.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown, Reason: "NodeStatusUnknown"}}
	s.nodes.OnAdd(node("n1", "web"), true)
	s.nodes.OnUpdate(node("n1", "web"), silent)
	s.after(time.Hour)
	leaving := silent.DeepCopy()
	leaving.DeletionTimestamp = &metav1.Time{Time: s.now}
	s.after(20 * time.Second)
	s.nodes.OnDelete(leaving)
	s.nodes.OnDelete(node("theirs", "")) // of others: its life is not ours

	s.says("karpenter_nodes_termination_duration_seconds", "nodepool=web 1 in 20s")
	s.says("karpenter_nodes_lifetime_duration_seconds", "nodepool=web 1 in 3620s")
	s.says("operator_node_termination_duration_seconds", "1 in 20s")
	s.says("operator_node_status_condition_transitions_total", "reason=NodeStatusUnknown status=Unknown type=Ready 1")
}

// Where two autoscalers share a cluster each counts its own.
func TestWhatIsAnotherProvidersIsNotCounted(t *testing.T) {
	s := begin(t)
	theirs := func(change ...func(*karpv1.NodeClaim)) *karpv1.NodeClaim {
		c := claim(change...)
		c.Spec.NodeClassRef.Group, c.Status.NodeName = "karpenter.example.com", "n1"
		return c
	}
	drained := func(c *karpv1.NodeClaim) {
		c.DeletionTimestamp = &metav1.Time{Time: start}
		condition.SetTrue(c, karpv1.ClaimDrained, start)
		condition.SetTrue(c, karpv1.ClaimInstanceTerminating, start)
	}
	pool := func(ready bool) *karpv1.NodePool {
		p := &karpv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "web", DeletionTimestamp: &metav1.Time{Time: start}}}
		p.Spec.Template.Spec.NodeClassRef.Group = "karpenter.example.com"
		if ready {
			condition.SetTrue(p, condition.Ready, start)
		}
		return p
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1", Labels: map[string]string{api.LabelNodePool: "web"}, DeletionTimestamp: &metav1.Time{Time: start}}}
	s.claims.OnAdd(theirs(), false)
	s.claims.OnUpdate(theirs(), theirs(drained))
	s.nodes.OnDelete(node)
	s.claims.OnDelete(theirs(drained))
	s.poolSeen(translate.NodePools(), pool(false), pool(true))
	s.poolGone(translate.NodePools(), pool(true))
	for _, name := range []string{
		"karpenter_nodes_drained_total", "karpenter_nodeclaims_termination_duration_seconds", "karpenter_nodeclaims_instance_termination_duration_seconds",
		"operator_nodeclaim_termination_duration_seconds", "operator_nodeclaim_status_condition_transitions_total",
		"karpenter_nodes_termination_duration_seconds", "karpenter_nodes_lifetime_duration_seconds",
		"operator_nodepool_status_condition_transitions_total", "operator_nodepool_termination_duration_seconds",
	} {
		s.says(name)
	}
	if len(s.theirs) > 0 {
		t.Errorf("%v are kept after they have gone", s.theirs)
	}
}

func TestConditionsCanBeSwitchedOff(t *testing.T) {
	s := begin(t)
	s.Objects = false
	s.pods.OnAdd(pod(), false)
	s.claims.OnUpdate(claim(), claim(func(c *karpv1.NodeClaim) { condition.SetTrue(c, karpv1.ClaimDrained, start) }))
	s.says("operator_nodeclaim_status_condition_transitions_total")
	s.says(unbound)
	s.says("karpenter_nodes_drained_total", "nodepool=web 1")
	s.pods.OnUpdate(pod(), pod(onNode))
	s.says("karpenter_pods_bound_duration_seconds", "1 in 0s")
}

func TestClassesAreFollowedByTheirKinds(t *testing.T) {
	s := begin(t)
	template := func(ready bool) *awsv1alpha1.AWSNodeTemplate {
		o := &awsv1alpha1.AWSNodeTemplate{ObjectMeta: metav1.ObjectMeta{Name: "old"}}
		if condition.SetUnknown(o, condition.Ready, "", "", start); ready {
			condition.SetTrue(o, condition.Ready, start)
		}
		return o
	}
	templates := s.conditions("awsnodetemplate")
	templates.OnUpdate(template(false), template(true))
	s.says("operator_awsnodetemplate_status_condition_transitions_total", "reason=Ready status=True type=Ready 1")
	s.says("operator_ec2nodeclass_status_condition_transitions_total")
}

// Types that clusters may lack are followed once they are watched: what there is then is nothing new, and objects that
// another autoscaler serves count nothing.
func TestConditionsOfLateTypesAreCounted(t *testing.T) {
	request := func(name, class string, provisioned bool) *v1.ProvisioningRequest {
		o := &v1.ProvisioningRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "batch", Name: name}}
		if o.Spec.ProvisioningClassName = class; provisioned {
			condition.SetTrue(o, v1.RequestProvisioned, start)
		}
		return o
	}
	tests := map[string]struct {
		before, after client.Object
		want          []string
	}{
		"ProvisioningRequests": {
			request("train", v1.ClassCheckCapacity, false), request("train", v1.ClassCheckCapacity, true),
			[]string{"reason=Provisioned status=True type=Provisioned 1"},
		},
		"those of other classes": {
			request("train", "queued.example.com", false), request("train", "queued.example.com", true), nil,
		},
		"a type without conditions": {&v1beta1.CapacityQuota{}, &v1beta1.CapacityQuota{}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s, informers := begin(t), &informertest.FakeInformers{Scheme: runtime.NewScheme()}
			for _, add := range []func(*runtime.Scheme) error{v1.AddToScheme, v1beta1.AddToScheme} {
				if err := add(informers.Scheme); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.FollowLate(t.Context(), informers, tt.before); err != nil {
				t.Fatal(err)
			}
			informer, err := informers.FakeInformerFor(t.Context(), tt.before)
			if err != nil {
				t.Fatal(err)
			}
			informer.Add(tt.before)
			informer.Update(tt.before, tt.after)
			s.says("operator_provisioningrequest_status_condition_transitions_total", tt.want...)
		})
	}
}
