package installation

import (
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

// release is a Deployment as the charts make it, with a ready pod; what is "env=value" goes to its environment.
func release(namespace, name, image string, more ...string) *appsv1.Deployment {
	c := corev1.Container{Name: "controller", Image: image,
		Env: []corev1.EnvVar{{Name: "CLUSTER_NAME", Value: "prod"}, {Name: "KARPENTER_SERVICE", Value: name}}}
	for _, v := range more {
		name, value, _ := strings.Cut(v, "=")
		c.Env = append(c.Env, corev1.EnvVar{Name: name, Value: value})
	}
	labels := map[string]string{"app.kubernetes.io/name": "daemok", "app.kubernetes.io/instance": name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{Containers: []corev1.Container{c}}}},
		Status: appsv1.DeploymentStatus{ReadyReplicas: 1},
	}
}

// podOf is a pod of a release.
func podOf(d *appsv1.Deployment, name string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: d.Namespace, Name: name,
		Labels: d.Spec.Template.Labels}, Spec: d.Spec.Template.Spec}
}

// labelled is a release whose pods have another name in their labels, as the charts' nameOverride gives it.
func labelled(d *appsv1.Deployment, name string) *appsv1.Deployment {
	d.Spec.Template.Labels["app.kubernetes.io/name"] = name
	return d
}

// without is a release that says nothing of these variables by value, as where a ConfigMap has them.
func without(d *appsv1.Deployment, names ...string) *appsv1.Deployment {
	c := &d.Spec.Template.Spec.Containers[0]
	c.Env = slices.DeleteFunc(c.Env, func(v corev1.EnvVar) bool { return slices.Contains(names, v.Name) })
	return d
}

// with is a release whose program has these flags.
func with(d *appsv1.Deployment, args ...string) *appsv1.Deployment {
	d.Spec.Template.Spec.Containers[0].Args = args
	return d
}

