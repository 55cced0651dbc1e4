package translate

import (
	"testing"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/daemok/daemok/core/cluster"
)

func TestGuard(t *testing.T) {
	atLeast := func(n intstr.IntOrString) policyv1.PodDisruptionBudgetSpec {
		return policyv1.PodDisruptionBudgetSpec{MinAvailable: &n}
	}
	atMost := func(n intstr.IntOrString) policyv1.PodDisruptionBudgetSpec {
		return policyv1.PodDisruptionBudgetSpec{MaxUnavailable: &n}
	}
	status := func(allowed, desired, expected int32, generation int64) policyv1.PodDisruptionBudgetStatus {
		return policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: allowed, DesiredHealthy: desired, ExpectedPods: expected, ObservedGeneration: generation}
	}
	ready := func(pods int32, s policyv1.PodDisruptionBudgetStatus) policyv1.PodDisruptionBudgetStatus {
		s.CurrentHealthy = pods
		return s
	}
	percent, number := intstr.FromString, intstr.FromInt32
	always := atLeast(number(1))
	always.UnhealthyPodEvictionPolicy = new(policyv1.AlwaysAllow)
	healthy := atLeast(number(1))
	healthy.UnhealthyPodEvictionPolicy = new(policyv1.IfHealthyBudget)
	tests := map[string]struct {
		spec   policyv1.PodDisruptionBudgetSpec
		status policyv1.PodDisruptionBudgetStatus
		want   cluster.Guard
	}{
		"what the status allows":                              {atLeast(number(1)), status(2, 1, 3, 7), cluster.Guard{Allowed: 2}},
		"a status of an older budget allows nothing":          {atLeast(number(1)), status(2, 1, 3, 6), cluster.Guard{}},
		"none now, some later":                                {atLeast(number(1)), status(0, 1, 3, 7), cluster.Guard{}},
		"SC-281 unready pods may go":                          {always, status(0, 1, 3, 7), cluster.Guard{UnreadyToo: true}},
		"SC-281 unready pods may go while enough are ready":   {healthy, ready(2, status(0, 2, 3, 7)), cluster.Guard{UnreadyToo: true}},
		"which is what holds where no policy is named":        {atLeast(number(1)), ready(2, status(0, 2, 3, 7)), cluster.Guard{UnreadyToo: true}},
		"unready pods stay while too few are ready":           {healthy, ready(1, status(0, 2, 3, 7)), cluster.Guard{}},
		"unready pods stay where none need be ready":          {healthy, ready(0, status(0, 0, 3, 7)), cluster.Guard{}},
		"enough were ready for an older budget":               {healthy, ready(2, status(0, 2, 3, 6)), cluster.Guard{}},
		"no pod may be missing":                               {atMost(number(0)), status(0, 3, 3, 7), cluster.Guard{Never: true}},
		"no pod may be missing, whatever the status says":     {atMost(number(0)), status(0, 0, 0, 0), cluster.Guard{Never: true}},
		"no per cent may be missing":                          {atMost(percent("0%")), status(0, 0, 0, 0), cluster.Guard{Never: true}},
		"one per cent may be missing, which is a pod":         {atMost(percent("1%")), status(1, 2, 3, 7), cluster.Guard{Allowed: 1}},
		"all per cent must be there":                          {atLeast(percent("100%")), status(0, 0, 0, 0), cluster.Guard{Never: true}},
		"half of them must be there":                          {atLeast(percent("50%")), status(1, 2, 3, 7), cluster.Guard{Allowed: 1}},
		"90 per cent of three pods are three":                 {atLeast(percent("90%")), status(0, 3, 3, 7), cluster.Guard{Never: true}},
		"as many must be there as there are":                  {atLeast(number(3)), status(0, 3, 3, 7), cluster.Guard{Never: true}},
		"more must be there than there are":                   {atLeast(number(4)), status(0, 4, 3, 7), cluster.Guard{Never: true}},
		"as many as there were for an older budget":           {atLeast(number(3)), status(0, 3, 3, 6), cluster.Guard{}},
		"as many as there are, of which nobody knows as yet":  {atLeast(number(3)), status(0, 3, 0, 7), cluster.Guard{}},
		"nothing said: the controller never allows anything":  {policyv1.PodDisruptionBudgetSpec{}, status(0, 0, 0, 7), cluster.Guard{Never: true}},
		"what cannot be read allows nothing (fails closed)":   {atMost(percent("some")), status(0, 0, 0, 7), cluster.Guard{Never: true}},
		"no pod need be there: all may go as the status says": {atLeast(number(0)), status(3, 0, 3, 7), cluster.Guard{Allowed: 3}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tt.want.Namespace, tt.want.Name = "shop", "web"
			got := Guard(&policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", Generation: 7}, Spec: tt.spec, Status: tt.status})
			if got != tt.want {
				t.Errorf("Guard = %+v, want %+v", got, tt.want)
			}
		})
	}
}

func TestGuardSelector(t *testing.T) {
	tests := map[string]struct {
		selector *metav1.LabelSelector
		want     bool
	}{
		"none is about no pod":                  {nil, false},
		"an empty one is about all":             {&metav1.LabelSelector{}, true},
		"labels that the pod has":               {&metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}, true},
		"labels that it lacks":                  {&metav1.LabelSelector{MatchLabels: map[string]string{"app": "db"}}, false},
		"one that cannot be read is about none": {&metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: "Like"}}}, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			b := &policyv1.PodDisruptionBudget{Spec: policyv1.PodDisruptionBudgetSpec{Selector: tt.selector}}
			if got := GuardSelector(b).Matches(labels.Set{"app": "web"}); got != tt.want {
				t.Errorf("the pod is chosen: %v, want %v", got, tt.want)
			}
		})
	}
}
