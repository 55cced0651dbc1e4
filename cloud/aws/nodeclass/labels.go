package nodeclass

import "github.com/daemok/daemok/core/cluster"

// Labels of machines that AWS facts decide, beside those of the core.
const (
	LabelRegion       = "topology.kubernetes.io/region"
	LabelZoneID       = "topology.k8s.aws/zone-id"
	LabelOS           = "kubernetes.io/os"
	LabelWindowsBuild = "node.kubernetes.io/windows-build"

	LabelHypervisor       = labelPrefix + "instance-hypervisor"
	LabelEncryption       = labelPrefix + "instance-encryption-in-transit-supported"
	LabelNitroSandbox     = labelPrefix + "nitro-sandbox"
	LabelCategory         = labelPrefix + "instance-category"
	LabelGeneration       = labelPrefix + "instance-generation"
	LabelFamily           = labelPrefix + "instance-family"
	LabelSize             = labelPrefix + "instance-size"
	LabelLocalNVMe        = labelPrefix + "instance-local-nvme"
	LabelCPU              = labelPrefix + "instance-cpu"
	LabelCPUManufacturer  = labelPrefix + "instance-cpu-manufacturer"
	LabelCPUClockMHz      = labelPrefix + "instance-cpu-sustained-clock-speed-mhz"
	LabelMemory           = labelPrefix + "instance-memory"
	LabelEBSBandwidth     = labelPrefix + "instance-ebs-bandwidth"
	LabelNetworkBandwidth = labelPrefix + "instance-network-bandwidth"
	LabelGPUName          = labelPrefix + "instance-gpu-name"
	LabelGPUManufacturer  = labelPrefix + "instance-gpu-manufacturer"
	LabelGPUCount         = labelPrefix + "instance-gpu-count"
	LabelGPUMemory        = labelPrefix + "instance-gpu-memory"
	LabelAccelName        = labelPrefix + "instance-accelerator-name"
	LabelAccelMaker       = labelPrefix + "instance-accelerator-manufacturer"
	LabelAccelCount       = labelPrefix + "instance-accelerator-count"
	LabelFlex             = labelPrefix + "instance-capability-flex"
	LabelTenancy          = labelPrefix + "instance-tenancy"

	LabelPlacementGroup     = labelPrefix + "placement-group-id"
	LabelPlacementPartition = labelPrefix + "placement-group-partition"

	LabelReservation              = cluster.LabelReservation
	LabelReservationType          = labelPrefix + "capacity-reservation-type"
	LabelReservationInterruptible = labelPrefix + "capacity-reservation-interruptible"

	labelPrefix = "karpenter.k8s.aws/"
)

// Values of LabelTenancy.
const (
	TenancyDefault   = "default"
	TenancyDedicated = "dedicated" // on hardware that runs machines of one account alone
)

// Tags that machines and what belongs to them carry.
const (
	TagClass     = "karpenter.k8s.aws/ec2nodeclass"
	TagPool      = "karpenter.sh/nodepool"
	TagClaim     = "karpenter.sh/nodeclaim"
	TagEKS       = "eks:eks-cluster-name"
	TagOwned     = "kubernetes.io/cluster/" // with the cluster's name; value "owned"
	TagBatch     = "daemok.sh/batch"
	TagName      = "Name"
	ClusterOwned = "owned"
)
