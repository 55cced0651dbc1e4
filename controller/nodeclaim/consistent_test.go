package nodeclaim

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

func TestANodeHasWhatItWasLaunchedToHave(t *testing.T) {
	amounts := func(cpu, memory, gpu string) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu),
			corev1.ResourceMemory: resource.MustParse(memory), "nvidia.com/gpu": resource.MustParse(gpu)}
	}
	tests := map[string]struct {
		node corev1.ResourceList
		says string
	}{
		"SC-254 all of it":                          {amounts("4", "16Gi", "1"), ""},
		"SC-254 nearly all: nine tenths are enough": {amounts("4", "14746Mi", "1"), ""},
		"SC-254 clearly less": {amounts("4", "14Gi", "1"),
			"node n has less than it was launched to have: memory 14Gi of 16Gi"},
		"SC-254 nothing at all of something":             {corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2"), corev1.ResourceMemory: resource.MustParse("16Gi")}, "node n has less than it was launched to have: cpu 2 of 4, nvidia.com/gpu 0 of 1"},
		"SC-254 more than it was bought to have is fine": {amounts("8", "32Gi", "2"), ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			events := &heard{}
			k := consistency{events: events, now: func() time.Time { return noon }}
			c := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c"}}
			c.Status.Capacity = amounts("4", "16Gi", "1")
			c.Status.Capacity["example.com/unasked"] = resource.MustParse("3")
			c.Spec.Resources.Requests = amounts("1", "1Gi", "1")
			for range 2 { // what was said is not said again
				k.compare(c,
					&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"},
						Status: corev1.NodeStatus{Capacity: tt.node}})
			}
			is := condition.Get(c, karpv1.ClaimConsistentStateFound)
			if is.Message != tt.says || (is.Status == metav1.ConditionTrue) != (tt.says == "") || (len(*events) == 1) != (tt.says != "") {
				t.Errorf("condition %+v, events %v; want %q", is, *events, tt.says)
			}
		})
	}
}

// What is kept from pods beyond what was planned is reported as memory that is not there; what
// is kept less is not.
func TestMemoryThatPodsDoNotGetIsNotThere(t *testing.T) {
	amounts := func(memory string) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(memory)}
	}
	for forPods, want := range map[string]quantity.Bytes{"6Gi": 7 * quantity.GiB, "5Gi": 6 * quantity.GiB, "6500Mi": 7 * quantity.GiB} {
		var got quantity.Bytes
		k := consistency{memory: func(_, _ string, memory quantity.Bytes) { got = memory }}
		c := &karpv1.NodeClaim{}
		c.Status.Capacity, c.Status.Allocatable = amounts("7500Mi"), amounts("6476Mi") // 1Gi is kept
		k.weigh(c, &corev1.Node{Status: corev1.NodeStatus{
			Capacity: amounts("7Gi"), Allocatable: amounts(forPods), Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
		}})
		if got != want {
			t.Errorf("a node of 7Gi with %s for pods, where 1Gi was to be kept: told %v, want %v", forPods, got, want)
		}
	}
}

// A node with less for pods than those ask for that it was launched for says so.
func TestNodesThatAreTooSmallForTheirPodsSaySo(t *testing.T) {
	c := &karpv1.NodeClaim{}
	c.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("6600Mi"),
		corev1.ResourceCPU: resource.MustParse("1")}
	forPods := corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("5879Mi"),
		corev1.ResourceCPU: resource.MustParse("1")}
	if got, want := fmt.Sprint(tooFew(c, forPods)), "[memory 5879Mi for pods that ask for 6600Mi]"; got != want {
		t.Errorf("says %s, want %s", got, want)
	}
	if got := tooFew(c, nil); len(got) > 0 {
		t.Errorf("a node that has not told yet: says %v, want nothing", got)
	}
}

// What instances have is reported once they are ready: a kubelet that is starting may not
// have counted all.
func TestWhatInstancesHaveIsReported(t *testing.T) {
	tests := map[string]struct {
		ready corev1.ConditionStatus
		want  string
	}{
		"a ready one":             {corev1.ConditionTrue, "m5.large ami-1 7Gi"},
		"one that is not, or yet": {corev1.ConditionUnknown, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := ""
			k := consistency{memory: func(kind, image string,
				memory quantity.Bytes) {
				got = kind + " " + image + " " + memory.String()
			}}
			c := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c",
				Labels: map[string]string{api.LabelInstanceType: "m5.large"}}}
			c.Status.ImageID = "ami-1"
			k.weigh(c, &corev1.Node{Status: corev1.NodeStatus{
				Capacity:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("7Gi")},
				Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: tt.ready}},
			}})
			if got != tt.want {
				t.Errorf("told %q, want %q", got, tt.want)
			}
		})
	}
}
