package machine

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/lab/boot"
)

const (
	taintUninitialized = "node.cloudprovider.kubernetes.io/uninitialized"
	labelZoneID        = "topology.k8s.aws/zone-id"
	labelEBSZone       = "topology.ebs.csi.aws.com/zone"
)

// blueprint is everything that a Node object is made of.
type blueprint struct {
	instance    Instance
	settings    boot.Settings
	facts       Facts
	capacity    corev1.ResourceList
	allocatable corev1.ResourceList
	devices     map[string]int64 // that a plugin offers once the node is ready
	version     string           // of the kubelet
}

// node returns the object that a kubelet with an external cloud provider
// registers: not ready yet, and with the cloud's labels still to come.
func (b blueprint) node(now time.Time) *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name:        b.instance.PrivateDNS,
			Labels:      b.kubeletLabels(),
			Annotations: map[string]string{"volumes.kubernetes.io/controller-managed-attach-detach": "true"},
		},
		Spec: corev1.NodeSpec{
			ProviderID: providerID(b.instance),
			Taints:     b.taints(),
		},
		Status: corev1.NodeStatus{
			Capacity:         b.capacity,
			Allocatable:      b.allocatable,
			Conditions:       conditions(now, false, now, nil),
			Addresses:        b.addresses(),
			DaemonEndpoints:  corev1.NodeDaemonEndpoints{KubeletEndpoint: corev1.DaemonEndpoint{Port: 10250}},
			NodeInfo:         b.info(),
			DeclaredFeatures: declaredFeatures(b.info().KubeletVersion),
		},
	}
}

// providerID is how the node names its instance.
func providerID(i Instance) string { return fmt.Sprintf("aws:///%s/%s", i.Zone, i.ID) }

