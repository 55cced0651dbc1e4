package doctor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws/audit"
	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/internal/tidy"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/crds"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/installation"
	"github.com/daemok/daemok/kube/translate"
)

// account is AWS as a test has it.
type account struct {
	cluster  audit.Cluster
	entries  map[string]string // types by role ARN
	podRole  string            // ARN
	trusts   map[string]string // of roles, by name
	profiles map[string][]string
	audience []string // of the OIDC provider; nil: there is none
	queues   map[string]audit.Queue
	rules    []string
}

func (a *account) Cluster(context.Context, string) (audit.Cluster, error) { return a.cluster, nil }
func (a *account) AccessEntry(_ context.Context, _, role string) (string, error) {
	return a.entries[role], nil
}
func (a *account) PodIdentity(context.Context, string, string, string) (string, error) {
	return a.podRole, nil
}
func (a *account) Role(_ context.Context, name string) (string, bool, error) {
	trust, there := a.trusts[name]
	return trust, there, nil
}
func (a *account) Provider(_ context.Context, arn string) ([]string, bool, error) {
	return a.audience, a.audience != nil && arn == "arn:aws:iam::123456789012:oidc-provider/oidc.test/id/1", nil
}
func (a *account) RolesOfProfile(_ context.Context, name string) ([]string, error) {
	if roles, there := a.profiles[name]; there {
		return roles, nil
	}
	return nil, errors.New("NoSuchEntity: no such profile")
}
func (a *account) Queue(_ context.Context, name string) (audit.Queue, bool, error) {
	q, there := a.queues[name]
	return q, there, nil
}
func (a *account) Sources(context.Context, string) ([]string, error) { return a.rules, nil }

// town is a cluster in which nothing is wrong.
type town struct {
	version string
	objects map[string]client.Object
	classes []Class
	account account
	rights  []Finding
	mayNot  string // verb and resource that the controller's account has no right to

	commitments cloud.AccountCommitments
}

// Commitments implements cloud.Commitments.
func (w *town) Commitments() cloud.AccountCommitments { return w.commitments }

// parsed are the definitions of this release, which no test changes.
var parsed = sync.OnceValues(crds.All)

func ours(t *testing.T) []*apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	all, err := parsed()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// podTrust is who may have the controller's role by EKS Pod Identity.
const podTrust = `{"Statement":{"Effect":"Allow","Principal":{"Service":"pods.eks.amazonaws.com"},"Action":["sts:AssumeRole","sts:TagSession"]}}`

// webTrust is a trust policy for IRSA: for a service account of an issuer, whose token has that
// audience.
func webTrust(issuer, subject, audience string) string {
	return fmt.Sprintf(`{"Statement":[{"Effect":"Allow","Principal":{"Federated":"arn:aws:iam::123456789012:oidc-provider/%[1]s"},"Action":"sts:AssumeRoleWithWebIdentity",
		"Condition":{"StringLike":{"%[1]s:sub":%[2]q},"StringEquals":{"%[1]s:aud":%[3]q}}}]}`, issuer, subject, audience)
}

// sends is a policy of the queue by which a service may send, or may not.
func sends(effect, service string) string {
	return fmt.Sprintf(`{"Effect":%q,"Principal":{"Service":[%q]},"Action":"sqs:SendMessage","Resource":"*"}`, effect, service)
}

const nodeRole = "arn:aws:iam::123456789012:role/nodes"

func healthy(t *testing.T) *town {
	t.Helper()
	w := &town{version: "1.36", objects: map[string]client.Object{}}
	for _, d := range ours(t) {
		d = d.DeepCopy()
		for _, v := range d.Spec.Versions {
			if v.Storage {
				d.Status.StoredVersions = []string{v.Name}
			}
		}
		w.objects[d.Name] = d
	}
	w.objects["stays"], w.objects["ours"] = node("stays", "", "8Gi"), node("ours", "default", "8Gi")
	w.objects["dns"] = pod("kube-system", "dns", "stays", map[string]string{"k8s-app": "kube-dns"})
	w.objects["controller"] = deployment("kube-system", "karpenter", "daemok/controller", "CLUSTER_NAME=prod", "INTERRUPTION_QUEUE=prod")
	replica := pod("kube-system", "karpenter-1", "stays", map[string]string{"app": "karpenter"})
	replica.Spec.Containers = []corev1.Container{{Env: []corev1.EnvVar{{Name: "AWS_CONTAINER_CREDENTIALS_FULL_URI", Value: "http://169.254.170.23/v1/credentials"}}}}
	w.objects["replica"] = replica
	w.objects["agent"] = &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: podIdentityAgent}}
	w.objects["cni"] = &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "aws-node"}}
	w.objects["account"] = &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "karpenter"}}
	w.objects["pool"] = &karpv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	w.classes = []Class{{
		Name: "EC2NodeClass/default", Spec: nodeclass.Spec{Role: "nodes"},
		Subnets: []nodeclass.Subnet{{ID: "subnet-1", Zone: "a", Free: 200}, {ID: "subnet-2", Zone: "b", Free: 200}},
		Groups:  []nodeclass.Group{{ID: "sg-1", Owned: true}, {ID: "sg-2"}}, Images: []nodeclass.Image{{ID: "ami-1"}},
	}}
	w.account = account{
		cluster: audit.Cluster{Version: "1.36", Issuer: "https://oidc.test/id/1", Entries: true, AuthMap: true},
		entries: map[string]string{nodeRole: "EC2_LINUX"}, podRole: "arn:aws:iam::123456789012:role/pods", audience: []string{"sts.amazonaws.com", "vault"}, trusts: map[string]string{"nodes": "", spotLinked: "", "pods": podTrust},
		queues: map[string]audit.Queue{"prod": {Policy: `{"Statement":[` + sends("Allow", "events.amazonaws.com") + `,{"Effect":"Deny","Principal":"*","Action":"sqs:*","Resource":"*","Condition":{"Bool":{"aws:SecureTransport":"false"}}}]}`, Encrypted: true}},
	}
	for _, of := range noticed {
		w.account.rules = append(w.account.rules, fmt.Sprintf(`{"detail-type":[%q]}`, of.detail))
	}
	w.rights = []Finding{fine("all there")}
	return w
}

