package state

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/commitment"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/kube/api"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	awsv1alpha1 "github.com/daemok/daemok/kube/api/aws/v1alpha1"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha5"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/observe"
	"github.com/daemok/daemok/test/scraped"
)

var now = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// catalogue has one type in two zones; the second is unavailable, and its spot price is not known.
// Some are dedicated, and some are left of a reservation.
func catalogue() *cluster.Catalogue {
	return &cluster.Catalogue{Revision: 1, InstanceTypes: []cluster.InstanceType{{
		Name: "m5.large", Capacity: quantity.Resources{CPU: 2000, Memory: 8 << 30},
		Offerings: []cluster.Offering{
			{Zone: "a", Option: cluster.OnDemand, Price: 96000, Priced: true, Available: true, Labels: constraint.Labels{{Key: api.LabelZone, Value: "a"}}},
			{Zone: "a", Option: cluster.OnDemand, Price: 102000, Priced: true, Unless: constraint.Label{Key: api.LabelTenancy, Value: "default"}},
			{Zone: "b", Option: cluster.Spot, Labels: constraint.Labels{{Key: api.LabelZone, Value: "b"}}},
			{Zone: "b", Option: cluster.Reserved, ReservedCapacities: []cluster.ReservedCapacity{{Name: "cr-1", Left: 2}, {Name: "pg-1/b", Left: 7}}, Labels: constraint.Labels{{Key: api.LabelReservationID, Value: "cr-1"}, {Key: api.LabelZone, Value: "b"}}},
		},
	}}}
}

// objects are one pool with one claim and its node, a node of others that
// goes, and four pods: of a Deployment, of a DaemonSet, ended and waiting.
func objects() []client.Object {
	labels := map[string]string{api.LabelNodePool: "web", api.LabelInstanceType: "m5.large", api.LabelZone: "a", api.LabelCapacityType: "on-demand", api.LabelArch: "amd64"}
	pool := &karpv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
	claim := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "web-1", Labels: labels, CreationTimestamp: metav1.Time{Time: now.Add(-time.Hour)}}}
	claim.Status.ProviderID = "aws:///a/i-1"
	condition.SetTrue(claim, karpv1.ClaimLaunched, now.Add(-time.Minute))
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1", Labels: labels, CreationTimestamp: metav1.Time{Time: now.Add(-time.Hour)}}}
	node.Spec.ProviderID = "aws:///a/i-1"
	node.Status.Capacity = corev1.ResourceList{"cpu": resource.MustParse("2"), "memory": resource.MustParse("8Gi")}
	node.Status.Allocatable = corev1.ResourceList{"cpu": resource.MustParse("1930m"), "memory": resource.MustParse("7Gi")}
	leaving := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n2", Finalizers: []string{"x/y"},
		CreationTimestamp: metav1.Time{Time: now.Add(-time.Hour)}, DeletionTimestamp: &metav1.Time{Time: now.Add(-30 * time.Second)}}}
	web := pod("web", "n1", "500m", metav1.OwnerReference{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web-7d"})
	web.Spec.Containers[0].Resources.Limits = corev1.ResourceList{"cpu": resource.MustParse("1")}
	web.Status.Phase, web.Status.Conditions = corev1.PodRunning, []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	done := pod("done", "n1", "1", metav1.OwnerReference{})
	done.Status.Phase = corev1.PodSucceeded
	return []client.Object{pool, claim, node, leaving, web, done,
		pod("proxy", "n1", "100m", metav1.OwnerReference{APIVersion: "apps/v1", Kind: "DaemonSet", Name: "proxy"}), pod("waits", "", "1", metav1.OwnerReference{})}
}

func pod(name, node, cpu string, owner metav1.OwnerReference) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}}
	p.Spec.NodeName, p.Status.Phase = node, corev1.PodPending
	p.Spec.Containers = []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse(cpu)}}}}
	if owner.Kind != "" {
		yes := true
		owner.Controller = &yes
		p.OwnerReferences = []metav1.OwnerReference{owner}
	}
	return p
}