func (b blueprint) kubeletLabels() map[string]string {
	labels := maps.Clone(b.settings.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	labels[corev1.LabelHostname] = b.instance.PrivateDNS
	for _, prefix := range []string{"", "beta."} {
		labels[prefix+"kubernetes.io/arch"] = b.facts.Arch
		labels[prefix+"kubernetes.io/os"] = b.os()
	}
	if b.settings.Family == boot.Windows {
		labels[corev1.LabelWindowsBuild] = windowsBuild(b.instance.ImageName)
	}
	return labels
}

func (b blueprint) taints() []corev1.Taint {
	taints := slices.Clone(b.settings.Taints)
	return append(taints, corev1.Taint{Key: taintUninitialized, Value: "true", Effect: corev1.TaintEffectNoSchedule})
}

func (b blueprint) os() string {
	if b.settings.Family == boot.Windows {
		return "windows"
	}
	return "linux"
}

// cloudLabels are those that the cloud's node controller gives.
func cloudLabels(i Instance) map[string]string {
	labels := map[string]string{
		corev1.LabelTopologyZone:            i.Zone,
		corev1.LabelTopologyRegion:          i.Region,
		corev1.LabelFailureDomainBetaZone:   i.Zone,
		corev1.LabelFailureDomainBetaRegion: i.Region,
		corev1.LabelInstanceTypeStable:      i.Type,
		corev1.LabelInstanceType:            i.Type,
		"k8s.io/cloud-provider-aws":         cloudMark(i.Region),
	}
	if i.ZoneID != "" {
		labels[labelZoneID] = i.ZoneID
	}
	return labels
}

func cloudMark(region string) string {
	h := fnv.New128a()
	h.Write([]byte(region))
	return fmt.Sprintf("%x", h.Sum(nil))
}

func (b blueprint) addresses() []corev1.NodeAddress {
	return []corev1.NodeAddress{
		{Type: corev1.NodeInternalIP, Address: b.instance.PrivateIP},
		{Type: corev1.NodeInternalDNS, Address: b.instance.PrivateDNS},
		{Type: corev1.NodeHostName, Address: b.instance.PrivateDNS},
	}
}

func (b blueprint) info() corev1.NodeSystemInfo {
	h := fnv.New128a()
	h.Write([]byte(b.instance.ID))
	id := fmt.Sprintf("%x", h.Sum(nil))
	uuid := strings.Join([]string{"ec2" + id[3:8], id[8:12], id[12:16], id[16:20], id[20:32]}, "-")
	return corev1.NodeSystemInfo{
		MachineID: "ec2" + id[3:], SystemUUID: uuid, BootID: uuid,
		KernelVersion: "6.12.53-69.119.amzn2023." + map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[b.facts.Arch],
		OSImage: map[boot.Family]string{
			boot.AL2: "Amazon Linux 2", boot.AL2023: "Amazon Linux 2023",
			boot.Bottlerocket: "Bottlerocket OS (" + b.instance.ImageName + ")", boot.Windows: "Windows Server Datacenter",
			boot.Ubuntu: "Ubuntu " + ubuntuRelease.FindString(b.instance.ImageName) + " LTS",
		}[b.settings.Family],
		ContainerRuntimeVersion: "containerd://2.1.4",
		KubeletVersion:          kubeletVersion(b.instance.ImageName, b.version),
		OperatingSystem:         b.os(),
		Architecture:            b.facts.Arch,
	}
}

// ubuntuRelease finds the release that an image's name says.
var ubuntuRelease = regexp.MustCompile(`\d\d\.04`)

// imageVersion finds the Kubernetes version that an image's name says.
var imageVersion = regexp.MustCompile(`[-_](1\.\d\d)([-_/]|$)`)

// kubeletVersion is that of the image where its name says one that is not the cluster's
// own, so that version skew shows.
func kubeletVersion(imageName, cluster string) string {
	m := imageVersion.FindStringSubmatch(imageName)
	if m == nil || strings.HasPrefix(cluster, "v"+m[1]+".") {
		return cmp.Or(cluster, "v0.0.0") + "-eks-3025e55"
	}
	return "v" + m[1] + ".0-eks-3025e55"
}

// declaredFeatures are those that a kubelet of a version reports to the scheduler: what is
// on by default in 1.36, the first that reports them.
func declaredFeatures(version string) []string {
	var minor int
	if _, err := fmt.Sscanf(version, "v1.%d.", &minor); err != nil || minor < 36 {
		return nil
	}
	return []string{
		"ExtendWebSocketsToKubelet", "InPlacePodLevelResourcesVerticalScaling",
		"InPlacePodVerticalScalingInitContainers", "RestartAllContainersOnContainerExits",
	}
}

func windowsBuild(imageName string) string {
	for year, build := range map[string]string{"2019": "10.0.17763", "2022": "10.0.20348", "2025": "10.0.26100"} {
		if strings.Contains(imageName, "Server-"+year) {
			return build
		}
	}
	return "10.0.20348"
}

// ownCondition reports whether a kubelet always reports a condition of the type.
func ownCondition(kind corev1.NodeConditionType) bool {
	switch kind {
	case corev1.NodeMemoryPressure, corev1.NodeDiskPressure, corev1.NodePIDPressure, corev1.NodeReady:
		return true
	}
	return false
}

// conditions are what a kubelet reports: four of its own, then the extra ones
// in order of type. An extra one of the same type takes a kubelet's place.
func conditions(now time.Time, ready bool, since time.Time, extra map[corev1.NodeConditionType]corev1.NodeCondition) []corev1.NodeCondition {
	beat, from := metav1.NewTime(now), metav1.NewTime(since)
	fine := func(kind corev1.NodeConditionType, reason string) corev1.NodeCondition {
		return corev1.NodeCondition{Type: kind, Status: corev1.ConditionFalse, Reason: reason,
			LastHeartbeatTime: beat, LastTransitionTime: from}
	}
	state := fine(corev1.NodeReady, "KubeletNotReady")
	state.Message = "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized"
	if ready {
		state.Status, state.Reason, state.Message = corev1.ConditionTrue, "KubeletReady", "kubelet is posting ready status"
	}
	out := []corev1.NodeCondition{
		fine(corev1.NodeMemoryPressure, "KubeletHasSufficientMemory"),
		fine(corev1.NodeDiskPressure, "KubeletHasNoDiskPressure"),
		fine(corev1.NodePIDPressure, "KubeletHasSufficientPID"),
		state,
	}
	for _, kind := range slices.Sorted(maps.Keys(extra)) {
		c := extra[kind]
		c.LastHeartbeatTime = beat
		out = slices.DeleteFunc(out, func(have corev1.NodeCondition) bool { return have.Type == kind })
		out = append(out, c)
	}
	return out
}
