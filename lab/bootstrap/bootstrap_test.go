package bootstrap

import (
	"context"
	"encoding/base64"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/daemok/daemok/deploy"
	"github.com/daemok/daemok/kube/api/crds"
)

// What the lab installs can be read, and names every object's Kind.
func TestManifestsDecode(t *testing.T) {
	own, err := read(objects)
	if err != nil {
		t.Fatal(err)
	}
	resources, err := read(crds.FS)
	if err != nil {
		t.Fatal(err)
	}
	rights, err := decode(deploy.RBAC)
	if err != nil {
		t.Fatal(err)
	}
	for name, list := range map[string][]*unstructured.Unstructured{"objects": own, "resources": resources, "rights": rights} {
		if len(list) == 0 {
			t.Errorf("%s: none", name)
		}
		for _, o := range list {
			if o.GetKind() == "" || o.GetAPIVersion() == "" || o.GetName() == "" {
				t.Errorf("%s: an object without kind or name: %v", name, o.Object)
			}
		}
	}
}

// The controller's rights make the account that the lab issues a token for.
func TestRightsHoldTheControllersAccount(t *testing.T) {
	rights, err := decode(deploy.RBAC)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range rights {
		if o.GetKind() == "ServiceAccount" && o.GetNamespace() == ControllerNamespace && o.GetName() == ControllerAccount {
			return
		}
	}
	t.Errorf("no service account %s/%s in the rights", ControllerNamespace, ControllerAccount)
}

// A StorageClass that a user made under the name of the lab's cannot be changed, and stays as it is; any other refusal is an error.
func TestStorageClassesOfUsersStay(t *testing.T) {
	kind := schema.GroupKind{Group: "storage.k8s.io", Kind: "StorageClass"}
	immutable := apierrors.NewInvalid(kind, "gp3", field.ErrorList{field.Invalid(field.NewPath("parameters"), "", "field is immutable")})
	for name, tt := range map[string]struct {
		kind  string
		err   error
		stays bool
	}{
		"a class of the user":   {"StorageClass", immutable, true},
		"a class not to be had": {"StorageClass", apierrors.NewForbidden(schema.GroupResource{}, "gp3", nil), false},
		"another kind":          {"CSIDriver", immutable, false},
	} {
		t.Run(name, func(t *testing.T) {
			c := interceptor.NewClient(fake.NewFakeClient(), interceptor.Funcs{
				Apply: func(context.Context, client.WithWatch, runtime.ApplyConfiguration, ...client.ApplyOption) error {
					return tt.err
				},
			})
			o := &unstructured.Unstructured{}
			o.SetKind(tt.kind)
			o.SetName("gp3")
			if err := apply(t.Context(), c, o); (err == nil) != tt.stays {
				t.Errorf("apply a %s, which is refused by %v: %v", tt.kind, tt.err, err)
			}
		})
	}
}

func TestMetricsLeadToThePort(t *testing.T) {
	list := metricsObjects(Metrics{Port: 20443, CABundle: []byte("authority")})
	for _, o := range list {
		switch o.GetKind() {
		case "Service":
			if host, _, _ := unstructured.NestedString(o.Object, "spec", "externalName"); host != "localhost" {
				t.Errorf("service leads to %q, want localhost", host)
			}
		case "APIService":
			port, _, _ := unstructured.NestedInt64(o.Object, "spec", "service", "port")
			bundle, _, _ := unstructured.NestedString(o.Object, "spec", "caBundle")
			if port != 20443 || bundle != base64.StdEncoding.EncodeToString([]byte("authority")) {
				t.Errorf("API service has port %d and bundle %q, want those given", port, bundle)
			}
		}
	}
	if len(list) != 2 {
		t.Errorf("%d objects, want a service and an API service", len(list))
	}
}

func TestEstablished(t *testing.T) {
	crd := func(name, status string) *unstructured.Unstructured {
		o := &unstructured.Unstructured{Object: map[string]any{}}
		o.SetName(name)
		if status != "" {
			o.Object["status"] = map[string]any{"conditions": []any{map[string]any{"type": "Established", "status": status}}}
		}
		return o
	}
	wanted := []*unstructured.Unstructured{crd("a", ""), crd("b", "")}
	tests := map[string]struct {
		seen []*unstructured.Unstructured
		want bool
	}{
		"none is there":         {nil, false},
		"one is missing":        {[]*unstructured.Unstructured{crd("a", "True")}, false},
		"one has no status yet": {[]*unstructured.Unstructured{crd("a", "True"), crd("b", "")}, false},
		"one is not accepted":   {[]*unstructured.Unstructured{crd("a", "True"), crd("b", "False")}, false},
		"all are served":        {[]*unstructured.Unstructured{crd("a", "True"), crd("b", "True")}, true},
		"others do not matter":  {[]*unstructured.Unstructured{crd("a", "True"), crd("b", "True"), crd("c", "")}, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got, err := established(wanted)(tt.seen); got != tt.want || err != nil {
				t.Errorf("established = %v, %v; want %v", got, err, tt.want)
			}
		})
	}
}