func collector(t *testing.T) *Collector {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, karpv1.AddToScheme, awsv1.AddToScheme, v1alpha5.AddToScheme, awsv1alpha1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	pool := cluster.PoolID{Kind: "NodePool", Name: "web"}
	seen := &cluster.Snapshot{Now: now,
		Pools: []cluster.Pool{{ID: pool, Policy: cluster.Policy{Empty: cluster.Allowance{Most: 3}, Drifted: cluster.Allowance{Most: 2}, After: time.Minute}, InstanceCost: 15_000,
			Catalogue: &cluster.Catalogue{Disk: 5_000}}},
		Nodes: []cluster.Node{
			{Name: "n1", Claim: "web-1", Pool: pool, Ready: true, Initialized: true, Allocatable: quantity.Resources{CPU: 2000, Memory: 8 << 30},
				Price: 96_000, Labels: constraint.NewLabels(map[string]string{cluster.LabelInstanceType: "m5.large"}),
				Pods: []cluster.Pod{{Name: "web", Shape: &cluster.Shape{Requests: quantity.Resources{CPU: 500}}}}},
			{Name: "n2", Claim: "web-2", Pool: pool, Ready: true, Initialized: true, Allocatable: quantity.Resources{CPU: 2000}, QuietSince: now.Add(-time.Hour)},
			{Name: "n3", Claim: "web-3", Pool: pool, Initialized: true, Deleting: true},
		},
		Commitments: commitment.Commitments{
			Reserved: []commitment.ReservedInstances{{ID: "web", InstanceType: "m5.large", Count: 4}},
			Plans:    []commitment.SavingsPlan{{ID: "all", Commitment: 100_000, Discount: 0.5}},
		},
		Quotas: []cluster.Quota{{
			Name: "team-red", Used: cluster.Used{Capacity: quantity.Resources{CPU: 3500}, Nodes: 2, Cost: 192_000},
			Limits: cluster.Limits{
				Amounts: []quantity.Extended{{Name: "cpu", Amount: 16_000}, {Name: "nvidia.com/gpu", Amount: 4}},
				Nodes:   new(int64(5)), Cost: new(quantity.MicroUSDPerHour(1_500_000)),
			},
		}},
	}
	store := fake.NewClientBuilder().WithScheme(s).WithObjects(objects()...).Build()
	return &Collector{
		Pods: podsIn(t, store), Serves: translate.Generations{translate.NodePools()},
		Store: store, Snapshot: func() *cluster.Snapshot { return seen },
		Kinds:   func(karpv1.NodeClassReference) (*cluster.Catalogue, string) { return catalogue(), "" },
		Leading: func() bool { return true }, Objects: true, Offerings: AllOfferings, Now: func() time.Time { return now },
	}
}

// podsIn goes through the pods of a store.
func podsIn(t *testing.T, store client.Reader) iter.Seq[*corev1.Pod] {
	return func(yield func(*corev1.Pod) bool) {
		var list corev1.PodList
		if err := store.List(t.Context(), &list); err != nil {
			t.Error(err)
		}
		for i := range list.Items {
			if !yield(&list.Items[i]) {
				return
			}
		}
	}
}

// scrapedFrom returns the series of these metrics as a scrape tells them.
func scrapedFrom(t *testing.T, c *Collector, names ...string) []string {
	t.Helper()
	lines, err := scraped.Lines(prometheus.Gatherers{c}, names...) // which refuses a series that comes twice
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

// reports reports whether a series begins with these words.
func reports(lines []string, words string) bool {
	return slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line+" ", words+" ") })
}

