package translate

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/overlay"
	"github.com/daemok/daemok/core/scenario"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha1"
)

func TestOverlay(t *testing.T) {
	tests := map[string]struct {
		spec v1alpha1.NodeOverlaySpec
		want string // as a snapshot shows it, or the beginning of an error
	}{
		"a price": {v1alpha1.NodeOverlaySpec{Price: new("0.05"), Weight: new(int32(7))},
			"overlay o weight=7 price=0.050000\n"},
		"a change": {v1alpha1.NodeOverlaySpec{PriceAdjustment: new("-10.5%"), Requirements: []v1alpha1.Requirement{
			{Key: "karpenter.sh/nodepool", Operator: "In", Values: []string{"web"}},
			{Key: "beta.kubernetes.io/arch", Operator: "NotIn", Values: []string{"arm64"}},
			{Key: "karpenter.k8s.aws/instance-cpu", Operator: "Gte", Values: []string{"8"}},
		}}, "overlay o price=-10.5%\n  require karpenter.k8s.aws/instance-cpu Gte 8\n" +
			"  require karpenter.sh/nodepool In web\n  require kubernetes.io/arch NotIn arm64\n"},
		"resources": {v1alpha1.NodeOverlaySpec{Capacity: corev1.ResourceList{
			"hugepages-2Mi": resource.MustParse("2Gi"), "example.com/fuse": resource.MustParse("0"),
		}}, "overlay o\n  set example.com/fuse=0 hugepages-2Mi=2Gi\n"},
		"a requirement without values": {v1alpha1.NodeOverlaySpec{Price: new("1"), Requirements: []v1alpha1.Requirement{
			{Key: "kubernetes.io/arch", Operator: "In"}}}, "spec.requirements[0]"},
		"a price that is none": {v1alpha1.NodeOverlaySpec{Price: new("1.x")}, `spec.price: "1.x" is no amount of dollars`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o, err := Overlay(&v1alpha1.NodeOverlay{ObjectMeta: metav1.ObjectMeta{Name: "o"}, Spec: tt.spec})
			got := scenario.Print(&cluster.Snapshot{Overlays: []cluster.Overlay{o}})
			if err != nil {
				got = err.Error()
			}
			got = strings.TrimPrefix(got, "snapshot 0\n")
			if got != tt.want && !(err != nil && strings.HasPrefix(got, tt.want)) {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// What overlays no longer change is taken off a claim that is launched again.
func TestRecordOverlays(t *testing.T) {
	annotations := map[string]string{"other": "x"}
	RecordOverlays(annotations, overlay.Changes{Price: true, Resources: []string{"a", "b"}})
	price, capacity := annotations[api.AnnotationPriceOverlayApplied], annotations[api.AnnotationCapacityOverlayApplied]
	if price != "true" || capacity != "a,b" {
		t.Errorf("the annotations are %v", annotations)
	}
	if RecordOverlays(annotations, overlay.Changes{}); len(annotations) != 1 {
		t.Errorf("without overlays the annotations are %v", annotations)
	}
}
