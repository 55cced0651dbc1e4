package strip

import (
	"reflect"
	"strings"
	"testing"
	"unsafe"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	resourcehelper "k8s.io/component-helpers/resource"

	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"time"
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
		"one that is on its way to end": {func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: time.Unix(0, 0)} }, true, true, true, true},
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

// What thousands of nodes and NodeClaims say alike is in memory once, and each says what it said alone.
func TestEqualTextsOfNodesAndNodeClaimsAreShared(t *testing.T) {
	node := func(name string) *corev1.Node {
		return &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: decoded(map[string]string{"kubernetes.io/hostname": name, "karpenter.sh/nodepool": "default"})},
			Spec:       corev1.NodeSpec{Taints: []corev1.Taint{{Key: decodedText("team"), Value: "a", Effect: corev1.TaintEffectNoSchedule}}},
			Status: corev1.NodeStatus{NodeInfo: corev1.NodeSystemInfo{KubeletVersion: decodedText("v1.34.1"), MachineID: name},
				Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Message: decodedText("kubelet is posting ready status")}}},
		}
	}
	claim := func(name string) *karpv1.NodeClaim {
		c := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: decoded(map[string]string{"karpenter.sh/nodepool": "default"})}}
		c.Spec.Requirements = []karpv1.Requirement{
			{Key: decodedText("node.kubernetes.io/instance-type"), Operator: "In", Values: []string{decodedText("m7i.large"), decodedText("m7i.xlarge")}},
			{Key: "topology.kubernetes.io/zone", Operator: "In", Values: []string{name}}, {Key: "team", Operator: "Exists"},
		}
		c.Status.Conditions = []metav1.Condition{{Type: "Launched", Status: "True", Message: decodedText("launched")}}
		return c
	}
	in := Sharing()
	through := func(o any) any {
		out, err := in(o)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	n1, n2 := through(node("n1")).(*corev1.Node), through(node("n2")).(*corev1.Node)
	c1, c2 := through(claim("c1")).(*karpv1.NodeClaim), through(claim("c2")).(*karpv1.NodeClaim)
	for what, texts := range map[string][2]string{
		"label of nodes":     {n1.Labels["karpenter.sh/nodepool"], n2.Labels["karpenter.sh/nodepool"]},
		"taint":              {n1.Spec.Taints[0].Key, n2.Spec.Taints[0].Key},
		"version of kubelet": {n1.Status.NodeInfo.KubeletVersion, n2.Status.NodeInfo.KubeletVersion},
		"message of a node":  {n1.Status.Conditions[0].Message, n2.Status.Conditions[0].Message},
		"label of both":      {n1.Labels["karpenter.sh/nodepool"], c1.Labels["karpenter.sh/nodepool"]},
		"label of a claim":   {c1.Labels["karpenter.sh/nodepool"], c2.Labels["karpenter.sh/nodepool"]},
		"key of a claim":     {c1.Spec.Requirements[0].Key, c2.Spec.Requirements[0].Key},
		"instance type":      {c1.Spec.Requirements[0].Values[0], c2.Spec.Requirements[0].Values[0]},
		"message of a claim": {c1.Status.Conditions[0].Message, c2.Status.Conditions[0].Message},
	} {
		if texts[0] == "" || texts[0] != texts[1] || unsafe.StringData(texts[0]) != unsafe.StringData(texts[1]) {
			t.Errorf("%s: %q and %q are not one text in memory", what, texts[0], texts[1])
		}
	}
	for _, alone := range []struct{ got, want any }{{n1, node("n1")}, {n2, node("n2")}, {c1, claim("c1")}, {c2, claim("c2")}} {
		if want, err := Strip(alone.want); err != nil || !equality.Semantic.DeepEqual(alone.got, want) {
			t.Errorf("%+v became %+v (%v)", want, alone.got, err)
		}
	}
}

// decodedText is a text of its own, as each that is decoded is.
func decodedText(text string) string { return strings.Clone(text) }

func decoded(m map[string]string) map[string]string {
	out := map[string]string{}
	for key, value := range m {
		out[decodedText(key)] = decodedText(value)
	}
	return out
}
