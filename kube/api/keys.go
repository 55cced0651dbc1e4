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
	{LabelNodePool, KindLabel, onNodes, "pool that the instance belongs to"},
	{LabelProvisioner, KindLabel, onNodes, "Provisioner that the instance belongs to"},
	{LabelCapacityType, KindLabel, onNodes, "capacity type of the instance: spot, on-demand or reserved"},
	{LabelRegistered, KindLabel, "Node", `"true" once the node has registered for its NodeClaim`},
	{LabelInitialized, KindLabel, "Node", `"true" once the node is ready for pods`},
	{LabelDoNotSyncTaints, KindLabel, "Node", `"true" if the kubelet itself has set the taints of the NodeClaim`},
	{LabelNodeClass, KindLabel, onNodes, "class that the instance was launched from"},
	{LabelZone, KindLabel, onNodes, "zone"},
	{LabelRegion, KindLabel, onNodes, "region"},
	{LabelZoneID, KindLabel, onNodes, "zone, by the ID that is the same in all accounts"},
	{LabelInstanceType, KindLabel, onNodes, "instance type"},
	{LabelArch, KindLabel, onNodes, "processor architecture: amd64 or arm64"},
	{LabelOS, KindLabel, onNodes, "operating system: linux or windows"},
	{LabelHostname, KindLabel, "Node", "host name; read for topology, never required of a pool"},
	{LabelWindowsBuild, KindLabel, onNodes, "build of Windows"},
	{LabelExcludeFromBalancer, KindLabel, "Node", "keeps load balancers away while the node is being removed; the value is " + ExcludedBy},
}

var instanceLabelKeys = []Key{
	{LabelReservationID, KindLabel, onNodes, "capacity reservation of a reserved instance"},
	{LabelReservationType, KindLabel, onNodes, "type of the capacity reservation of a reserved instance: default or capacity-block"},
	{LabelReservationInterruptible, KindLabel, onNodes, "whether the owner of the reservation may reclaim the instance"},
	{LabelHypervisor, KindLabel, onNodes, "nitro, xen, or empty for bare metal"},
	{LabelEncryptionInTransit, KindLabel, onNodes, "whether traffic between instances is encrypted by the hardware"},
	{LabelNitroSandbox, KindLabel, onNodes, "whether Nitro Enclaves are supported"},
	{LabelCategory, KindLabel, onNodes, "letters of the instance type before its generation, such as c"},
	{LabelGeneration, KindLabel, onNodes, "generation of the type (integer)"},
	{LabelFamily, KindLabel, onNodes, "family of the type, such as c7gn"},
	{LabelSize, KindLabel, onNodes, "size of the type, such as 8xlarge"},
	{LabelLocalNVMe, KindLabel, onNodes, "size of the local disks of the instance in GB (integer)"},
	{LabelCPU, KindLabel, onNodes, "vCPUs (integer)"},
	{LabelCPUManufacturer, KindLabel, onNodes, "intel, amd or aws"},
	{LabelCPUSustainedClock, KindLabel, onNodes, "clock of the processor in MHz (integer)"},
	{LabelMemory, KindLabel, onNodes, "memory in MiB (integer)"},
	{LabelEBSBandwidth, KindLabel, onNodes, "maximum bandwidth to EBS volumes in Mbps (integer)"},
	{LabelNetworkBandwidth, KindLabel, onNodes, "baseline network bandwidth in Mbps (integer)"},
	{LabelGPUName, KindLabel, onNodes, "model of the GPUs"},
	{LabelGPUManufacturer, KindLabel, onNodes, "manufacturer of the GPUs"},
	{LabelGPUCount, KindLabel, onNodes, "number of GPUs (integer)"},
	{LabelGPUMemory, KindLabel, onNodes, "memory of each GPU in MiB (integer)"},
	{LabelAcceleratorName, KindLabel, onNodes, "model of the accelerators"},
	{LabelAcceleratorManufacturer, KindLabel, onNodes, "manufacturer of the accelerators"},
	{LabelAcceleratorCount, KindLabel, onNodes, "number of accelerators (integer)"},
	{LabelCapabilityFlex, KindLabel, onNodes, "whether the type is of a flex family"},
	{LabelTenancy, KindLabel, onNodes, "default or dedicated"},
	{LabelPlacementGroupID, KindLabel, onNodes, "placement group of the instance"},
	{LabelPlacementGroupPartition, KindLabel, onNodes, "partition of the placement group (integer)"},
	{LabelInstancePods, KindLabel, onNodes, "maximum number of pods on an instance of a Provisioner (integer)"},
	{LabelAcceleratorMemory, KindLabel, onNodes, "memory of each accelerator of a Provisioner's instance in MiB (integer)"},
	{LabelAMIID, KindLabel, onNodes, "image that a Provisioner's instance was launched with"},
}