func node(name, pool, memory string) *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if pool != "" {
		n.Labels = map[string]string{api.LabelNodePool: pool}
	}
	n.Status.Allocatable = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(memory)}
	return n
}

func pod(namespace, name, on string, labels map[string]string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels}, Spec: corev1.PodSpec{NodeName: on}}
}

func deployment(namespace, name, image string, env ...string) *appsv1.Deployment {
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	d.Spec.Replicas, d.Spec.Selector = new(int32(1)), &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}
	d.Spec.Template.Spec.ServiceAccountName = "karpenter"
	d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "c", Image: image}}
	for _, v := range env {
		key, value, _ := strings.Cut(v, "=")
		d.Spec.Template.Spec.Containers[0].Env = append(d.Spec.Template.Spec.Containers[0].Env, corev1.EnvVar{Name: key, Value: value})
	}
	d.Status.ReadyReplicas = 1
	return d
}

// examined is what the doctor says of the town.
func (w *town) examined(t *testing.T) []Finding {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme, karpv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	build := fake.NewClientBuilder().WithScheme(scheme).WithReturnManagedFields()
	for _, o := range w.objects {
		build = build.WithObjects(o)
	}
	store := build.Build()
	return Examine(t.Context(), &Patient{
		Commitments: w,
		Store:       store, Definitions: ours(t), Version: func(context.Context) (string, error) { return w.version, nil },
		Classes: func(context.Context) ([]Class, error) { return w.classes, nil }, Account: &w.account,
		Pools: func(ctx context.Context) ([]translate.PoolObject, error) {
			return translate.Generations{translate.NodePools()}.List(ctx, store)
		},
		RoleARN: func(name string) string { return "arn:aws:iam::123456789012:role/" + name },
		Name:    "prod", Namespace: "kube-system", Rights: func(context.Context) ([]Finding, error) { return w.rights, nil },
		May: func(_ context.Context, user, verb, resource string) (bool, error) {
			return user == "system:serviceaccount:kube-system:karpenter" && verb+" "+resource != w.mayNot, nil
		},
	})
}

func TestAHealthyClusterHasNothingWrong(t *testing.T) {
	found := healthy(t).examined(t)
	var out bytes.Buffer
	if err := Write(&out, found); err != nil {
		t.Fatal(err)
	}
	if Worst(found) != OK || len(found) < len(checks()) {
		t.Errorf("of a healthy cluster it says\n%s", &out)
	}
}

