package buffer

import (
	"math"

	corev1 "k8s.io/api/core/v1"

	"github.com/daemok/daemok/kube/api/autoscaling/v1beta1"
)

// Count is for how many pods the buffer keeps capacity, when each requests so much and its workload has so many
// replicas: the larger of replicas and percentage, and no more than limits allow. Limits alone say how many;
// nothing at all means none.
func Count(spec *v1beta1.CapacityBufferSpec, requests corev1.ResourceList, workload int32) int64 {
	most, limited := within(spec.Limits, requests)
	share := percentage(spec, workload)
	if spec.Replicas == nil && share == nil {
		return most
	}
	n := int64(0)
	if spec.Replicas != nil {
		n = int64(*spec.Replicas)
	}
	if share != nil {
		n = max(n, *share)
	}
	if limited {
		n = min(n, most)
	}
	return max(0, n)
}

// percentage is the share of the workload's replicas, rounded up; nil: the buffer asks for none.
func percentage(spec *v1beta1.CapacityBufferSpec, workload int32) *int64 {
	if spec.Percentage == nil || spec.ScalableRef == nil {
		return nil
	}
	n := (int64(*spec.Percentage)*int64(workload) + 99) / 100
	return &n
}

// within is how many pods the limits have room for. A resource that the pods do not request, or that has no limit,
// does not count; where none counts, limits do not bind, and the number is 0.
func within(limits, requests corev1.ResourceList) (most int64, bind bool) {
	most = math.MaxInt64
	for name, limit := range limits {
		each := requests[name]
		if each.Sign() <= 0 {
			continue
		}
		bind = true
		if each.Cmp(limit) > 0 {
			return 0, true
		}
		if limit.CmpInt64(math.MaxInt64/1000) > 0 { // more than thousandths can count
			most = min(most, int64(min(limit.AsApproximateFloat64()/each.AsApproximateFloat64(), math.MaxInt32)))
			continue
		}
		most = min(most, limit.MilliValue()/each.MilliValue())
	}
	if !bind {
		return 0, false
	}
	return most, true
}
