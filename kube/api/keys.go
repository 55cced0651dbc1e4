package api

import "slices"

// KeyKind is what a key is the name of.
type KeyKind string

// The kinds of keys.
const (
	KindLabel      KeyKind = "label"
	KindAnnotation KeyKind = "annotation"
	KindTaint      KeyKind = "taint"
	KindFinalizer  KeyKind = "finalizer"
	KindTag        KeyKind = "tag"
	KindConfigMap  KeyKind = "ConfigMap"
)

// Key is one row of the table of keys.
type Key struct {
	Name    string
	Kind    KeyKind
	On      string // the objects that carry it
	Meaning string // one line for users
}

// Keys returns every key that Daemok reads or writes: first labels, then
// annotations, taints, finalizers, instance tags and ConfigMaps. The caller owns
// it.
func Keys() []Key {
	return slices.Concat(labelKeys, instanceLabelKeys, annotationKeys, daemokAnnotationKeys, taintKeys, tagKeys, configMapKeys)
}

const (
	onNodes  = "NodeClaim, Node"
	onClaims = "NodeClaim"
)

var labelKeys = []Key{
	{LabelNodePool, KindLabel, onNodes, "pool the instance belongs to"},
	{LabelProvisioner, KindLabel, onNodes, "Provisioner the instance belongs to"},
	{LabelCapacityType, KindLabel, onNodes, "capacity type of the instance: spot, on-demand or reserved"},
	{LabelRegistered, KindLabel, "Node", `"true" once the node is known as a claim's`},
	{LabelInitialized, KindLabel, "Node", `"true" once the node is ready for pods`},
	{LabelDoNotSyncTaints, KindLabel, "Node", `"true" if the kubelet has set the claim's taints itself`},
	{LabelNodeClass, KindLabel, onNodes, "class the instance was made with"},
	{LabelZone, KindLabel, onNodes, "zone"},
	{LabelRegion, KindLabel, onNodes, "region"},
	{LabelZoneID, KindLabel, onNodes, "zone, by the name that is the same in all accounts"},
	{LabelInstanceType, KindLabel, onNodes, "instance type"},
	{LabelArch, KindLabel, onNodes, "processor architecture: amd64 or arm64"},
	{LabelOS, KindLabel, onNodes, "operating system: linux or windows"},
	{LabelHostname, KindLabel, "Node", "host name; read for topology, never asked of a pool"},
	{LabelWindowsBuild, KindLabel, onNodes, "build of Windows"},
	{LabelExcludeFromBalancer, KindLabel, "Node", "keeps load balancers away while the node leaves; the value is " + ExcludedBy},
}

var instanceLabelKeys = []Key{
	{LabelReservationID, KindLabel, onNodes, "capacity reservation of a reserved instance"},
	{LabelReservationType, KindLabel, onNodes, "default or capacity-block, of a reserved instance"},
	{LabelReservationInterruptible, KindLabel, onNodes, "whether the reservation's owner may take the instance back"},
	{LabelHypervisor, KindLabel, onNodes, "nitro, xen, or empty for bare metal"},
	{LabelEncryptionInTransit, KindLabel, onNodes, "whether traffic between instances is encrypted by the hardware"},
	{LabelNitroSandbox, KindLabel, onNodes, "whether Nitro Enclaves are supported"},
	{LabelCategory, KindLabel, onNodes, "letters of the type before its generation, such as c"},
	{LabelGeneration, KindLabel, onNodes, "generation of the type (integer)"},
	{LabelFamily, KindLabel, onNodes, "family of the type, such as c7gn"},
	{LabelSize, KindLabel, onNodes, "size of the type, such as 8xlarge"},
	{LabelLocalNVMe, KindLabel, onNodes, "disks of the instance in GB (integer)"},
	{LabelCPU, KindLabel, onNodes, "vCPUs (integer)"},
	{LabelCPUManufacturer, KindLabel, onNodes, "intel, amd or aws"},
	{LabelCPUSustainedClock, KindLabel, onNodes, "clock of the processor in MHz (integer)"},
	{LabelMemory, KindLabel, onNodes, "memory in MiB (integer)"},
	{LabelEBSBandwidth, KindLabel, onNodes, "most bandwidth to volumes in Mbps (integer)"},
	{LabelNetworkBandwidth, KindLabel, onNodes, "network bandwidth that is always there in Mbps (integer)"},
	{LabelGPUName, KindLabel, onNodes, "model of the GPUs"},
	{LabelGPUManufacturer, KindLabel, onNodes, "maker of the GPUs"},
	{LabelGPUCount, KindLabel, onNodes, "number of GPUs (integer)"},
	{LabelGPUMemory, KindLabel, onNodes, "memory of each GPU in MiB (integer)"},
	{LabelAcceleratorName, KindLabel, onNodes, "model of the accelerators"},
	{LabelAcceleratorManufacturer, KindLabel, onNodes, "maker of the accelerators"},
	{LabelAcceleratorCount, KindLabel, onNodes, "number of accelerators (integer)"},
	{LabelCapabilityFlex, KindLabel, onNodes, "whether the type is of a flex family"},
	{LabelTenancy, KindLabel, onNodes, "default or dedicated"},
	{LabelPlacementGroupID, KindLabel, onNodes, "placement group of the instance"},
	{LabelPlacementGroupPartition, KindLabel, onNodes, "partition of the placement group (integer)"},
	{LabelInstancePods, KindLabel, onNodes, "most pods on an instance of a Provisioner (integer)"},
	{LabelAcceleratorMemory, KindLabel, onNodes, "memory of each accelerator of a Provisioner's instance in MiB (integer)"},
	{LabelAMIID, KindLabel, onNodes, "image that a Provisioner's instance was launched with"},
}

