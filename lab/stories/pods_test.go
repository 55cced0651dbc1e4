package stories_test

import (
	"context"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// preference is one thing that a story wants of the pods of a workload. A story
// writes what matters to it and nothing else:
//
//	s.deploy("web", 3, from(pool), asking("cpu", "1"), spreadOver(zoneLabel))
//	s.stateful("db", 2, "gp3", "3Gi", from(pool), asking("memory", "1Gi"))
type preference func(name string, pod *corev1.PodTemplateSpec)

const (
	zoneLabel = corev1.LabelTopologyZone
	hostLabel = corev1.LabelHostname
)

// from has the pods run on nodes of a pool alone.
func from(pool string) preference { return on("karpenter.sh/nodepool", pool) }

// on has the pods run on nodes with a label alone.
func on(key, value string) preference {
	return func(_ string, pod *corev1.PodTemplateSpec) {
		if pod.Spec.NodeSelector == nil {
			pod.Spec.NodeSelector = map[string]string{}
		}
		pod.Spec.NodeSelector[key] = value
	}
}

// asking requests so much of a resource for each pod; GPUs and the like are
// limited to it too, as the API wants.
func asking(name corev1.ResourceName, amount string) preference {
	return func(_ string, pod *corev1.PodTemplateSpec) {
		r := &pod.Spec.Containers[0].Resources
		if r.Requests == nil {
			r.Requests, r.Limits = corev1.ResourceList{}, corev1.ResourceList{}
		}
		r.Requests[name] = resource.MustParse(amount)
		if !slices.Contains([]corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage}, name) {
			r.Limits[name] = resource.MustParse(amount)
		}
	}
}

// spreadOver has the workload's pods differ by one at most between the values
// of a label, among the nodes that they may run on at all.
func spreadOver(label string) preference {
	honour := corev1.NodeInclusionPolicyHonor
	return func(name string, pod *corev1.PodTemplateSpec) {
		pod.Spec.TopologySpreadConstraints = append(pod.Spec.TopologySpreadConstraints, corev1.TopologySpreadConstraint{
			MaxSkew: 1, TopologyKey: label, WhenUnsatisfiable: corev1.DoNotSchedule,
			LabelSelector: workloadSelector(name), NodeTaintsPolicy: &honour,
		})
	}
}

// apart keeps the pods of other workloads away from where this one's are, by
// the values of a label; without others the workload's own pods from each other.
func apart(label string, others ...string) preference {
	return func(name string, pod *corev1.PodTemplateSpec) {
		affinity := affinityOf(pod)
		affinity.PodAntiAffinity = &corev1.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: terms(label, name, others),
		}
	}
}

// beside has the pods run where those of other workloads are, by the values of
// a label.
func beside(label string, others ...string) preference {
	return func(name string, pod *corev1.PodTemplateSpec) {
		affinity := affinityOf(pod)
		affinity.PodAffinity = &corev1.PodAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: terms(label, name, others),
		}
	}
}

func affinityOf(pod *corev1.PodTemplateSpec) *corev1.Affinity {
	if pod.Spec.Affinity == nil {
		pod.Spec.Affinity = &corev1.Affinity{}
	}
	return pod.Spec.Affinity
}

func terms(label, own string, others []string) (all []corev1.PodAffinityTerm) {
	if len(others) == 0 {
		others = []string{own}
	}
	for _, other := range others {
		all = append(all, corev1.PodAffinityTerm{TopologyKey: label, LabelSelector: workloadSelector(other)})
	}
	return all
}

// onPort has each pod take a port of its node.
func onPort(port int32) preference {
	return func(_ string, pod *corev1.PodTemplateSpec) {
		c := &pod.Spec.Containers[0]
		c.Ports = append(c.Ports, corev1.ContainerPort{ContainerPort: port, HostPort: port, Protocol: corev1.ProtocolTCP})
	}
}

// tolerating lets the pods run on nodes with a taint.
func tolerating(key string) preference {
	return func(_ string, pod *corev1.PodTemplateSpec) {
		pod.Spec.Tolerations = append(pod.Spec.Tolerations, corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists})
	}
}

// ofPriority gives the pods a class of priority; see story.priority.
func ofPriority(class string) preference {
	return func(_ string, pod *corev1.PodTemplateSpec) { pod.Spec.PriorityClassName = class }
}

// noted annotates the pods, as the lab's kubelets read.
func noted(key, value string) preference {
	return func(_ string, pod *corev1.PodTemplateSpec) { metav1.SetMetaDataAnnotation(&pod.ObjectMeta, key, value) }
}

// withDisk gives each pod a volume of a storage class for as long as it lives.
func withDisk(class, size string) preference {
	return func(_ string, pod *corev1.PodTemplateSpec) {
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: "disk", VolumeSource: corev1.VolumeSource{
			Ephemeral: &corev1.EphemeralVolumeSource{VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{Spec: diskSpec(class, size)}},
		}})
	}
}

func diskSpec(class, size string) corev1.PersistentVolumeClaimSpec {
	return corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, StorageClassName: &class,
		Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)}},
	}
}

// graceful gives the pods so many seconds to end when they are asked to go;
// without it they go at once.
func graceful(seconds int64) preference {
	return func(_ string, pod *corev1.PodTemplateSpec) { pod.Spec.TerminationGracePeriodSeconds = &seconds }
}

// podOf is the template of a workload's pods.
func podOf(name string, preferences []preference) corev1.PodTemplateSpec {
	pod := corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": name}},
		Spec: corev1.PodSpec{
			TerminationGracePeriodSeconds: new(int64),
			Containers:                    []corev1.Container{{Name: "main", Image: "public.ecr.aws/eks-distro/kubernetes/pause:3.7"}},
		},
	}
	for _, w := range preferences {
		w(name, &pod)
	}
	return pod
}

func workloadSelector(name string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}
}

// deploy applies a deployment; once more with other replicas scales it.
func (s *story) deploy(name string, replicas int32, preferences ...preference) {
	s.Helper()
	s.applyTyped(&appsv1.Deployment{
		TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"}, ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.DeploymentSpec{Replicas: &replicas, Selector: workloadSelector(name), Template: podOf(name, preferences)},
	})
}

// stateful applies a stateful set whose pods have a disk each, of a storage
// class, that outlives them.
func (s *story) stateful(name string, replicas int32, class, size string, preferences ...preference) {
	s.Helper()
	s.applyTyped(&appsv1.StatefulSet{
		TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "StatefulSet"}, ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.StatefulSetSpec{
			Replicas: &replicas, Selector: workloadSelector(name), Template: podOf(name, preferences),
			VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data"}, Spec: diskSpec(class, size)}},
		},
	})
}

// priority makes a class of priority that goes with the story.
func (s *story) priority(name string, value int32) {
	s.Helper()
	class := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value}
	if err := s.client.Create(s.Context(), class); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() {
		if err := s.client.Delete(context.Background(), class); err != nil {
			s.Errorf("delete class of priority: %v", err)
		}
	})
}

func (s *story) applyTyped(object runtime.Object) {
	s.Helper()
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		s.Fatal(err)
	}
	delete(fields, "status")
	o := &unstructured.Unstructured{Object: fields}
	o.SetNamespace(s.namespace)
	s.applyObject(o)
}
