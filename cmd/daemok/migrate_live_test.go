package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud/aws"
	"github.com/daemok/daemok/cmd/daemok/commandtest"
	"github.com/daemok/daemok/cmd/daemok/inspect"
	"github.com/daemok/daemok/kube/api"
	awsv1alpha1 "github.com/daemok/daemok/kube/api/aws/v1alpha1"
	"github.com/daemok/daemok/kube/api/condition"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha5"
	"github.com/daemok/daemok/test/store"
)

// olderCluster has a Provisioner and its template, and pods that select its nodes.
func olderCluster(t *testing.T, settings map[string]string, more ...client.Object) reached {
	t.Helper()
	s, err := inspect.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	store := store.New(s, time.Now).Connect(nil)
	tags := awsv1alpha1.Selector{"karpenter.sh/discovery": {Value: "prod"}}
	pods := corev1.PodSpec{NodeSelector: map[string]string{api.LabelProvisioner: "default"}, Containers: []corev1.Container{{Name: "web", Image: "web"}}}
	labels := map[string]string{"app": "web"}
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}}
	deployment.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
	deployment.Spec.Template = corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: pods}
	owner := metav1.OwnerReference{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web-1", UID: "1", Controller: new(true)}
	for _, o := range append([]client.Object{
		readyProvisioner("default"),
		&awsv1alpha1.AWSNodeTemplate{ObjectMeta: metav1.ObjectMeta{Name: "default"}, Spec: awsv1alpha1.AWSNodeTemplateSpec{
			AWS: awsv1alpha1.AWS{SubnetSelector: tags, SecurityGroupSelector: tags}, UserData: new("echo ${HOME}")}},
		deployment,
		&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-1-a", OwnerReferences: []metav1.OwnerReference{owner}}, Spec: pods},
		&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "bare", Annotations: map[string]string{api.AnnotationDoNotEvict: "true"}}, Spec: corev1.PodSpec{Containers: pods.Containers}},
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: inspect.NewTarget().SystemNamespace(), Name: api.ConfigMapSettings}, Data: settings},
	}, more...) {
		if err := store.Create(t.Context(), o.DeepCopyObject().(client.Object)); err != nil {
			t.Fatal(err)
		}
	}
	return reached{store, "1.33"}
}

func readyProvisioner(name string) *v1alpha5.Provisioner {
	p := &v1alpha5.Provisioner{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{api.AnnotationProvisionerHash: "1"}}}
	condition.Set(p, "Ready", metav1.ConditionTrue, "Ready", "", time.Now())
	return p
}

// asked runs daemok migrate on a cluster.
func asked(t *testing.T, cluster reached, account func(context.Context, *inspect.Target) (*aws.Provider, error), args ...string) (out, report string, err error) {
	t.Helper()
	cmd := migrateCommand(func(*inspect.Target) (reached, error) { return cluster, nil }, account)
	var printed, reported bytes.Buffer
	cmd.SetOut(&printed)
	cmd.SetErr(&reported)
	cmd.SetArgs(args)
	err = cmd.ExecuteContext(t.Context())
	return printed.String(), reported.String(), err
}

// Without files the cluster is read: what controllers wrote is left out, its version decides about
// images, its settings hold, and workloads that only users made are reported.
func TestMigrateReadsACluster(t *testing.T) {
	cluster := olderCluster(t, map[string]string{"aws.defaultInstanceProfile": "nodes"})
	out, report, err := asked(t, cluster, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"kind: NodePool\n", "alias: al2023@latest", "instanceProfile: nodes", "userData: echo ${HOME}", "- Drifted\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	for _, never := range []string{"status", "hash", "uid", "resourceVersion", "Deployment"} {
		if strings.Contains(out, never) {
			t.Errorf("%q is in\n%s", never, out)
		}
	}
	for _, want := range []string{
		"Provisioner default -> NodePool default\n",
		"  Deployment shop/web: changes: spec.template.spec.nodeSelector[karpenter.sh/provisioner-name]: karpenter.sh/provisioner-name is karpenter.sh/nodepool now: write that\n",
		"  Pod shop/bare: changes: metadata.annotations[karpenter.sh/do-not-evict]: is understood still; write karpenter.sh/do-not-disrupt\n",
	} {
		if !strings.Contains(report, want) {
			t.Errorf("%q is not in\n%s", want, report)
		}
	}
	if strings.Contains(report, "web-1-a") {
		t.Errorf("a pod is told of beside the Deployment that makes it:\n%s", report)
	}
	if _, _, err := asked(t, cluster, nil, "--rewrite-workloads"); err == nil || !strings.Contains(err.Error(), "give them by -f") {
		t.Errorf("to rewrite what a cluster has gives %v", err)
	}
}