// Each thing that goes wrong is reported with its object and with what to do, and nothing else
// is.
func TestWhatIsWrongIsReported(t *testing.T) {
	type change func(w *town)
	class := func(do func(c *Class)) change { return func(w *town) { do(&w.classes[0]) } }
	controller := func(do func(d *appsv1.Deployment)) change {
		return func(w *town) { do(w.objects["controller"].(*appsv1.Deployment)) }
	}
	setting := func(env ...string) change {
		return func(w *town) {
			w.objects["controller"] = deployment("kube-system", "karpenter", "daemok/controller", env...)
		}
	}
	listed := func(reserved string) change {
		return func(w *town) {
			w.objects["commitments"] = &corev1.ConfigMap{
				ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: api.ConfigMapCommitments},
				Data:       map[string]string{api.CommitmentsFile: "reservedInstances: " + reserved}}
		}
	}
	reads := func(unread ...cloud.UnreadCommitments) change { // the account's
		return func(w *town) {
			setting("CLUSTER_NAME=prod", "INTERRUPTION_QUEUE=prod", "ACCOUNT_COMMITMENTS=true")(w)
			w.commitments.Unread = unread
		}
	}
	both := func(first, second change) change {
		return func(w *town) {
			first(w)
			second(w)
		}
	}
	const bySecret = "INTERRUPTION_QUEUE may come from Secret kube-system/settings, which was not read"
	reportedBySecret := func(w *town) {
		setting("CLUSTER_NAME=prod")(w)
		agent := w.objects["cni"].(*appsv1.DaemonSet)
		agent.Spec.Template.Spec.Containers = []corev1.Container{{Env: []corev1.EnvVar{{Name: "AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG", Value: "true"}}}}
		w.objects["controller"].(*appsv1.Deployment).Spec.Template.Spec.Containers[0].EnvFrom = []corev1.EnvFromSource{
			{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "settings"}}}}
	}
	irsa := func(trust string) change {
		return func(w *town) {
			w.objects["account"].SetAnnotations(map[string]string{installation.RoleAnnotation: "arn:aws:iam::123456789012:role/controllers"})
			if trust != "" {
				w.account.trusts["controllers"] = trust
			}
		}
	}
	mapped := func(role, group string) change { // in aws-auth, and by no access entry
		return func(w *town) {
			w.account.entries = nil
			w.objects["auth"] = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "aws-auth"},
				Data: map[string]string{"mapRoles": "- rolearn: " + role + "\n  username: system:node:{{EC2PrivateDNSName}}\n  groups: [" + group + "]\n"}}
		}
	}
	agent := func(env string) change {
		return func(w *town) {
			key, value, _ := strings.Cut(env, "=")
			w.objects["cni"].(*appsv1.DaemonSet).Spec.Template.Spec.Containers = []corev1.Container{{Env: []corev1.EnvVar{{Name: key, Value: value}}}}
		}
	}
	queuePolicy := func(statements string) change {
		return func(w *town) {
			w.account.queues["prod"] = audit.Queue{Policy: `{"Statement":[` + statements + `]}`, Encrypted: true}
		}
	}
	replica := func(ready bool, ended string) change { // of the controller, as the kubelet reports it
		return func(w *town) {
			status := corev1.ContainerStatus{Name: "c", Ready: ready}
			status.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error", Message: ended}
			w.objects["replica"].(*corev1.Pod).Status.ContainerStatuses = []corev1.ContainerStatus{status}
		}
	}
	const unstarted = `{"level":"INFO","time":"t","message":"starting"}` + "\n" +
		`{"level":"ERROR","time":"t","message":"the controller ends","error":"AWS does not know the controller: this host's clock is 21 min behind AWS's"}` + "\n"
	lease := func(renewed time.Duration) change { // by a clock that is so far ahead
		return func(w *town) {
			at := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
			update := func(manager string, at time.Time) metav1.ManagedFieldsEntry {
				return metav1.ManagedFieldsEntry{Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "coordination.k8s.io/v1", Time: &metav1.Time{Time: at},
					FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1("{}")}
			}
			w.objects["lease"] = &coordinationv1.Lease{
				ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: installation.UsualLease, ManagedFields: []metav1.ManagedFieldsEntry{
					update("karpenter", at.Add(-time.Hour)), update("daemok-controller", at)}},
				Spec: coordinationv1.LeaseSpec{HolderIdentity: new("karpenter-1_1_1"), RenewTime: &metav1.MicroTime{Time: at.Add(renewed)}},
			}
		}
	}
	tests := map[string]struct {
		change   change
		check    string
		severity Severity
		says     string
	}{
		"Kubernetes is old":               {func(w *town) { w.version, w.account.cluster.Version = "1.24", "1.24" }, "kubernetes", Warning, "of Kubernetes 1.24"},
		"Kubernetes is newer than tested": {func(w *town) { w.version, w.account.cluster.Version = "1.99", "1.99" }, "kubernetes", Warning, "newest that is tested"},
		"no right to set deletion costs": {func(w *town) { w.mayNot = "patch pods" }, "steering", Warning,
			"Deployment/karpenter system:serviceaccount:kube-system:karpenter may not patch pods, so scale-downs do not begin with pods on nodes that should go next"},
		"no right to set deletion costs, and none is wanted": {func(w *town) {
			w.mayNot = "patch pods"
			setting("CLUSTER_NAME=prod", "INTERRUPTION_QUEUE=prod", "STEERING=false")(w)
		}, "", OK, ""},
		"a user's taint of the key of nodes that are to empty": {func(w *town) {
			w.objects["ours"].(*corev1.Node).Spec.Taints = []corev1.Taint{{Key: api.TaintEmptying, Value: "mine", Effect: corev1.TaintEffectNoSchedule}}
		}, "steering", Warning, "Node/ours taint daemok.sh/emptying=mine:NoSchedule was not set by Daemok and stays"},
		"commitments that are listed":         {listed("[{id: web, instanceType: m5.large, count: 2}]"), "", OK, ""},
		"commitments that are read, and pay":  {reads(), "", OK, ""},
		"commitments of other accounts alone": {both(reads(), listed("[{id: r-1, usedElsewhere: 1}]")), "", OK, ""},
		"commitments that are not understood": {listed("[{id: r-1, usedElsewhere: 1}]"), "commitments", Warning,
			"ConfigMap/kube-system/daemok-commitments data[commitments.yaml]: reservedInstances[0].instanceType: want"},
		"commitments that have no effect": {both(
			setting("CLUSTER_NAME=prod", "INTERRUPTION_QUEUE=prod", "FEATURE_GATES=Commitments=false"),
			listed("[{id: web, instanceType: m5.large, count: 2}]"),
		), "commitments", Warning, "ConfigMap/kube-system/daemok-commitments it has no effect, since the feature gate"},
		"commitments that are not to be read": {
			setting("CLUSTER_NAME=prod", "INTERRUPTION_QUEUE=prod", "ACCOUNT_COMMITMENTS=true", "FEATURE_GATES=Commitments=false"),
			"commitments", Warning, "the commitments of the account are not read, since the feature gate Commitments is off"},
		"commitments that the user may not read": {
			reads(cloud.UnreadCommitments{What: "Savings Plans", Rights: "a:Read", Lasting: true, Err: errors.New("no")}),
			"commitments", Unknown, "not read of the account: Savings Plans: no; let your own user or role call a:Read"},
		"commitments that nobody can read": {
			reads(cloud.UnreadCommitments{What: "Savings Plans", Lasting: true, Err: errors.New("no endpoint")}),
			"commitments", Warning, "not read of the account: Savings Plans: no endpoint"},
		"Daemok's own taint": {func(w *town) {
			w.objects["ours"].(*corev1.Node).Spec.Taints = []corev1.Taint{{Key: api.TaintEmptying, Effect: corev1.TaintEffectPreferNoSchedule}}
		}, "", OK, ""},
		"the clock is right":  {lease(time.Second), "", OK, ""},
		"the clock is behind": {lease(-21 * time.Minute), "clock", Warning, "Lease/kube-system/karpenter-leader-election the clock of its holder, karpenter-1_1_1, is 21m0s behind the API server's"},
		"no leader whose clock could be behind": {func(w *town) {
			lease(-21 * time.Minute)(w)
			setting("CLUSTER_NAME=prod", "INTERRUPTION_QUEUE=prod", "DISABLE_LEADER_ELECTION=true")(w)
		}, "", OK, ""},
		"the clock is ahead":            {lease(21 * time.Minute), "clock", Warning, "is 21m0s ahead of the API server's"},
		"a replica that does not start": {replica(false, unstarted), "controller", Warning, "Pod/karpenter-1 it is not ready; it ended with: AWS does not know the controller: this host's clock is 21 min behind AWS's"},
		"a replica that started again":  {replica(true, unstarted), "", OK, ""},
		"a replica that was killed":     {replica(false, ""), "controller", Warning, "Pod/karpenter-1 it is not ready; it ended with: exit code 1, Error"},
		"one replica is ready": {controller(func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(2)) }), "controller", Warning,
			"Deployment/karpenter 1 of 2 replicas are ready: where the leader ends, no other is there to go on"},
		"no replica starts": {func(w *town) {
			replica(false, unstarted)(w)
			w.objects["controller"].(*appsv1.Deployment).Status.ReadyReplicas = 0
		}, "controller", Error, "Deployment/karpenter none of its pods is ready; Pod/karpenter-1 ended with: AWS does not know the controller"},
		"a replica that died": {replica(false, "fatal error: out of memory\n"), "controller", Warning, "it ended with: fatal error: out of memory"},
		"Daemok twice, each leading": {func(w *town) {
			w.objects["second"] = deployment("nodes", "nodes-daemok", "ghcr.io/daemok/daemok-controller:v1", "CLUSTER_NAME=prod")
			w.objects["second"].SetAnnotations(map[string]string{"meta.helm.sh/release-name": "nodes", "meta.helm.sh/release-namespace": "nodes"})
		}, "autoscalers", Error, "Deployment/nodes/nodes-daemok it is a second Daemok beside Deployment/kube-system/karpenter: it leads by lease nodes/karpenter-leader-election, and the first by lease kube-system/karpenter-leader-election, so that both launch nodes for the same pods"},
		"Daemok twice, by a mirror's image": {func(w *town) {
			w.objects["second"] = deployment("nodes", "nodes", "mirror/controller", "CLUSTER_NAME=prod", "KARPENTER_SERVICE=nodes")
		}, "autoscalers", Error, "Deployment/nodes/nodes it is a second Daemok"},
		"Daemok twice, one waiting": {func(w *town) {
			w.objects["second"] = deployment("nodes", "nodes", "ghcr.io/daemok/daemok-controller:v1", "CLUSTER_NAME=prod", "LEADER_ELECTION_NAMESPACE=kube-system")
		}, "autoscalers", Warning, "both use the lease kube-system/karpenter-leader-election, so that one of them leads"},
		"Daemok twice, without election": {func(w *town) {
			w.objects["second"] = deployment("nodes", "nodes", "ghcr.io/daemok/daemok-controller:v1", "CLUSTER_NAME=prod", "LEADER_ELECTION_NAMESPACE=kube-system", "DISABLE_LEADER_ELECTION=true")
		}, "autoscalers", Error, "it leads by no lease (DISABLE_LEADER_ELECTION), and the first by lease kube-system/karpenter-leader-election"},
		"Daemok twice, the second's cluster named by a ConfigMap": {func(w *town) {
			w.objects["second"] = deployment("nodes", "nodes", "ghcr.io/daemok/daemok-controller:v1", "LEADER_ELECTION_NAME=nodes")
		}, "autoscalers", Error, "it leads by lease nodes/nodes, and the first by lease kube-system/karpenter-leader-election"},
		"the cluster is named by a Secret":         {setting("INTERRUPTION_QUEUE=prod", "KARPENTER_SERVICE=karpenter"), "", OK, ""},
		"settings by a Secret, the queue included": {reportedBySecret, "interruption queue", Unknown, bySecret},
		"another program that knows the cluster's name": {func(w *town) {
			w.objects["second"] = deployment("logs", "fluent-bit", "fluent/fluent-bit", "CLUSTER_NAME=prod")
		}, "", OK, ""},
		"a second Daemok in shadow mode": {func(w *town) {
			w.objects["second"] = deployment("nodes", "nodes", "ghcr.io/daemok/daemok-controller:v1", "CLUSTER_NAME=prod", "SHADOW=true")
		}, "", OK, ""},
		"shadow mode alone, beside the Cluster Autoscaler": {func(w *town) {
			w.objects["controller"] = deployment("kube-system", "karpenter", "ghcr.io/daemok/daemok-controller:v1", "CLUSTER_NAME=prod", "SHADOW=true", "INTERRUPTION_QUEUE=prod")
			w.objects["controller"].(*appsv1.Deployment).Status.ReadyReplicas = 1
			w.objects["second"] = deployment("kube-system", "cluster-autoscaler", "registry.k8s.io/autoscaling/cluster-autoscaler:v1.36.0")
		}, "", OK, ""},
		"a second Daemok that is switched off": {func(w *town) {
			d := deployment("nodes", "nodes", "ghcr.io/daemok/daemok-controller:v1", "CLUSTER_NAME=prod")
			d.Spec.Replicas = new(int32(0))
			w.objects["second"] = d
		}, "", OK, ""},
		"a definition is missing":           {func(w *town) { delete(w.objects, "nodepools.karpenter.sh") }, "definitions", Error, "CustomResourceDefinition/nodepools.karpenter.sh it is missing"},
		"one that nobody needs is missing":  {func(w *town) { delete(w.objects, "provisioners.karpenter.sh") }, "", OK, ""},
		"objects are stored in an old form": {definitionOf("nodepools.karpenter.sh", func(d *apiextensionsv1.CustomResourceDefinition) { d.Status.StoredVersions = []string{"v1beta1", "v1"} }), "definitions", Error, "may be stored as v1beta1"},
		"a definition is of another release": {definitionOf("nodepools.karpenter.sh", func(d *apiextensionsv1.CustomResourceDefinition) {
			d.Spec.Versions[0].Schema.OpenAPIV3Schema.Description = "other"
		}), "definitions", Warning, "of another release"},
		"a definition is being deleted": {definitionOf("nodeclaims.karpenter.sh", func(d *apiextensionsv1.CustomResourceDefinition) {
			d.DeletionTimestamp, d.Finalizers = &metav1.Time{Time: time.Unix(1, 0)}, []string{"customresourcecleanup.apiextensions.k8s.io"}
		}), "definitions", Error, "CustomResourceDefinition/nodeclaims.karpenter.sh it is being deleted, and with it all objects of its kind"},
		"a definition is of a later release": {definitionOf("nodepools.karpenter.sh", func(d *apiextensionsv1.CustomResourceDefinition) {
			d.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["tomorrow"] = apiextensionsv1.JSONSchemaProps{Type: "string"}
		}), "", OK, ""},
		"a definition lacks a field": {definitionOf("nodepools.karpenter.sh", func(d *apiextensionsv1.CustomResourceDefinition) {
			spec := d.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
			delete(spec.Properties, "weight")
			d.Annotations = map[string]string{"meta.helm.sh/release-name": "karpenter-crd", "meta.helm.sh/release-namespace": "karpenter"}
		}), "definitions", Warning, "which the API server drops: v1: spec.weight (Helm release karpenter/karpenter-crd has it)"},
		"definitions of two releases": {func(w *town) {
			for name, release := range map[string]string{"nodepools.karpenter.sh": "karpenter-crd", "nodeclaims.karpenter.sh": "daemok-crd"} {
				w.objects[name].SetAnnotations(map[string]string{"meta.helm.sh/release-name": release, "meta.helm.sh/release-namespace": "kube-system"})
			}
		}, "definitions", Warning, "several Helm releases, kube-system/daemok-crd and kube-system/karpenter-crd"},
		"a definition serves another version": {definitionOf("nodepools.karpenter.sh", func(d *apiextensionsv1.CustomResourceDefinition) { d.Spec.Versions[0].Served = false }), "definitions", Error, "does not serve v1"},
		"nothing is installed":                {func(w *town) { delete(w.objects, "controller") }, "controller", Warning, "no Deployment in namespace kube-system"},
		"installed in another namespace": {func(w *town) {
			delete(w.objects, "controller")
			w.objects["elsewhere"] = deployment("karpenter", "karpenter", "daemok/controller", "CLUSTER_NAME=prod", "KARPENTER_SERVICE=karpenter")
		}, "controller", Warning, "no Deployment in namespace kube-system runs the controller, and one in karpenter does"},
		"no replica": {controller(func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(0)) }), "controller", Warning, "no replicas"},
		"no replica is ready": {func(w *town) {
			w.objects["controller"].(*appsv1.Deployment).Status.ReadyReplicas = 0
		}, "controller", Error, "none of its pods is ready"},
		"another cluster's controller":      {setting("CLUSTER_NAME=test", "INTERRUPTION_QUEUE=prod"), "controller", Error, "its cluster is called test, and this one prod"},
		"the controller is on its own node": {func(w *town) { w.objects["replica"].(*corev1.Pod).Spec.NodeName = "ours" }, "controller", Error, "Pod/karpenter-1 the controller runs on a node that it may remove itself"},
		"the Cluster Autoscaler is at work": {func(w *town) {
			w.objects["ca"] = deployment("kube-system", "ca", "registry.k8s.io/autoscaling/cluster-autoscaler:v1.33")
		}, "autoscalers", Warning, "Deployment/kube-system/ca"},
		"Karpenter is at work": {func(w *town) {
			w.objects["k"] = deployment("karpenter", "karpenter", "public.ecr.aws/karpenter/controller:1.14")
		}, "autoscalers", Error, "Deployment/karpenter/karpenter"},
		"no DNS": {func(w *town) { delete(w.objects, "dns") }, "dns", Error, "k8s-app=kube-dns: nothing answers for Services; the controller needs it to find AWS, and launches nothing without"},
		"no DNS, of which the controller asks nothing": {func(w *town) {
			delete(w.objects, "dns")
			w.objects["controller"].(*appsv1.Deployment).Spec.Template.Spec.DNSPolicy = corev1.DNSDefault
		}, "dns", Warning, "nothing answers for Services"},
		"DNS waits":                   {func(w *town) { w.objects["dns"].(*corev1.Pod).Spec.NodeName = "" }, "dns", Error, "no pod of CoreDNS has a node"},
		"DNS is on nodes that may go": {func(w *town) { w.objects["dns"].(*corev1.Pod).Spec.NodeName = "ours" }, "dns", Warning, "may remove"},
		"DNS is on small nodes":       {func(w *town) { w.objects["stays"] = node("stays", "", "500Mi") }, "dns", Warning, "less than 1 GiB"},
		"another CNI":                 {func(w *town) { delete(w.objects, "cni") }, "", OK, ""},
		"too many pods for the CNI":   {class(func(c *Class) { c.Spec.Kubelet.MaxPods = new(int64(110)) }), "cni", Warning, "EC2NodeClass/default it lets nodes have 110 pods"},
		"many pods with prefixes": {func(w *town) {
			w.classes[0].Spec.Kubelet.MaxPods = new(int64(110))
			agent("ENABLE_PREFIX_DELEGATION=true")(w)
		}, "", OK, ""},
		"interfaces that pods do not get": {agent("AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG=true"), "cni", Warning, "custom networking"},
		"another cluster at AWS":          {func(w *town) { w.account.cluster.Version = "1.30" }, "eks", Error, "lead to different clusters"},
		"EKS Auto Mode":                   {func(w *town) { w.account.cluster.AutoMode = true }, "eks", Warning, "Auto Mode is on"},
		"no role":                         {func(w *town) { w.account.podRole = "" }, "credentials", Warning, "it has no role"},
		"a replica from before its role": {func(w *town) { w.objects["replica"].(*corev1.Pod).Spec.Containers[0].Env = nil }, "credentials", Warning,
			"Pod/karpenter-1 ServiceAccount/kube-system/karpenter has role pods by EKS Pod Identity, and pods created before that lack it"},
		"a role by Pod Identity that is gone":  {func(w *town) { delete(w.account.trusts, "pods") }, "credentials", Error, "its role arn:aws:iam::123456789012:role/pods does not exist"},
		"one that does not trust Pod Identity": {func(w *town) { w.account.trusts["pods"] = strings.ReplaceAll(podTrust, "pods.eks", "ec2") }, "credentials", Error, "its role pods does not let pods.eks.amazonaws.com assume it"},
		"one that lets no session be tagged":   {func(w *town) { w.account.trusts["pods"] = strings.ReplaceAll(podTrust, `,"sts:TagSession"`, "") }, "credentials", Error, "does not let pods.eks.amazonaws.com assume it"},
		"a role by IRSA":                       {irsa(webTrust("oidc.test/id/1", "system:serviceaccount:kube-system:karpenter", "sts.amazonaws.com")), "", OK, ""},
		"a role by IRSA for a namespace":       {irsa(webTrust("oidc.test/id/1", "system:serviceaccount:kube-system:*", "sts.amazonaws.com")), "", OK, ""},
		"a role for another namespace":         {irsa(webTrust("oidc.test/id/1", "system:serviceaccount:team-*:karpenter", "sts.amazonaws.com")), "credentials", Error, "does not trust system:serviceaccount:kube-system:karpenter"},
		"a role for tokens for others":         {irsa(webTrust("oidc.test/id/1", "system:serviceaccount:kube-system:karpenter", "vault")), "credentials", Error, "does not trust system:serviceaccount:kube-system:karpenter with audience sts.amazonaws.com"},
		"a role for such tokens": {func(w *town) {
			irsa(webTrust("oidc.test/id/1", "system:serviceaccount:kube-system:karpenter", "vault"))(w)
			w.objects["account"].GetAnnotations()[audienceAnnotation] = "vault"
		}, "", OK, ""},
		"a trust policy that cannot be judged": {irsa(strings.ReplaceAll(webTrust("oidc.test/id/1", "x", "y"), "StringLike", "DateEquals")), "credentials", Unknown, "role controllers: its trust policy, statement number 1: condition operator DateEquals"},
		"a cluster whose issuer IAM does not know": {func(w *town) {
			irsa(webTrust("oidc.test/id/1", "system:serviceaccount:kube-system:karpenter", "sts.amazonaws.com"))(w)
			w.account.audience = nil
		}, "credentials", Error, "its role's account has no OIDC provider for the cluster's issuer https://oidc.test/id/1"},
		"an issuer whose tokens for STS IAM does not take": {func(w *town) {
			irsa(webTrust("oidc.test/id/1", "system:serviceaccount:kube-system:karpenter", "sts.amazonaws.com"))(w)
			w.account.audience = []string{"vault"}
		}, "credentials", Error, "the OIDC provider of the cluster's issuer takes no tokens for sts.amazonaws.com"},
		"a role that is gone":              {irsa(""), "credentials", Error, "does not exist"},
		"a role that trusts others":        {irsa(webTrust("oidc.test/id/1", "system:serviceaccount:karpenter:karpenter", "sts.amazonaws.com")), "credentials", Error, "does not trust system:serviceaccount:kube-system:karpenter"},
		"a role that trusts other issuers": {irsa(webTrust("oidc.test/id/2", "system:serviceaccount:kube-system:karpenter", "sts.amazonaws.com")), "credentials", Error, "does not trust the cluster's OIDC issuer"},
		"no class":                         {func(w *town) { w.classes = nil }, "node classes", Warning, "there is no EC2NodeClass"},
		"no subnets":                       {class(func(c *Class) { c.Subnets = nil }), "node classes", Error, "EC2NodeClass/default its subnetSelectorTerms select no subnet"},
		"one zone":                         {class(func(c *Class) { c.Subnets = c.Subnets[:1] }), "node classes", Warning, "in one zone"},
		"a full subnet":                    {class(func(c *Class) { c.Subnets[0].Free = 3 }), "node classes", Warning, "subnet subnet-1 in a has 3 free addresses"},
		"no groups":                        {class(func(c *Class) { c.Groups = nil }), "node classes", Error, "select no security group"},
		"the load balancers' trap":         {class(func(c *Class) { c.Groups[1].Owned = true }), "node classes", Error, "2 of its security groups (sg-1, sg-2)"},
		"no images":                        {class(func(c *Class) { c.Images = nil }), "node classes", Error, "select no image"},
		"images that cannot be looked up":  {class(func(c *Class) { c.NoImages = errors.New("the alias is not known") }), "node classes", Error, "the alias is not known"},
		"a class that cannot be read":      {class(func(c *Class) { c.NoSubnets = errors.New("bad"); c.NoGroups, c.NoImages = c.NoSubnets, c.NoSubnets }), "node classes", Error, "EC2NodeClass/default bad"},
		"nodes may not join":               {func(w *town) { w.account.entries = nil }, "node roles", Error, "its role nodes has no access entry"},
		"nodes join by aws-auth":           {mapped(nodeRole, "system:nodes"), "", OK, ""},
		"aws-auth has a role of like name": {mapped(nodeRole+"2", "system:nodes"), "node roles", Error, "its role nodes has no access entry and is not in aws-auth"},
		"aws-auth makes nodes people":      {mapped(nodeRole, "system:masters"), "node roles", Error, `the ConfigMap kube-system/aws-auth makes its role nodes the user "system:node:{{EC2PrivateDNSName}}" in the groups ["system:masters"]`},
		"an entry for people outweighs aws-auth": {func(w *town) {
			mapped(nodeRole, "system:nodes")(w)
			w.account.entries = map[string]string{nodeRole: "STANDARD"}
		}, "node roles", Error, "is of type STANDARD"},
		"only aws-auth counts":             {func(w *town) { w.account.cluster.Entries = false }, "node roles", Error, "not in the ConfigMap kube-system/aws-auth"},
		"an entry for people":              {func(w *town) { w.account.entries[nodeRole] = "STANDARD" }, "node roles", Error, "is of type STANDARD"},
		"the nodes' role is gone":          {func(w *town) { delete(w.account.trusts, "nodes") }, "node roles", Error, "its role nodes does not exist"},
		"an instance profile that is gone": {class(func(c *Class) { c.Spec.Role, c.Spec.InstanceProfile = "", "none" }), "node roles", Error, "its instance profile none has no role, or does not exist"},
		"spot without its role": {func(w *town) {
			delete(w.account.trusts, spotLinked)
			w.objects["pool"].(*karpv1.NodePool).Spec.Template.Spec.Requirements = []karpv1.Requirement{{Key: api.LabelCapacityType, Operator: "In", Values: []string{"spot"}}}
		}, "spot", Error, "NodePool/default it allows spot instances"},
		"spot without its role, by a pool that says nothing of capacity types": {func(w *town) { delete(w.account.trusts, spotLinked) }, "spot", Error, "NodePool/default it allows spot instances"},
		"on-demand needs no role": {func(w *town) {
			delete(w.account.trusts, spotLinked)
			w.objects["pool"].(*karpv1.NodePool).Spec.Template.Spec.Requirements = []karpv1.Requirement{{Key: api.LabelCapacityType, Operator: "NotIn", Values: []string{"spot"}}}
		}, "", OK, ""},
		"no queue":                    {setting("CLUSTER_NAME=prod"), "interruption queue", Warning, "no interruption queue is set"},
		"a queue that is not there":   {setting("CLUSTER_NAME=prod", "INTERRUPTION_QUEUE=other"), "interruption queue", Error, "queue other it does not exist in this account and region"},
		"a queue by its URL":          {setting("CLUSTER_NAME=prod", "INTERRUPTION_QUEUE=https://sqs.eu-west-1.amazonaws.com/123456789012/prod"), "interruption queue", Error, "this is its URL or ARN"},
		"a queue that lets nobody in": {func(w *town) { w.account.queues["prod"] = audit.Queue{Encrypted: true} }, "interruption queue", Error, "does not let EventBridge"},
		"a queue that lets others in": {queuePolicy(sends("Allow", "s3.amazonaws.com")), "interruption queue", Error, "does not let EventBridge"},
		"a queue that keeps it out":   {queuePolicy(sends("Allow", "events.amazonaws.com") + "," + sends("Deny", "events.amazonaws.com")), "interruption queue", Error, "does not let EventBridge"},
		"a queue without a rule":      {func(w *town) { w.account.rules = w.account.rules[1:] }, "interruption queue", Error, `no rule of EventBridge sends it "EC2 Spot Instance Interruption Warning"`},
		"a right is missing": {func(w *town) {
			w.rights = []Finding{trouble(Error, "role controllers", "it lacks ec2:CreateFleet", "")}
		}, "rights", Error, "it lacks ec2:CreateFleet"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := healthy(t)
			tt.change(w)
			reported := false
			for _, f := range w.examined(t) {
				if f.Severity == OK {
					continue
				}
				text := strings.TrimSpace(f.Object + " " + f.Message)
				for _, v := range tidy.CheckHelp(f.Check, f.Message+"\n"+f.WayOut) {
					t.Errorf("%v, in %q", v, f.Message)
				}
				switch {
				case f.Check != tt.check:
					t.Errorf("it also says: %s: %s", f.Check, text)
				case f.Severity == tt.severity && strings.Contains(text, tt.says):
					reported = true
				default:
					t.Errorf("it says %s: %s, want %s: %s", f.Severity, text, tt.severity, tt.says)
				}
			}
			if reported != (tt.check != "") {
				t.Errorf("it says nothing of %q", tt.says)
			}
		})
	}
}

