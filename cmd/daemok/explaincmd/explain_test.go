package explaincmd

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/daemok/daemok/cmd/daemok/commandtest"
	"github.com/daemok/daemok/cmd/daemok/inspect"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/observe/record"
	"github.com/daemok/daemok/test/store"
)

// explained runs `daemok explain` on a cluster.
func explained(t *testing.T, store client.Client, args ...string) (string, error) {
	t.Helper()
	cmd := Command(func(*inspect.Target) (client.Client, error) { return store, nil }, inspect.Account)
	var out bytes.Buffer
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetOut(&out)
	cmd.SetArgs(args)
	err := cmd.ExecuteContext(t.Context())
	return out.String(), err
}

// What a controller decided can be asked when it is gone.
func TestExplainReadsWhatAControllerLeft(t *testing.T) {
	scheme, err := inspect.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	store := fake.NewClientBuilder().WithScheme(scheme).Build()
	if _, err := explained(t, store, "node", "ip-1", "--record"); err == nil || !strings.Contains(err.Error(),
		"no decision is on record in namespace kube-system: there is no ConfigMap daemok-record-0") {
		t.Errorf("before anything was decided: %v", err)
	}
	for _, o := range []client.Object{
		&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "ip-2"}}, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web-4"}},
		&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web-3"},
			Spec: corev1.PodSpec{NodeName: "ip-2"}},
	} {
		if err := store.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	commandtest.Leave(t, store,
		record.Statement{About: record.Object{Kind: record.Pod, Name: "shop/web-1"}, Said: "has no place",
			Why: "limit cpu is 2 short"})
	for name, args := range map[string][]string{
		"by namespace":         {"pod", "web-1", "-n", "shop"},
		"with its namespace":   {"pods", "shop/web-1"},
		"as kubectl names it":  {"pod/web-1", "-n", "shop"},
		"as it is printed":     {"pod/shop/web-1"},
		"where it is the only": {"po", "shop/web-1", "-n", "default"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := explained(t, store, append(args, "--record")...)
			if err != nil || !strings.Contains(out,
				"pod/shop/web-1 has no place\n  because: limit cpu is 2 short\nthe record changed ") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	out, err := explained(t, store, "pod", "shop/web-1", "--record", "-o", "json")
	var list []record.Statement
	if err != nil || json.Unmarshal([]byte(out),
		&list) != nil || len(list) != 1 || list[0].Why != "limit cpu is 2 short" {
		t.Errorf("as JSON: %v\n%s", err, out)
	}
	for want, args := range map[string][]string{
		"on record are shop/web-1": {"pod", "web-2"},
		"nor about any node":       {"node", "ip-1"},
		`"service" is no kind that Daemok decides about: ask about a pod, node`: {"service", "web"},
		"name the EC2NodeClass":                               {"ec2nodeclass/"},
		"i-0123 is no ID of an instance":                      {"i-0123"},
		"namespace default has no such pod: -n names another": {"pod", "web-2"},
		"the cluster has no such node":                        {"node", "ip-1"},
		"it is of no NodePool":                                {"node", "ip-2"},
		"it is on node ip-2, and only pods that wait or are to move are decided about: daemok explain node ip-2": {"pod", "web-3"},
		"it waits, and no plan has been made for it; if that stays so, daemok doctor":                            {"pod", "web-4"},
		"say what to explain":    {"web-1"},
		"nor about any nodepool": {"nodepool.karpenter.sh/web"},
		"want yaml, table":       {"node", "ip-1", "-o", "yml"},
	} {
		if _, err := explained(t, store, append(args, "--record")...); err == nil || !strings.Contains(err.Error(),
			want) {
			t.Errorf("explain %s: %v, want %q", strings.Join(args, " "), err, want)
		}
	}
}

// An instance is explained by its ID, wherever that stands, through the NodeClaim that has it or had it; of one without a NodeClaim it is said
// what it is and how to go on.
func TestAnInstanceIsExplainedByItsID(t *testing.T) {
	scheme, err := inspect.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	node := func(name, id string) *corev1.Node {
		return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: corev1.NodeSpec{ProviderID: "aws:///us-west-2a/" + id}}
	}
	claim := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "web-1"}}
	claim.Status.ProviderID = "aws:///us-west-2a/i-00000000000000001"
	store := fake.NewClientBuilder().WithScheme(scheme).WithObjects(claim, node("ip-1", "i-00000000000000001"),
		node("ip-3", "i-00000000000000003")).Build()
	commandtest.Leave(t, store,
		record.Statement{About: record.Object{Kind: record.Node, Name: "ip-1"}, Claim: "web-1", Said: "stays"},
		record.Statement{About: record.Object{Kind: record.Claim, Name: "web-0"},
			Said: "has instance i-00000000000000002: m5.large in us-west-2a, spot"})
	for name, tt := range map[string]struct{ args, want string }{
		"by its ID":               {"i-00000000000000001", "node/ip-1 stays"},
		"as a node":               {"node/i-00000000000000001", "node/ip-1 stays"},
		"as a NodeClaim":          {"nodeclaim.karpenter.sh/i-00000000000000001", "node/ip-1 stays"},
		"as an instance":          {"instance i-00000000000000001", "node/ip-1 stays"},
		"by its provider ID":      {"aws:///us-west-2a/i-00000000000000001", "node/ip-1 stays"},
		"by a node's provider ID": {"node aws:///us-west-2a/i-00000000000000001", "node/ip-1 stays"},
		"that is gone":            {"i-00000000000000002", "nodeclaim/web-0 has instance i-00000000000000002"},
		"that no NodeClaim has": {"i-00000000000000003",
			"instance i-00000000000000003 is node ip-3, which has no NodeClaim, so Daemok decides nothing about it: daemok adopt"},
		"that is not of this cluster": {"i-00000000000000004",
			"instance i-00000000000000004 is not known in this cluster: no NodeClaim and no node has it, nor had a NodeClaim that is on record. Its tags say"},
		"a pod that is called so": {"pod/i-00000000000000001",
			"nothing is on record about pod default/i-00000000000000001"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := explained(t, store, append(strings.Fields(tt.args), "--record")...)
			if err != nil {
				out = err.Error()
			}
			if !strings.Contains(out, tt.want) {
				t.Errorf("it says\n%s\nwant %q", out, tt.want)
			}
		})
	}
}