var annotationKeys = []Key{
	{AnnotationDoNotDisrupt, KindAnnotation, "Pod, Node, NodeClaim", `"true" keeps it from voluntary disruption; on a pod, a duration does so from the pod's start on`},
	{AnnotationPodDeletionCost, KindAnnotation, "Pod", "cost of deleting the pod, compared with other pods of its owner; nodes of pods with higher costs are disrupted later"},
	{AnnotationSafeToEvict, KindAnnotation, "Pod", `"false" keeps the pod's node from voluntary disruption, and "true" lets a pod go that nothing creates again, with the option --cluster-autoscaler-annotations`},
	{AnnotationScaleDownDisabled, KindAnnotation, "Node", `"true" keeps it from voluntary disruption, with the option --cluster-autoscaler-annotations`},
	{AnnotationNodePoolHash, KindAnnotation, "NodePool, NodeClaim", "fingerprint of the fields that the pool's instances are launched from"},
	{AnnotationNodePoolHashVersion, KindAnnotation, "NodePool, NodeClaim", "version of that fingerprint"},
	{AnnotationTerminationTimestamp, KindAnnotation, onClaims, "time at which the drain deletes the remaining pods"},
	{AnnotationMinValuesRelaxed, KindAnnotation, onClaims, "whether fewer instance types were accepted than minValues requires"},
	{AnnotationRequestedDRADrivers, KindAnnotation, onClaims, "drivers that must publish their devices before the node is initialized"},
	{AnnotationPriceOverlayApplied, KindAnnotation, onClaims, "a NodeOverlay set the price"},
	{AnnotationCapacityOverlayApplied, KindAnnotation, onClaims, "resources that a NodeOverlay set"},
	{AnnotationBufferFakePod, KindAnnotation, "pods in memory", "the pod stands for capacity that is kept free"},
	{AnnotationBufferName, KindAnnotation, "pods in memory", "CapacityBuffer that the pod stands for"},
	{AnnotationBufferNamespace, KindAnnotation, "pods in memory", "namespace of that buffer"},
	{AnnotationConsumesRequest, KindAnnotation, "Pod", "ProvisioningRequest whose capacity the pod awaits and uses"},
	{AnnotationProvisioningClass, KindAnnotation, "Pod", "provisioning class of that request"},
	{AnnotationConsumesRequestOld, KindAnnotation, "Pod", "the same, in the words of the v1beta1 API"},
	{AnnotationProvisioningClassOld, KindAnnotation, "Pod", "the same, in the words of the v1beta1 API"},
	{AnnotationCompatibilityProvider, KindAnnotation, onClaims, "written by early versions of Karpenter; ignored"},
	{AnnotationNodeClassHash, KindAnnotation, "EC2NodeClass, NodeClaim", "fingerprint of the fields that the class's instances are launched from"},
	{AnnotationNodeClassHashVersion, KindAnnotation, "EC2NodeClass, NodeClaim", "version of that fingerprint"},
	{AnnotationInstanceTagged, KindAnnotation, onClaims, "the instance has the tags that need the name of the node"},
	{AnnotationClusterNameTagged, KindAnnotation, onClaims, "the instance has the tag " + TagEKSCluster},
	{AnnotationInstanceProfileName, KindAnnotation, onClaims, "instance profile that the instance was launched with"},
	{AnnotationDoNotEvict, KindAnnotation, "Pod", `"true" keeps the pod's node from voluntary disruption; v1alpha5's do-not-disrupt`},
	{AnnotationDoNotConsolidate, KindAnnotation, "Node, Provisioner", `"true" keeps the node of a Provisioner from consolidation`},
	{AnnotationEmptinessTimestamp, KindAnnotation, "Node", "when the node of a Provisioner became empty"},
	{AnnotationVoluntaryDisruption, KindAnnotation, "Node", VoluntaryDrifted + " or " + VoluntaryExpired + ": why the node of a Provisioner will be removed; users may set " + VoluntaryDrifted},
	{AnnotationLinked, KindAnnotation, onNodes, "written by early versions of Karpenter; ignored"},
	{AnnotationProvisionerHash, KindAnnotation, "Provisioner, NodeClaim", "fingerprint of the fields that the Provisioner's instances are launched from"},
	{AnnotationNodeTemplateHash, KindAnnotation, "NodeClaim", "fingerprint of the fields of its AWSNodeTemplate that instances are launched from"},
}

