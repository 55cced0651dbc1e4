package podspec

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"

	vpav1 "github.com/daemok/daemok/kube/api/verticalpodautoscaler/v1"
)

// What new pods request is the larger, for each container and resource, of what their template says and what a
// VerticalPodAutoscaler would set at admission.
func TestNewPodsRequestWhatIsRecommended(t *testing.T) {
	tests := map[string]struct {
		spec string // of the VerticalPodAutoscaler, beside its target, and what it recommends
		want string // of a pod with the containers main, of 500m and 1Gi with limits of 3 and 4Gi, and agent, of 100m
	}{
		"it raises one resource and leaves what is less": {`
recommended: [{containerName: main, target: {cpu: "2", memory: 512Mi}}]`, "cpu 2100m memory 1Gi"},
		"containers are raised one by one": {`
recommended:
- {containerName: main, target: {cpu: 100m}}
- {containerName: agent, target: {cpu: 300m, memory: 256Mi}}`, "cpu 800m memory 1280Mi"},
		"in mode Off nothing is set": {`
spec: {updatePolicy: {updateMode: "Off"}}
recommended: [{containerName: main, target: {cpu: "2"}}]`, "cpu 600m memory 1Gi"},
		"in mode Initial new pods get it": {`
spec: {updatePolicy: {updateMode: Initial}}
recommended: [{containerName: main, target: {cpu: "2"}}]`, "cpu 2100m memory 1Gi"},
		"a container may be left out": {`
spec: {resourcePolicy: {containerPolicies: [{containerName: main, mode: "Off"}, {containerName: "*"}]}}
recommended:
- {containerName: main, target: {cpu: "2"}}
- {containerName: agent, target: {cpu: 300m}}`, "cpu 800m memory 1Gi"},
		"bounds hold, and a container's own policy wins over that of all": {`
spec:
  resourcePolicy:
    containerPolicies:
    - {containerName: "*", maxAllowed: {cpu: 200m}}
    - {containerName: main, minAllowed: {memory: 2Gi}, maxAllowed: {cpu: 1500m}}
recommended:
- {containerName: main, target: {cpu: "2", memory: 512Mi}}
- {containerName: agent, target: {cpu: "1"}}`, "cpu 1700m memory 2Gi"},
		"resources that it does not control stay": {`
spec: {resourcePolicy: {containerPolicies: [{containerName: "*", controlledResources: [memory]}]}}
recommended: [{containerName: main, target: {cpu: "2", memory: 2Gi}}]`, "cpu 600m memory 2Gi"},
		"a boost multiplies cpu for the start": {`
spec: {startupBoost: {cpu: {type: Factor, factor: 3}}}
recommended: [{containerName: main, target: {cpu: 700m}}]`, "cpu 2200m memory 1Gi"},
		"or adds to it, for one container": {`
spec:
  startupBoost: {cpu: {type: Factor, factor: 3}}
  resourcePolicy:
    containerPolicies:
    - {containerName: main, startupBoost: {cpu: {type: Quantity, quantity: 300m}}}
recommended: [{containerName: main, target: {cpu: 700m}}]`, "cpu 1100m memory 1Gi"},
		"limits that stay bound it, also beyond what a policy and a boost say": {`
spec:
  startupBoost: {cpu: {type: Factor, factor: 3}}
  resourcePolicy: {containerPolicies: [{containerName: "*", controlledValues: RequestsOnly, minAllowed: {memory: 8Gi}}]}
recommended: [{containerName: main, target: {cpu: "2", memory: 6Gi}}]`, "cpu 3100m memory 4Gi"},
		"limits that stay bound nothing of a container without any": {`
spec: {resourcePolicy: {containerPolicies: [{containerName: "*", controlledValues: RequestsOnly}]}}
recommended: [{containerName: agent, target: {cpu: "9"}}]`, "cpu 9500m memory 1Gi"},
		"limits rise with what is recommended": {`
spec: {resourcePolicy: {containerPolicies: [{containerName: "*", controlledValues: RequestsAndLimits}]}}
recommended: [{containerName: main, target: {cpu: "4", memory: 6Gi}}]`, "cpu 4100m memory 6Gi"},
		"limits of resources that are left out mean nothing": {`
spec: {resourcePolicy: {containerPolicies: [{containerName: main, controlledValues: RequestsOnly, controlledResources: [cpu]}]}}
recommended: [{containerName: main, target: {cpu: 2500m, memory: 6Gi}}]`, "cpu 2600m memory 1Gi"},
		"nothing is recommended yet": {`spec: {}`, "cpu 600m memory 1Gi"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var written struct {
				Spec        vpav1.Spec
				Recommended []vpav1.ContainerRecommendation
			}
			if err := yaml.UnmarshalStrict([]byte(tt.spec), &written); err != nil {
				t.Fatal(err)
			}
			v := &vpav1.VerticalPodAutoscaler{Spec: written.Spec}
			v.Status.Recommendation = &vpav1.Recommendation{ContainerRecommendations: written.Recommended}
			v.Spec.TargetRef = &vpav1.Target{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}
			asks := func(name, cpu, memory string) corev1.Container {
				list := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}
				if memory != "" {
					list[corev1.ResourceMemory] = resource.MustParse(memory)
				}
				return corev1.Container{Name: name, Resources: corev1.ResourceRequirements{Requests: list}}
			}
			template := &corev1.PodTemplateSpec{}
			template.Spec.Containers = []corev1.Container{asks("main", "500m", "1Gi"), asks("agent", "100m", "")}
			template.Spec.Containers[0].Resources.Limits = corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse("3"), corev1.ResourceMemory: resource.MustParse("4Gi")}
			got := RecommendationOf(v).Requests(template)
			if text := "cpu " + got.CPU.String() + " memory " + got.Memory.String(); text != tt.want {
				t.Errorf("new pods request %s, want %s", text, tt.want)
			}
		})
	}
}
