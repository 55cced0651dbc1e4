package snapshot

import (
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	resourcehelper "k8s.io/component-helpers/resource"
)

// webPod is a pod of a ReplicaSet, as an API server shows it.
func webPod(name, node string, change func(*corev1.Pod)) *corev1.Pod {
	controls := true
	asks := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m")}
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: map[string]string{"app": "web"}, Annotations: map[string]string{"checksum": "1"},
			OwnerReferences: []metav1.OwnerReference{{Kind: "ReplicaSet", Name: "web", UID: "u", Controller: &controls}}},
		Spec: corev1.PodSpec{NodeName: node, Hostname: name, Containers: []corev1.Container{{Name: "main", Env: []corev1.EnvVar{{Name: "A"}}, Resources: corev1.ResourceRequirements{Requests: asks}}},
			Volumes: []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}}}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, PodIP: "10.0.0.1", Conditions: []corev1.PodCondition{{Type: corev1.PodInitialized, Status: "True"}, {Type: corev1.PodReady, Status: "True"}},
			ContainerStatuses: []corev1.ContainerStatus{{Name: "main", AllocatedResources: asks.DeepCopy(), Resources: &corev1.ResourceRequirements{Requests: asks.DeepCopy()}}}},
	}
	if change != nil {
		change(p)
	}
	return p
}

// Pods that an owner made after one template are in memory once, but for what is their own, and
// each says what it said alone.
func TestEqualPartsOfPodsAreShared(t *testing.T) {
	tests := map[string]struct {
		another                              func(*corev1.Pod)
		spec, labels, annotations, ownership bool // are shared
	}{
		"two of one owner": {nil, true, true, true, true},
		"one that was resized": {func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("1")
		}, false, true, true, true},
		"one with a label of its own":   {func(p *corev1.Pod) { p.Labels["index"] = "1" }, true, false, true, true},
		"one with a word of its own":    {func(p *corev1.Pod) { p.Annotations["ip"] = "10.0.0.2" }, true, true, false, true},
		"one of another owner":          {func(p *corev1.Pod) { p.OwnerReferences[0].UID = "other" }, true, true, true, false},
		"one that is on its way to end": {func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: start} }, true, true, true, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			in := Sharing()
			var got [2]*corev1.Pod
			for i, p := range []*corev1.Pod{webPod("web-1", "n1", nil), webPod("web-2", "n2", tt.another)} {
				alone, err := Strip(p.DeepCopy())
				if err != nil {
					t.Fatal(err)
				}
				for range 2 { // informers may do it twice
					if _, err := in(p); err != nil {
						t.Fatal(err)
					}
				}
				if got[i] = p; !equality.Semantic.DeepEqual(p, alone) {
					t.Errorf("%+v became %+v", alone, p)
				}
			}
			same := func(a, b any) bool { return reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer() }
			a, b := got[0], got[1]
			if same(a.Spec.Containers, b.Spec.Containers) != tt.spec || same(a.Labels, b.Labels) != tt.labels ||
				same(a.Annotations, b.Annotations) != tt.annotations || same(a.OwnerReferences, b.OwnerReferences) != tt.ownership {
				t.Errorf("shared are spec %v, labels %v, annotations %v, owners %v; want %+v", same(a.Spec.Containers, b.Spec.Containers), same(a.Labels, b.Labels),
					same(a.Annotations, b.Annotations), same(a.OwnerReferences, b.OwnerReferences), tt)
			}
		})
	}
}

// What is left of a pod asks for as much as the whole of it did, while it is resized too.
func TestAStrippedPodAsksForAsMuch(t *testing.T) {
	two := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}
	for name, change := range map[string]func(*corev1.Pod){
		"at rest":                  nil,
		"more is held than asked":  func(p *corev1.Pod) { p.Status.ContainerStatuses[0].Resources.Requests = two },
		"more is given than asked": func(p *corev1.Pod) { p.Status.ContainerStatuses[0].AllocatedResources = two },
		"the node can never give": func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources.Requests = two
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodResizePending, Reason: corev1.PodReasonInfeasible}}
		},
		"nothing is said of it":      func(p *corev1.Pod) { p.Status.ContainerStatuses = nil },
		"it asks for nothing":        func(p *corev1.Pod) { p.Spec.Containers[0].Resources = corev1.ResourceRequirements{} },
		"a sidecar holds more":       sidecar(two, nil),
		"a sidecar has what it asks": sidecar(two, two),
	} {
		t.Run(name, func(t *testing.T) {
			asks := func(p *corev1.Pod) corev1.ResourceList {
				return resourcehelper.PodRequests(p, resourcehelper.PodResourcesOptions{UseStatusResources: true})
			}
			whole := webPod("web-1", "n1", change)
			left, err := Strip(whole.DeepCopy())
			if err != nil {
				t.Fatal(err)
			}
			if got, want := asks(left.(*corev1.Pod)), asks(whole); !equality.Semantic.DeepEqual(got, want) {
				t.Errorf("it asks for %v, the whole pod for %v", got, want)
			}
		})
	}
}

// sidecar adds a container that holds so much and asks for that.
func sidecar(holds, asks corev1.ResourceList) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		always := corev1.ContainerRestartPolicyAlways
		p.Spec.InitContainers = []corev1.Container{{Name: "side", RestartPolicy: &always, Resources: corev1.ResourceRequirements{Requests: asks}}}
		p.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "side", Resources: &corev1.ResourceRequirements{Requests: holds}}}
	}
}
