package buffer

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/daemok/daemok/kube/api/autoscaling/v1beta1"
)

type spec = v1beta1.CapacityBufferSpec

func list(pairs ...string) corev1.ResourceList {
	out := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		out[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return out
}

func TestCount(t *testing.T) {
	web := &v1beta1.ScalableRef{Kind: "Deployment", Name: "web"}
	template := &v1beta1.LocalObjectRef{Name: "web"}
	requests := list("cpu", "500m", "memory", "1Gi")
	tests := map[string]struct {
		spec     v1beta1.CapacityBufferSpec
		workload int32
		want     int64
	}{
		"nothing at all":                           {spec{ScalableRef: web}, 10, 0},
		"replicas":                                 {spec{PodTemplateRef: template, Replicas: new(int32(3))}, 0, 3},
		"no replicas":                              {spec{PodTemplateRef: template, Replicas: new(int32(0))}, 0, 0},
		"a percentage is rounded up":               {spec{ScalableRef: web, Percentage: new(int32(10))}, 11, 2},
		"one pod at least":                         {spec{ScalableRef: web, Percentage: new(int32(1))}, 1, 1},
		"a percentage of a whole number":           {spec{ScalableRef: web, Percentage: new(int32(50))}, 4, 2},
		"a percentage above a hundred":             {spec{ScalableRef: web, Percentage: new(int32(150))}, 4, 6},
		"a percentage of no pods":                  {spec{ScalableRef: web, Percentage: new(int32(50))}, 0, 0},
		"no percentage":                            {spec{ScalableRef: web, Percentage: new(int32(0))}, 10, 0},
		"the largest percentage and workload":      {spec{ScalableRef: web, Percentage: new(int32(1<<31 - 1))}, 1<<31 - 1, 46116860141324207},
		"the larger one: replicas":                 {spec{ScalableRef: web, Replicas: new(int32(3)), Percentage: new(int32(10))}, 10, 3},
		"the larger one: the percentage":           {spec{ScalableRef: web, Replicas: new(int32(3)), Percentage: new(int32(50))}, 10, 5},
		"a percentage counts for a workload alone": {spec{PodTemplateRef: template, Replicas: new(int32(1)), Percentage: new(int32(50))}, 10, 1},
		"limits alone":                             {spec{PodTemplateRef: template, Limits: list("cpu", "2200m")}, 0, 4},
		"the least of limits":                      {spec{PodTemplateRef: template, Limits: list("cpu", "4", "memory", "3Gi")}, 0, 3},
		"limits cap replicas":                      {spec{PodTemplateRef: template, Replicas: new(int32(9)), Limits: list("cpu", "1")}, 0, 2},
		"limits above replicas":                    {spec{PodTemplateRef: template, Replicas: new(int32(2)), Limits: list("cpu", "100")}, 0, 2},
		"a limit below one pod":                    {spec{PodTemplateRef: template, Replicas: new(int32(2)), Limits: list("cpu", "400m")}, 0, 0},
		"a limit of zero":                          {spec{PodTemplateRef: template, Replicas: new(int32(2)), Limits: list("cpu", "0")}, 0, 0},
		"a limit that no pod requests":             {spec{PodTemplateRef: template, Replicas: new(int32(2)), Limits: list("nvidia.com/gpu", "1")}, 0, 2},
		"such a limit alone":                       {spec{PodTemplateRef: template, Limits: list("nvidia.com/gpu", "1")}, 0, 0},
		"such a limit beside another":              {spec{PodTemplateRef: template, Limits: list("nvidia.com/gpu", "1", "cpu", "1")}, 0, 2},
		"a limit beyond thousandths":               {spec{PodTemplateRef: template, Limits: list("memory", "8Ei")}, 0, 1<<31 - 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Count(&tt.spec, requests, tt.workload); got != tt.want {
				t.Errorf("capacity is kept for %d pods, want %d", got, tt.want)
			}
		})
	}
}
