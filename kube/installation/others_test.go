package installation

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

// replica is a pod of a release, as the charts make it; what is "env=value" goes to its environment.
func replica(namespace, release, pod, image string, more ...string) *corev1.Pod {
	c := corev1.Container{Name: "controller", Image: image, Env: []corev1.EnvVar{{Name: "CLUSTER_NAME", Value: "prod"}, {Name: "KARPENTER_SERVICE", Value: release}}}
	for _, v := range more {
		name, value, _ := strings.Cut(v, "=")
		c.Env = append(c.Env, corev1.EnvVar{Name: name, Value: value})
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: pod, Labels: map[string]string{"app.kubernetes.io/name": "daemok", "app.kubernetes.io/instance": release}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{c}},
		Status:     corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}},
	}
}

// without is a pod of a release that says nothing of these variables by value, as where a ConfigMap has them.
func without(p *corev1.Pod, names ...string) *corev1.Pod {
	c := &p.Spec.Containers[0]
	c.Env = slices.DeleteFunc(c.Env, func(v corev1.EnvVar) bool { return slices.Contains(names, v.Name) })
	return p
}

// Whoever leads by another lease acts on the same NodePools; whoever waits for the same does not,
// and without leader election nobody waits.
func TestOtherControllers(t *testing.T) {
	const ours, theirs = "ghcr.io/daemok/daemok-controller:v1", "public.ecr.aws/karpenter/controller:1.8"
	karpenter := replica("karpenter", "karpenter", "karpenter-1", theirs)
	karpenter.Labels["app.kubernetes.io/name"] = "karpenter"
	ended := replica("nodes", "nodes", "nodes-1", ours)
	ended.Status.Conditions[0].Status = corev1.ConditionFalse
	tool := replica("nodes", "tool", "tool-1", "tool")
	tool.Spec.Containers[0].Env = nil
	for name, tt := range map[string]struct {
		pods []client.Object
		want string // namespace/name lease, by comma
	}{
		"alone":                                  {nil, ""},
		"in another namespace":                   {[]client.Object{replica("nodes", "nodes", "nodes-1", ours), replica("nodes", "nodes", "nodes-2", ours)}, "nodes/nodes by nodes/karpenter-leader-election"},
		"by another name of the lease":           {[]client.Object{replica("kube-system", "second", "second-1", ours, "LEADER_ELECTION_NAME=second")}, "kube-system/second by kube-system/second"},
		"two, and Karpenter":                     {[]client.Object{replica("nodes", "nodes", "nodes-1", ours), karpenter}, "karpenter/karpenter by karpenter/karpenter-leader-election, nodes/nodes by nodes/karpenter-leader-election"},
		"one that waits for our lease":           {[]client.Object{replica("nodes", "nodes", "nodes-1", ours, "LEADER_ELECTION_NAMESPACE=kube-system")}, ""},
		"one that does not start":                {[]client.Object{ended}, ""},
		"a program that is no controller":        {[]client.Object{tool}, ""},
		"with the cluster's name in a ConfigMap": {[]client.Object{without(replica("nodes", "nodes", "nodes-1", "mirror/nodes:v1"), "CLUSTER_NAME")}, "nodes/nodes by nodes/karpenter-leader-election"},
		"by Daemok's image alone":                {[]client.Object{without(replica("nodes", "nodes", "nodes-1", "mirror:5000/daemok-controller:v1@sha256:1f"), "CLUSTER_NAME", "KARPENTER_SERVICE")}, "nodes/nodes by nodes/karpenter-leader-election"},
		"by Karpenter's image alone":             {[]client.Object{without(replica("nodes", "nodes", "nodes-1", theirs), "CLUSTER_NAME", "KARPENTER_SERVICE")}, "nodes/nodes by nodes/karpenter-leader-election"},
		"another program's controller":           {[]client.Object{without(replica("nodes", "nodes", "nodes-1", "ingress/controller:v1"), "CLUSTER_NAME", "KARPENTER_SERVICE")}, ""},
		"without election, with our lease's name": {[]client.Object{replica("nodes", "nodes", "nodes-1", ours, "LEADER_ELECTION_NAMESPACE=kube-system", "DISABLE_LEADER_ELECTION=true")},
			"nodes/nodes by no lease (DISABLE_LEADER_ELECTION)"},
		"two images while it rolls out": {[]client.Object{replica("nodes", "nodes", "nodes-1", ours), replica("nodes", "nodes", "nodes-2", ours+".1")}, "nodes/nodes by nodes/karpenter-leader-election"},
	} {
		t.Run(name, func(t *testing.T) {
			store := fake.NewClientBuilder().WithObjects(replica("kube-system", "karpenter", "own-1", ours)).WithObjects(tt.pods...).Build()
			found, err := Others(t.Context(), store, Lease{Namespace: "kube-system", Name: UsualLease}, client.ObjectKey{Namespace: "kube-system", Name: "own-1"})
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

// A controller without leader election keeps nobody from leading: who waits for the lease that it would have is another, and so is
// who has no election either. Its own replicas are not.
func TestOtherControllersOfOneWithoutElection(t *testing.T) {
	const image, none, theLease = "ghcr.io/daemok/daemok-controller:v1", "DISABLE_LEADER_ELECTION=true", "LEADER_ELECTION_NAMESPACE=kube-system"
	store := fake.NewClientBuilder().WithObjects(
		replica("kube-system", "karpenter", "own-1", image, none), replica("kube-system", "karpenter", "own-2", image, none),
		replica("nodes", "elects", "elects-1", image, theLease), replica("nodes", "free", "free-1", image, none)).Build()
	found, err := Others(t.Context(), store, Lease{}, client.ObjectKey{Namespace: "kube-system", Name: "own-1"})
	if err != nil || len(found) != 2 || found[0].Name != "elects" || found[1].Name != "free" {
		t.Errorf("Others = %v, %v; want releases elects and free", found, err)
	}
}

// What a controller is told by a ConfigMap alone does not make a stranger of it.
func TestTheOwnReleaseIsNoOther(t *testing.T) {
	store := fake.NewClientBuilder().WithObjects(
		replica("kube-system", "karpenter", "own-1", "daemok-controller"), replica("kube-system", "karpenter", "own-2", "daemok-controller")).Build()
	found, err := Others(t.Context(), store, Lease{Namespace: "kube-system", Name: "of-the-config-map"}, client.ObjectKey{Namespace: "kube-system", Name: "own-1"})
	if err != nil || len(found) > 0 {
		t.Errorf("Others = %v, %v; want none", found, err)
	}
}
