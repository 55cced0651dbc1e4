package chart

import (
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/engine"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	dynamicfake "k8s.io/client-go/dynamic/fake"
)

// cluster is one that the chart is installed in.
type cluster struct{ dynamic.Interface }

// GetClientFor returns what reads objects of a Kind. Charts ask for Deployments alone.
func (c cluster) GetClientFor(string, string) (dynamic.NamespaceableResourceInterface, bool, error) {
	return c.Resource(apischema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}), true, nil
}

// Two controllers would act at once, so a cluster that has one is refused another, whatever its image is called. A release of
// Karpenter's chart that is upgraded to this one keeps its names, on which the trust of its role depends.
func TestAnotherControllerInTheCluster(t *testing.T) {
	tests := map[string]struct {
		release, at, image string // of the chart; namespace and name of the Deployment that is there, and its image
		change             func(*appsv1.Deployment)
		values, want       string // part of the error, none if empty
	}{
		"its own":            {"karpenter", "kube-system/karpenter", "public.ecr.aws/karpenter/controller:1.1.0@sha256:ab", nil, "", ""},
		"Karpenter":          {"daemok", "karpenter/karpenter", "public.ecr.aws/karpenter/controller:1.1.0", nil, "", "karpenter/karpenter runs public.ecr.aws/karpenter/controller:1.1.0 in this cluster"},
		"Daemok":             {"second", "kube-system/karpenter", "mirror:5000/daemok-controller@sha256:ab", nil, "", "upgrade its release instead, or scale it to 0 first"},
		"a mirror's name":    {"daemok", "karpenter/karpenter", "mirror/autoscaler:7", nil, "", "karpenter/karpenter runs mirror/autoscaler:7"},
		"one at 0":           {"daemok", "karpenter/karpenter", "public.ecr.aws/karpenter/controller:1.1.0", func(d *appsv1.Deployment) { *d.Spec.Replicas = 0 }, "", ""},
		"another program":    {"daemok", "karpenter/karpenter", "ingress/controller:7", func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Env = nil }, "", ""},
		"of another name":    {"nodes", "kube-system/nodes-karpenter", "public.ecr.aws/karpenter/controller:1.1.0", nil, "", "kube-system/nodes-karpenter is of this release, which would call it nodes-daemok, its service account too: set nameOverride to karpenter, and its names stay"},
		"keeping that name":  {"nodes", "kube-system/nodes-karpenter", "public.ecr.aws/karpenter/controller:1.1.0", nil, "nameOverride: karpenter", ""},
		"renamed by hand":    {"nodes", "kube-system/nodes-karpenter", "public.ecr.aws/karpenter/controller:1.1.0", nil, "fullnameOverride: scaler\nnameOverride: karpenter", "would call it scaler, its service account too: set fullnameOverride to nodes-karpenter"},
		"with a name of its": {"nodes", "kube-system/scaler", "public.ecr.aws/karpenter/controller:1.1.0", nil, "fullnameOverride: scaler\nnameOverride: karpenter", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			namespace, called, _ := strings.Cut(tt.at, "/")
			one := int32(1)
			d := &appsv1.Deployment{
				TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
				ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: called, Labels: map[string]string{"app.kubernetes.io/name": "karpenter", "app.kubernetes.io/instance": strings.TrimSuffix(called, "-karpenter")}},
			}
			d.Spec.Replicas = &one
			d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "controller", Image: tt.image, Env: []corev1.EnvVar{{Name: "KARPENTER_SERVICE", Value: called}}}}
			if tt.change != nil {
				tt.change(d)
			}
			err := install(t, tt.release, tt.values+"\n"+least, d)
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("install %s beside %s: %v; want %q", tt.release, tt.at, err, tt.want)
			}
		})
	}
}

// install renders the chart for a cluster that has a Deployment.
func install(t *testing.T, release, values string, has *appsv1.Deployment) error {
	t.Helper()
	c, err := Load(Daemok)
	if err != nil {
		t.Fatal(err)
	}
	scheme := runtime.NewScheme()
	if err := appsv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	all, err := util.ToRenderValues(c, valuesOf(t, values), common.ReleaseOptions{Name: release, Namespace: "kube-system", Revision: 1, IsInstall: true}, common.DefaultCapabilities)
	if err != nil {
		t.Fatal(err)
	}
	_, err = engine.RenderWithClientProvider(c, all, cluster{dynamicfake.NewSimpleDynamicClient(scheme, has)})
	return err
}
