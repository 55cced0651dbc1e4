// Package api names every key that Daemok reads or writes: API groups, labels, annotations, taints,
// finalizers, tags, ConfigMaps. Each has one constant here and one row in the table Keys, from which
// the documentation is printed.
//
// The folders below hold the resource types, one per group and version, and their validation rules.
// The package promises that a key written anywhere in the product is found in Keys. It has no
// behaviour beyond questions about keys.
package api

// API groups of the resources Daemok serves.
const (
	GroupKarpenter   = "karpenter.sh"
	GroupAWS         = "karpenter.k8s.aws"
	GroupAutoscaling = "autoscaling.x-k8s.io"
	// GroupDaemok is the prefix of Daemok's own keys. No field is ever added
	// to an object of the other groups.
	GroupDaemok = "daemok.sh"
)

// Labels of Kubernetes that Daemok decides by or sets.
const (
	LabelZone                = "topology.kubernetes.io/zone"
	LabelRegion              = "topology.kubernetes.io/region"
	LabelZoneID              = "topology.k8s.aws/zone-id"
	LabelInstanceType        = "node.kubernetes.io/instance-type"
	LabelArch                = "kubernetes.io/arch"
	LabelOS                  = "kubernetes.io/os"
	LabelHostname            = "kubernetes.io/hostname"
	LabelWindowsBuild        = "node.kubernetes.io/windows-build"
	LabelExcludeFromBalancer = "node.kubernetes.io/exclude-from-external-load-balancers"
)

// Labels of the group karpenter.sh.
const (
	LabelNodePool        = GroupKarpenter + "/nodepool"
	LabelProvisioner     = GroupKarpenter + "/provisioner-name"
	LabelCapacityType    = GroupKarpenter + "/capacity-type"
	LabelRegistered      = GroupKarpenter + "/registered"
	LabelInitialized     = GroupKarpenter + "/initialized"
	LabelDoNotSyncTaints = GroupKarpenter + "/do-not-sync-taints"
)

// Labels of the group karpenter.k8s.aws. Those below LabelNodeClass describe an instance; the ones
// commented "integer" may be compared with Gt and Lt.
const (
	LabelNodeClass = GroupAWS + "/ec2nodeclass"

	LabelReservationID            = GroupAWS + "/capacity-reservation-id"
	LabelReservationType          = GroupAWS + "/capacity-reservation-type"
	LabelReservationInterruptible = GroupAWS + "/capacity-reservation-interruptible"
	LabelHypervisor               = GroupAWS + "/instance-hypervisor"
	LabelEncryptionInTransit      = GroupAWS + "/instance-encryption-in-transit-supported"
	LabelNitroSandbox             = GroupAWS + "/nitro-sandbox"
	LabelCategory                 = GroupAWS + "/instance-category"
	LabelGeneration               = GroupAWS + "/instance-generation" // integer
	LabelFamily                   = GroupAWS + "/instance-family"
	LabelSize                     = GroupAWS + "/instance-size"
	LabelLocalNVMe                = GroupAWS + "/instance-local-nvme" // integer, GB
	LabelCPU                      = GroupAWS + "/instance-cpu"        // integer, vCPUs
	LabelCPUManufacturer          = GroupAWS + "/instance-cpu-manufacturer"
	LabelCPUSustainedClock        = GroupAWS + "/instance-cpu-sustained-clock-speed-mhz" // integer, MHz
	LabelMemory                   = GroupAWS + "/instance-memory"                        // integer, MiB
	LabelEBSBandwidth             = GroupAWS + "/instance-ebs-bandwidth"                 // integer, Mbps
	LabelNetworkBandwidth         = GroupAWS + "/instance-network-bandwidth"             // integer, Mbps
	LabelGPUName                  = GroupAWS + "/instance-gpu-name"
	LabelGPUManufacturer          = GroupAWS + "/instance-gpu-manufacturer"
	LabelGPUCount                 = GroupAWS + "/instance-gpu-count"  // integer
	LabelGPUMemory                = GroupAWS + "/instance-gpu-memory" // integer, MiB
	LabelAcceleratorName          = GroupAWS + "/instance-accelerator-name"
	LabelAcceleratorManufacturer  = GroupAWS + "/instance-accelerator-manufacturer"
	LabelAcceleratorCount         = GroupAWS + "/instance-accelerator-count" // integer
	LabelCapabilityFlex           = GroupAWS + "/instance-capability-flex"
	LabelTenancy                  = GroupAWS + "/instance-tenancy"
	LabelPlacementGroupID         = GroupAWS + "/placement-group-id"
	LabelPlacementGroupPartition  = GroupAWS + "/placement-group-partition" // integer
)