// A switch of the controller's own goes before its settings; and what another owner's object made
// is read like all.
func TestMigrateReadsWhatTheControllerDoes(t *testing.T) {
	owner := metav1.OwnerReference{APIVersion: "example.com/v1", Kind: "Platform", Name: "prod", UID: "1", Controller: new(true)}
	made := &v1alpha5.Provisioner{ObjectMeta: metav1.ObjectMeta{Name: "made", OwnerReferences: []metav1.OwnerReference{owner}}}
	for gate, want := range map[string]struct {
		kept     bool
		reported string
	}{
		"":            {true, "featureGates.driftEnabled is not set, so it was off"},
		"Drift=true":  {false, "FEATURE_GATES says Drift=true where this runs, and goes before featureGates.driftEnabled: drift is always on now"},
		"Drift=false": {true, "Provisioner made -> NodePool made"},
	} {
		t.Run(gate, func(t *testing.T) {
			t.Setenv("FEATURE_GATES", gate)
			out, report, err := asked(t, olderCluster(t, map[string]string{"aws.defaultInstanceProfile": "nodes"}, made), nil)
			if err != nil {
				t.Fatal(err)
			}
			if kept := strings.Contains(out, `nodes: "0"`); kept != want.kept || !strings.Contains(report, want.reported) || !strings.Contains(out, "name: made\n") {
				t.Errorf("nodes that have drifted stay: %v, want %v and %q; got\n%s\n%s", kept, want.kept, want.reported, out, report)
			}
		})
	}
}

// olderNode is one of the Provisioner default.
func olderNode(name, instanceType, category string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
		api.LabelProvisioner: "default", api.LabelInstanceType: instanceType, api.LabelCategory: category, api.LabelGeneration: "5", api.LabelArch: "amd64", api.LabelOS: "linux",
		api.LabelCapacityType: "on-demand", api.LabelZone: "us-east-1a"}}, Spec: corev1.NodeSpec{ProviderID: "aws:///us-east-1a/i-0" + name}}
}