var annotationKeys = []Key{
	{AnnotationDoNotDisrupt, KindAnnotation, "Pod, Node, NodeClaim", `"true" keeps it from voluntary disruption; on a pod a length of time does so from its start on`},
	{AnnotationPodDeletionCost, KindAnnotation, "Pod", "what it costs to stop the pod beside others of its owner; its node is the later to go"},
	{AnnotationNodePoolHash, KindAnnotation, "NodePool, NodeClaim", "fingerprint of what the pool's instances are made from"},
	{AnnotationNodePoolHashVersion, KindAnnotation, "NodePool, NodeClaim", "version of that fingerprint"},
	{AnnotationTerminationTimestamp, KindAnnotation, onClaims, "moment after which the node is drained by force"},
	{AnnotationMinValuesRelaxed, KindAnnotation, onClaims, "whether fewer instance types were accepted than minValues asks for"},
	{AnnotationRequestedDRADrivers, KindAnnotation, onClaims, "drivers that must publish their devices before the node is initialized"},
	{AnnotationPriceOverlayApplied, KindAnnotation, onClaims, "a NodeOverlay set the price"},
	{AnnotationCapacityOverlayApplied, KindAnnotation, onClaims, "resources that a NodeOverlay set"},
	{AnnotationBufferFakePod, KindAnnotation, "pods in memory", "the pod stands for room that is kept free"},
	{AnnotationBufferName, KindAnnotation, "pods in memory", "CapacityBuffer the pod stands for"},
	{AnnotationBufferNamespace, KindAnnotation, "pods in memory", "namespace of that buffer"},
	{AnnotationCompatibilityProvider, KindAnnotation, onClaims, "left by old versions of Karpenter; ignored"},
	{AnnotationNodeClassHash, KindAnnotation, "EC2NodeClass, NodeClaim", "fingerprint of what the class's instances are made from"},
	{AnnotationNodeClassHashVersion, KindAnnotation, "EC2NodeClass, NodeClaim", "version of that fingerprint"},
	{AnnotationInstanceTagged, KindAnnotation, onClaims, "the instance carries the tags that need the node's name"},
	{AnnotationClusterNameTagged, KindAnnotation, onClaims, "the instance carries the tag " + TagEKSCluster},
	{AnnotationInstanceProfileName, KindAnnotation, onClaims, "instance profile the instance was launched with"},
	{AnnotationDoNotEvict, KindAnnotation, "Pod", `"true" keeps the pod's node from voluntary disruption; v1alpha5's do-not-disrupt`},
	{AnnotationDoNotConsolidate, KindAnnotation, "Node, Provisioner", `"true" keeps the node of a Provisioner from consolidation`},
	{AnnotationEmptinessTimestamp, KindAnnotation, "Node", "when the node of a Provisioner became empty"},
	{AnnotationVoluntaryDisruption, KindAnnotation, "Node", VoluntaryDrifted + " or " + VoluntaryExpired + ": why the node of a Provisioner is to go; " + VoluntaryDrifted + " may be written by hand"},
	{AnnotationLinked, KindAnnotation, onNodes, "left by old versions of Karpenter; ignored"},
	{AnnotationProvisionerHash, KindAnnotation, "Provisioner, NodeClaim", "fingerprint of what the Provisioner's instances are made from"},
	{AnnotationNodeTemplateHash, KindAnnotation, "NodeClaim", "fingerprint of what instances of its AWSNodeTemplate are made from"},
}