// Labels of the v1alpha5 API that today's does not have. They describe instances of Provisioners
// alone.
const (
	LabelInstancePods      = GroupAWS + "/instance-pods"               // integer
	LabelAcceleratorMemory = GroupAWS + "/instance-accelerator-memory" // integer, MiB
	LabelAMIID             = GroupAWS + "/instance-ami-id"
)

// AnnotationPodDeletionCost is Kubernetes' own word for which pods of an owner
// should go first.
const AnnotationPodDeletionCost = "controller.kubernetes.io/pod-deletion-cost"

// Values of LabelCapacityType.
const (
	CapacityTypeSpot     = "spot"
	CapacityTypeOnDemand = "on-demand"
	CapacityTypeReserved = "reserved"
)

// Values of LabelTenancy.
const (
	TenancyDefault   = "default"
	TenancyDedicated = "dedicated"
)

// ResourceEFA counts the Elastic Fabric Adapters of an instance, and DriverEFA is the driver of dynamic resource
// allocation that publishes them.
const (
	ResourceEFA = "vpc.amazonaws.com/efa"
	DriverEFA   = "efa.networking.k8s.aws"
)

// Annotations that users set or that Daemok keeps its notes in, with the
// meaning they have for Karpenter.
const (
	AnnotationDoNotDisrupt           = GroupKarpenter + "/do-not-disrupt"
	AnnotationNodePoolHash           = GroupKarpenter + "/nodepool-hash"
	AnnotationNodePoolHashVersion    = GroupKarpenter + "/nodepool-hash-version"
	AnnotationTerminationTimestamp   = GroupKarpenter + "/nodeclaim-termination-timestamp"
	AnnotationMinValuesRelaxed       = GroupKarpenter + "/nodeclaim-min-values-relaxed"
	AnnotationRequestedDRADrivers    = GroupKarpenter + "/requested-dra-drivers"
	AnnotationPriceOverlayApplied    = GroupKarpenter + "/price-overlay-applied"
	AnnotationCapacityOverlayApplied = GroupKarpenter + "/capacity-overlay-applied"
	AnnotationBufferFakePod          = GroupKarpenter + "/capacity-buffer-fake-pod"
	AnnotationBufferName             = GroupKarpenter + "/capacity-buffer-name"
	AnnotationBufferNamespace        = GroupKarpenter + "/capacity-buffer-namespace"
	AnnotationCompatibilityProvider  = "compatibility." + GroupKarpenter + "/provider"

	AnnotationNodeClassHash        = GroupAWS + "/ec2nodeclass-hash"
	AnnotationNodeClassHashVersion = GroupAWS + "/ec2nodeclass-hash-version"
	AnnotationInstanceTagged       = GroupAWS + "/tagged"
	AnnotationClusterNameTagged    = "compatibility." + GroupAWS + "/cluster-name-tagged"
	AnnotationInstanceProfileName  = GroupAWS + "/instance-profile-name"
)

// GroupVerticalPodAutoscaler is the API group of the Vertical Pod Autoscaler.
const GroupVerticalPodAutoscaler = "autoscaling.k8s.io"

