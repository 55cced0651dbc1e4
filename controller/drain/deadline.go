package drain

import (
	"time"

	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

// deadlineOf is when the drain must be over; zero where it may take any time.
func deadlineOf(claim *karpv1.NodeClaim) time.Time {
	if claim == nil {
		return time.Time{}
	}
	at, err := time.Parse(time.RFC3339, claim.Annotations[api.AnnotationTerminationTimestamp])
	if err != nil {
		return time.Time{}
	}
	return at
}
