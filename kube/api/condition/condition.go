// Package condition reads and writes the status conditions that all of
// Daemok's resources carry.
//
// It promises that writing what is already there changes nothing, so that a
// caller can compare before and after, and that a transition time moves only
// with the status. Now is always an argument. It writes to the object in
// memory, never to a cluster.
package condition

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Reasons that are the same for all kinds.
const (
	// ReasonAwaiting is why a condition is unknown before its first check.
	ReasonAwaiting = "AwaitingReconciliation"
	// ReasonUnhealthy is why Ready is false: a condition it needs is.
	ReasonUnhealthy = "UnhealthyDependents"
	// ReasonReconciling is why Ready is unknown: a condition it needs is.
	ReasonReconciling = "ReconcilingDependents"
)

// Ready is the condition that sums up the others.
const Ready = "Ready"

// MessageMax is the longest text of an error in a condition, in bytes.
const MessageMax = 300

// Object is a resource with conditions.
type Object interface {
	GetGeneration() int64
	GetConditions() []metav1.Condition
	SetConditions([]metav1.Condition)
	// ReadyDependsOn names the conditions that must be true for Ready.
	ReadyDependsOn() []string
}

// Get returns the condition of that type, or nil. It points into the object.
func Get(o Object, kind string) *metav1.Condition {
	return meta.FindStatusCondition(o.GetConditions(), kind)
}

// IsTrue reports whether the condition is there and true.
func IsTrue(o Object, kind string) bool {
	return meta.IsStatusConditionTrue(o.GetConditions(), kind)
}

// IsFalse reports whether the condition is there and false.
func IsFalse(o Object, kind string) bool {
	return meta.IsStatusConditionFalse(o.GetConditions(), kind)
}

// SetTrue sets the condition to true with its own type as the reason, as
// tools written for Karpenter expect. It reports whether anything changed.
func SetTrue(o Object, kind string, now time.Time) bool {
	return Set(o, kind, metav1.ConditionTrue, kind, "", now)
}

// SetFalse sets the condition to false and reports whether anything changed.
func SetFalse(o Object, kind, reason, message string, now time.Time) bool {
	return Set(o, kind, metav1.ConditionFalse, reason, message, now)
}

// SetUnknown sets the condition to unknown and reports whether anything
// changed. An empty reason becomes ReasonAwaiting.
func SetUnknown(o Object, kind, reason, message string, now time.Time) bool {
	if reason == "" {
		reason = ReasonAwaiting
	}
	return Set(o, kind, metav1.ConditionUnknown, reason, message, now)
}

// messageMax is the longest message an API server accepts.
const messageMax = 32768

// Set sets a condition for the object's current generation and reports
// whether anything changed. Too long a message is cut.
func Set(o Object, kind string, status metav1.ConditionStatus, reason, message string, now time.Time) bool {
	if len(message) > messageMax {
		message = strings.ToValidUTF8(message[:messageMax-3], "") + "..."
	}
	conditions := slices.Clone(o.GetConditions())
	changed := meta.SetStatusCondition(&conditions, metav1.Condition{
		Type:               kind,
		Status:             status,
		Reason:             reason,
		Message:            message,
		ObservedGeneration: o.GetGeneration(),
		LastTransitionTime: metav1.NewTime(now.UTC().Truncate(time.Second)),
	})
	o.SetConditions(conditions)
	return changed
}

// Clear removes a condition and reports whether it was there.
func Clear(o Object, kind string) bool {
	conditions := slices.Clone(o.GetConditions())
	removed := meta.RemoveStatusCondition(&conditions, kind)
	o.SetConditions(conditions)
	return removed
}

// Begin adds, as unknown, each condition Ready depends on that is not there
// yet, and then sums up. It reports whether anything changed.
func Begin(o Object, now time.Time) bool {
	changed := false
	for _, kind := range o.ReadyDependsOn() {
		if Get(o, kind) == nil {
			changed = SetUnknown(o, kind, ReasonAwaiting, "object is awaiting reconciliation", now) || changed
		}
	}
	return SumUp(o, now) || changed
}

// SumUp sets Ready from the conditions it depends on: false if one of them is
// false, else unknown if one is unknown or missing, else true. The message
// names those that are in the way. It reports whether anything changed.
func SumUp(o Object, now time.Time) bool {
	var failing, open []string
	for _, kind := range o.ReadyDependsOn() {
		switch c := Get(o, kind); {
		case c == nil:
			open = append(open, kind+"=Unknown")
		case c.Status == metav1.ConditionFalse:
			failing = append(failing, kind+"=False")
		case c.Status != metav1.ConditionTrue:
			open = append(open, kind+"=Unknown")
		}
	}
	if len(failing) > 0 {
		return SetFalse(o, Ready, ReasonUnhealthy, strings.Join(slices.Concat(failing, open), ", "), now)
	}
	if len(open) > 0 {
		return SetUnknown(o, Ready, ReasonReconciling, strings.Join(open, ", "), now)
	}
	return SetTrue(o, Ready, now)
}

// Describe returns the condition as one line for logs and events.
func Describe(c *metav1.Condition) string {
	if c == nil {
		return "not reported yet"
	}
	if c.Message == "" {
		return fmt.Sprintf("%s is %s (%s)", c.Type, c.Status, c.Reason)
	}
	return fmt.Sprintf("%s is %s (%s): %s", c.Type, c.Status, c.Reason, c.Message)
}

// warnings separates what a message refuses from what it only warns of.
const warnings = "; warnings: "

// WithWarnings is a message that names warnings after what is wrong.
func WithWarnings(wrong string, all []string) string {
	if len(all) == 0 {
		return wrong
	}
	return wrong + warnings + strings.Join(all, "; ")
}

// WithoutWarnings is what is wrong, of a message of WithWarnings.
func WithoutWarnings(message string) string {
	wrong, _, _ := strings.Cut(message, warnings)
	return wrong
}