// What users write for Cluster Autoscaler.
const (
	GroupClusterAutoscaler = "cluster-autoscaler.kubernetes.io"

	AnnotationSafeToEvict       = GroupClusterAutoscaler + "/safe-to-evict"
	AnnotationScaleDownDisabled = GroupClusterAutoscaler + "/scale-down-disabled"
	// PrefixStartupTaint begins the keys of taints that nodes have while they start.
	PrefixStartupTaint = "startup-taint." + GroupClusterAutoscaler + "/"
	// PrefixIgnoreTaint is an older word for the same.
	PrefixIgnoreTaint = "ignore-taint." + GroupClusterAutoscaler + "/"
)

// Annotations of pods that consume a ProvisioningRequest: its name, and its provisioning class. The older ones are
// those of its v1beta1 API.
const (
	AnnotationConsumesRequest      = GroupAutoscaling + "/consume-provisioning-request"
	AnnotationProvisioningClass    = GroupAutoscaling + "/provisioning-class-name"
	AnnotationConsumesRequestOld   = GroupClusterAutoscaler + "/consume-provisioning-request"
	AnnotationProvisioningClassOld = GroupClusterAutoscaler + "/provisioning-class-name"
)

// Annotations of the v1alpha5 API of the API.
const (
	// AnnotationDoNotEvict keeps the node of a pod from voluntary disruption.
	AnnotationDoNotEvict = GroupKarpenter + "/do-not-evict"
	// AnnotationDoNotConsolidate keeps a node from consolidation, and from nothing
	// else.
	AnnotationDoNotConsolidate = GroupKarpenter + "/do-not-consolidate"
	// AnnotationEmptinessTimestamp is when a node became empty, in RFC 3339.
	AnnotationEmptinessTimestamp = GroupKarpenter + "/emptiness-timestamp"
	// AnnotationVoluntaryDisruption is why a node is to go: VoluntaryDrifted, which
	// users may write too, or VoluntaryExpired.
	AnnotationVoluntaryDisruption = GroupKarpenter + "/voluntary-disruption"
	AnnotationLinked              = GroupKarpenter + "/linked"
	AnnotationProvisionerHash     = GroupKarpenter + "/provisioner-hash"
	AnnotationNodeTemplateHash    = GroupAWS + "/nodetemplate-hash"
)

// Values of AnnotationVoluntaryDisruption.
const (
	VoluntaryDrifted = "drifted"
	VoluntaryExpired = "expired"
)

