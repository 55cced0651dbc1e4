package translate

import (
	"strings"

	"github.com/daemok/daemok/kube/api"
)

// RaiseLimit says what to do where a limit keeps something from a launch, by the reason that plans give.
func RaiseLimit(why string) string {
	switch {
	case strings.Contains(why, "CapacityQuota/"):
		return "raise the limits of that CapacityQuota"
	case strings.Contains(why, api.AnnotationHours):
		return "wait for its hours, or change the annotation " + api.AnnotationHours
	case strings.Contains(why, "cost limit reached") || strings.Contains(why, "the cost is limited"):
		return "raise the annotation " + api.AnnotationCostLimit
	}
	return "raise spec.limits"
}