var daemokAnnotationKeys = []Key{
	{AnnotationLaunchAttempt, KindAnnotation, onClaims, "launch that the NodeClaim is part of, and the number of the attempt"},
	{AnnotationDecision, KindAnnotation, onClaims, "why the instance was chosen, and the next best offerings, as JSON"},
	{AnnotationJoins, KindAnnotation, "NodeClaim", "groups of NodeClaims whose nodes accept pods together or in turns, as JSON"},
	{AnnotationForPods, KindAnnotation, onClaims, "UIDs of the pods that the NodeClaim was created for, separated by commas, at most 100; a restarted controller reads them"},
	{AnnotationForRequests, KindAnnotation, onClaims, "ProvisioningRequests that it was created for"},
	{AnnotationWithdrawn, KindAnnotation, onClaims, "why the instance, which is not launched yet, is not needed any more"},
	{AnnotationEnds, KindAnnotation, onClaims, "when AWS will terminate the instance: pods stay until instances for them have started, as long as they still have time to terminate"},
	{AnnotationAdvised, KindAnnotation, "NodeClaim, Node", "when AWS recommended to replace the instance, if its pool replaces or cordons such nodes"},
	{AnnotationAdopt, KindAnnotation, "NodeClaim", "provider ID of a running instance that the NodeClaim adopts; nothing is ever launched for it"},
	{AnnotationAdoptFrom, KindAnnotation, "NodeClaim", "NodeClaim that has the adopted instance until now; it is then removed without the instance"},
	{AnnotationAdoptedBy, KindAnnotation, "NodeClaim", "NodeClaim that has adopted the instance; this one is removed without it"},
	{AnnotationMigratedFrom, KindAnnotation, "NodePool, EC2NodeClass, Node", "API version that `daemok migrate --apply` converted it from, or whose annotation on the node it translated"},
	{AnnotationReplaces, KindAnnotation, onClaims, "NodeClaims that this one replaces, separated by commas"},
	{AnnotationTakes, KindAnnotation, onClaims, "NodeClaims whose nodes were being removed when this one was created for their pods, separated by commas"},
	{AnnotationStage, KindAnnotation, onClaims, "progress of the replacement: waiting/ and the number of instances that must start first, done, or kept (given up, but pods use the instance)"},
	{AnnotationInstanceCost, KindAnnotation, "NodePool", "dollars per hour that each instance costs in addition to its type and volumes: licences, agents, addresses"},
	{AnnotationMinCPU, KindAnnotation, "NodePool", "minimum number of vCPUs of the pool's instances"},
	{AnnotationMinMemory, KindAnnotation, "NodePool", "minimum memory of the pool's instances, as AWS lists their type"},
	{AnnotationMinPodMemory, KindAnnotation, "NodePool", "minimum memory that instances should leave to pods, such as 1Gi; a preference, dropped if no other instance fits"},
	{AnnotationMaxSystemMemory, KindAnnotation, "NodePool", "maximum share of an instance's memory, as AWS lists its type, for the system and DaemonSets, such as 25%; also a preference"},
	{AnnotationCommitments, KindAnnotation, "NodePool", CommitmentsIgnore +
		": its instances are planned at their prices, whatever commitments pay for: see docs/tasks/commitments.md"},
	{AnnotationCostLimit, KindAnnotation, "NodePool, CapacityQuota", "dollars an hour that the nodes of the pool, or those that the quota selects, may cost together: see docs/tasks/quotas.md"},
	{AnnotationOnDemandMinimum, KindAnnotation, "NodePool, Pod", "how many nodes of the pool, or pods of the pod's owner, are on demand at the least, or which share of them: see docs/tasks/on-demand-minimum.md"},
	{AnnotationHours, KindAnnotation, "NodePool, CapacityBuffer", "how many nodes the pool has at which times, or for how many pods the buffer keeps capacity, as YAML: see docs/tasks/hours.md"},
	{AnnotationHeadroom, KindAnnotation, "CapacityBuffer", "the share of what pods request for which the buffer keeps capacity, such as `10%` or `10% of NodePool/default`"},
	{AnnotationDeregistration, KindAnnotation, "Pod, NodePool", "how long load balancers may still send traffic to a node that is being removed; the pod, or the instance, stays for that time"},
	{AnnotationKeepReady, KindAnnotation, "Pod, NodePool", `"true" keeps the last ready pod of a Service on a node that is being removed until another one is ready`},
	{AnnotationSurge, KindAnnotation, "Pod, NodePool", `"true" gives a workload with one replica a second one before its pod is evicted`},
	{AnnotationDeletionCost, KindAnnotation, "Pod", "the deletion cost that Daemok set because the pod's node is to empty; another value of " + AnnotationPodDeletionCost + " was set by a user, and stays"},
	{AnnotationExcluded, KindAnnotation, "Node", "time at which the node was excluded from load balancers"},
	{AnnotationMakeRoom, KindAnnotation, "DaemonSet", `"true" replaces nodes that are older than the DaemonSet and on which its pod does not fit`},
	{AnnotationDriftAtLimit, KindAnnotation, "NodePool", DeleteFirst + ": if limits do not allow both, drifted nodes are deleted before their replacements are launched"},
	{AnnotationRebalance, KindAnnotation, "NodePool", "what to do on a rebalance recommendation: " + RebalanceIgnore + " (the default), " + RebalanceCordon + ", or " + RebalanceReplace},
	{AnnotationRepair, KindAnnotation, "NodePool", "when its unhealthy nodes are repaired: " + RepairOn + ", " + RepairOff + ", or settings such as Ready=15m, Initialized=20m, most=30%"},
	{AnnotationRoll, KindAnnotation, "NodePool", "nodes of the pool are to be replaced now: since when, whether all of them, and whether paused, as JSON; written by `daemok roll`"},
	{AnnotationPlacementGroup, KindAnnotation, "EC2NodeClass", "placement group that its selector finds: ID, name, strategy and partitions, as JSON"},
	{AnnotationDedicatedReservations, KindAnnotation, "EC2NodeClass", "capacity reservations of dedicated tenancy among those that its terms select"},
	{AnnotationPodDensity, KindAnnotation, "EC2NodeClass", PrefixDelegation + ": its instances run as many pods as AWS recommends for a network plugin that assigns address prefixes"},
	{AnnotationMemoryOverhead, KindAnnotation, "EC2NodeClass", "assumed share of memory that hypervisor and kernel use, such as 0.03, until an instance of the type and image has run"},
	{AnnotationLaunchForms, KindAnnotation, "EC2NodeClass, AWSNodeTemplate, Provisioner with provider", "launch template and user data of a sample instance, as generated by the builds of the controller that launched nodes, as compressed JSON; shown by `daemok plan --upgrade`"},
	{AnnotationLaunchForm, KindAnnotation, onClaims, "which of these forms of the class its instance was launched with"},
	{AnnotationDelete, KindAnnotation, "NodePool, Provisioner", DeleteFast + ": when it is deleted, all its nodes are removed at once, without regard to its budgets"},
	{AnnotationBudgets, KindAnnotation, "Provisioner", "how many of its nodes may be disrupted at once: a number, a percentage, or budgets like those of a NodePool, as JSON; default: 1, and any number of empty nodes"},
	{AnnotationAcknowledged, KindAnnotation, "DisruptionPolicy", "status.breaker.trippedAt of a tripped breaker; closes the breaker"},
}

