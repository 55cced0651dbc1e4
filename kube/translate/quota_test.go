package translate

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/scenario"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/autoscaling/v1beta1"
)

func TestQuota(t *testing.T) {
	four := map[corev1.ResourceName]resource.Quantity{
		"cpu": resource.MustParse("4"), "nodes": resource.MustParse("2"),
	}
	selector := func(op metav1.LabelSelectorOperator, values ...string) *metav1.LabelSelector {
		return &metav1.LabelSelector{
			MatchLabels: map[string]string{"team": "red"},
			MatchExpressions: []metav1.LabelSelectorRequirement{
				{Key: "beta.kubernetes.io/arch", Operator: op, Values: values},
			},
		}
	}
	tests := map[string]struct {
		selector *metav1.LabelSelector
		limits   map[corev1.ResourceName]resource.Quantity
		cost     string
		want     string // as a snapshot shows it
	}{
		"all nodes": {limits: four, want: "quota q\n  limit cpu=4 nodes=2\n"},
		"some nodes": {selector: selector(metav1.LabelSelectorOpNotIn, "arm64"), limits: four,
			want: "quota q\n  selector kubernetes.io/arch NotIn arm64\n  selector team In red\n  limit cpu=4 nodes=2\n"},
		"dollars an hour": {cost: "12.5", want: "quota q\n  limit cost=12.5\n"},
		"a cost that is none of its resources": {
			limits: map[corev1.ResourceName]resource.Quantity{cluster.LimitCost: resource.MustParse("5")},
			want: `quota q unreadable="spec.limits.resources[cost]: cost is no resource, remove it: ` +
				`the annotation daemok.sh/cost-limit limits the cost, in dollars an hour"` + "\n"},
		"dollars that are none": {limits: four, cost: "ten",
			want: `quota q unreadable="metadata.annotations[daemok.sh/cost-limit]: \"ten\" is no cost: ` +
				`want US dollars an hour, 0 or more, such as \"12.50\""` + "\n"},
		"a selector without values": {selector: selector(metav1.LabelSelectorOpIn), limits: four,
			want: `quota q unreadable="spec.selector.matchExpressions[0].values: Required value: ` +
				`must be specified when ` + "`operator` is 'In' or 'NotIn'" + `"` + "\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			q := &v1beta1.CapacityQuota{ObjectMeta: metav1.ObjectMeta{Name: "q"}}
			q.Spec.Selector, q.Spec.Limits.Resources = tt.selector, tt.limits
			if tt.cost != "" {
				q.Annotations = map[string]string{api.AnnotationCostLimit: tt.cost}
			}
			got := scenario.Print(&cluster.Snapshot{Quotas: []cluster.Quota{Quota(q)}})
			if got != "snapshot 0\n"+tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}
