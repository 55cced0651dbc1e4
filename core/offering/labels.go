package offering

// Labels that distinguish instances of one type, as EC2's offerings carry them.
const (
	labelGPUCount                 = "karpenter.k8s.aws/instance-gpu-count"
	labelPartition                = "karpenter.k8s.aws/placement-group-partition"
	labelReservationType          = "karpenter.k8s.aws/capacity-reservation-type"
	labelReservationInterruptible = "karpenter.k8s.aws/capacity-reservation-interruptible"
	labelTenancy                  = "karpenter.k8s.aws/instance-tenancy"

	tenancyDedicated = "dedicated"
)