var taintKeys = []Key{
	{TaintUnregistered, KindTaint, "Node", "the node has not registered for its NodeClaim yet (NoExecute)"},
	{TaintDisrupted, KindTaint, "Node", "the node is being disrupted (NoSchedule)"},
	{TaintDisruption, KindTaint, "Node", "the same in versions of Karpenter before 1.0, with the value " + Disrupting},
	{TaintEmptying, KindTaint, "Node", "the node is to empty: new pods prefer other nodes (PreferNoSchedule)"},
	{TaintUninitialized, KindTaint, "Node", "the cloud controller has not initialized the node yet; Daemok waits for it"},
	{TaintReadinessPrefix, KindTaint, "Node", "prefix of the taints of readiness gates; Daemok waits for their removal"},
	{FinalizerTermination, KindFinalizer, onNodes, "the node must be drained and the instance terminated first"},
	{FinalizerPoolTermination, KindFinalizer, "NodePool", "its nodes must be removed first, as its budgets allow"},
	{FinalizerClassTermination, KindFinalizer, "EC2NodeClass", "resources that were created for the class must be removed first"},
}

var tagKeys = []Key{
	{TagClusterUID, KindTag, "instance and what is created with it", "UID of the namespace kube-system, which distinguishes the cluster from others with its name"},
	{TagBatch, KindTag, "instance", "launch that the instance came from"},
	{TagName, KindTag, "instance", "name of the node, unless the class sets one"},
	{TagClusterPrefix, KindTag, "instance and what is created with it", "followed by the cluster's name, the value is " + TagOwned},
	{TagEKSCluster, KindTag, "instance and what is created with it", "name of the cluster"},
	{TagNodePool, KindTag, "instance and what is created with it", "pool that the instance belongs to"},
	{TagProvisioner, KindTag, "instance", "Provisioner that the instance belongs to"},
	{TagNodeClaim, KindTag, "instance", "NodeClaim that the instance was launched for"},
	{TagNodeClass, KindTag, "instance and what is created with it", "class that the instance was launched from"},
	{TagRegion, KindTag, "instance profile", "Region of the cluster that the profile was created for"},
	{TagManagedBy, KindTag, "instance", "cluster's name on instances of the v1alpha5 API"},
	{TagInstanceName, KindTag, "instance", "NodeClaim that the instance was launched for, on instances of the v1alpha5 API"},
}

