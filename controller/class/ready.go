package class

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	"github.com/daemok/daemok/kube/api/condition"
)

// Absent is why a class that does not exist cannot be used.
const Absent = "it does not exist"

// WhyNot says why no instance may be launched from a class now; it is empty if one may.
func WhyNot(c *Subject) string {
	if c.GetDeletionTimestamp() != nil {
		return "it is being deleted"
	}
	ready := condition.Get(c, awsv1.ClassReady)
	switch {
	case ready == nil:
		return "it was not reconciled yet"
	case ready.Status == metav1.ConditionTrue && ready.ObservedGeneration == c.GetGeneration():
		return ""
	case ready.Status == metav1.ConditionTrue:
		return "its latest change was not reconciled yet"
	}
	reason, message := Cause(c, ready)
	return fmt.Sprintf("%s: %s", reason, message)
}

// IsUndecided reports whether it is not known yet whether instances may be launched from a
// class that may not be used now: it is new, or was changed, or is being looked up.
func IsUndecided(c *Subject) bool {
	ready := condition.Get(c, awsv1.ClassReady)
	return c.GetDeletionTimestamp() == nil && (ready == nil || ready.Status != metav1.ConditionFalse)
}

// Cause finds what keeps a class from being ready: the first of the conditions
// that its Ready sums up which says something itself.
func Cause(c *Subject, ready *metav1.Condition) (reason, message string) {
	parts := c.ReadyDependsOn()
	for _, part := range c.Status.Conditions {
		passive := part.Status == metav1.ConditionTrue || part.Reason == awsv1.ReasonDependenciesNotReady && waits(c)
		if slices.Contains(parts, part.Type) && !passive && part.Message != "" {
			return part.Reason, wayOut(part.Message, ready)
		}
	}
	return ready.Reason, ready.Message
}