// Daemok's own keys, all annotations on NodeClaims and Nodes unless said
// otherwise in Keys.
const (
	// AnnotationLaunchAttempt is "<batch>/<n>": the launch the claim is part of and
	// how often it was tried.
	AnnotationLaunchAttempt = GroupDaemok + "/launch-attempt"
	// AnnotationDecision says in JSON why the instance was chosen and what came next.
	AnnotationDecision = GroupDaemok + "/decision"
	// AnnotationJoins says in JSON with which other claims this one waits for nodes,
	// because pods are to be spread over them or large ones come last.
	AnnotationJoins = GroupDaemok + "/joins-with"
	// AnnotationForPods lists the UIDs of the pods that the claim was made for, with commas
	// between; "+<n>" behind them says that there were so many more.
	AnnotationForPods = GroupDaemok + "/for-pods"
	// AnnotationForRequests names the ProvisioningRequests that the claim was made for, sorted, with commas between.
	AnnotationForRequests = GroupDaemok + "/for-provisioning-requests"
	// AnnotationWithdrawn says why the claim's instance is not needed any more, while it has none:
	// nothing is launched for it.
	AnnotationWithdrawn = GroupDaemok + "/withdrawn"
	// AnnotationEnds is when the cloud takes the claim's instance away, as it said itself.
	AnnotationEnds = GroupDaemok + "/ends-at"
	// AnnotationAdvised is when the cloud recommended to replace the claim's instance, which its
	// pool follows; on a node, when it was cordoned for that.
	AnnotationAdvised = GroupDaemok + "/rebalance-advised-at"
	// AnnotationAdopt is the provider ID of an instance that runs already and that the claim takes
	// over: nothing is ever launched for it.
	AnnotationAdopt = GroupDaemok + "/adopt"
	// AnnotationAdoptFrom names the claim that has the instance so far, and goes without it once
	// this one has.
	AnnotationAdoptFrom = GroupDaemok + "/adopt-from"
	// AnnotationAdoptedBy names the claim that has the instance now; this one goes without it.
	AnnotationAdoptedBy = GroupDaemok + "/adopted-by"
	// AnnotationMigratedFrom is the API version of the objects that daemok migrate made a pool or
	// class from, whose place it takes; on a node, of those in whose words it was protected.
	AnnotationMigratedFrom = GroupDaemok + "/migrated-from"
	// AnnotationReplaces names the claims whose instances this one takes the place of, sorted, with
	// commas between.
	AnnotationReplaces = GroupDaemok + "/replaces"
	// AnnotationTakes names the claims whose nodes were leaving when this one was launched, for
	// pods of theirs, sorted, with commas between.
	AnnotationTakes = GroupDaemok + "/takes-pods-of"
	// AnnotationStage is how far that is: "waiting/<n>" while the others stay until all n instances
	// that take their place have started, then "done"; "kept" where they stay after all and the
	// instance is in use.
	AnnotationStage = GroupDaemok + "/stage"
	// AnnotationInstanceCost is what each instance of the pool costs an hour, in US dollars, beside
	// its type and its volumes.
	AnnotationInstanceCost = GroupDaemok + "/machine-cost"
	// AnnotationMinCPU and AnnotationMinMemory are the least size of the pool's instances.
	AnnotationMinCPU    = GroupDaemok + "/min-machine-cpu"
	AnnotationMinMemory = GroupDaemok + "/min-machine-memory"
	// AnnotationMinPodMemory and AnnotationMaxSystemMemory are what instances of the pool are to
	// leave to pods, where they can.
	AnnotationMinPodMemory    = GroupDaemok + "/min-pod-memory"
	AnnotationMaxSystemMemory = GroupDaemok + "/max-system-memory"
	// AnnotationCommitments has a pool plan without commitments, whatever they pay for.
	AnnotationCommitments = GroupDaemok + "/commitments"
	CommitmentsIgnore     = "ignore"
	// AnnotationCostLimit is what nodes may cost together in an hour, in US dollars.
	AnnotationCostLimit = GroupDaemok + "/cost-limit"
	// AnnotationOnDemandMinimum is how many nodes of a pool, or pods of a workload, are to be on demand at the least.
	AnnotationOnDemandMinimum = GroupDaemok + "/on-demand-minimum"
	// AnnotationHours is at which times the pool has how many nodes.
	AnnotationHours = GroupDaemok + "/hours"
	// AnnotationHeadroom is the share of what pods request for which a CapacityBuffer keeps capacity.
	AnnotationHeadroom = GroupDaemok + "/headroom"
	// AnnotationDeregistration is how long load balancers go on sending to a node after they were
	// notified that it leaves.
	AnnotationDeregistration = GroupDaemok + "/deregistration-delay"
	// AnnotationKeepReady has a pod that is the last ready one of a Service stay until
	// another is ready.
	AnnotationKeepReady = GroupDaemok + "/keep-one-ready"
	// AnnotationSurge has the workload of a pod, where it wants one replica, get a
	// second before the pod is evicted.
	AnnotationSurge = GroupDaemok + "/surge"
	// AnnotationDeletionCost is the AnnotationPodDeletionCost that Daemok gave a pod whose node is
	// to empty. Where the two differ, a user set the cost.
	AnnotationDeletionCost = GroupDaemok + "/deletion-cost"
	// AnnotationExcluded is when load balancers were notified that the node leaves.
	AnnotationExcluded = GroupDaemok + "/excluded-at"
	// AnnotationDriftAtLimit says how drifted nodes of the pool go where its limits leave no room
	// for their replacements: DeleteFirst.
	AnnotationDriftAtLimit = GroupDaemok + "/drift-at-limit"
	// AnnotationMakeRoom is on DaemonSets: "true" has nodes replaced that are older and
	// have no room for its pod.
	AnnotationMakeRoom = GroupDaemok + "/make-room"
	// AnnotationRoll is on a NodePool whose nodes are to be replaced now, as JSON.
	AnnotationRoll = GroupDaemok + "/roll"
	// AnnotationRebalance says what follows from a recommendation to replace a spot instance:
	// RebalanceIgnore, which is usual, RebalanceCordon or RebalanceReplace.
	AnnotationRebalance = GroupDaemok + "/rebalance"
	// AnnotationRepair says when nodes of the pool are repaired: RepairOn, RepairOff, or words
	// such as "Ready=15m, Initialized=20m, most=30%".
	AnnotationRepair = GroupDaemok + "/repair"
	// AnnotationPlacementGroup is in JSON what was found for spec.placementGroupSelector of a
	// class.
	AnnotationPlacementGroup = GroupDaemok + "/placement-group"
	// AnnotationDedicatedReservations are those of a class's capacity reservations whose instances
	// are of dedicated tenancy, by ID, with commas between.
	AnnotationDedicatedReservations = GroupDaemok + "/dedicated-reservations"
	// AnnotationPodDensity says how the network plugin gives addresses to the pods of a class's
	// instances: PrefixDelegation. Without it, one by one.
	AnnotationPodDensity = GroupDaemok + "/pod-density"
	// AnnotationMemoryOverhead is the share of memory, between 0 and 1, that hypervisor and kernel
	// of a class's instances are taken to keep, until an instance of the type and image has shown
	// it.
	AnnotationMemoryOverhead = GroupDaemok + "/memory-overhead"
	// AnnotationLaunchForms is in JSON what builds of the controller have made of the class: launch
	// template and user data of a made-up instance.
	AnnotationLaunchForms = GroupDaemok + "/launch-forms"
	// AnnotationLaunchForm is which of these the claim's instance was launched in.
	AnnotationLaunchForm = GroupDaemok + "/launch-form"
	// AnnotationDelete says how the nodes of the pool go when it is deleted: DeleteFast.
	AnnotationDelete = GroupDaemok + "/delete"
	// AnnotationBudgets is on a Provisioner: how many of its nodes may go at once.
	AnnotationBudgets = GroupDaemok + "/budgets"
	// AnnotationAcknowledged is on a DisruptionPolicy whose breaker has tripped: the
	// moment at which it did, as its status says. It closes the breaker.
	AnnotationAcknowledged = GroupDaemok + "/acknowledged"
	// TagBatch is the instance tag that ties an instance to its launch.
	TagBatch = GroupDaemok + "/batch"
	// TagClusterUID is the instance tag that distinguishes clusters of one name: the UID of
	// namespace kube-system.
	TagClusterUID = GroupDaemok + "/cluster-uid"
)