// Without the agent of EKS Pod Identity the controller gets no credentials, before it is installed and after; where it is
// ready something else gives them.
func TestTheAgentOfPodIdentityIsMissed(t *testing.T) {
	for name, tt := range map[string]struct {
		ready int32
		agent bool
		want  Severity
	}{
		"not ready, no agent": {0, false, Error}, "not ready, with an agent": {0, true, OK}, "ready": {1, false, OK}, "not installed yet": {-1, false, Error},
	} {
		t.Run(name, func(t *testing.T) {
			w := healthy(t)
			if w.objects["controller"].(*appsv1.Deployment).Status.ReadyReplicas = tt.ready; tt.ready < 0 {
				delete(w.objects, "controller")
			}
			if !tt.agent {
				delete(w.objects, "agent")
			}
			for _, f := range w.examined(t) {
				if f.Check == "credentials" && (f.Severity != tt.want || f.Severity == Error && !strings.Contains(f.WayOut, "create-addon --cluster-name prod --addon-name eks-pod-identity-agent")) {
					t.Errorf("it says %+v, want %s", f, tt.want)
				}
			}
		})
	}
}

// The group that EKS made for the cluster gets its tag again when the cluster changes: the other groups lose
// theirs.
func TestTheGroupOfEKSKeepsItsTag(t *testing.T) {
	w := healthy(t)
	w.classes[0].Groups = []nodeclass.Group{{ID: "sg-1", Owned: true}, {ID: "sg-2", Owned: true, EKS: true}, {ID: "sg-3"}, {ID: "sg-4", Owned: true}}
	for _, f := range w.examined(t) {
		if want := "aws ec2 delete-tags --resources sg-1 sg-4 --tags Key=kubernetes.io/cluster/prod"; f.Severity == Error && f.WayOut != want {
			t.Errorf("the way out is %q, want %q", f.WayOut, want)
		} else if f.Severity == Error {
			return
		}
	}
	t.Error("it says nothing of the groups")
}