// The screen is made from the cluster as it is, with what is on record about it: without a controller it shows what it can.
func TestOneScreenExplainsAnObject(t *testing.T) {
	scheme, err := inspect.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	owner := func(kind, name string) []metav1.OwnerReference {
		yes := true
		return []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: kind, Name: name, Controller: &yes}}
	}
	now := metav1.NewTime(time.Now().Add(-time.Hour))
	requests := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}
	container := []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{Requests: requests}}}
	waits := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-1", UID: "1", CreationTimestamp: now,
			OwnerReferences: owner("StatefulSet", "web")},
		Spec: corev1.PodSpec{Containers: container},
		Status: corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{
			{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable},
		}},
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "ip-1", CreationTimestamp: now}, Status: corev1.NodeStatus{
		Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
		Allocatable: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1"),
			corev1.ResourcePods: resource.MustParse("10")},
	}}
	cluster := fake.NewClientBuilder().WithScheme(scheme).WithRESTMapper(store.Mapper(scheme)).WithObjects(waits,
		node).Build()
	without, err := explained(t, cluster, "pod", "web-1", "-n", "shop")
	for _, want := range []string{"No decision is on record in namespace kube-system", "pod shop/web-1 waits for a node; it waits for the next plan"} {
		if err != nil || !strings.Contains(without, want) {
			t.Errorf("without a record: %v\n%s\nwant %q", err, without, want)
		}
	}
	watching := shadowBeside(t, scheme, waits, node)
	if out, err := explained(t, watching, "pod", "web-1", "-n", "shop"); err != nil || strings.Contains(out,
		"No decision is on record") ||
		!strings.Contains(strings.Join(strings.Fields(out), " "),
			"Shadow mode: Deployment daemok/shadow makes plans and changes nothing; daemok shadow report shows") {
		t.Errorf("beside shadow mode alone: %v\n%s", err, out)
	}
	commandtest.Leave(t, cluster,
		record.Statement{About: record.Object{Kind: record.Pod, Name: "shop/web-1"}, UID: "1", Topic: record.TopicPlace,
			Said: "has no place", Why: "NodePool/default: limit cpu is 1 short"})
	for args, want := range map[string]string{
		"pod web-1 -n shop":          "1 of 1 nodes      cpu\n  NodePool/default  limit cpu is 1 short\n\nWhat would change it\n  node ip-1  cpu: need 1 more\n",
		"sts/web -n shop":            "StatefulSet web in namespace shop has 0 pods on 0 nodes, and 1 pod waits for a",
		"statefulset shop/web":       "StatefulSet web in namespace shop has 0 pods",
		"node ip-1":                  "node ip-1 is ready\n",
		"pod web-1 -n shop -o json":  `"change": [`,
		"deployment other -n shop":   "nothing is known about Deployment other in namespace shop: no pod in the cluster has this owner; -n names another namespace",
		"nodepool other":             "nothing is on record about nodepool other",
		"deployment/ -n shop":        "name the Deployment",
		"pod web-1 -n shop -o wide":  "1 of 1 nodes",
		"pod web-1 -n shop --record": "pod/shop/web-1 has no place",
	} {
		out, err := explained(t, cluster, strings.Fields(args)...)
		if err != nil {
			out = err.Error()
		}
		if !strings.Contains(out, want) {
			t.Errorf("daemok explain %s says\n%s\nwant %q", args, out, want)
		}
	}
}

// shadowBeside is a cluster with a controller in shadow mode.
func shadowBeside(t *testing.T, scheme *runtime.Scheme, objects ...client.Object) client.Client {
	t.Helper()
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "daemok", Name: "shadow"},
		Status: appsv1.DeploymentStatus{ReadyReplicas: 1}}
	d.Spec.Template.Spec.Containers = []corev1.Container{{Image: "ghcr.io/daemok/daemok-controller:v1",
		Env: []corev1.EnvVar{{Name: "SHADOW", Value: "true"}}}}
	return fake.NewClientBuilder().WithScheme(scheme).WithRESTMapper(store.Mapper(scheme)).WithObjects(append(objects,
		d)...).Build()
}