var daemokAnnotationKeys = []Key{
	{AnnotationLaunchAttempt, KindAnnotation, onClaims, "launch the claim is part of and how often it was tried"},
	{AnnotationDecision, KindAnnotation, onClaims, "why the instance was chosen and what came next, as JSON"},
	{AnnotationJoins, KindAnnotation, "NodeClaim", "groups of claims whose nodes open to pods together or in turns, as JSON"},
	{AnnotationForPods, KindAnnotation, onClaims, "UIDs of the pods that the claim was made for, with commas between, at most 100: by them its order outlives a restart"},
	{AnnotationWithdrawn, KindAnnotation, onClaims, "why no one needs the instance any more, which is not launched yet"},
	{AnnotationEnds, KindAnnotation, onClaims, "when the cloud takes the instance away: pods stay until instances for them have started, but no longer than leaves them time to end"},
	{AnnotationAdvised, KindAnnotation, "NodeClaim, Node", "when AWS recommended to replace the instance, of a pool that asks for that, or for nodes to be cordoned"},
	{AnnotationAdopt, KindAnnotation, "NodeClaim", "provider ID of a running instance that the claim takes over; nothing is ever launched for it"},
	{AnnotationAdoptFrom, KindAnnotation, "NodeClaim", "claim that has the instance to be taken over so far, and goes without it"},
	{AnnotationAdoptedBy, KindAnnotation, "NodeClaim", "claim that has taken the instance over; this one goes without it"},
	{AnnotationMigratedFrom, KindAnnotation, "NodePool, EC2NodeClass, Node", "API version of what `daemok migrate --apply` made it from, or whose word on the node it put into newer ones"},
	{AnnotationReplaces, KindAnnotation, onClaims, "claims whose instances this one takes the place of, with commas between"},
	{AnnotationTakes, KindAnnotation, onClaims, "claims whose nodes were leaving when this one was ordered for their pods, with commas between"},
	{AnnotationStage, KindAnnotation, onClaims, "how far that is: waiting/ and how many instances must start first, done, or kept: given up, with pods on the instance"},
	{AnnotationInstanceCost, KindAnnotation, "NodePool", "dollars an hour that each instance costs beside its type and volumes: licences, agents, addresses"},
	{AnnotationMinCPU, KindAnnotation, "NodePool", "least number of vCPUs of the pool's instances"},
	{AnnotationMinMemory, KindAnnotation, "NodePool", "least memory of the pool's instances, as AWS lists their type"},
	{AnnotationMinPodMemory, KindAnnotation, "NodePool", "memory that instances are to leave to pods beside the system and DaemonSets, such as 1Gi; gives way where no other instance will do"},
	{AnnotationMaxSystemMemory, KindAnnotation, "NodePool", "share of an instance's memory, as AWS lists its type, that may go to the system and DaemonSets, such as 25%; gives way likewise"},
	{AnnotationDeregistration, KindAnnotation, "Pod, NodePool", "how long load balancers still send to a node that leaves: so long the pod, or the instance, stays"},
	{AnnotationKeepReady, KindAnnotation, "Pod, NodePool", `"true" has the last ready pod of a Service stay on a node that leaves until another is ready`},
	{AnnotationSurge, KindAnnotation, "Pod, NodePool", `"true" gives a workload of one replica a second before its pod is evicted`},
	{AnnotationDeletionCost, KindAnnotation, "Pod", "the deletion cost that Daemok gave the pod, since its node is to empty; with another value of " + AnnotationPodDeletionCost + " that is a user's, and stays"},
	{AnnotationExcluded, KindAnnotation, "Node", "moment from which load balancers know that the node leaves"},
	{AnnotationMakeRoom, KindAnnotation, "DaemonSet", `"true" has nodes replaced that are older than the DaemonSet and have no room for its pod`},
	{AnnotationDriftAtLimit, KindAnnotation, "NodePool", DeleteFirst + ": drifted nodes go before the instances in their place come, where limits forbid to have both"},
	{AnnotationRebalance, KindAnnotation, "NodePool", "what follows from a rebalance recommendation: " + RebalanceIgnore + ", which is usual, " + RebalanceCordon + ", or " + RebalanceReplace},
	{AnnotationRepair, KindAnnotation, "NodePool", "when its unhealthy nodes are repaired: " + RepairOn + ", " + RepairOff + ", or words such as Ready=15m, Initialized=20m, most=30%"},
	{AnnotationRoll, KindAnnotation, "NodePool", "nodes of the pool are to be replaced now: since when, whether all, and whether that is paused, as JSON; `daemok roll` writes it"},
	{AnnotationPlacementGroup, KindAnnotation, "EC2NodeClass", "the placement group that its selector finds: id, name, strategy and partitions, as JSON"},
	{AnnotationDedicatedReservations, KindAnnotation, "EC2NodeClass", "those of the capacity reservations that its terms select whose instances are of dedicated tenancy"},
	{AnnotationPodDensity, KindAnnotation, "EC2NodeClass", PrefixDelegation + ": its instances run as many pods as AWS recommends where the network plugin gives out prefixes of addresses"},
	{AnnotationMemoryOverhead, KindAnnotation, "EC2NodeClass", "share of memory that hypervisor and kernel of its instances are taken to keep, such as 0.03, until one of the type and image has shown it"},
	{AnnotationLaunchForms, KindAnnotation, "EC2NodeClass, AWSNodeTemplate, Provisioner with provider", "launch template and user data of a made-up instance, as builds of the controller render them that nodes were launched by, packed, as JSON; `daemok plan --upgrade` shows them"},
	{AnnotationLaunchForm, KindAnnotation, onClaims, "which of the class's forms its instance was launched in"},
	{AnnotationDelete, KindAnnotation, "NodePool, Provisioner", DeleteFast + ": all its nodes go at once when it is deleted, and not as its budgets allow"},
	{AnnotationBudgets, KindAnnotation, "Provisioner", "how many of its nodes may go at once: a number, a percentage, or budgets as a NodePool has them, as JSON; 1 where it is not set, and any number of empty ones"},
	{AnnotationAcknowledged, KindAnnotation, "DisruptionPolicy", "status.breaker.trippedAt of a breaker that has tripped: it closes again"},
}

