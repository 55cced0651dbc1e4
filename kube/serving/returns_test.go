package serving

import (
	"context"
	"errors"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/translate/podspec"
	"github.com/daemok/daemok/test/store"
)

// The API server is asked of each owner once, and what it says of pods is what snapshots
// say: there is one rule.
func TestOwnersAreReadOnceAndSayWhichPodsReturn(t *testing.T) {
	s := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	server, reads := store.New(s, time.Now), 0
	hand := server.Connect(func(c store.Call) (before, after error) {
		if c.Verb == store.Get {
			reads++
		}
		return nil, nil
	})
	create := func(o client.Object) {
		if err := hand.Create(context.Background(), o); err != nil {
			t.Fatal(err)
		}
	}
	meta := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: "default", Name: name} }
	set := &appsv1.StatefulSet{ObjectMeta: meta("set"), Spec: appsv1.StatefulSetSpec{Replicas: new(int32(1))}}
	none := &appsv1.ReplicaSet{ObjectMeta: meta("none"), Spec: appsv1.ReplicaSetSpec{Replicas: new(int32(0))}}
	once := &batchv1.Job{ObjectMeta: meta("once"), Spec: batchv1.JobSpec{BackoffLimit: new(int32(0))}}
	often := &batchv1.Job{ObjectMeta: meta("often"), Spec: batchv1.JobSpec{BackoffLimit: new(int32(6))}}
	for _, o := range []client.Object{set, none, once, often} {
		create(o)
	}
	of := func(version, kind string, o client.Object) []metav1.OwnerReference {
		return []metav1.OwnerReference{{APIVersion: version, Kind: kind, Name: o.GetName(), UID: o.GetUID(), Controller: new(true)}}
	}
	another := once.DeepCopy()
	another.UID = "of another one of that name"
	owners := Owners{From: hand}
	for _, tt := range []struct {
		what, pod       string
		owner           []metav1.OwnerReference
		returns, oneOff bool
		reads           int // so far
	}{
		{"a pod without an owner", "p", nil, false, true, 0},
		{"one of an owner that is not looked at", "p", of("argoproj.io/v1alpha1", "Workflow", once), true, false, 0},
		{"a member of a StatefulSet", "set-0", of("apps/v1", "StatefulSet", set), true, false, 1},
		{"one beyond its replicas", "set-1", of("apps/v1", "StatefulSet", set), false, false, 1},
		{"one that its ReplicaSet does not want", "p", of("apps/v1", "ReplicaSet", none), false, false, 2},
		{"one of a Job that fails with it", "p", of("batch/v1", "Job", once), false, true, 3},
		{"one of a Job that does not", "p", of("batch/v1", "Job", often), true, false, 4},
		{"another one of it", "q", of("batch/v1", "Job", often), true, false, 4},
		{"one of a Job that is gone", "p", of("batch/v1", "Job", another), false, false, 5},
	} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: tt.pod, OwnerReferences: tt.owner}, Spec: corev1.PodSpec{NodeName: "n"}}
		p := podspec.Pod(pod, time.Now(), false)
		if err := owners.Judge(context.Background(), &p, pod); err != nil {
			t.Fatal(err)
		}
		if p.Returns != tt.returns || (p.OneOff != "") != tt.oneOff || reads != tt.reads {
			t.Errorf("%s: it returns: %v, work ends with it: %q, after %d reads; want %v, %v, %d", tt.what, p.Returns, p.OneOff, reads, tt.returns, tt.oneOff, tt.reads)
		}
	}
}

// What cannot be read is not taken for gone.
func TestAnOwnerThatCannotBeReadIsNotGone(t *testing.T) {
	s := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("the API server does not answer")
	owners := Owners{From: store.New(s, time.Now).Connect(func(store.Call) (before, after error) { return broken, nil })}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p", OwnerReferences: []metav1.OwnerReference{
		{APIVersion: "batch/v1", Kind: "Job", Name: "j", UID: "u", Controller: new(true)}}}, Spec: corev1.PodSpec{NodeName: "n"}}
	p := podspec.Pod(pod, time.Now(), false)
	if err := owners.Judge(context.Background(), &p, pod); !errors.Is(err, broken) {
		t.Errorf("it ended with %v", err)
	}
}
