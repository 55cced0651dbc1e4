package strip

import (
	"reflect"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Caches hold every workload, and old ReplicaSets by the thousand: of each there is
// left whom it chooses, how many it wants and, where these are any, what they ask for.
func TestStrippedWorkloads(t *testing.T) {
	full := metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "u", ResourceVersion: "7", Labels: map[string]string{"app": "web"},
		Annotations: map[string]string{"deployment.kubernetes.io/revision": "3"}, OwnerReferences: []metav1.OwnerReference{{Name: "web"}}}
	bare := metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "u", ResourceVersion: "7"}
	chosen, two := map[string]string{"app": "web"}, int32(2)
	none := int32(0)
	asks := corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}}
	template := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: chosen}, Spec: corev1.PodSpec{ServiceAccountName: "web",
		Containers: []corev1.Container{{Name: "web", Image: "image", Env: []corev1.EnvVar{{Name: "A"}}, Resources: asks}}}}
	left := corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Resources: asks}}}}
	selector := &metav1.LabelSelector{MatchLabels: chosen}
	tests := map[string]struct{ is, want client.Object }{
		"a ReplicaSet": {
			&appsv1.ReplicaSet{ObjectMeta: full, Spec: appsv1.ReplicaSetSpec{Replicas: &two, Selector: selector, Template: template}, Status: appsv1.ReplicaSetStatus{Replicas: 2}},
			&appsv1.ReplicaSet{ObjectMeta: bare, Spec: appsv1.ReplicaSetSpec{Replicas: &two, Selector: selector, Template: left}},
		},
		"an old ReplicaSet": {
			&appsv1.ReplicaSet{ObjectMeta: full, Spec: appsv1.ReplicaSetSpec{Replicas: &none, Selector: selector, Template: template}},
			&appsv1.ReplicaSet{ObjectMeta: bare, Spec: appsv1.ReplicaSetSpec{Replicas: &none, Selector: selector}},
		},
		"a StatefulSet": {
			&appsv1.StatefulSet{ObjectMeta: full, Spec: appsv1.StatefulSetSpec{Replicas: &two, Selector: selector, Template: template}, Status: appsv1.StatefulSetStatus{Replicas: 2}},
			&appsv1.StatefulSet{ObjectMeta: bare, Spec: appsv1.StatefulSetSpec{Replicas: &two, Selector: selector, Template: left}},
		},
		"a ReplicationController": {
			&corev1.ReplicationController{ObjectMeta: full, Spec: corev1.ReplicationControllerSpec{Replicas: &two, Selector: chosen, Template: template.DeepCopy()}},
			&corev1.ReplicationController{ObjectMeta: bare, Spec: corev1.ReplicationControllerSpec{Replicas: &two, Selector: chosen, Template: &left}},
		},
		"a Job, and how many of its pods may fail": {
			&batchv1.Job{ObjectMeta: full, Spec: batchv1.JobSpec{BackoffLimit: &two, Selector: selector, Template: template},
				Status: batchv1.JobStatus{Active: 1, Failed: 1, StartTime: &metav1.Time{Time: time.Unix(0, 0)}, Conditions: []batchv1.JobCondition{{Type: batchv1.JobFailed, Status: "True", Message: "it failed"}}}},
			&batchv1.Job{ObjectMeta: bare, Spec: batchv1.JobSpec{BackoffLimit: &two}, Status: batchv1.JobStatus{Failed: 1, Conditions: []batchv1.JobCondition{{Type: batchv1.JobFailed, Status: "True"}}}},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got, err := Strip(tt.is.DeepCopyObject()); err != nil || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("left of it is %+v (%v), want %+v", got, err, tt.want)
			}
		})
	}
}

// Variables of DaemonSets are dropped, but for those of the VPC's network plugin: how it
// gives out addresses says how many pods have one.
func TestTheNetworkPluginKeepsItsSettings(t *testing.T) {
	for name, kept := range map[string]bool{"aws-node": true, "fluent-bit": false} {
		ds := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: name}}
		ds.Spec.Template.Spec.Containers = []corev1.Container{{Name: name, Image: "image", Env: []corev1.EnvVar{{Name: "ENABLE_PREFIX_DELEGATION", Value: "true"}}}}
		got, err := Strip(ds)
		if err != nil {
			t.Fatal(err)
		}
		if c := got.(*appsv1.DaemonSet).Spec.Template.Spec.Containers[0]; c.Image != "" || (len(c.Env) == 1) != kept {
			t.Errorf("of %s there is left %+v; want its settings: %v", name, c, kept)
		}
	}
}
