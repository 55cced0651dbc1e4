package podspec

import (
	"testing"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/daemok/daemok/core/cluster"
)

func TestPDB(t *testing.T) {
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
		want   cluster.PodDisruptionBudget
	}{
		"what the status allows":                              {atLeast(number(1)), status(2, 1, 3, 7), cluster.PodDisruptionBudget{Allowed: 2}},
		"a status of an older budget allows nothing":          {atLeast(number(1)), status(2, 1, 3, 6), cluster.PodDisruptionBudget{}},
		"none now, some later":                                {atLeast(number(1)), status(0, 1, 3, 7), cluster.PodDisruptionBudget{}},
		"SC-281 unready pods may go":                          {always, status(0, 1, 3, 7), cluster.PodDisruptionBudget{UnreadyToo: true}},
		"SC-281 unready pods may go while enough are ready":   {healthy, ready(2, status(0, 2, 3, 7)), cluster.PodDisruptionBudget{UnreadyToo: true}},
		"which is what holds where no policy is named":        {atLeast(number(1)), ready(2, status(0, 2, 3, 7)), cluster.PodDisruptionBudget{UnreadyToo: true}},
		"unready pods stay while too few are ready":           {healthy, ready(1, status(0, 2, 3, 7)), cluster.PodDisruptionBudget{}},
		"unready pods stay where none need be ready":          {healthy, ready(0, status(0, 0, 3, 7)), cluster.PodDisruptionBudget{}},
		"enough were ready for an older budget":               {healthy, ready(2, status(0, 2, 3, 6)), cluster.PodDisruptionBudget{}},
		"no pod may be missing":                               {atMost(number(0)), status(0, 3, 3, 7), cluster.PodDisruptionBudget{Never: true}},
		"no pod may be missing, whatever the status says":     {atMost(number(0)), status(0, 0, 0, 0), cluster.PodDisruptionBudget{Never: true}},
		"no per cent may be missing":                          {atMost(percent("0%")), status(0, 0, 0, 0), cluster.PodDisruptionBudget{Never: true}},
		"one per cent may be missing, which is a pod":         {atMost(percent("1%")), status(1, 2, 3, 7), cluster.PodDisruptionBudget{Allowed: 1}},
		"all per cent must be there":                          {atLeast(percent("100%")), status(0, 0, 0, 0), cluster.PodDisruptionBudget{Never: true}},
		"half of them must be there":                          {atLeast(percent("50%")), status(1, 2, 3, 7), cluster.PodDisruptionBudget{Allowed: 1}},
		"90 per cent of three pods are three":                 {atLeast(percent("90%")), status(0, 3, 3, 7), cluster.PodDisruptionBudget{Never: true}},
		"as many must be there as there are":                  {atLeast(number(3)), status(0, 3, 3, 7), cluster.PodDisruptionBudget{Never: true}},
		"more must be there than there are":                   {atLeast(number(4)), status(0, 4, 3, 7), cluster.PodDisruptionBudget{Never: true}},
		"as many as there were for an older budget":           {atLeast(number(3)), status(0, 3, 3, 6), cluster.PodDisruptionBudget{}},
		"as many as there are, of which nobody knows as yet":  {atLeast(number(3)), status(0, 3, 0, 7), cluster.PodDisruptionBudget{}},
		"nothing said: the controller never allows anything":  {policyv1.PodDisruptionBudgetSpec{}, status(0, 0, 0, 7), cluster.PodDisruptionBudget{Never: true}},
		"what cannot be read allows nothing (fails closed)":   {atMost(percent("some")), status(0, 0, 0, 7), cluster.PodDisruptionBudget{Never: true}},
		"no pod need be there: all may go as the status says": {atLeast(number(0)), status(3, 0, 3, 7), cluster.PodDisruptionBudget{Allowed: 3}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tt.want.Namespace, tt.want.Name = "shop", "web"
			got := PodDisruptionBudget(&policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", Generation: 7}, Spec: tt.spec, Status: tt.status})
			if got.Never != (got.Why != "") {
				t.Errorf("it never allows an eviction: %v; why: %q", got.Never, got.Why)
			}
			if got.Why = ""; got != tt.want {
				t.Errorf("PodDisruptionBudget = %+v, want %+v", got, tt.want)
			}
		})
	}
}