// A check reports which nodes would go under the new objects, with their pods and budgets, and
// which would but for a budget; its exit code says whether there are any.
func TestMigrateChecksACluster(t *testing.T) {
	account := commandtest.EmulatedAccount(t)
	pod := func(name, node, owner string) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, Labels: map[string]string{"app": "web"}}, Spec: corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "web"}}}}
		if owner != "" {
			p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: owner, Name: "x", UID: "1", Controller: new(true)}}
		}
		return p
	}
	budget := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}, Spec: policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}}}
	policy := filepath.Join(t.TempDir(), "policy.json")
	if err := os.WriteFile(policy, []byte(`{"Statement": [{"Effect": "Allow", "Action": ["ec2:*", "iam:PassRole", "eks:*"]}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	marked := olderNode("good", "m5.large", "m")
	marked.Annotations = map[string]string{api.AnnotationDoNotConsolidate: "true", api.AnnotationVoluntaryDisruption: api.VoluntaryDrifted}
	for drift, want := range map[string]struct {
		reported []string
		code     int
	}{
		"true": {[]string{
			"node old of NodePool default would be replaced: RequirementsDrifted: label karpenter.k8s.aws/instance-category is t; NodePool/default asks for in c,m,r\n  pod shop/web-1\n  PodDisruptionBudget shop/web\n",
			"node good: karpenter.sh/do-not-consolidate becomes karpenter.sh/do-not-disrupt", "node good: karpenter.sh/voluntary-disruption says nothing of nodes of NodePools: to have it go, delete its NodeClaim",
			"1 of 2 nodes of Provisioners would be replaced\n", "right missing: iam:CreateInstanceProfile, for classes"}, wouldTouch},
		"false": {[]string{"node old of NodePool default would stay, since a budget of 0 keeps nodes that have drifted: RequirementsDrifted", "0 of 2 nodes"}, 0},
	} {
		cluster := olderCluster(t, map[string]string{"aws.defaultInstanceProfile": "nodes", "featureGates.driftEnabled": drift},
			marked, olderNode("old", "t3.large", "t"), pod("web-1", "old", "ReplicaSet"), pod("log-1", "old", "DaemonSet"), pod("web-2", "good", ""), budget)
		out, _, err := asked(t, cluster, func(context.Context, *inspect.Target) (*aws.Provider, error) { return account, nil }, "--check", "--policy", policy)
		code := 0
		if exit, is := errors.AsType[*exitError](err); is {
			code = exit.code
		} else if err != nil {
			t.Fatal(err)
		}
		if code != want.code {
			t.Errorf("with drift %s the exit code is %d, want %d", drift, code, want.code)
		}
		for _, words := range want.reported {
			if !strings.Contains(out, words) {
				t.Errorf("with drift %s it does not say %q:\n%s", drift, words, out)
			}
		}
		if strings.Contains(out, "log-1") || strings.Contains(out, "web-2") || strings.Contains(out, "apiVersion") {
			t.Errorf("with drift %s it says\n%s", drift, out)
		}
	}
	if _, _, err := asked(t, reached{}, nil, "--check", "-f", "x"); err == nil || !strings.Contains(err.Error(), "leave -f out") {
		t.Errorf("a check of files gives %v", err)
	}
}

func TestMigrateReportsOptionsThatDoNothingAlone(t *testing.T) {
	for option, beside := range map[string]string{"--keep": "--from cluster-autoscaler", "--plan": "--from cluster-autoscaler", "--policy": "--check"} {
		if _, _, err := asked(t, reached{}, nil, option, "x"); err == nil || !strings.Contains(err.Error(), option) || !strings.Contains(err.Error(), beside) {
			t.Errorf("migrate %s x gives %v, want an error that asks for %s", option, err, beside)
		}
	}
}

// A check fails where the move could not begin: a user who checks before the move sees it then, not
// in the middle of the night of the move.
func TestMigrateChecksWhetherTheMoveCouldBegin(t *testing.T) {
	account := commandtest.EmulatedAccount(t)
	unready := readyProvisioner("old")
	condition.Set(unready, "Ready", metav1.ConditionFalse, "UnhealthyDependents", "Kubernetes 1.36 has no images of AL2", time.Now())
	cluster := olderCluster(t, map[string]string{"aws.defaultInstanceProfile": "nodes"}, unready)
	_, _, err := asked(t, cluster, func(context.Context, *inspect.Target) (*aws.Provider, error) { return account, nil }, "--check")
	if _, found := errors.AsType[*exitError](err); err == nil || found || !strings.Contains(err.Error(), "--apply would refuse: Provisioner old is not ready: Kubernetes 1.36 has no images of AL2: mend it, or delete it") {
		t.Errorf("the check ends with %v, want exit code 1 and what --apply says", err)
	}
	_, _, applied := asked(t, cluster, nil, "--apply")
	if applied == nil || !strings.Contains(applied.Error(), "Provisioner old is not ready") {
		t.Errorf("--apply ends with %v", applied)
	}
}

// A move that is done is no error when it is asked for again, unless older objects are back.
func TestMigrateAppliesOnce(t *testing.T) {
	record := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: inspect.NewTarget().SystemNamespace(), Name: api.ConfigMapMigration}, Data: map[string]string{"step": "done", "older": "[]", "newer": "[]"}}
	cluster := olderCluster(t, nil, record)
	if _, _, err := asked(t, cluster, nil, "--apply"); err == nil || !strings.Contains(err.Error(), "delete it to begin another") {
		t.Errorf("with older objects it ends with %v", err)
	}
	for _, o := range []client.Object{&v1alpha5.Provisioner{}, &awsv1alpha1.AWSNodeTemplate{}} {
		o.SetName("default")
		if err := cluster.Delete(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	if out, _, err := asked(t, cluster, nil, "--apply"); err != nil || out != "the move is done\n" {
		t.Errorf("without older objects it says %q, %v", out, err)
	}
}
