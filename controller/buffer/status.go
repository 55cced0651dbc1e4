package buffer

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/kube/api/autoscaling/v1beta1"
	"github.com/daemok/daemok/kube/api/condition"
	"github.com/daemok/daemok/kube/buffer"
	"github.com/daemok/daemok/kube/snapshot/buffers"
)

// setStatus says what a buffer comes to, and where the newest plan keeps its capacity, if that plan is known. It
// is pure.
func setStatus(o *v1beta1.CapacityBuffer, s *buffers.State, p *plan.Buffer, known bool, now time.Time) {
	strategy, count := v1beta1.StrategyActiveCapacity, int32(min(s.Pods, 1<<31-1))
	o.Status.ProvisioningStrategy, o.Status.Replicas = &strategy, &count
	o.Status.PodTemplateRef, o.Status.PodTemplateGeneration = o.Spec.PodTemplateRef, nil
	if s.Generation > 0 {
		generation := s.Generation
		o.Status.PodTemplateGeneration = &generation
	}
	const resolves, provisions = v1beta1.BufferReadyForProvisioning, v1beta1.BufferProvisioning
	if why := s.NotReady; why != (buffer.Refusal{}) {
		condition.SetFalse(o, resolves, why.Reason, why.Message, now)
		condition.SetFalse(o, provisions, v1beta1.ReasonNotReadyForProvisioning, why.Message, now)
		return
	}
	condition.Set(o, resolves, metav1.ConditionTrue, v1beta1.ReasonResolved, "", now)
	switch missing := p.Want - p.Fits(); {
	case s.Pods == 0:
		condition.SetFalse(o, provisions, v1beta1.ReasonBufferEmpty,
			"spec and the replicas of the workload come to no virtual pods", now)
	case !known || p.NotReady != "" || p.Want != s.Pods:
		// A plan that sees the buffer as it is comes soon.
	case missing == 0:
		condition.Set(o, provisions, metav1.ConditionTrue, v1beta1.ReasonFitsExistingCapacity,
			fmt.Sprintf("All %d virtual pods fit on existing capacity", p.Want), now)
	default:
		message := fmt.Sprintf("%d/%d virtual pods required new capacity, %d failed", missing, p.Want, p.Missing)
		if p.Missing > 0 {
			message += ": " + p.Why()
		}
		condition.SetFalse(o, provisions, v1beta1.ReasonRequiresNewCapacity, message, now)
	}
}
