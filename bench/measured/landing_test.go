package measured_test

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/daemok/daemok/bench/measured"
	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

func TestWherePodsLand(t *testing.T) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, karpv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	from := fake.NewClientBuilder().WithScheme(scheme).WithObjects(
		claim("second", 2, "n2", "moved"), claim("first", 1, "n1", "home,moved"), claim("starting", 3, "", "waits"),
		pod("a", "home", "n1"), pod("b", "moved", "n2"), pod("c", "waits", ""), pod("d", "guest", "n1"),
	).Build()

	got, err := measured.Landings(t.Context(), from, "default")
	if err != nil {
		t.Fatal(err)
	}
	want := []measured.Landing{
		{On: "first", Meant: []string{"first"}}, {On: "second", Meant: []string{"first", "second"}}, {Meant: []string{"starting"}}, {On: "first"}}
	if !slices.EqualFunc(got, want, func(a, b measured.Landing) bool { return a.On == b.On && slices.Equal(a.Meant, b.Meant) }) {
		t.Errorf("got %v, want %v", got, want)
	}
	for i, want := range []struct {
		asPlanned bool
		displaced int
	}{{true, 0}, {false, 1}, {false, 0}, {false, 0}} {
		if l := got[i]; l.AsPlanned() != want.asPlanned || l.Displaced() != want.displaced {
			t.Errorf("of %v it is said that it is as planned: %v, displaced %d times; want %+v", l, l.AsPlanned(), l.Displaced(), want)
		}
	}
}

func claim(name string, second int, node, pods string) client.Object {
	c := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.NewTime(time.Unix(int64(second), 0)),
		Annotations: map[string]string{api.AnnotationForPods: pods}}}
	c.Status.NodeName = node
	return c
}

func pod(name, uid, node string) client.Object {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(uid)}, Spec: corev1.PodSpec{NodeName: node}}
}
