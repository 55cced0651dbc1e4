package nodeclass

import (
	"slices"
	"strings"

	"github.com/daemok/daemok/core/cluster"
)

// Labels of instances that AWS facts decide, beside those of the core.
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
	LabelAccelMemory      = labelPrefix + "instance-accelerator-memory" // of one, in MiB; of the older API generation, as are the next two
	LabelPods             = labelPrefix + "instance-pods"
	LabelImage            = labelPrefix + "instance-ami-id"
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
	TenancyDedicated = "dedicated" // on hardware that runs instances of one account alone
)

// Tags that instances and what belongs to them carry.
const (
	TagClass     = "karpenter.k8s.aws/ec2nodeclass"
	TagPool      = "karpenter.sh/nodepool"
	TagOlderPool = "karpenter.sh/provisioner-name" // on instances of releases that called pools so
	TagClaim     = "karpenter.sh/nodeclaim"
	TagEKS       = "eks:eks-cluster-name"
	TagOfEKS     = "aws:eks:cluster-name"   // that EKS gives the security group of a cluster; value: its name
	TagOwned     = "kubernetes.io/cluster/" // with the cluster's name; value "owned"
	TagUID       = "daemok.sh/cluster-uid"  // that of the cluster's namespace kube-system
	TagBatch     = "daemok.sh/batch"
	TagName      = "Name"
	ClusterOwned = "owned"
)

// IsLabelOfInstances reports whether the label describes what an instance is, so that a tag
// of that name on an image can say which instances boot it.
func IsLabelOfInstances(key string) bool {
	return strings.HasPrefix(key, "karpenter.k8s.aws/instance-") || slices.Contains([]string{
		cluster.LabelArch, LabelOS, cluster.LabelInstanceType, cluster.LabelZone, cluster.LabelCapacityType,
	}, key)
}
