package buffer

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/autoscaling/v1beta1"
)

func named(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: "shop", Name: name, Generation: 4}
}

// Of a template all counts but what a pod that waits has not, and volumes that belong to one pod alone.
func TestResolve(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	pods := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}}}
	own := &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}
	pods.Spec = corev1.PodSpec{NodeName: "n1", SchedulingGates: []corev1.PodSchedulingGate{{Name: "later"}}}
	pods.Spec.Volumes = []corev1.Volume{
		{Name: "own", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: own}},
		{Name: "scratch", VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}},
		{Name: "settings", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{}}},
	}
	golden, lost := *pods.DeepCopy(), *pods.DeepCopy()
	golden.Spec.PriorityClassName, lost.Spec.PriorityClassName = "golden", "lost"
	from := fake.NewClientBuilder().WithScheme(scheme).WithObjects(
		&corev1.PodTemplate{ObjectMeta: named("web"), Template: pods},
		&corev1.PodTemplate{ObjectMeta: named("lost"), Template: lost},
		&appsv1.Deployment{ObjectMeta: named("web"), Spec: appsv1.DeploymentSpec{Replicas: new(int32(7)), Template: golden}},
		&appsv1.StatefulSet{ObjectMeta: named("db"), Spec: appsv1.StatefulSetSpec{Template: pods}},
		&schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "golden"}, Value: 100},
		&schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "usual"}, Value: 5, GlobalDefault: true},
	).Build()
	workload := func(group, kind, name string) v1beta1.CapacityBufferSpec {
		return v1beta1.CapacityBufferSpec{ScalableRef: &v1beta1.ScalableRef{APIGroup: group, Kind: kind, Name: name}}
	}
	template := func(name string) v1beta1.CapacityBufferSpec {
		return v1beta1.CapacityBufferSpec{PodTemplateRef: &v1beta1.LocalObjectRef{Name: name}}
	}
	tests := map[string]struct {
		spec     v1beta1.CapacityBufferSpec
		replicas int32
		priority int32
		refused  string // reason and beginning of the message; empty: it is ready
	}{
		"a PodTemplate":                    {template("web"), 0, 5, ""},
		"a Deployment":                     {workload("apps", "Deployment", "web"), 7, 100, ""},
		"a StatefulSet without replicas":   {workload("", "StatefulSet", "db"), 1, 5, ""},
		"a PodTemplate that is not there":  {template("other"), 0, 0, "PodTemplateNotFound PodTemplate shop/other is not there"},
		"a workload that is not there":     {workload("apps", "ReplicaSet", "web"), 0, 0, "ScalableRefNotFound ReplicaSet shop/web is not there"},
		"a kind that cannot be scaled":     {workload("apps", "DaemonSet", "web"), 0, 0, "ResolutionFailed spec.scalableRef: kind DaemonSet"},
		"a group that is not apps":         {workload("argoproj.io", "Deployment", "web"), 0, 0, "ResolutionFailed spec.scalableRef: kind Deployment of group \"argoproj.io\""},
		"a priority class that is missing": {template("lost"), 0, 0, "ResolutionFailed its pods name PriorityClass \"lost\""},
		"nothing":                          {v1beta1.CapacityBufferSpec{}, 0, 0, "ResolutionFailed spec names no pods"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			spare := &v1beta1.CapacityBuffer{ObjectMeta: named("spare"), Spec: tt.spec}
			r, err := Resolve(t.Context(), from, spare, time.Now())
			if err != nil {
				t.Fatal(err)
			}
			if said := r.NotReady.Reason + " " + r.NotReady.Message; tt.refused != "" {
				if !strings.HasPrefix(said, tt.refused) || r.Pod != nil {
					t.Errorf("it is refused by %q with pod %v, want %q", said, r.Pod, tt.refused)
				}
				return
			}
			if r.Replicas != tt.replicas || r.Generation != 4 || r.Pod == nil || *r.Pod.Spec.Priority != tt.priority {
				t.Fatalf("it comes to %+v, want replicas %d and priority %d", r, tt.replicas, tt.priority)
			}
			p := r.Pod
			if len(p.Spec.Volumes) != 1 || p.Spec.Volumes[0].Name != "settings" || p.Spec.NodeName != "" || p.Spec.SchedulingGates != nil {
				t.Errorf("the pod has %+v", p.Spec)
			}
			if p.Labels["app"] != "web" || p.Annotations[api.AnnotationBufferName] != "spare" || p.Namespace != "shop" {
				t.Errorf("the pod is %+v", p.ObjectMeta)
			}
		})
	}
}

func TestBuffersOfOthersAreLeftAlone(t *testing.T) {
	is := map[string]bool{"": true, v1beta1.StrategyActiveCapacity: true, "example.com/other": false}
	for strategy, want := range is {
		b := &v1beta1.CapacityBuffer{Spec: v1beta1.CapacityBufferSpec{ProvisioningStrategy: &strategy}}
		if Ours(b) != want {
			t.Errorf("strategy %q is ours: %t", strategy, !want)
		}
		if now := metav1.Now(); want {
			if b.DeletionTimestamp = &now; Ours(b) {
				t.Error("a buffer that is being deleted is served")
			}
		}
	}
	if !Ours(&v1beta1.CapacityBuffer{}) {
		t.Error("a buffer without a strategy is not served")
	}
}

// Where PriorityClasses may not be listed, pods that name none are planned for, and others are not: their priority is not
// known. Nothing else waits for that.
func TestPriorityClassesMayBeForbidden(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	golden := corev1.PodTemplateSpec{Spec: corev1.PodSpec{PriorityClassName: "golden"}}
	critical := corev1.PodTemplateSpec{Spec: corev1.PodSpec{PriorityClassName: "system-node-critical"}}
	forbids := interceptor.Funcs{List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
		return apierrors.NewForbidden(schedulingv1.Resource("priorityclasses"), "", errors.New("no rule allows it"))
	}}
	from := fake.NewClientBuilder().WithScheme(scheme).WithInterceptorFuncs(forbids).WithObjects(
		&corev1.PodTemplate{ObjectMeta: named("plain")},
		&corev1.PodTemplate{ObjectMeta: named("critical"), Template: critical},
		&corev1.PodTemplate{ObjectMeta: named("golden"), Template: golden},
	).Build()
	for template, want := range map[string]string{
		"plain": "", "critical": "",
		"golden": `its pods name PriorityClass "golden", and PriorityClasses may not be listed: grant the verb list on them`,
	} {
		spare := &v1beta1.CapacityBuffer{ObjectMeta: named("spare")}
		spare.Spec.PodTemplateRef = &v1beta1.LocalObjectRef{Name: template}
		r, err := Resolve(t.Context(), from, spare, time.Now())
		if err != nil || r.NotReady.Message != want || (r.Pod == nil) != (want != "") {
			t.Errorf("%s: refused by %q with pod %v and %v, want %q", template, r.NotReady.Message, r.Pod, err, want)
		}
	}
}
