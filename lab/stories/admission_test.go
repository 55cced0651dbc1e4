package stories_test

import (
	"context"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/daemok/daemok/kube/api/admissiontest"
)

// The real API server accepts and refuses what the table says.
func TestAdmission(t *testing.T) {
	t.Parallel()
	cases, err := admissiontest.Cases()
	if err != nil {
		t.Fatal(err)
	}
	if len(cases) == 0 {
		t.Fatal("the table of admission cases is empty")
	}
	s := begin(t, bare)
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			t.Cleanup(func() {
				err := s.client.Delete(context.Background(), s.placed(c.Object))
				if err != nil && !apierrors.IsNotFound(err) {
					t.Errorf("delete object of case: %v", err)
				}
			})
			if err := c.Try(t.Context(), apiserver{s}); err != nil {
				t.Error(err)
			}
		})
	}
	t.Logf("%d cases", len(cases))
}

// apiserver tries manifests on a real one.
type apiserver struct{ *story }

func (a apiserver) Create(ctx context.Context, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	o = a.placed(o)
	return o, a.client.Create(ctx, o)
}

func (a apiserver) Update(ctx context.Context, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	o = a.placed(o)
	return o, a.client.Update(ctx, o)
}

func (a apiserver) UpdateStatus(ctx context.Context, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	o = a.placed(o)
	return o, a.client.Status().Update(ctx, o)
}

// placed returns a copy of the object, in the story's namespace if its Kind has namespaces.
func (s *story) placed(o *unstructured.Unstructured) *unstructured.Unstructured {
	o = o.DeepCopy()
	if namespaced, err := s.client.IsObjectNamespaced(o); err == nil && namespaced {
		o.SetNamespace(s.namespace)
	}
	return o
}
