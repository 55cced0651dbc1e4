package store_test

import (
	"reflect"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/api/admissiontest"
	awsv1alpha1 "github.com/daemok/daemok/kube/api/aws/v1alpha1"
	"github.com/daemok/daemok/kube/api/condition"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha5"
	"github.com/daemok/daemok/test/store"
)

// older is an object of the v1alpha5 API of the API.
type older interface {
	client.Object
	condition.Object
}

// TestTheOlderGenerationIsStoredAsWritten: what an API server accepts of
// Provisioners and AWSNodeTemplates is stored without anything added to its
// spec, and takes a status.
func TestTheOlderGenerationIsStoredAsWritten(t *testing.T) {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{v1alpha5.AddToScheme, awsv1alpha1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	cases, err := admissiontest.Cases()
	if err != nil {
		t.Fatal(err)
	}
	tried, now := 0, time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)
	c := store.New(s, time.Now).Connect(nil)
	for _, tt := range cases {
		if tt.Refused != "" || !s.Recognizes(tt.Object.GroupVersionKind()) {
			continue
		}
		tried++
		t.Run(tt.Name, func(t *testing.T) {
			asked, read := typed(t, s, tt), typed(t, s, tt)
			written := asked.DeepCopyObject()
			if err := c.Create(t.Context(), asked); err != nil {
				t.Fatal(err)
			}
			if err := c.Get(t.Context(), client.ObjectKeyFromObject(asked), read); err != nil {
				t.Fatal(err)
			}
			if got, want := specOf(read), specOf(written); !reflect.DeepEqual(got, want) {
				t.Errorf("stored as %+v\nwant %+v", got, want)
			}
			before := read.DeepCopyObject().(client.Object)
			condition.SetTrue(read, condition.Ready, now)
			if err := c.Status().Patch(t.Context(), read, client.MergeFrom(before)); err != nil {
				t.Errorf("write the status: %v", err)
			}
		})
	}
	if tried == 0 {
		t.Error("there are no cases of the older generation")
	}
}

// typed is the object of a case in its Go type, with its status left out.
func typed(t *testing.T, s *runtime.Scheme, c admissiontest.Case) older {
	t.Helper()
	object, err := s.New(c.Object.GroupVersionKind())
	if err != nil {
		t.Fatal(err)
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(c.Object.Object, object); err != nil {
		t.Fatal(err)
	}
	o := object.(older)
	o.SetResourceVersion("")
	o.SetCreationTimestamp(metav1.Time{})
	return o
}

// specOf is the spec of an object with what is empty left out, as it is on
// the wire.
func specOf(o runtime.Object) any {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		return err
	}
	return fields["spec"]
}
