package oracle

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/core"
	_ "k8s.io/kubernetes/pkg/apis/core/install" // conversions between versions of a pod
	registry "k8s.io/kubernetes/pkg/registry/core/pod"

	"github.com/daemok/daemok/kube/api"
)

// apps draws deployments: pods of one template, of which some run already.
func (g *generator) apps() {
	g.daemonPods()
	most := 30
	if g.one(5) {
		most = 300
	}
	for i := 0; len(g.Pods) < most && i < 25; i++ {
		template := g.template(i)
		running, waiting := g.IntN(4), 1+g.few(min(20, most-1))
		for j := range running {
			g.running(g.replica(template, i, j))
		}
		for j := range waiting {
			g.waiting(g.replica(template, i, running+j))
		}
	}
}

// template draws what all pods of a deployment have in common.
func (g *generator) template(i int) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: pick(g.dice, namespaceNames...), Name: fmt.Sprintf("app-%02d", i), Labels: g.podLabels()},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{containerOf(g.dice)}},
	}
	s := &pod.Spec
	if g.one(6) {
		s.InitContainers = []corev1.Container{containerOf(g.dice)}
		s.InitContainers[0].Name = "init"
		if g.one(2) {
			s.InitContainers[0].RestartPolicy = new(corev1.ContainerRestartPolicyAlways)
		}
	}
	if g.features.extended && g.one(3) {
		amount := *resource.NewQuantity(int64(1+g.IntN(2)), resource.DecimalSI)
		s.Containers[0].Resources.Requests[gpu] = amount
		s.Containers[0].Resources.Limits = corev1.ResourceList{gpu: amount}
	}
	if g.features.priorities {
		s.Priority = new(int32(pick(g.dice, 0, 0, 100)))
	}
	g.nodeRules(s)
	g.neighbourRules(s)
	g.portRules(s)
	g.volumeRules(pod)
	g.drivers.claimRules(pod)
	return pod
}

func containerOf(d dice) corev1.Container {
	requests := corev1.ResourceList{}
	if !d.one(8) {
		requests[corev1.ResourceCPU] = *resource.NewMilliQuantity(int64(pick(d, 50, 100, 250, 500, 1000, 1900, 3500)), resource.DecimalSI)
	}
	if !d.one(8) {
		requests[corev1.ResourceMemory] = *resource.NewQuantity(int64(pick(d, 64, 256, 512, 1024, 3000))<<20, resource.BinarySI)
	}
	return corev1.Container{Name: "main", Image: "main", Resources: corev1.ResourceRequirements{Requests: requests}}
}

func (g *generator) podLabels() map[string]string {
	out := map[string]string{"app": pick(g.dice, "web", "db", "queue"), "version": pick(g.dice, "1", "2")}
	if g.one(2) {
		out["tier"] = pick(g.dice, "front", "back")
	}
	if g.one(8) {
		delete(out, "app")
	}
	return out
}

// replica is one pod of a template.
func (g *generator) replica(template *corev1.Pod, app, i int) *corev1.Pod {
	pod := template.DeepCopy()
	pod.Name = fmt.Sprintf("%s-%03d", template.Name, i)
	pod.UID = types.UID("uid-" + pod.Name)
	for j := range pod.Spec.Volumes {
		if v := &pod.Spec.Volumes[j]; v.Ephemeral != nil && !g.one(10) {
			g.Requests = append(g.Requests, ephemeralClaim(pod, v))
		}
	}
	if g.one(40) {
		pod.Labels["version"] = "odd"
	}
	pod = admitted(pod)
	pod.CreationTimestamp = metav1.NewTime(began.Add(-time.Duration(app+1) * time.Minute))
	pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: template.Name, UID: types.UID("uid-" + template.Name), Controller: new(true)}}
	return pod
}

// running puts a pod on a node with room for it. It may have come there under
// other rules, so no other rule is kept.
func (g *generator) running(pod *corev1.Pod) {
	if len(g.Nodes) == 0 {
		return
	}
	n := pick(g.dice, g.Nodes...)
	if !g.take(n, pod) {
		return
	}
	pod, ok := g.drivers.runs(pod, n)
	if !ok {
		return
	}
	g.stabilize(pod, n)
	pod.Spec.NodeName = n.Name
	pod.Status = corev1.PodStatus{Phase: corev1.PodRunning, ResourceClaimStatuses: pod.Status.ResourceClaimStatuses}
	switch {
	case g.one(10):
		at := metav1.NewTime(began.Add(-time.Second))
		pod.DeletionTimestamp = &at
	case g.one(12):
		pod.Status.Phase = corev1.PodSucceeded
	case g.one(12):
		pod.Annotations = map[string]string{api.AnnotationDoNotDisrupt: "true"}
	}
	g.Pods = append(g.Pods, pod)
}

func (g *generator) waiting(pod *corev1.Pod) {
	pod.Status = waitingStatus()
	g.Pods = append(g.Pods, g.drivers.waits(pod))
}

// waitingStatus is that of a pod for which the scheduler found no node.
func waitingStatus() corev1.PodStatus {
	return corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
	}}}
}

// daemonPods puts most pods of DaemonSets where they belong.
func (g *generator) daemonPods() {
	for _, ds := range g.Daemons {
		for _, n := range g.Nodes {
			pod := daemonPod(ds, n)
			if pod == nil || g.one(8) || !g.take(n, pod) {
				continue
			}
			g.Pods = append(g.Pods, pod)
		}
	}
}

// admitted is the pod as the API server stores it: defaults filled in, and
// labels named by matchLabelKeys merged into selectors. The API server would
// refuse an illegal pod, and a world with one would prove nothing.
func admitted(pod *corev1.Pod) *corev1.Pod {
	defaulted := pod.DeepCopy()
	legacyscheme.Scheme.Default(defaulted)
	internal := &core.Pod{}
	if err := legacyscheme.Scheme.Convert(defaulted, internal, nil); err != nil {
		panic(fmt.Sprintf("pod %s cannot be read: %v", pod.Name, err))
	}
	registry.Strategy.PrepareForCreate(context.Background(), internal)
	if wrong := registry.Strategy.Validate(context.Background(), internal); len(wrong) > 0 {
		panic(fmt.Sprintf("pod %s is not legal: %v", pod.Name, wrong.ToAggregate()))
	}
	out := &corev1.Pod{}
	if err := legacyscheme.Scheme.Convert(internal, out, nil); err != nil {
		panic(fmt.Sprintf("pod %s cannot be written: %v", pod.Name, err))
	}
	out.TypeMeta = metav1.TypeMeta{}
	return out
}