// DeleteFirst is the value of AnnotationDriftAtLimit by which nodes go before the instances in
// their place come.
const DeleteFirst = "delete-first"

// PrefixDelegation is the value of AnnotationPodDensity for a network plugin that gives out
// addresses by prefixes of 16.
const PrefixDelegation = "prefix-delegation"

// DeleteFast is the value of AnnotationDelete by which all nodes of a deleted pool go at
// once, whatever its budgets say.
const DeleteFast = "fast"

// Values of AnnotationRepair.
const (
	RepairOn  = "on"
	RepairOff = "off"
)

// Values of AnnotationRebalance.
const (
	RebalanceIgnore  = "ignore"
	RebalanceCordon  = "cordon"
	RebalanceReplace = "replace"
)

// ConfigMaps in the controller's namespace.
const (
	// ConfigMapSettings sets the controller up, as the older API generation does it.
	ConfigMapSettings = "karpenter-global-settings"
	// ConfigMapLogging says in the same way how much is logged.
	ConfigMapLogging = "config-logging"
	// ConfigMapFreeze stops every voluntary disruption while it is there: why,
	// and until when, are under the two keys.
	ConfigMapFreeze = "daemok-freeze"
	FreezeReason    = "reason"
	FreezeUntil     = "until"
	// ConfigMapCommitments lists Reserved Instances and Savings Plans of the account, as YAML under the key.
	ConfigMapCommitments = "daemok-commitments"
	CommitmentsFile      = "commitments.yaml"
	// ConfigMapOrphans says, under the key, how many instances without NodeClaim may be
	// drained and terminated.
	ConfigMapOrphans = "daemok-orphans"
	OrphansTerminate = "terminate"
	// ConfigMapMigration is written by daemok migrate while it moves the cluster to another
	// API generation: by it the move goes on, and is rolled back.
	ConfigMapMigration = "daemok-migration"
	// ConfigMapRecord, with "-0" and so on behind it, holds what was decided
	// lately.
	ConfigMapRecord = "daemok-record"
	// ConfigMapStatus holds the screen of daemok status, for kubectl.
	ConfigMapStatus = "daemok-status"
	// ConfigMapShadow holds what shadow mode has watched.
	ConfigMapShadow = "daemok-shadow"
	// ConfigMapMemory holds what the leader has seen and no object reports.
	ConfigMapMemory = "daemok-memory"
	// ConfigMapSurges lists the workloads that have a second replica until a pod has
	// left its node, under the UID of that pod.
	ConfigMapSurges = "daemok-surges"
)

