package class

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
)

// A claim waits for a class of which it is not known yet whether it can be used.
func TestAClassIsUndecidedUntilReadySaysNo(t *testing.T) {
	for status, want := range map[metav1.ConditionStatus]bool{"": true, metav1.ConditionUnknown: true, metav1.ConditionFalse: false} {
		c := class()
		c.Status.Conditions = nil
		if status != "" {
			c.Status.Conditions = []metav1.Condition{{Type: awsv1.ClassReady, Status: status, Reason: "x", Message: "x"}}
		}
		if got := IsUndecided(subject(c)); got != want {
			t.Errorf("with Ready %q: %v, want %v", status, got, want)
		}
	}
}

// What users of a class hear is why it is not ready, not that it is not.
func TestCauseOfClassNotReady(t *testing.T) {
	ready := metav1.Condition{Type: awsv1.ClassReady, Status: metav1.ConditionFalse, Reason: "UnhealthyDependents", Message: "SubnetsReady=False"}
	fine := metav1.Condition{Type: awsv1.ClassAMIsReady, Status: metav1.ConditionTrue, Reason: "AMIsReady", Message: "fine"}
	waits := metav1.Condition{Type: awsv1.ClassValidationSucceeded, Status: metav1.ConditionFalse, Reason: awsv1.ReasonDependenciesNotReady, Message: "waits"}
	silent := metav1.Condition{Type: awsv1.ClassInstanceProfileReady, Status: metav1.ConditionUnknown, Reason: "AwaitingReconciliation"}
	broken := metav1.Condition{Type: awsv1.ClassSubnetsReady, Status: metav1.ConditionFalse, Reason: "SubnetsNotFound", Message: "no subnet matches"}
	var found []metav1.Condition
	for _, kind := range lookedUp(subject(class())) {
		found = append(found, metav1.Condition{Type: kind, Status: metav1.ConditionTrue})
	}
	none := waits
	none.Message = "no instance type is offered"
	tests := map[string]struct {
		conditions []metav1.Condition
		want       string
	}{
		"is the sum where all parts are found": {append(found, none, ready), "DependenciesNotReady: no instance type is offered"},
		"is the part that says something":      {[]metav1.Condition{ready, fine, waits, silent, broken}, "SubnetsNotFound: no subnet matches"},
		"is its own word without one":          {[]metav1.Condition{fine, waits, silent, ready}, "UnhealthyDependents: SubnetsReady=False"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := &awsv1.EC2NodeClass{Status: awsv1.EC2NodeClassStatus{Conditions: tt.conditions}}
			if got := WhyNot(subject(c)); got != tt.want {
				t.Errorf("WhyNot = %q, want %q", got, tt.want)
			}
		})
	}
}