// A pod that ended has its log in the container before; a Deployment's log may be that of a pod that works.
func TestAPodThatEndedIsReportedWithTheCommandForItsLog(t *testing.T) {
	for name, ready := range map[string]int32{"others are ready": 1, "none is ready": 0} {
		t.Run(name, func(t *testing.T) {
			w := healthy(t)
			ended := corev1.ContainerStatus{Name: "c"}
			ended.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: 1, Message: "fatal error"}
			w.objects["replica"].(*corev1.Pod).Status.ContainerStatuses = []corev1.ContainerStatus{ended}
			w.objects["controller"].(*appsv1.Deployment).Status.ReadyReplicas = ready
			for _, f := range w.examined(t) {
				if want := "kubectl -n kube-system logs karpenter-1 --previous"; f.Severity != OK && f.WayOut != want {
					t.Errorf("of %q the way out is %q, want %q", f.Message, f.WayOut, want)
				} else if f.Severity != OK {
					return
				}
			}
			t.Error("it says nothing of the pod")
		})
	}
}

func definitionOf(name string, do func(*apiextensionsv1.CustomResourceDefinition)) func(*town) {
	return func(w *town) { do(w.objects[name].(*apiextensionsv1.CustomResourceDefinition)) }
}

// Where AWS cannot be reached the cluster is checked all the same.
func TestWithoutAWSTheClusterIsLookedAt(t *testing.T) {
	p := &Patient{Store: fake.NewClientBuilder().Build(), Version: func(context.Context) (string, error) { return "1.36", nil }, Namespace: "kube-system",
		Classes: func(context.Context) ([]Class, error) { return nil, errors.New("no credentials") }, Unreached: errors.New("no credentials")}
	said := map[string]Finding{}
	for _, f := range Examine(t.Context(), p) {
		said[f.Check] = f
	}
	const want = "AWS could not be asked about eks, credentials, node classes, node roles, spot, interruption queue, rights: no credentials"
	if said["kubernetes"].Severity != OK || said["dns"].Severity != Warning || said["aws"].Severity != Unknown || said["aws"].Message != want {
		t.Errorf("it says %v", said)
	}
}