var configMapKeys = []Key{
	{ConfigMapSettings, KindConfigMap, "the controller's namespace", "settings of the controller with the v1alpha5 API; flags and environment variables take precedence"},
	{ConfigMapLogging, KindConfigMap, "the controller's namespace", "log level of the controller with the v1alpha5 API, in zap-logger-config or loglevel.controller"},
	{ConfigMapFreeze, KindConfigMap, "the controller's namespace", "while it exists, no node is disrupted voluntarily; data: " +
		FreezeReason + ", and " + FreezeUntil + ", the moment when that ends by itself (RFC 3339)"},
	{ConfigMapCommitments, KindConfigMap, "the controller's namespace", "data[" + CommitmentsFile +
		"]: Reserved Instances and Savings Plans that plans use: see docs/tasks/commitments.md"},
	{ConfigMapOrphans, KindConfigMap, "the controller's namespace", "data." + OrphansTerminate + ": how many instances without a NodeClaim may be drained and terminated"},
	{ConfigMapMigration, KindConfigMap, "the controller's namespace", "what `daemok migrate --apply` has done, so that it can continue or be rolled back"},
	{ConfigMapRecord, KindConfigMap, "the controller's namespace", "prefix of the ConfigMaps -0 to -7 and -newest, which record the decisions of a day with their reasons; read by `daemok explain`"},
	{ConfigMapStatus, KindConfigMap, "the controller's namespace", "data.status: the screen of `daemok status`, as the controller sees it; rewritten within seconds of a change"},
	{ConfigMapSurges, KindConfigMap, "the controller's namespace", "workloads that have a second replica until a pod has left its node"},
	{ConfigMapShadow, KindConfigMap, "the controller's namespace", "what shadow mode has watched; read by `daemok shadow report`"},
	{ConfigMapMemory, KindConfigMap, "the controller's namespace", "what the next leader must know, such as which pods were moved and which nodes were removed lately"},
}