// Users see why a PodDisruptionBudget never allows an eviction, and what to do. That
// of pods whose controller cannot be scaled, as Jobs cannot, has no status but the condition
// that says so, and never gets one; what caches drop makes no difference.
func TestWhyNoEvictionIsEverAllowed(t *testing.T) {
	failed := func(o policyv1.PodDisruptionBudgetStatus) policyv1.PodDisruptionBudgetStatus {
		o.Conditions = []metav1.Condition{{Type: policyv1.DisruptionAllowedCondition, Status: metav1.ConditionFalse, Reason: policyv1.SyncFailedReason, Message: "jobs.batch does not implement the scale subresource"}}
		return o
	}
	condition := func(reason string, status metav1.ConditionStatus) policyv1.PodDisruptionBudgetStatus {
		return policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 7, ExpectedPods: 3, DesiredHealthy: 2, CurrentHealthy: 2,
			Conditions: []metav1.Condition{{Type: policyv1.DisruptionAllowedCondition, Status: status, Reason: reason}}}
	}
	atLeast := func(n intstr.IntOrString) policyv1.PodDisruptionBudgetSpec {
		return policyv1.PodDisruptionBudgetSpec{MinAvailable: &n}
	}
	atMost := func(n intstr.IntOrString) policyv1.PodDisruptionBudgetSpec {
		return policyv1.PodDisruptionBudgetSpec{MaxUnavailable: &n}
	}
	const unsynced = "its condition DisruptionAllowed says that the sync failed (jobs.batch does not implement the scale subresource)"
	for name, tt := range map[string]struct {
		spec   policyv1.PodDisruptionBudgetSpec
		status policyv1.PodDisruptionBudgetStatus
		want   string
	}{
		"no pod may be missing":       {atMost(intstr.FromInt32(0)), policyv1.PodDisruptionBudgetStatus{}, "maxUnavailable is 0; raise it"},
		"no per cent may be":          {atMost(intstr.FromString("0%")), policyv1.PodDisruptionBudgetStatus{}, "maxUnavailable is 0%; raise it"},
		"all must be there":           {atLeast(intstr.FromString("100%")), policyv1.PodDisruptionBudgetStatus{}, "minAvailable is 100%; lower it"},
		"as many as there are":        {atLeast(intstr.FromInt32(3)), policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 7, ExpectedPods: 3, DesiredHealthy: 3}, "minAvailable is 3, which is 3 of 3 pods; lower it, or run more pods"},
		"a share that is all":         {atLeast(intstr.FromString("90%")), policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 7, ExpectedPods: 3, DesiredHealthy: 3}, "minAvailable is 90%, which is 3 of 3 pods; lower it, or run more pods"},
		"nothing is said":             {policyv1.PodDisruptionBudgetSpec{}, policyv1.PodDisruptionBudgetStatus{}, "it has neither minAvailable nor maxUnavailable; set one of them"},
		"what is said cannot be read": {atMost(intstr.FromString("some")), policyv1.PodDisruptionBudgetStatus{}, `maxUnavailable "some" is neither a number nor a percentage`},
		"pods of a Job, by how many may be missing": {atMost(intstr.FromInt32(1)), failed(policyv1.PodDisruptionBudgetStatus{}),
			unsynced + "; for pods whose controller cannot be scaled, such as those of Jobs, or that have none, set minAvailable to a number"},
		"pods of a Job, after an edit": {atLeast(intstr.FromString("50%")), failed(policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 6, ExpectedPods: 3, DisruptionsAllowed: 1}),
			unsynced + "; for pods whose controller cannot be scaled, such as those of Jobs, or that have none, set minAvailable to a number"},
		"a sync that failed for another reason": {atLeast(intstr.FromInt32(1)), failed(policyv1.PodDisruptionBudgetStatus{}), unsynced},
		"too few are ready now":                 {atLeast(intstr.FromInt32(2)), condition(policyv1.InsufficientPodsReason, metav1.ConditionFalse), ""},
		"enough are ready":                      {atLeast(intstr.FromInt32(1)), condition(policyv1.SufficientPodsReason, metav1.ConditionTrue), ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", Generation: 7}, Spec: tt.spec, Status: tt.status}
			full := PodDisruptionBudget(b)
			if StripPDB(b); PodDisruptionBudget(b) != full {
				t.Errorf("in caches it is %+v, else %+v", PodDisruptionBudget(b), full)
			}
			if full.Why != tt.want || full.Never != (tt.want != "") {
				t.Errorf("it never allows an eviction: %v: %q, want %q", full.Never, full.Why, tt.want)
			}
		})
	}
}

func TestPDBSelector(t *testing.T) {
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
			if got := PDBSelector(b).Matches(labels.Set{"app": "web"}); got != tt.want {
				t.Errorf("the pod is chosen: %v, want %v", got, tt.want)
			}
		})
	}
}