// A controller that leads by another lease acts on the same NodePools; one that waits for the same
// does not, and without leader election none waits.
func TestOtherControllers(t *testing.T) {
	const ours, theirs = "ghcr.io/daemok/daemok-controller:v1", "public.ecr.aws/karpenter/controller:1.8"
	ended := release("nodes", "nodes", ours)
	ended.Status.ReadyReplicas = 0
	own := release("kube-system", "karpenter", ours)
	for name, tt := range map[string]struct {
		releases []client.Object
		want     string // namespace/name lease, by comma
	}{
		"alone": {nil, ""},
		"in another namespace": {[]client.Object{release("nodes", "nodes", ours)},
			"nodes/nodes by nodes/karpenter-leader-election"},
		"by another name of the lease": {[]client.Object{release("kube-system", "second", ours,
			"LEADER_ELECTION_NAME=second")}, "kube-system/second by kube-system/second"},
		"two, and Karpenter": {[]client.Object{release("nodes", "nodes", ours),
			labelled(release("karpenter", "karpenter", theirs),
				"karpenter")}, "karpenter/karpenter by karpenter/karpenter-leader-election, nodes/nodes by nodes/karpenter-leader-election"},
		"one that waits for our lease": {[]client.Object{release("nodes", "nodes", ours,
			"LEADER_ELECTION_NAMESPACE=kube-system")}, ""},
		"one that does not start": {[]client.Object{ended}, ""},
		"a program that is no controller": {[]client.Object{without(release("nodes", "tool", "tool"),
			"CLUSTER_NAME", "KARPENTER_SERVICE")}, ""},
		"with the cluster's name in a ConfigMap": {[]client.Object{without(release("nodes", "nodes",
			"mirror/nodes:v1"), "CLUSTER_NAME")}, "nodes/nodes by nodes/karpenter-leader-election"},
		"by Daemok's image alone": {[]client.Object{without(release("nodes", "nodes",
			"mirror:5000/daemok-controller:v1@sha256:1f"), "CLUSTER_NAME", "KARPENTER_SERVICE")}, "nodes/nodes by nodes/karpenter-leader-election"},
		"by Karpenter's image alone": {[]client.Object{without(release("nodes", "nodes", theirs),
			"CLUSTER_NAME", "KARPENTER_SERVICE")}, "nodes/nodes by nodes/karpenter-leader-election"},
		"another program's controller": {[]client.Object{without(release("nodes", "nodes",
			"ingress/controller:v1"), "CLUSTER_NAME", "KARPENTER_SERVICE")}, ""},
		"without election, with our lease's name": {[]client.Object{release("nodes", "nodes", ours,
			"LEADER_ELECTION_NAMESPACE=kube-system", "DISABLE_LEADER_ELECTION=true")},
			"nodes/nodes by no lease (DISABLE_LEADER_ELECTION)"},
		"another name in its labels": {[]client.Object{labelled(release("nodes", "nodes", ours), "autoscaler"),
			labelled(release("karpenter", "karpenter", theirs),
				"scaler")}, "karpenter/karpenter by karpenter/karpenter-leader-election, nodes/nodes by nodes/karpenter-leader-election"},
		"in our namespace by no lease": {[]client.Object{release("kube-system", "second", ours,
			"DISABLE_LEADER_ELECTION=true")}, "kube-system/second by no lease (DISABLE_LEADER_ELECTION)"},
		"by flags": {[]client.Object{with(release("nodes", "nodes", ours),
			"--leader-election-name=second", "--leader-election-namespace", "kube-system")}, "nodes/nodes by kube-system/second"},
		"by a flag without election": {[]client.Object{with(release("nodes", "nodes", ours,
			"LEADER_ELECTION_NAMESPACE=kube-system"), "--disable-leader-election")}, "nodes/nodes by no lease (DISABLE_LEADER_ELECTION)"},
	} {
		t.Run(name, func(t *testing.T) {
			store := fake.NewClientBuilder().WithObjects(own, podOf(own, "own-1")).WithObjects(tt.releases...).Build()
			found, err := Others(t.Context(), store, Lease{Namespace: "kube-system", Name: UsualLease},
				client.ObjectKey{Namespace: "kube-system", Name: "own-1"})
			var got []string
			for _, r := range found {
				got = append(got, r.Namespace+"/"+r.Name+" by "+r.Lease.String())
			}
			if err != nil || strings.Join(got, ", ") != tt.want {
				t.Errorf("Others = %q, %v; want %q", got, err, tt.want)
			}
		})
	}
}

// A controller without leader election keeps no other from leading: one that waits for the lease that it would have
// is another, and so is one without leader election. Its own replicas are not.
func TestOtherControllersOfOneWithoutElection(t *testing.T) {
	const image, none, theLease = "ghcr.io/daemok/daemok-controller:v1", "DISABLE_LEADER_ELECTION=true", "LEADER_ELECTION_NAMESPACE=kube-system"
	own := release("kube-system", "karpenter", image, none)
	store := fake.NewClientBuilder().WithObjects(own, podOf(own, "own-1"), podOf(own, "own-2"),
		release("nodes", "elects", image, theLease), release("nodes", "free", image, none)).Build()
	found, err := Others(t.Context(), store, Lease{}, client.ObjectKey{Namespace: "kube-system", Name: "own-1"})
	if err != nil || len(found) != 2 || found[0].Name != "elects" || found[1].Name != "free" {
		t.Errorf("Others = %v, %v; want releases elects and free", found, err)
	}
}

// What a controller gets from a ConfigMap alone does not make a stranger of it.
func TestTheOwnReleaseIsNoOther(t *testing.T) {
	own := release("kube-system", "karpenter", "daemok-controller")
	store := fake.NewClientBuilder().WithObjects(own, podOf(own, "own-1"), podOf(own, "own-2")).Build()
	found, err := Others(t.Context(), store, Lease{Namespace: "kube-system", Name: "of-the-config-map"},
		client.ObjectKey{Namespace: "kube-system", Name: "own-1"})
	if err != nil || len(found) > 0 {
		t.Errorf("Others = %v, %v; want none", found, err)
	}
}
