package live

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

func deployment(name, image string) *appsv1.Deployment {
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: name}}
	d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "c", Image: image}}
	return d
}

// The controller's own Deployment names what v1alpha5 calls pools, and no user has to change that: it is not among
// the workloads.
func TestTheControllerIsNoWorkload(t *testing.T) {
	cluster := fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).WithRESTMapper(apimeta.NewDefaultRESTMapper(nil)).
		WithObjects(deployment("karpenter", "ghcr.io/daemok/daemok-controller:0.1.0"), deployment("web", "nginx")).Build()
	got, err := Read(t.Context(), cluster, "kube-system")
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 || got[0].Name != "web" {
		t.Errorf("Read = %v, want Deployment web alone", got)
	}
}