// Every story is the metrics examined and what a scrape says of them.
func TestAScrapeReportsTheState(t *testing.T) {
	const onNode = " arch=amd64 capacity_type=on-demand instance_type=m5.large"
	tests := map[string]struct {
		names []string
		want  []string
	}{
		"budgets, what uses them up and who could go": {
			[]string{"karpenter_nodepools_allowed_disruptions", "karpenter_nodepools_nodes_consuming_budgets", "karpenter_voluntary_disruption_eligible_nodes"},
			[]string{
				"karpenter_nodepools_allowed_disruptions nodepool=web reason=Drifted 2",
				"karpenter_nodepools_allowed_disruptions nodepool=web reason=Empty 3",
				"karpenter_nodepools_allowed_disruptions nodepool=web reason=Underutilized 0",
				"karpenter_nodepools_nodes_consuming_budgets nodepool=web reason=Drifted 1",
				"karpenter_nodepools_nodes_consuming_budgets nodepool=web reason=Empty 1",
				"karpenter_nodepools_nodes_consuming_budgets nodepool=web reason=Underutilized 1",
				"karpenter_voluntary_disruption_eligible_nodes reason=drifted 0",
				"karpenter_voluntary_disruption_eligible_nodes reason=empty 1",
				"karpenter_voluntary_disruption_eligible_nodes reason=expired 0",
				"karpenter_voluntary_disruption_eligible_nodes reason=underutilized 0",
			},
		},
		"what the pool costs, volumes and what is declared included": {
			[]string{"karpenter_nodepools_cost_total"},
			[]string{"karpenter_nodepools_cost_total nodepool=web 0.116"},
		},
		"how full the cluster is": {
			[]string{"karpenter_cluster_utilization_percent"},
			[]string{
				"karpenter_cluster_utilization_percent resource_type=cpu 12.5",
				"karpenter_cluster_utilization_percent resource_type=memory 0",
			},
		},
		"what can be bought: a price that is not known is not told": {
			[]string{"karpenter_cloudprovider_instance_type_cpu_cores", "karpenter_cloudprovider_instance_type_memory_bytes",
				"karpenter_cloudprovider_instance_type_offering_available", "karpenter_cloudprovider_instance_type_offering_price_estimate"},
			[]string{
				"karpenter_cloudprovider_instance_type_cpu_cores instance_type=m5.large 2",
				"karpenter_cloudprovider_instance_type_memory_bytes instance_type=m5.large 8589934592",
				"karpenter_cloudprovider_instance_type_offering_available capacity_type=on-demand instance_type=m5.large zone=a 1",
				"karpenter_cloudprovider_instance_type_offering_available capacity_type=reserved instance_type=m5.large zone=b 0",
				"karpenter_cloudprovider_instance_type_offering_available capacity_type=spot instance_type=m5.large zone=b 0",
				"karpenter_cloudprovider_instance_type_offering_price_estimate capacity_type=on-demand instance_type=m5.large zone=a 0.096",
			},
		},
		"what quotas allow, and what counts against them": {
			[]string{"daemok_capacityquotas_limit", "daemok_capacityquotas_usage"},
			[]string{
				"daemok_capacityquotas_limit capacityquota=team-red resource_type=cost 1.5",
				"daemok_capacityquotas_limit capacityquota=team-red resource_type=cpu 16",
				"daemok_capacityquotas_limit capacityquota=team-red resource_type=nodes 5",
				"daemok_capacityquotas_limit capacityquota=team-red resource_type=nvidia.com/gpu 4",
				"daemok_capacityquotas_usage capacityquota=team-red resource_type=cost 0.192",
				"daemok_capacityquotas_usage capacityquota=team-red resource_type=cpu 3.5",
				"daemok_capacityquotas_usage capacityquota=team-red resource_type=nodes 2",
				"daemok_capacityquotas_usage capacityquota=team-red resource_type=nvidia.com/gpu 0",
			},
		},
		"what commitments pay, and what is unused": {
			[]string{"daemok_commitments_pay", "daemok_commitments_unused_percent"},
			[]string{
				"daemok_commitments_pay 0.096",
				"daemok_commitments_unused_percent commitment=all 100",
				"daemok_commitments_unused_percent commitment=web 75",
			},
		},
		"what is reserved, and idle": {
			[]string{"daemok_capacity_reservations_idle_instances"},
			[]string{"daemok_capacity_reservations_idle_instances capacity_reservation_id=cr-1 instance_type=m5.large zone=b 2"},
		},
		"what nodes have and their pods take; a pod that has ended takes nothing": {
			[]string{"karpenter_nodes_allocatable", "karpenter_nodes_system_overhead", "karpenter_nodes_total_pod_requests",
				"karpenter_nodes_total_pod_limits", "karpenter_nodes_total_daemon_requests", "karpenter_nodes_total_daemon_limits"},
			[]string{
				"karpenter_nodes_allocatable" + onNode + " managed=true node_name=n1 nodepool=web resource_type=cpu zone=a 1.93",
				"karpenter_nodes_allocatable" + onNode + " managed=true node_name=n1 nodepool=web resource_type=memory zone=a 7516192768",
				"karpenter_nodes_system_overhead" + onNode + " managed=true node_name=n1 nodepool=web resource_type=cpu zone=a 0.07",
				"karpenter_nodes_system_overhead" + onNode + " managed=true node_name=n1 nodepool=web resource_type=memory zone=a 1073741824",
				"karpenter_nodes_total_daemon_requests" + onNode + " managed=true node_name=n1 nodepool=web resource_type=cpu zone=a 0.1",
				"karpenter_nodes_total_daemon_requests" + onNode + " managed=true node_name=n1 nodepool=web resource_type=pods zone=a 1",
				"karpenter_nodes_total_pod_limits" + onNode + " managed=true node_name=n1 nodepool=web resource_type=cpu zone=a 1",
				"karpenter_nodes_total_pod_requests" + onNode + " managed=true node_name=n1 nodepool=web resource_type=cpu zone=a 0.5",
				"karpenter_nodes_total_pod_requests" + onNode + " managed=true node_name=n1 nodepool=web resource_type=pods zone=a 1",
			},
		},
		"how old nodes are": {
			[]string{"karpenter_nodes_current_lifetime_seconds"},
			[]string{
				"karpenter_nodes_current_lifetime_seconds managed=false node_name=n2 3600",
				"karpenter_nodes_current_lifetime_seconds" + onNode + " managed=true node_name=n1 nodepool=web zone=a 3600",
			},
		},
		"where pods are": {
			[]string{"karpenter_pods_state"},
			[]string{
				"karpenter_pods_state name=waits namespace=default phase=Pending ready=false scheduled=false 1",
				"karpenter_pods_state" + onNode + " managed=true name=done namespace=default node=n1 nodepool=web phase=Succeeded ready=false scheduled=true zone=a 1",
				"karpenter_pods_state" + onNode + " managed=true name=proxy namespace=default node=n1 nodepool=web" +
					" owner=/apis/apps/v1/namespaces/default/daemonsets/proxy phase=Pending ready=false scheduled=true zone=a 1",
				"karpenter_pods_state" + onNode + " managed=true name=web namespace=default node=n1 nodepool=web" +
					" owner=/apis/apps/v1/namespaces/default/replicasets/web-7d phase=Running ready=true scheduled=true zone=a 1",
			},
		},
		"conditions and departures": {
			[]string{"operator_nodeclaim_status_condition_count", "operator_nodeclaim_status_condition_current_status_seconds", "operator_node_termination_current_time_seconds"},
			[]string{
				"operator_node_termination_current_time_seconds name=n2 30",
				"operator_nodeclaim_status_condition_count name=web-1 reason=Launched status=True type=Launched 1",
				"operator_nodeclaim_status_condition_current_status_seconds name=web-1 reason=Launched status=True type=Launched 60",
			},
		},
		"the same of all kinds together": {
			[]string{"operator_status_condition_count", "operator_status_condition_current_status_seconds", "operator_termination_current_time_seconds"},
			[]string{
				"operator_termination_current_time_seconds kind=Node name=n2 30",
				"operator_status_condition_count group=karpenter.sh kind=NodeClaim name=web-1 reason=Launched status=True type=Launched 1",
				"operator_status_condition_current_status_seconds group=karpenter.sh kind=NodeClaim name=web-1 reason=Launched status=True type=Launched 60",
			},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := scrapedFrom(t, collector(t), tt.names...)
			slices.Sort(tt.want)
			if !slices.Equal(got, tt.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
		})
	}
}

