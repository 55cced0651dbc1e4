package buffer

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/daemok/daemok/kube/api/autoscaling/v1beta1"
)

func list(pairs ...string) corev1.ResourceList {
	out := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		out[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return out
}

func TestCount(t *testing.T) {
	type spec = v1beta1.CapacityBufferSpec
	n := func(n int32) *int32 { return &n }
	shop, web := &v1beta1.ScalableRef{Kind: "Deployment", Name: "shop"}, &v1beta1.LocalObjectRef{Name: "web"}
	requests := list("cpu", "500m", "memory", "1Gi")
	tests := map[string]struct {
		of       spec
		workload int32
		want     int64
	}{
		"nothing at all":          {spec{ScalableRef: shop}, 10, 0},
		"replicas":                {spec{PodTemplateRef: web, Replicas: n(3)}, 0, 3},
		"no replicas":             {spec{PodTemplateRef: web, Replicas: n(0)}, 0, 0},
		"it is rounded up":        {spec{ScalableRef: shop, Percentage: n(10)}, 11, 2},
		"one pod at least":        {spec{ScalableRef: shop, Percentage: n(1)}, 1, 1},
		"a whole percentage":      {spec{ScalableRef: shop, Percentage: n(50)}, 4, 2},
		"more than a hundred":     {spec{ScalableRef: shop, Percentage: n(150)}, 4, 6},
		"a percentage of no pods": {spec{ScalableRef: shop, Percentage: n(50)}, 0, 0},
		"no percentage":           {spec{ScalableRef: shop, Percentage: n(0)}, 10, 0},
		"the largest numbers":     {spec{ScalableRef: shop, Percentage: n(1<<31 - 1)}, 1<<31 - 1, 46116860141324207},
		"the larger replicas":     {spec{ScalableRef: shop, Replicas: n(3), Percentage: n(10)}, 10, 3},
		"the larger percentage":   {spec{ScalableRef: shop, Replicas: n(3), Percentage: n(50)}, 10, 5},
		"one of a template":       {spec{PodTemplateRef: web, Replicas: n(1), Percentage: n(50)}, 10, 1},
		"limits alone":            {spec{PodTemplateRef: web, Limits: list("cpu", "2200m")}, 0, 4},
		"the least of limits":     {spec{PodTemplateRef: web, Limits: list("cpu", "4", "memory", "3Gi")}, 0, 3},
		"limits cap replicas":     {spec{PodTemplateRef: web, Replicas: n(9), Limits: list("cpu", "1")}, 0, 2},
		"limits above replicas":   {spec{PodTemplateRef: web, Replicas: n(2), Limits: list("cpu", "100")}, 0, 2},
		"a limit below one pod":   {spec{PodTemplateRef: web, Replicas: n(2), Limits: list("cpu", "400m")}, 0, 0},
		"a limit of zero":         {spec{PodTemplateRef: web, Replicas: n(2), Limits: list("cpu", "0")}, 0, 0},
		"another limit":           {spec{PodTemplateRef: web, Replicas: n(2), Limits: list("nvidia.com/gpu", "1")}, 0, 2},
		"another limit alone":     {spec{PodTemplateRef: web, Limits: list("nvidia.com/gpu", "1")}, 0, 0},
		"another beside one":      {spec{PodTemplateRef: web, Limits: list("nvidia.com/gpu", "1", "cpu", "1")}, 0, 2},
		"a huge limit":            {spec{PodTemplateRef: web, Limits: list("memory", "8Ei")}, 0, 1<<31 - 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Count(&tt.of, requests, tt.workload); got != tt.want {
				t.Errorf("capacity is kept for %d pods, want %d", got, tt.want)
			}
		})
	}
}