var taintKeys = []Key{
	{TaintUnregistered, KindTaint, "Node", "the node is not yet known as a claim's (NoExecute)"},
	{TaintDisrupted, KindTaint, "Node", "the node is about to leave (NoSchedule)"},
	{TaintDisruption, KindTaint, "Node", "the same, as versions of Karpenter before 1.0 wrote it, with the value " + Disrupting},
	{TaintEmptying, KindTaint, "Node", "the node is to empty: new pods go elsewhere while there is room (PreferNoSchedule)"},
	{TaintUninitialized, KindTaint, "Node", "the cloud's own controller has not seen the node; waited for"},
	{TaintReadinessPrefix, KindTaint, "Node", "begins the taints of readiness gates; waited for"},
	{FinalizerTermination, KindFinalizer, onNodes, "the instance has to be drained and terminated first"},
	{FinalizerPoolTermination, KindFinalizer, "NodePool", "its nodes have to go first, as its budgets allow"},
	{FinalizerClassTermination, KindFinalizer, "EC2NodeClass", "what was made for the class has to be removed first"},
}

var tagKeys = []Key{
	{TagClusterUID, KindTag, "instance and what is made with it", "UID of namespace kube-system, which distinguishes the cluster from others of its name"},
	{TagBatch, KindTag, "instance", "launch the instance came from"},
	{TagName, KindTag, "instance", "name of the node, unless the class sets one"},
	{TagClusterPrefix, KindTag, "instance and what is made with it", "followed by the cluster's name, the value is " + TagOwned},
	{TagEKSCluster, KindTag, "instance and what is made with it", "name of the cluster"},
	{TagNodePool, KindTag, "instance and what is made with it", "pool the instance belongs to"},
	{TagProvisioner, KindTag, "instance", "Provisioner the instance belongs to"},
	{TagNodeClaim, KindTag, "instance", "claim the instance was launched for"},
	{TagNodeClass, KindTag, "instance and what is made with it", "class the instance was made with"},
	{TagRegion, KindTag, "instance profile", "region the profile was made from"},
	{TagManagedBy, KindTag, "instance", "cluster's name on instances of the v1alpha5 API"},
	{TagInstanceName, KindTag, "instance", "claim the instance was launched for, on instances of the v1alpha5 API"},
}

var configMapKeys = []Key{
	{ConfigMapSettings, KindConfigMap, "the controller's namespace", "settings of the controller as the older API generation has them; flags and environment variables go before them"},
	{ConfigMapLogging, KindConfigMap, "the controller's namespace", "how much the controller logs, as the older API generation has it: the level in zap-logger-config or loglevel.controller"},
	{ConfigMapFreeze, KindConfigMap, "the controller's namespace", "no node is disrupted voluntarily while it is there; data: " +
		FreezeReason + ", and " + FreezeUntil + ", the moment when that ends by itself (RFC 3339)"},
	{ConfigMapOrphans, KindConfigMap, "the controller's namespace", "data." + OrphansTerminate + ": how many instances that no NodeClaim has may be drained and terminated"},
	{ConfigMapMigration, KindConfigMap, "the controller's namespace", "what `daemok migrate --apply` has done, by which it goes on and is rolled back"},
	{ConfigMapRecord, KindConfigMap, "the controller's namespace", "begins the names of a ring, -0 to -7, that holds for a day what was decided and why, and of what is newer, -newest; read by `daemok explain`"},
	{ConfigMapSurges, KindConfigMap, "the controller's namespace", "lists the workloads that have a second replica until a pod has left its node"},
	{ConfigMapMemory, KindConfigMap, "the controller's namespace", "has for the next leader which pods were moved lately and which nodes went"},
}