// What is to be done about several things that are wrong is said once, below the last of them.
func TestOneWayOutOfSeveralFindingsIsPrintedOnce(t *testing.T) {
	of := func(check, message, wayOut string) Finding {
		return Finding{Check: check, Severity: Error, Message: message, WayOut: wayOut}
	}
	var out bytes.Buffer
	if err := Write(&out, []Finding{of("rights", "it lacks a", "grant it"), of("rights", "it lacks b", "grant it"), of("dns", "none", "install it")}); err != nil {
		t.Fatal(err)
	}
	want := "error    rights              it lacks a\nerror    rights              it lacks b\n                          -> grant it\n" +
		"error    dns                 none\n                          -> install it\n"
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &out, want)
	}
}

// Where CoreDNS was scaled down, the way out is to scale it up; where the controller depends on it, also not to.
func TestTheWayOutWithoutDNS(t *testing.T) {
	for replicas, want := range map[int32]string{
		0: "kubectl -n kube-system scale deployment coredns --replicas=2; value dnsPolicy: Default has the controller ask its node's DNS instead",
		2: "install the EKS add-on coredns; value dnsPolicy: Default has the controller ask its node's DNS instead",
	} {
		w := healthy(t)
		delete(w.objects, "dns")
		d := deployment("kube-system", "coredns", "coredns")
		d.Spec.Replicas, d.Spec.Template.Labels = new(replicas), map[string]string{"k8s-app": "kube-dns"}
		w.objects["coredns"] = d
		for _, f := range w.examined(t) {
			if f.Check == "dns" && f.WayOut != want {
				t.Errorf("with %d replicas the way out is %q, want %q", replicas, f.WayOut, want)
			}
		}
	}
}

// Before the switch from Karpenter its own controller has the Deployment: that is nothing wrong, and is said.
func TestTheControllerMayBeKarpenters(t *testing.T) {
	w := healthy(t)
	w.objects["controller"] = deployment("kube-system", "karpenter", "public.ecr.aws/karpenter/controller:1.8.1", "CLUSTER_NAME=prod", "INTERRUPTION_QUEUE=prod")
	for _, f := range w.examined(t) {
		if f.Check == "controller" && f.Message != "1 of 1 replicas of Karpenter, not Daemok, are ready" {
			t.Errorf("it says %q", f.Message)
		}
	}
}
