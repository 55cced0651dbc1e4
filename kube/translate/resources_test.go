package translate_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/kube/translate/podspec"
)

func asking(texts ...string) (out []corev1.Container) {
	for i := 0; i < len(texts); i += 2 {
		amounts := corev1.ResourceList{corev1.ResourceName(texts[i]): resource.MustParse(texts[i+1])}
		out = append(out, corev1.Container{Resources: corev1.ResourceRequirements{Requests: amounts, Limits: amounts}})
	}
	return out
}

// No pod asks for nothing because it asks for more than can be counted.
func TestRequestsBeyondCountingAreTheMostThatCanBeCounted(t *testing.T) {
	always := corev1.ContainerRestartPolicyAlways
	sidecars := asking("memory", "8Ei", "memory", "8Ei")
	for i := range sidecars {
		sidecars[i].RestartPolicy = &always
	}
	tests := map[string]struct {
		spec corev1.PodSpec
		name string
	}{
		"one container of 1e30":      {corev1.PodSpec{Containers: asking("memory", "1e30")}, "memory"},
		"two containers of 8Ei":      {corev1.PodSpec{Containers: asking("memory", "8Ei", "memory", "8Ei")}, "memory"},
		"two sidecars of 8Ei":        {corev1.PodSpec{Containers: asking("cpu", "1"), InitContainers: sidecars}, "memory"},
		"an init container":          {corev1.PodSpec{Containers: asking("cpu", "1"), InitContainers: asking("memory", "1e30")}, "memory"},
		"overhead on top":            {corev1.PodSpec{Containers: asking("memory", "8Ei"), Overhead: corev1.ResourceList{"memory": resource.MustParse("8Ei")}}, "memory"},
		"two containers of cores":    {corev1.PodSpec{Containers: asking("cpu", "9E", "cpu", "9E")}, "cpu"},
		"as many thousandths":        {corev1.PodSpec{Containers: asking("cpu", "9223372036854775807m", "cpu", "9223372036854775807m")}, "cpu"},
		"two containers of GPUs":     {corev1.PodSpec{Containers: asking("nvidia.com/gpu", "9223372036854775807", "nvidia.com/gpu", "9223372036854775807")}, "nvidia.com/gpu"},
		"more disk than there is":    {corev1.PodSpec{Containers: asking("ephemeral-storage", "5Ei", "ephemeral-storage", "5Ei")}, "ephemeral-storage"},
		"huge pages, in a few parts": {corev1.PodSpec{Containers: asking("hugepages-2Mi", "4Ei", "hugepages-2Mi", "4Ei", "hugepages-2Mi", "1e18")}, "hugepages-2Mi"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := podspec.PodRequests(&corev1.Pod{Spec: tt.spec})
			if n := got.Get(tt.name); n != quantity.Most {
				t.Fatalf("the pod asks for %s %d, want %d", tt.name, n, int64(quantity.Most))
			}
			back := translate.ResourceList(got)
			if n := translate.Amount(tt.name, back[corev1.ResourceName(tt.name)]); n != quantity.Most {
				t.Errorf("written and read, %s is %d", back.Name(corev1.ResourceName(tt.name), "").String(), n)
			}
		})
	}
}

// The larger of two quantities, and the sum of two, is never the smaller amount.
func FuzzAmountKeepsTheOrder(f *testing.F) {
	for _, text := range []string{"8Ei", "1e30", "9223372036854775807", "1500m", "0.5Gi", "-1", "1e-9", "9E"} {
		f.Add("memory", text, "8Ei")
		f.Add("cpu", text, "9223372036854775807m")
	}
	f.Fuzz(func(t *testing.T, name, one, other string) {
		a, errA := resource.ParseQuantity(one)
		b, errB := resource.ParseQuantity(other)
		if errA != nil || errB != nil {
			return
		}
		if a.Cmp(b) > 0 {
			a, b = b, a
		}
		if x, y := translate.Amount(name, a), translate.Amount(name, b); x > y {
			t.Errorf("%s %s is %d and %s is %d", name, a.String(), x, b.String(), y)
		}
		sum := a.DeepCopy()
		sum.Add(b)
		if x, y := translate.Amount(name, sum), translate.Amount(name, b); a.Sign() >= 0 && x < y {
			t.Errorf("%s %s and %s more is %d, and the former alone %d", name, b.String(), a.String(), x, y)
		}
	})
}
