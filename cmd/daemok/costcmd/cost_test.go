package costcmd

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	metrics "k8s.io/metrics/pkg/apis/metrics/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/daemok/daemok/cmd/daemok/inspect"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/test/store"
)

func amounts(cpu, memory string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}
}

func node(name, instanceType string) *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
		corev1.LabelInstanceTypeStable: instanceType, corev1.LabelTopologyZone: "us-west-2a", "eks.amazonaws.com/capacityType": "ON_DEMAND",
	}}}
	n.Status.Allocatable, n.Status.Capacity = amounts("2", "8Gi"), amounts("2", "8Gi")
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	return n
}

func pod(namespace, name, on, team string) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(namespace + name), Labels: map[string]string{"team": team}}}
	p.Spec = corev1.PodSpec{NodeName: on, Containers: []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{Requests: amounts("1", "1Gi")}}}}
	p.Status.Phase = corev1.PodRunning
	return p
}

func uses(namespace, name, cpu, memory string) *metrics.PodMetrics {
	return &metrics.PodMetrics{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Containers: []metrics.ContainerMetrics{{Name: "c", Usage: amounts(cpu, memory)}}}
}

// shop is a cluster of an EKS node group with pods of two teams.
func shop() []client.Object {
	return []client.Object{node("n1", "m5.large"), node("n2", "m5.large"), node("odd", "not-a-type"),
		pod("shop", "web-1", "n1", "front"), pod("shop", "web-2", "n2", "front"), pod("ops", "bot-1", "n1", "=cmd")}
}

// costOf runs `daemok cost` on a cluster whose lists may be refused.
func costOf(t *testing.T, objects []client.Object, refused map[string]error, args ...string) (string, error) {
	t.Helper()
	scheme, err := inspect.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	list := func(ctx context.Context, c client.WithWatch, l client.ObjectList, options ...client.ListOption) error {
		if partial, is := l.(*metav1.PartialObjectMetadataList); is {
			if err := refused["metadata of "+partial.Kind]; err != nil {
				return err
			}
		} else if gvk, err := c.GroupVersionKindFor(l); err == nil && refused[gvk.Kind] != nil {
			return refused[gvk.Kind]
		}
		return c.List(ctx, l, options...)
	}
	get := func(ctx context.Context, c client.WithWatch, key client.ObjectKey, into client.Object,
		options ...client.GetOption) error {
		if err := refused[key.Name]; err != nil {
			return err
		}
		return c.Get(ctx, key, into, options...)
	}
	cluster := fake.NewClientBuilder().WithScheme(scheme).WithRESTMapper(store.Mapper(scheme)).WithObjects(objects...).
		WithInterceptorFuncs(interceptor.Funcs{List: list, Get: get}).Build()
	cmd := Command(func(ctx context.Context, at *inspect.Target, _ bool) (*inspect.Seen, error) {
		return inspect.SeeThrough(ctx, at, cluster)
	})
	var out bytes.Buffer
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetOut(&out)
	cmd.SetArgs(args)
	err = cmd.ExecuteContext(t.Context())
	return out.String(), err
}

// Without AWS, costs are by list prices and say so; what is not known is named.
func TestCostsOfALiveCluster(t *testing.T) {
	out, err := costOf(t, append(shop(), uses("shop", "web-1", "250m", "512Mi")), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"$0.192/h, $140 a month, 3 nodes\n", "100.0 % of it by built-in list prices for Linux", "the price of 1 node is not known, and not in any cost: odd",
		"shop       0.074", "one sample: usage at this moment", "shop/Pod/web-1     1  0.25 of 1.00  0.50Gi of 1.00Gi",
		"What to do about unmanaged: Daemok does not consolidate nodes outside its",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("it does not say %q:\n%s", want, out)
		}
	}
}

// Labels of pods are read from the cluster, so that any may be grouped and chosen by; CSV adds up and has no formula.
func TestCostsByLabel(t *testing.T) {
	out, err := costOf(t, shop(), nil, "--by", "label=team", "-o", "csv")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	sum, teams := 0.0, ""
	for _, r := range rows[1:] {
		teams += r[0] + "|"
		cost, err := strconv.ParseFloat(r[2], 64)
		if err != nil {
			t.Fatal(err)
		}
		sum += cost
	}
	if math.Abs(sum-0.192) > 1e-9 || teams != "|front|'=cmd|" {
		t.Errorf("rows %q come to %v, want 0.192 of nothing, front and '=cmd", teams, sum)
	}
	out, err = costOf(t, shop(), nil, "-l", "team=front", "-n", "shop", "-o", "json")
	var report struct{ Cost, Cluster float64 }
	if err != nil || json.Unmarshal([]byte(out), &report) != nil || report.Cost != 0.073846 || report.Cluster != 0.192 {
		t.Errorf("%+v, %v, want 0.073846 of 0.192", report, err)
	}
	if _, err := costOf(t, shop(), nil, "-n", "empty"); err == nil || err.Error() != "no pod on a node is chosen by namespace empty" {
		t.Errorf("of an empty namespace: %v", err)
	}
}

// What may not be read is missing, and is said with the right that is needed.
func TestCostsGoOnWithoutRights(t *testing.T) {
	forbidden := func(resource string) error {
		return apierrors.NewForbidden(schema.ParseGroupResource(resource), "", nil)
	}
	for name, tt := range map[string]struct {
		refused map[string]error
		args    []string
		want    string
	}{
		"no metrics-server":        {map[string]error{"PodMetricsList": &meta.NoKindMatchError{}}, nil, "the cluster has no metrics-server"},
		"metrics-server is silent": {map[string]error{"PodMetricsList": apierrors.NewServiceUnavailable("")}, nil, "metrics-server does not answer"},
		"no right to see usage":    {map[string]error{"PodMetricsList": forbidden("pods.metrics.k8s.io")}, nil, "grant the verb list on them"},
		"no Karpenter":             {map[string]error{"NodePoolList": &meta.NoKindMatchError{}}, nil, "The cluster has no nodepools.karpenter.sh"},
		"no right to see pools":    {map[string]error{"NodePoolList": forbidden("nodepools.karpenter.sh")}, nil, "You may not list nodepools.karpenter.sh"},
		"no right to see commitments": {map[string]error{api.ConfigMapCommitments: forbidden("configmaps")}, nil,
			"You may not get ConfigMap kube-system/daemok-commitments, so commitments that it lists are left out here"},
		"no right to see labels": {map[string]error{"metadata of PodList": forbidden("pods")}, []string{"--by", "label=team"}, "to see costs by their labels"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := costOf(t, shop(), tt.refused, tt.args...)
			said := strings.Join(strings.Fields(out), " ")
			if err != nil || !strings.Contains(said, tt.want) || !strings.Contains(out, "$0.192/h") {
				t.Errorf("%v, want %q and the cost:\n%s", err, tt.want, out)
			}
		})
	}
}

// A ConfigMap of commitments that is not understood is named with the field that is wrong.
func TestCostsNameCommitmentsThatAreInvalid(t *testing.T) {
	listed := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: api.ConfigMapCommitments},
		Data: map[string]string{api.CommitmentsFile: "reservedInstances: [{id: web, count: 2}]"}}
	out, err := costOf(t, append(shop(), listed), nil)
	said := strings.Join(strings.Fields(out), " ")
	want := "ConfigMap kube-system/daemok-commitments: data[commitments.yaml]: "
	if err != nil || !strings.Contains(said, want) || !strings.Contains(said, "reservedInstances[0].instanceType") {
		t.Errorf("%v, want %q and the field:\n%s", err, want, out)
	}
}