// Pods whose spec the cache holds once count each, and one that is being resized counts as what it holds.
func TestPodsThatShareTheirSpecAreAddedUp(t *testing.T) {
	c := collector(t)
	shared := pod("shared", "n1", "500m", metav1.OwnerReference{})
	another, resized := shared.DeepCopy(), shared.DeepCopy()
	another.Spec, resized.Spec = shared.Spec, shared.Spec
	holds := corev1.ResourceList{"cpu": resource.MustParse("2")}
	resized.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "c", AllocatedResources: holds, Resources: &corev1.ResourceRequirements{Requests: holds}}}
	another.Name, resized.Name = "another", "resized"
	c.Pods = slices.Values([]*corev1.Pod{shared, another, resized})
	got := scrapedFrom(t, c, "karpenter_nodes_total_pod_requests")
	if len(got) != 2 || !strings.HasSuffix(got[0], "resource_type=cpu zone=a 3") || !strings.HasSuffix(got[1], "resource_type=pods zone=a 3") {
		t.Errorf("two pods that ask for 500m and one that holds 2 take\n%s", strings.Join(got, "\n"))
	}
}

// Whatever is about one object ends with it, and what is about others stays.
func TestSeriesEndWithTheirObject(t *testing.T) {
	tests := map[string]struct {
		kind client.Object
		ends []string
	}{
		"pods":   {&corev1.Pod{}, []string{"karpenter_pods_state", "karpenter_nodes_total_pod_requests"}},
		"claims": {&karpv1.NodeClaim{}, []string{"operator_nodeclaim_status_condition_count", "operator_status_condition_count group=karpenter.sh kind=NodeClaim"}},
		"pools":  {&karpv1.NodePool{}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := collector(t)
			before := scrapedFrom(t, c)
			var in []client.DeleteAllOfOption
			if name == "pods" {
				in = append(in, client.InNamespace("default"))
			}
			if err := c.Store.(client.Client).DeleteAllOf(t.Context(), tt.kind, in...); err != nil {
				t.Fatal(err)
			}
			after := scrapedFrom(t, c)
			for _, words := range tt.ends {
				if !reports(before, words) || reports(after, words) {
					t.Errorf("before all %s have gone %s is told: %v, and after that: %v", name, words, reports(before, words), reports(after, words))
				}
			}
			if !reports(after, "karpenter_nodes_allocatable") {
				t.Errorf("after all %s have gone a scrape says\n%s", name, strings.Join(after, "\n"))
			}
		})
	}
}

