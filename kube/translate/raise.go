package translate

import (
	"strings"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api"
)

// RaiseLimit says what to do where a limit keeps something from a launch, by the reason that plans give;
// empty: that says so itself.
func RaiseLimit(why string) string {
	_, ofQuota, isQuota := strings.Cut(why, "CapacityQuota/")
	switch {
	case isQuota && strings.Contains(ofQuota, "the cost is limited, and the price of"):
		return "have the selector of that CapacityQuota leave it out, or set its price with a NodeOverlay"
	case isQuota && strings.Contains(ofQuota, " limit reached: "):
		return "raise the limits of that CapacityQuota"
	case isQuota:
		return "correct that CapacityQuota"
	case strings.Contains(why, cluster.LowerOnDemand):
		return "" // it says so itself
	case strings.Contains(why, cluster.LimitOnDemand) && strings.Contains(why, " limits spot instances"):
		return cluster.LowerOnDemand
	case strings.Contains(why, api.AnnotationHours):
		return "wait for its hours, or change the annotation " + api.AnnotationHours
	case strings.Contains(why, "the cost is limited, and the price of"):
		return "set its price with a NodeOverlay, or remove the annotation " + api.AnnotationCostLimit
	case strings.Contains(why, "cost limit reached"):
		return "raise the annotation " + api.AnnotationCostLimit
	}
	return "raise spec.limits"
}
