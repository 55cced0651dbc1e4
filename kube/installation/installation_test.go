package installation

import (
	"context"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// reportedBy is a release that gets variables from whole objects, and one variable from a key of an object.
func reportedBy(d *appsv1.Deployment, whole []corev1.EnvFromSource, name string,
	from *corev1.EnvVarSource) *appsv1.Deployment {
	c := &d.Spec.Template.Spec.Containers[0]
	c.EnvFrom = whole
	if from != nil {
		c.Env = append(c.Env, corev1.EnvVar{Name: name, ValueFrom: from})
	}
	return d
}

func configMap(name, prefix string) []corev1.EnvFromSource {
	return []corev1.EnvFromSource{{Prefix: prefix,
		ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: name}}}}
}

func secret(name string) []corev1.EnvFromSource {
	return []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: name}}}}
}

// A controller's Deployment is found, and its settings are known, however they are given.
func TestTheControllerIsFoundHoweverItIsConfigured(t *testing.T) {
	const image = "ghcr.io/daemok/daemok-controller:v1"
	bare := func() *appsv1.Deployment {
		return without(release("kube-system", "nodes", image), "CLUSTER_NAME", "KARPENTER_SERVICE")
	}
	ofKey := &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "settings"}, Key: "OTHER"}}
	ofSecret := &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "hidden"}, Key: "name"}}
	for name, tt := range map[string]struct {
		release       *appsv1.Deployment
		forbidden     bool
		value, unread string // of CLUSTER_NAME
	}{
		"by its environment":      {release: release("kube-system", "nodes", image), value: "prod"},
		"by a flag":               {release: with(bare(), "--cluster-name=prod"), value: "prod"},
		"by a flag and its value": {release: with(bare(), "--cluster-name", "prod"), value: "prod"},
		"by a ConfigMap": {release: reportedBy(bare(), configMap("settings", ""), "", nil),
			value: "prod"},
		"by a ConfigMap and a prefix": {release: reportedBy(bare(), configMap("prefixed", "CLUSTER_"), "", nil),
			value: "prod"},
		"by a key of a ConfigMap": {release: reportedBy(bare(), nil, "CLUSTER_NAME", ofKey), value: "other"},
		"by a key before a whole one": {release: reportedBy(bare(), configMap("settings", ""), "CLUSTER_NAME",
			ofKey), value: "other"},
		"by a flag that refers": {release: with(reportedBy(bare(), nil, "CLUSTER", ofKey),
			"--cluster-name=eks-$(CLUSTER)"), value: "eks-other"},
		"by a ConfigMap not to be read": {release: reportedBy(bare(), configMap("settings", ""), "", nil),
			forbidden: true, unread: "ConfigMap kube-system/settings"},
		"by a ConfigMap that is gone": {release: reportedBy(bare(), configMap("gone", ""), "", nil)},
		"by a Secret": {release: reportedBy(bare(), secret("hidden"), "", nil),
			unread: "Secret kube-system/hidden"},
		"by a key of a Secret": {release: reportedBy(bare(), nil, "CLUSTER_NAME", ofSecret),
			unread: "Secret kube-system/hidden"},
		"by a flag that refers to one": {release: with(reportedBy(bare(), nil, "CLUSTER", ofSecret),
			"--cluster-name=$(CLUSTER)"), unread: "Secret kube-system/hidden"},
		"another variable by a Secret": {release: reportedBy(release("kube-system", "nodes", image), nil, "TOKEN",
			ofSecret), value: "prod"},
	} {
		t.Run(name, func(t *testing.T) {
			settings := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "settings"},
				Data: map[string]string{"CLUSTER_NAME": "prod", "OTHER": "other"}}
			prefixed := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "prefixed"},
				Data: map[string]string{"NAME": "prod"}}
			store := fake.NewClientBuilder().WithObjects(tt.release, settings,
				prefixed).WithInterceptorFuncs(interceptor.Funcs{Get: func(ctx context.Context, c client.WithWatch,
				key client.ObjectKey, to client.Object, opts ...client.GetOption) error {
				if tt.forbidden {
					return apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, key.Name, nil)
				}
				return c.Get(ctx, key, to, opts...)
			}}).Build()
			found, err := Find(t.Context(), store, "kube-system")
			if err != nil || found.Deployment == nil || found.Setting("CLUSTER_NAME") != tt.value || found.Unread("CLUSTER_NAME") != tt.unread {
				t.Errorf("Find = %v with CLUSTER_NAME %q, unread %q, %v; want %q, %q", found.Deployment,
					found.Setting("CLUSTER_NAME"), found.Unread("CLUSTER_NAME"), err, tt.value, tt.unread)
			}
		})
	}
}

// Where both are in the namespace it is Daemok's own, and never another program that knows the cluster's name.
func TestDaemokIsFoundBesideOthers(t *testing.T) {
	for _, other := range []*appsv1.Deployment{
		release("kube-system", "a", "public.ecr.aws/karpenter/controller:1.8"),
		without(release("kube-system", "a", "fluent/fluent-bit"), "KARPENTER_SERVICE"),
		with(without(release("kube-system", "a", "eks/aws-load-balancer-controller"), "CLUSTER_NAME",
			"KARPENTER_SERVICE"), "--cluster-name=prod"),
	} {
		store := fake.NewClientBuilder().WithObjects(other,
			release("kube-system", "nodes", "ghcr.io/daemok/daemok-controller:v1")).Build()
		if found, err := Find(t.Context(), store,
			"kube-system"); err != nil || found.Deployment == nil || found.Deployment.Name != "nodes" {
			t.Errorf("beside %s Find = %v, %v; want Deployment nodes", other.Spec.Template.Spec.Containers[0].Image,
				found.Deployment, err)
		}
	}
}

// A controller in shadow mode is found only where no other is: it acts on nothing, however its mode is set.
func TestOneInShadowModeIsFoundLast(t *testing.T) {
	const ours, theirs = "ghcr.io/daemok/daemok-controller:v1", "public.ecr.aws/karpenter/controller:1.8"
	set := release("kube-system", "a", ours, "SHADOW=true")
	for name, tt := range map[string]struct {
		shadow *appsv1.Deployment
		other  *appsv1.Deployment // nil: none
		want   string
	}{
		"alone":            {shadow: set, want: "a"},
		"by a flag":        {shadow: with(release("kube-system", "a", ours), "--shadow"), want: "a"},
		"beside Daemok":    {shadow: set, other: release("kube-system", "b", ours), want: "b"},
		"beside Karpenter": {shadow: set, other: release("kube-system", "b", theirs), want: "b"},
		"before Karpenter by name": {shadow: release("kube-system", "z", ours, "SHADOW=true"),
			other: release("kube-system", "b", theirs), want: "b"},
	} {
		t.Run(name, func(t *testing.T) {
			objects := []client.Object{tt.shadow}
			if tt.other != nil {
				objects = append(objects, tt.other)
			}
			store := fake.NewClientBuilder().WithObjects(objects...).Build()
			found, err := Find(t.Context(), store, "kube-system")
			if err != nil || found.Deployment == nil || found.Deployment.Name != tt.want || found.Shadow() != (tt.other == nil) {
				t.Errorf("Find = %v in shadow mode: %t, %v; want %s", found.Deployment, found.Shadow(), err, tt.want)
			}
			shadows, err := InShadow(t.Context(), store)
			if want := []string{"kube-system/" + tt.shadow.Name}; err != nil || !slices.Equal(shadows, want) {
				t.Errorf("InShadow = %v, %v; want %v", shadows, err, want)
			}
		})
	}
}