// Pods that have to leave a node are those that would be somewhere else then.
func TestPodsOnANode(t *testing.T) {
	c := collector(t)
	count := PodsOn(byNodeName{c.Store})
	for node, want := range map[string]int{"n1": 1, "n2": 0, "nowhere": 0} {
		if got := count(node); got != want {
			t.Errorf("%d pods have to leave %s, want %d", got, node, want)
		}
	}
	if got := PodsOn(silent{})("n1"); got != 0 {
		t.Errorf("%d pods are counted that nobody can read", got)
	}
}

// byNodeName lists pods of a node as the caches do, by their index.
type byNodeName struct{ client.Reader }

func (r byNodeName) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	var o client.ListOptions
	o.ApplyOptions(options)
	name, _ := o.FieldSelector.RequiresExactMatch("spec.nodeName")
	if err := r.Reader.List(ctx, list); err != nil {
		return err
	}
	pods := list.(*corev1.PodList)
	pods.Items = slices.DeleteFunc(pods.Items, func(p corev1.Pod) bool { return p.Spec.NodeName != name })
	return nil
}

func TestAnotherLeaderReportsTheState(t *testing.T) {
	c := collector(t)
	c.Leading = func() bool { return false }
	if got := scrapedFrom(t, c); len(got) > 0 {
		t.Errorf("a process that does not lead tells\n%s", strings.Join(got, "\n"))
	}
}

// The instances of a pool cost what they did while its class is not ready, and offerings nothing.
func TestAPoolWhoseClassIsNotReadyCostsWhatItDid(t *testing.T) {
	const costs, instance = "karpenter_nodepools_cost_total", "karpenter_nodepools_cost_total nodepool=web 0.116"
	c := collector(t)
	ready := c.Kinds
	c.Kinds = func(karpv1.NodeClassReference) (*cluster.Catalogue, string) { return nil, "SubnetsNotFound" }
	if got := scrapedFrom(t, c, costs); len(got) != 0 {
		t.Errorf("a machine whose price was never known costs %q", got)
	}
	notReady := c.Kinds
	for _, kinds := range []func(karpv1.NodeClassReference) (*cluster.Catalogue, string){ready, notReady, notReady} {
		c.Kinds = kinds
		if got := scrapedFrom(t, c, costs); !slices.Equal(got, []string{instance}) {
			t.Errorf("costs %q, want %q", got, instance)
		}
	}
}