// Taints.
const (
	TaintUnregistered = GroupKarpenter + "/unregistered"
	TaintDisrupted    = GroupKarpenter + "/disrupted"
	// TaintDisruption is what the generation v1beta1 had in its place, with the
	// value Disrupting.
	TaintDisruption = GroupKarpenter + "/disruption"
	// TaintEmptying has kube-scheduler prefer other nodes while they have room: the node is
	// to empty.
	TaintEmptying      = GroupDaemok + "/emptying"
	TaintUninitialized = "node.cloudprovider.kubernetes.io/uninitialized"
	// TaintReadinessPrefix begins every taint that holds pods off until a
	// readiness gate of the node opens.
	TaintReadinessPrefix = "readiness.k8s.io/"
)

// Disrupting is the value of TaintDisruption.
const Disrupting = "disrupting"

// Finalizers. The first is on NodeClaims and Nodes.
const (
	FinalizerTermination      = GroupKarpenter + "/termination"
	FinalizerPoolTermination  = GroupDaemok + "/termination"
	FinalizerClassTermination = GroupAWS + "/termination"
)

// Tags on instances and on what is made for them.
const (
	TagName = "Name"
	// TagClusterPrefix is followed by the cluster's name; the value is TagOwned.
	TagClusterPrefix = "kubernetes.io/cluster/"
	TagOwned         = "owned"
	TagEKSCluster    = "eks:eks-cluster-name"
	TagNodePool      = LabelNodePool
	TagProvisioner   = LabelProvisioner
	TagNodeClaim     = GroupKarpenter + "/nodeclaim"
	TagNodeClass     = LabelNodeClass
	TagRegion        = LabelRegion
	TagManagedBy     = GroupKarpenter + "/managed-by"
	TagInstanceName  = GroupKarpenter + "/machine-name"
)

// ResourceNodes is the pseudo resource in a pool's limits that counts nodes.
const ResourceNodes = "nodes"

// ExcludedBy is the value of LabelExcludeFromBalancer on a leaving node.
const ExcludedBy = "karpenter"
