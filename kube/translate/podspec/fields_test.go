package podspec

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// fields says of a type of Kubernetes which of its fields say where a pod may
// go and are followed, which only make the scheduler like one node better than
// another, which make us leave a pod to the scheduler, and which do not
// concern placing at all.
type fields struct {
	followed, scores, refused, unconcerned string
}

// everyField is complete: a new version of Kubernetes that adds a field fails the test below until
// it has been judged.
var everyField = map[reflect.Type]fields{
	reflect.TypeFor[corev1.PodSpec](): {
		followed: "Volumes InitContainers Containers NodeSelector NodeName HostNetwork Affinity SchedulerName Tolerations Priority " +
			"RuntimeClassName Overhead TopologySpreadConstraints SchedulingGates Resources ResourceClaims " +
			"TerminationGracePeriodSeconds",
		refused: "HostUsers",
		unconcerned: "EphemeralContainers RestartPolicy ActiveDeadlineSeconds DNSPolicy ServiceAccountName " +
			"DeprecatedServiceAccount AutomountServiceAccountToken HostPID HostIPC ShareProcessNamespace SecurityContext ImagePullSecrets Hostname " +
			"Subdomain HostAliases PriorityClassName DNSConfig ReadinessGates EnableServiceLinks PreemptionPolicy SetHostnameAsFQDN OS " +
			"HostnameOverride SchedulingGroup", // priority is written in by admission; OS is checked by the kubelet alone; groups are alpha and off
	},
	reflect.TypeFor[corev1.PodStatus](): {
		followed: "Phase Conditions NominatedNodeName StartTime InitContainerStatuses ContainerStatuses " +
			"AllocatedResources Resources ResourceClaimStatuses ExtendedResourceClaimStatus",
		unconcerned: "ObservedGeneration Message Reason HostIP HostIPs PodIP PodIPs QOSClass " +
			"EphemeralContainerStatuses Resize " + // gave way to conditions
			"NodeAllocatableResourceClaimStatuses", // claims say what is taken
	},
	reflect.TypeFor[corev1.Container](): {
		followed: "Name Ports Resources RestartPolicy",
		scores:   "Image",
		refused:  "RestartPolicyRules",
		unconcerned: "Command Args WorkingDir EnvFrom Env ResizePolicy VolumeMounts VolumeDevices LivenessProbe ReadinessProbe StartupProbe Lifecycle " +
			"TerminationMessagePath TerminationMessagePolicy ImagePullPolicy SecurityContext Stdin StdinOnce TTY",
	},
	reflect.TypeFor[corev1.ContainerPort]():   {followed: "HostPort ContainerPort Protocol HostIP", unconcerned: "Name"},
	reflect.TypeFor[corev1.ContainerStatus](): {followed: "Name AllocatedResources Resources", unconcerned: "State LastTerminationState Ready RestartCount Image ImageID ContainerID Started VolumeMounts User AllocatedResourcesStatus StopSignal"},
	reflect.TypeFor[corev1.ResourceRequirements](): {
		followed: "Limits Requests", unconcerned: "Claims", // names claims of the pod, which are followed
	},
	reflect.TypeFor[corev1.VolumeSource](): {
		followed: "PersistentVolumeClaim Ephemeral GCEPersistentDisk AWSElasticBlockStore Cinder AzureFile VsphereVolume AzureDisk PortworxVolume",
		unconcerned: "HostPath EmptyDir GitRepo Secret NFS ISCSI Glusterfs RBD FlexVolume CephFS Flocker DownwardAPI FC ConfigMap Quobyte " +
			"PhotonPersistentDisk Projected ScaleIO StorageOS CSI Image", // no limit counts them; which pods share a disk of ISCSI or RBD is left to the scheduler
	},
	reflect.TypeFor[corev1.TopologySpreadConstraint](): {followed: "MaxSkew TopologyKey WhenUnsatisfiable LabelSelector MinDomains NodeAffinityPolicy NodeTaintsPolicy MatchLabelKeys"},
	reflect.TypeFor[corev1.Affinity]():                 {followed: "NodeAffinity PodAffinity PodAntiAffinity"},
	reflect.TypeFor[corev1.NodeAffinity]():             {followed: "RequiredDuringSchedulingIgnoredDuringExecution PreferredDuringSchedulingIgnoredDuringExecution"},
	reflect.TypeFor[corev1.PodAffinity]():              {followed: "RequiredDuringSchedulingIgnoredDuringExecution PreferredDuringSchedulingIgnoredDuringExecution"},
	reflect.TypeFor[corev1.PodAntiAffinity]():          {followed: "RequiredDuringSchedulingIgnoredDuringExecution PreferredDuringSchedulingIgnoredDuringExecution"},
	reflect.TypeFor[corev1.PodAffinityTerm]():          {followed: "LabelSelector Namespaces TopologyKey NamespaceSelector MatchLabelKeys MismatchLabelKeys"},
	reflect.TypeFor[corev1.WeightedPodAffinityTerm]():  {followed: "Weight PodAffinityTerm"},
	reflect.TypeFor[corev1.PreferredSchedulingTerm]():  {followed: "Weight Preference"},
	reflect.TypeFor[corev1.NodeSelectorTerm]():         {followed: "MatchExpressions MatchFields"},
	reflect.TypeFor[corev1.NodeSelectorRequirement]():  {followed: "Key Operator Values"},
	reflect.TypeFor[corev1.Toleration]():               {followed: "Key Operator Value Effect", unconcerned: "TolerationSeconds"},
	reflect.TypeFor[corev1.Taint]():                    {followed: "Key Value Effect", unconcerned: "TimeAdded"},
	reflect.TypeFor[corev1.NodeSpec]():                 {followed: "ProviderID Unschedulable Taints", unconcerned: "PodCIDR PodCIDRs ConfigSource DoNotUseExternalID"},
	reflect.TypeFor[corev1.NodeStatus](): {
		followed: "Capacity Allocatable Conditions", scores: "Images",
		refused:     "DeclaredFeatures", // by the pods that need one
		unconcerned: "Phase Addresses DaemonEndpoints NodeInfo VolumesInUse VolumesAttached Config RuntimeHandlers Features",
	},
	reflect.TypeFor[corev1.PersistentVolumeClaimSpec](): {
		followed: "AccessModes Selector Resources VolumeName StorageClassName VolumeMode VolumeAttributesClassName", unconcerned: "DataSource DataSourceRef"},
	reflect.TypeFor[corev1.PersistentVolumeClaimStatus](): {
		followed: "Phase", unconcerned: "AccessModes Capacity Conditions AllocatedResources AllocatedResourceStatuses CurrentVolumeAttributesClassName ModifyVolumeStatus"},
	reflect.TypeFor[corev1.PersistentVolumeSpec](): {
		followed:    "Capacity PersistentVolumeSource AccessModes ClaimRef StorageClassName VolumeMode NodeAffinity VolumeAttributesClassName",
		unconcerned: "PersistentVolumeReclaimPolicy MountOptions"},
	reflect.TypeFor[corev1.PersistentVolumeStatus](): {followed: "Phase", unconcerned: "Message Reason LastPhaseTransitionTime"},
	reflect.TypeFor[storagev1.StorageClass](): {
		followed: "ObjectMeta Provisioner VolumeBindingMode AllowedTopologies", unconcerned: "TypeMeta Parameters ReclaimPolicy MountOptions AllowVolumeExpansion"},
	reflect.TypeFor[storagev1.CSINodeSpec]():   {followed: "Drivers"},
	reflect.TypeFor[storagev1.CSINodeDriver](): {followed: "Name Allocatable", unconcerned: "NodeID TopologyKeys"},
	reflect.TypeFor[corev1.LimitRangeItem]():   {followed: "Type DefaultRequest", unconcerned: "Max Min Default MaxLimitRequestRatio"}, // the API server has filled DefaultRequest from the others
	reflect.TypeFor[nodev1.RuntimeClass]():     {followed: "ObjectMeta Overhead Scheduling", unconcerned: "TypeMeta Handler"},
	reflect.TypeFor[nodev1.Scheduling]():       {followed: "NodeSelector Tolerations"},
}