func TestSeriesOfObjectsCanBeSwitchedOff(t *testing.T) {
	c := collector(t)
	c.Objects = false
	got := scrapedFrom(t, c)
	for _, d := range observe.Definitions() {
		if d.PerObject && reports(got, d.Name) {
			t.Errorf("%s is still there", d.Name)
		}
	}
	if !reports(got, "karpenter_nodepools_cost_total nodepool=web 0.116") {
		t.Errorf("what is not of single objects is gone too:\n%s", strings.Join(got, "\n"))
	}
}

// Thousands of offerings are megabytes a scrape: those that no pool allows and no
// instance has are left out unless they are asked for.
func TestOfferingsHaveSeriesAsTheSettingSays(t *testing.T) {
	const available = "karpenter_cloudprovider_instance_type_offering_available capacity_type="
	all := []string{available + "on-demand instance_type=m5.large zone=a 1", available + "reserved instance_type=m5.large zone=b 0", available + "spot instance_type=m5.large zone=b 0"}
	tests := map[string]struct {
		which  Offerings
		allows []constraint.Requirement // of the pool; the instance is on demand in zone a
		want   []string
	}{
		"all":                             {AllOfferings, nil, all},
		"a pool that allows all":          {UsedOfferings, []constraint.Requirement{}, all},
		"a pool that allows one zone":     {UsedOfferings, []constraint.Requirement{{Key: api.LabelZone, Set: constraint.Values("a")}}, all[:1]},
		"a pool whose class is not ready": {UsedOfferings, nil, all[:1]},
		"none":                            {NoOfferings, nil, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := collector(t)
			c.Offerings = tt.which
			seen := *c.Snapshot()
			pool := seen.Pools[0]
			pool.Catalogue = nil
			if tt.allows != nil {
				pool.Catalogue, pool.Requirements = catalogue(), constraint.NewRequirements(tt.allows...)
			}
			seen.Pools = []cluster.Pool{pool}
			c.Snapshot = func() *cluster.Snapshot { return &seen }
			if got := scrapedFrom(t, c, "karpenter_cloudprovider_instance_type_offering_available"); !slices.Equal(got, tt.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
			if types := scrapedFrom(t, c, "karpenter_cloudprovider_instance_type_cpu_cores"); (len(types) > 0) != (tt.want != nil) {
				t.Errorf("types: %q", types)
			}
		})
	}
}

// silent is a store that cannot be read.
type silent struct{ client.Reader }

func (silent) List(context.Context, client.ObjectList, ...client.ListOption) error {
	return errors.New("the cache is not started")
}

func TestAScrapeThatCannotReadSaysSo(t *testing.T) {
	c := collector(t)
	c.Store = silent{}
	if _, err := c.Gather(); err == nil || !strings.Contains(err.Error(), "the cache is not started") {
		t.Errorf("Gather = %v, want the cause", err)
	}
}

// Templates are reported where the v1alpha5 API is served.
func TestConditionsOfTemplates(t *testing.T) {
	const ready = "operator_awsnodetemplate_status_condition_count name=old reason=Ready status=True type=Ready"
	template := &awsv1alpha1.AWSNodeTemplate{ObjectMeta: metav1.ObjectMeta{Name: "old"}}
	condition.SetTrue(template, condition.Ready, now)
	for _, older := range []bool{false, true} {
		c := collector(t)
		if err := c.Store.(client.Client).Create(t.Context(), template.DeepCopy()); err != nil {
			t.Fatal(err)
		}
		if older {
			c.Serves = append(c.Serves, translate.Generation{Kind: translate.KindProvisioner, NewList: func() client.ObjectList { return &v1alpha5.ProvisionerList{} }})
		}
		if lines := scrapedFrom(t, c, "operator_awsnodetemplate_status_condition_count"); reports(lines, ready) != older {
			t.Errorf("where the older generation is served (%v) it says %v", older, lines)
		}
	}
}
