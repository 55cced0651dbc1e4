package condition_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// TestReadyFollowsItsParts follows a pool's Ready through its life, and of which generation of the
// pool it is (SC-242).
func TestReadyFollowsItsParts(t *testing.T) {
	pool := new(karpv1.NodePool)
	pool.Generation = 3
	condition.Begin(pool, noon)
	expect(t, pool, metav1.ConditionUnknown, condition.ReasonReconciling, "ValidationSucceeded=Unknown, NodeClassReady=Unknown")

	condition.SetTrue(pool, karpv1.NodePoolValidationSucceeded, noon)
	condition.SumUp(pool, noon)
	expect(t, pool, metav1.ConditionUnknown, condition.ReasonReconciling, "NodeClassReady=Unknown")

	condition.SetFalse(pool, karpv1.NodePoolClassReady, karpv1.ReasonNodeClassNotFound, "no class default", noon)
	condition.SumUp(pool, noon)
	expect(t, pool, metav1.ConditionFalse, condition.ReasonUnhealthy, "NodeClassReady=False")

	condition.SetTrue(pool, karpv1.NodePoolClassReady, noon)
	condition.SumUp(pool, noon)
	expect(t, pool, metav1.ConditionTrue, condition.Ready, "")

	condition.Clear(pool, karpv1.NodePoolValidationSucceeded)
	condition.SumUp(pool, noon)
	expect(t, pool, metav1.ConditionUnknown, condition.ReasonReconciling, "ValidationSucceeded=Unknown")
}

func expect(t *testing.T, pool *karpv1.NodePool, status metav1.ConditionStatus, reason, message string) {
	t.Helper()
	got := condition.Get(pool, condition.Ready)
	if got == nil || got.Status != status || got.Reason != reason || got.Message != message || got.ObservedGeneration != 3 {
		t.Errorf("Ready = %+v; want %s, %s, %q of generation 3", got, status, reason, message)
	}
}

// TestTimesMoveWithTheStatusAlone: writing again what is there changes
// nothing, and another message does not make a transition.
func TestTimesMoveWithTheStatusAlone(t *testing.T) {
	claim := new(karpv1.NodeClaim)
	if !condition.SetUnknown(claim, karpv1.ClaimRegistered, karpv1.ReasonNodeNotFound, "a", noon) {
		t.Error("the first write changes nothing")
	}
	if condition.SetUnknown(claim, karpv1.ClaimRegistered, karpv1.ReasonNodeNotFound, "a", noon.Add(time.Hour)) {
		t.Error("the same once more is a change")
	}
	if !condition.SetUnknown(claim, karpv1.ClaimRegistered, karpv1.ReasonNodeNotFound, "b", noon.Add(time.Hour)) {
		t.Error("another message is no change")
	}
	if got := condition.Get(claim, karpv1.ClaimRegistered).LastTransitionTime; !got.Time.Equal(noon) {
		t.Errorf("the transition moved to %v with the message, want %v", got, noon)
	}
	condition.SetTrue(claim, karpv1.ClaimRegistered, noon.Add(time.Hour))
	if got := condition.Get(claim, karpv1.ClaimRegistered).LastTransitionTime; !got.Time.Equal(noon.Add(time.Hour)) {
		t.Errorf("the transition is at %v, want an hour later than %v", got, noon)
	}
}

// TestSetLeavesSharedConditionsAlone: an object copied without its conditions
// being copied is not changed through its copy.
func TestSetLeavesSharedConditionsAlone(t *testing.T) {
	claim := new(karpv1.NodeClaim)
	condition.SetUnknown(claim, karpv1.ClaimLaunched, "", "", noon)
	shallow := *claim
	condition.SetTrue(&shallow, karpv1.ClaimLaunched, noon)
	if got := condition.Get(claim, karpv1.ClaimLaunched); got.Status != metav1.ConditionUnknown || got.Reason != condition.ReasonAwaiting {
		t.Errorf("the original became %s", condition.Describe(got))
	}
}

func TestLongMessagesAreCut(t *testing.T) {
	claim := new(karpv1.NodeClaim)
	condition.SetFalse(claim, karpv1.ClaimLaunched, karpv1.ReasonLaunchFailed, strings.Repeat("é", 20000), noon)
	got := condition.Get(claim, karpv1.ClaimLaunched).Message
	if len(got) > 32768 || !strings.HasSuffix(got, "é...") {
		t.Errorf("message of %d bytes ends in %q, want at most 32768 and whole letters", len(got), got[len(got)-6:])
	}
}

func TestDescribe(t *testing.T) {
	tests := map[string]struct {
		condition *metav1.Condition
		want      string
	}{
		"none":              {nil, "not reported yet"},
		"without a message": {&metav1.Condition{Type: "Ready", Status: "True", Reason: "Ready"}, "Ready is True (Ready)"},
		"with a message":    {&metav1.Condition{Type: "Ready", Status: "False", Reason: "No", Message: "why"}, "Ready is False (No): why"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := condition.Describe(tt.condition); got != tt.want {
				t.Errorf("Describe = %q, want %q", got, tt.want)
			}
		})
	}
}