func TestEveryFieldIsJudged(t *testing.T) {
	for of, f := range everyField {
		judged := strings.Fields(strings.Join([]string{f.followed, f.scores, f.refused, f.unconcerned}, " "))
		for i := range of.NumField() {
			name := of.Field(i).Name
			switch n := count(judged, name); {
			case n == 0:
				t.Errorf("%v.%s is new: say whether placing follows it, and follow it", of, name)
			case n > 1:
				t.Errorf("%v.%s is judged %d times", of, name, n)
			}
		}
		for _, name := range judged {
			if _, there := of.FieldByName(name); !there {
				t.Errorf("%v.%s is judged and no longer there", of, name)
			}
		}
	}
}

func count(list []string, s string) int {
	return len(slices.DeleteFunc(slices.Clone(list), func(x string) bool { return x != s }))
}

// TestEveryTypeOnTheWayIsJudged: a pod, a node and what they lead to hold no
// type with rules in it that the table above leaves out.
func TestEveryTypeOnTheWayIsJudged(t *testing.T) {
	for of, f := range everyField {
		for _, name := range strings.Fields(f.followed) {
			field, _ := of.FieldByName(name)
			next := field.Type
			for next.Kind() == reflect.Pointer || next.Kind() == reflect.Slice {
				next = next.Elem()
			}
			if next.Kind() != reflect.Struct || next.PkgPath() != of.PkgPath() && !strings.HasPrefix(next.PkgPath(), "k8s.io/api/") {
				continue
			}
			if _, judged := everyField[next]; !judged && !slices.Contains(plainTypes, next.Name()) {
				t.Errorf("%v.%s leads to %v: judge its fields too, or call it plain", of, name, next)
			}
		}
	}
}

// plainTypes hold nothing but what their one use reads.
var plainTypes = []string{
	"PodResourceClaim", "PodResourceClaimStatus", "PodExtendedResourceClaimStatus",
	"Volume", "NodeSelector", "PodSchedulingGate", "PodCondition", "NodeCondition", "ObjectReference", "VolumeResourceRequirements",
	"PersistentVolumeSource", "VolumeNodeAffinity", "VolumeNodeResources", "TopologySelectorTerm", "Overhead",
	"PersistentVolumeClaimVolumeSource", "EphemeralVolumeSource", "GCEPersistentDiskVolumeSource", "AWSElasticBlockStoreVolumeSource",
	"CinderVolumeSource", "AzureFileVolumeSource", "VsphereVirtualDiskVolumeSource", "AzureDiskVolumeSource", "PortworxVolumeSource",
}
